import java.util.concurrent.atomic.LongAdder;
import org.apache.commons.lang3.*;

public class Orders {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        LongAdder done = new LongAdder();
        for (int t = 0; t < 2; t++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    String name = StringUtils.leftPad(Integer.toString(RandomUtils.nextInt(0, 1000000)), 8, '0') + "-" + StringUtils.capitalize("order");
                    if (name.length() > 8) done.increment();
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
