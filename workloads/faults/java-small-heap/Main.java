import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ThreadLocalRandom;

/** A cache that lives and requests that allocate; both variants are the same, only the heap's size differs (-Xmx). */
public final class Main {
    static final String[] cache = new String[120_000];

    static long handle(int index) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long sum = 0;
        for (int i = 0; i < 40; i++) {
            int at = random.nextInt(cache.length);
            StringBuilder text = new StringBuilder();
            for (int field = 0; field < 8; field++) text.append(random.nextInt()).append(';');
            sum += text.toString().hashCode();
            if (i % 8 == 0) cache[at] = text.toString();
        }
        return sum;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        for (int i = 0; i < cache.length; i++) cache[i] = "entry number " + i + " of a cache that is kept for the life of the program";
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> sums[index * 16] += handle(index));
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
