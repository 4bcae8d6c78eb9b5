import com.fasterxml.jackson.core.*;
import java.util.concurrent.atomic.LongAdder;

public class Messages {
    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int seconds = Integer.parseInt(arguments[1]);
        JsonFactory factory = new JsonFactory();
        LongAdder done = new LongAdder();
        for (int t = 0; t < threads; t++) {
            Thread thread = new Thread(() -> work(factory, done), "worker-" + t);
            thread.setDaemon(true);
            thread.start();
        }
        for (int half = 0; half < seconds * 2; half++) {
            Thread.sleep(500);
            System.out.println("done " + done.sum());
        }
        System.exit(0);
    }

    static void work(JsonFactory factory, LongAdder done) {
        try {
            byte[] text = "{\"id\":17}".getBytes();
            while (true) {
                try (JsonParser parser = factory.createParser(text)) {
                    while (parser.nextToken() != null) { }
                }
                done.increment();
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }
}
