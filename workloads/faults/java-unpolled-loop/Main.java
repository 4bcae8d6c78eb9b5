import java.util.concurrent.Semaphore;

/**
 * Ranks that are added up over a large array in a counted loop without a poll, beside a thread that allocates: the collector, and with it all other
 * threads, wait for the loop to end. Both variants are the same, only the options differ.
 */
public final class Main {
    static final int[] ranks = new int[24_000_000];

    static long addUp() {
        long sum = 0;
        for (int i = 0; i < ranks.length; i++) sum += ranks[i] * 31 ^ i;
        return sum;
    }

    static long record(long seed) {
        long[] entry = new long[6_000];
        entry[(int) (seed & 1023)] = seed;
        long x = seed | 1;
        for (int i = 0; i < 4_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x + entry[17];
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        for (int i = 0; i < ranks.length; i++) ranks[i] = i;
        long[] sums = new long[32];
        // One ranking for so many records, so that both variants rank as often.
        Semaphore due = new Semaphore(0);
        Thread ranker = new Thread(() -> {
            while (true) {
                due.acquireUninterruptibly();
                sums[16] += addUp();
            }
        }, "ranker");
        ranker.setDaemon(true);
        ranker.start();
        Frame.run("recorder", 1, index -> {
            sums[0] += record(sums[0]);
            if (++sums[1] % 600 == 0) due.release();
        });
        Frame.lostShare(1);
    }
}
