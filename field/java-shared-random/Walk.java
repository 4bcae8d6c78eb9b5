import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;

/** Random walks of two threads. */
public class Walk {
    static final Random common = new Random(1);
    static volatile double farthest;

    static double walk(Random random, int steps) {
        double x = 0, y = 0;
        for (int i = 0; i < steps; i++) {
            x += Math.log(1 - random.nextDouble()) + 1;
            y += Math.log(1 - random.nextDouble()) + 1;
        }
        return Math.hypot(x, y);
    }

    public static void main(String[] arguments) throws Exception {
        boolean shared = arguments[0].equals("shared");
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                Random random = shared ? common : ThreadLocalRandom.current();
                for (int i = 0; i < 4000; i++) {
                    double distance = walk(random, 5000);
                    if (distance > farthest) farthest = distance;
                }
            }, "walker-" + t);
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(farthest > 0);
    }
}
