import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;

/** A window over the last values: copied as a list of boxed numbers for each request, against kept in one array. */
public final class Main {
    static final int WINDOW = 4000;
    static final ThreadLocal<ArrayDeque<Object>> recent = ThreadLocal.withInitial(ArrayDeque::new);

    /** Keeps the last 300 windows, as a client that may ask for them. */
    static long sumOfCopy(long[] window, long seed) {
        Long[] copy = new Long[WINDOW];
        for (int i = 0; i < WINDOW; i++) copy[i] = window[i] + seed;
        ArrayDeque<Object> kept = recent.get();
        kept.add(copy);
        if (kept.size() > 300) kept.poll();
        long sum = 0;
        for (Long value : copy) sum += value;
        return sum;
    }

    static long sum(long[] window, long seed) {
        long sum = 0;
        for (int i = 0; i < WINDOW; i++) sum += window[i] + seed;
        return sum;
    }

    static long work(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 30_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        long[] window = new long[WINDOW];
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> {
            long seed = work(sums[index * 16]);
            sums[index * 16] += Frame.slow ? sumOfCopy(window, seed) : sum(window, seed);
        });
        long count = 0, ms = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += collector.getCollectionCount();
            ms += collector.getCollectionTime();
        }
        Frame.truth("collections " + count);
        Frame.truth(String.format("seconds in collections %.3f", ms / 1e3));
        Frame.lostShare(1);
    }
}
