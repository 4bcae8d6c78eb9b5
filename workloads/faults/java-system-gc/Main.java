import java.util.ArrayList;
import java.util.List;

/** A service that calls System.gc() after each batch, to be tidy; against one that leaves it to the JVM. */
public final class Main {
    static final List<byte[]> kept = new ArrayList<>();
    static long calls, nanoseconds;

    static long handle(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 200_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x + new byte[4096].length;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        for (int i = 0; i < 5_000; i++) kept.add(new byte[4096]);
        long[] state = {1, 0};
        Frame.run("batch", 1, index -> {
            state[0] = handle(state[0]);
            if (Frame.slow && ++state[1] % 20 == 0) {
                long from = System.nanoTime();
                System.gc();
                nanoseconds += System.nanoTime() - from;
                calls++;
            }
        });
        Frame.truth("calls of System.gc " + calls);
        Frame.truth(String.format("seconds in System.gc %.3f", nanoseconds / 1e9));
        Frame.lostShare(1);
    }
}
