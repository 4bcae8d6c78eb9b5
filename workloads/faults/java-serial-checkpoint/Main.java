import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Workers explore states in rounds; after each round one of them writes a checkpoint of all while the others wait at a barrier. In the fast variant each
 * writes its own part.
 */
public final class Main {
    static final int THREADS = 4;
    static final long[][] parts = new long[THREADS][12_000_000];

    static long explore(long[] part, long seed) {
        long x = seed | 1;
        for (int round = 0; round < 4; round++)
            for (int i = 0; i < part.length; i++) {
                x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
                part[i] += x >>> 40;
            }
        return x;
    }

    static long writeCheckpoint(long[] part) {
        long check = 17;
        for (int copy = 0; copy < 3; copy++)
            for (int i = 0; i < part.length; i++) check = Long.rotateLeft(check, 7) * 31 + (part[i] ^ check >>> 3) % 1_000_003;
        return check;
    }

    /** Whether the round is the last one. It is said at the barrier, for all threads alike: one that goes on alone would wait there for ever. */
    static boolean over;

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        long[] checks = new long[THREADS * 16];
        CyclicBarrier barrier = new CyclicBarrier(THREADS, () -> {
            if (Frame.slow) for (int i = 0; i < THREADS; i++) checks[i * 16] += writeCheckpoint(parts[i]);
            over = Frame.stopped.get();
        });
        long started = System.nanoTime();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int index = i;
            threads[i] = new Thread(() -> {
                do {
                    checks[index * 16] += explore(parts[index], checks[index * 16]);
                    if (!Frame.slow) checks[index * 16] += writeCheckpoint(parts[index]);
                    try {
                        barrier.await();
                    } catch (InterruptedException | BrokenBarrierException e) {
                        return;
                    }
                    Frame.done.increment();
                } while (!over);
            }, "explorer-" + i);
            threads[i].start();
        }
        Frame.watch(started, threads);
        Frame.lostShare(1);
    }
}
