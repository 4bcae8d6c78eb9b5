import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Random;

/** Parses orders, changes them and writes them again. */
public class Orders {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        Random random = new Random(1);
        ObjectNode order = mapper.createObjectNode();
        for (int i = 0; i < 40; i++) order.putObject("item" + i).put("price", random.nextInt(1000)).put("name", "article " + random.nextLong());
        String text = mapper.writeValueAsString(order);
        long sum = 0;
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            JsonNode parsed = mapper.readTree(text);
            ((ObjectNode) parsed.get("item" + i % 40)).put("price", i % 1000);
            text = mapper.writeValueAsString(parsed);
            sum += text.length();
        }
        System.out.println(sum);
    }
}
