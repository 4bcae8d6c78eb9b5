import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A cache and requests that allocate. Both variants have the same command and options; only the memory of the control group differs, of which the JVM
 * takes a quarter for its heap.
 */
public final class Main {
    static final Map<Integer, String> cache = new java.util.concurrent.ConcurrentHashMap<>();
    static final int KEYS = 315_000;

    static long handle() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long sum = 0;
        for (int i = 0; i < 30; i++) {
            int key = random.nextInt(KEYS);
            StringBuilder text = new StringBuilder();
            for (int field = 0; field < 8; field++) text.append(random.nextInt()).append(';');
            sum += text.length();
            if (i % 8 == 0) cache.put(key, text.toString());
        }
        return sum;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        for (int key = 0; key < KEYS; key++) cache.put(key, "entry number " + key + " of a cache that is kept for the life of the program, with a text");
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> sums[index * 16] += handle());
        Frame.lostShare(1);
    }
}
