import java.util.concurrent.locks.LockSupport;

/** A monitor thread that looks at the stacks of all threads every 2 ms, each time at a safepoint; against every second. */
public final class Main {
    static void deep(int depth) {
        if (depth > 0) deep(depth - 1);
        else while (!Frame.stopped.get()) LockSupport.parkNanos(50_000_000);
    }

    static long handle(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 20_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        for (int i = 0; i < 60; i++) {
            Thread idle = new Thread(null, () -> deep(400), "idle-" + i, 1 << 20);
            idle.setDaemon(true);
            idle.start();
        }
        long pause = Frame.slow ? 2_000_000 : 1_000_000_000;
        long[] dumps = {0, 0};
        Thread monitor = new Thread(() -> {
            while (!Frame.stopped.get()) {
                long from = System.nanoTime();
                Thread.getAllStackTraces();
                dumps[0]++;
                dumps[1] += System.nanoTime() - from;
                LockSupport.parkNanos(pause);
            }
        }, "monitor");
        monitor.setDaemon(true);
        monitor.start();
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> sums[index * 16] += handle(sums[index * 16]));
        Frame.truth("dumps " + dumps[0]);
        Frame.truth(String.format("seconds in dumps %.3f", dumps[1] / 1e9));
        Frame.lostShare(1);
    }
}
