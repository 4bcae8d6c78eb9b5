import java.util.concurrent.atomic.LongAdder;
import org.slf4j.*;

public class Log {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        Logger logger = LoggerFactory.getLogger("shop.orders");
        LongAdder done = new LongAdder();
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                for (long i = 0; ; i++) {
                    logger.info("order {} of customer {} is paid", i, i % 977);
                    done.increment();
                }
            }, "worker-" + t);
            thread.setDaemon(true);
            thread.start();
        }
        for (int half = 0; half < seconds * 2; half++) {
            Thread.sleep(500);
            System.out.println("done " + done.sum());
        }
        System.exit(0);
    }
}
