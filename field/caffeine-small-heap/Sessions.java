import com.fasterxml.jackson.databind.*;
import com.github.benmanes.caffeine.cache.*;

// Keeps the newest sessions as JSON trees, as a server does with what clients send.
public class Sessions {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        ObjectMapper mapper = new ObjectMapper();
        Cache<Integer, JsonNode> cache = Caffeine.newBuilder().maximumSize(60000).executor(Runnable::run).build();
        for (int i = 0; i < 60000; i++) cache.put(i, mapper.readTree(text(i)));
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            int key = (int) (done * 7919 % 60000);
            JsonNode node = cache.getIfPresent(key);
            if (node == null || done % 8 == 0) cache.put(key, mapper.readTree(text((int) done)));
            else mapper.writeValueAsString(node);
            done++;
            if (System.nanoTime() - said > 500_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }

    static String text(int i) {
        return "{\"user\":\"user number " + i + "\",\"roles\":[\"reader " + i + "\",\"writer\"],\"cart\":[{\"item\":" + i + ",\"count\":2},{\"item\":7,\"count\":1}],\"at\":" + i + ".5}";
    }
}
