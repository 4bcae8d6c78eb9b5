import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/** How often each value comes in a request: counted in a map of boxed numbers, against in an array. The last reports are kept. */
public final class Main {
    static final int VALUES = 4000;
    static final int EVENTS = 12_000;
    static final int KEPT = 250;
    static final ThreadLocal<ArrayDeque<Object>> reports = ThreadLocal.withInitial(ArrayDeque::new);

    static void keep(Object report) {
        ArrayDeque<Object> kept = reports.get();
        kept.add(report);
        if (kept.size() > KEPT) kept.poll();
    }

    static int value(long seed, int at) {
        long x = (seed + at) * 0x9e3779b97f4a7c15L;
        return (int) ((x >>> 33) % VALUES) + 1000;
    }

    static long countInMap(long seed) {
        Map<Integer, Long> counts = new HashMap<>();
        for (int i = 0; i < EVENTS; i++) counts.merge(value(seed, i), 1_000L, Long::sum);
        keep(counts);
        long most = 0;
        for (long count : counts.values()) most = Math.max(most, count);
        return most;
    }

    static long countInArray(long seed) {
        long[] counts = new long[VALUES + 1000];
        for (int i = 0; i < EVENTS; i++) counts[value(seed, i)] += 1_000;
        keep(counts);
        long most = 0;
        for (long count : counts) most = Math.max(most, count);
        return most;
    }

    static long work(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 100_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> {
            long seed = work(sums[index * 16]);
            sums[index * 16] += Frame.slow ? countInMap(seed) : countInArray(seed);
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
