import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;

/** What the Java programs share: the command line, threads that count operations, progress on stdout, truths. */
final class Frame {
    static boolean slow;
    static double seconds = 10;
    /** Seconds between two lines of progress. */
    static double every = 1;
    static final AtomicBoolean stopped = new AtomicBoolean();
    static final LongAdder done = new LongAdder();

    static void begin(String[] words) {
        if (words.length < 1 || !(words[0].equals("slow") || words[0].equals("fast"))) {
            System.err.println("usage: slow|fast [--seconds S]");
            System.exit(words.length > 0 && (words[0].equals("--help") || words[0].equals("-h")) ? 0 : 2);
        }
        slow = words[0].equals("slow");
        if (words.length == 3 && words[1].equals("--seconds")) seconds = Double.parseDouble(words[2]);
    }

    /** Runs the operation again and again in threads until the time is up, and prints the progress. */
    static void run(String name, int count, IntConsumer operation) throws InterruptedException {
        long started = System.nanoTime();
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int index = i;
            threads[i] = new Thread(() -> {
                while (!stopped.get()) {
                    operation.accept(index);
                    done.increment();
                }
            }, name + "-" + i);
            threads[i].start();
        }
        watch(started, threads);
    }

    /** Prints the progress of threads that count in `done` until the time is up, stops them, and prints the totals. */
    static void watch(long started, Thread... threads) throws InterruptedException {
        double next = every, now;
        while ((now = (System.nanoTime() - started) / 1e9) < seconds) {
            if (now >= next) {
                System.out.println("done " + done.sum());
                next += every;
            }
            Thread.sleep(Math.max(1, (long) ((Math.min(next, seconds) - now) * 1000)));
        }
        stopped.set(true);
        for (Thread thread : threads) thread.join();
        System.out.printf("done %d%noperations: %d%ntruth: wall seconds %.3f%n", done.sum(), done.sum(), (System.nanoTime() - started) / 1e9);
    }

    /** The part of the slow-down that the fault itself makes; 0 in the fast variant. */
    static void lostShare(double share) {
        System.out.printf("truth: lost share %.3f%n", slow ? share : 0.0);
    }

    static void truth(String text) {
        System.out.println("truth: " + text);
    }
}
