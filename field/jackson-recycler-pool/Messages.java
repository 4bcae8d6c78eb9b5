import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

public class Messages {
    public static class Message {
        public long id;
        public String user;
        public double price;
        public List<String> tags;
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int seconds = Integer.parseInt(arguments[1]);
        ObjectMapper mapper = new ObjectMapper();
        LongAdder done = new LongAdder();
        for (int t = 0; t < threads; t++) {
            Thread thread = new Thread(() -> work(mapper, done), "worker-" + t);
            thread.setDaemon(true);
            thread.start();
        }
        for (int half = 0; half < seconds * 2; half++) {
            Thread.sleep(500);
            System.out.println("done " + done.sum());
        }
        System.exit(0);
    }

    static void work(ObjectMapper mapper, LongAdder done) {
        try {
            byte[] text = "{\"id\":17,\"user\":\"someone\",\"price\":12.5,\"tags\":[\"new\",\"red\"]}".getBytes();
            while (true) {
                Message message = mapper.readValue(text, Message.class);
                message.id++;
                mapper.writeValueAsBytes(message);
                done.increment();
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }
}
