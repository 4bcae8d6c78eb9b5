import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/** Requests that parse a message into many small objects, which live as long as their session; both variants are the same, only the options differ. */
public final class Main {
    static final ThreadLocal<ArrayDeque<Map<String, Object>>> sessions = ThreadLocal.withInitial(ArrayDeque::new);

    static long handle(long seed) {
        Map<String, Object> message = new HashMap<>();
        long x = seed | 1;
        for (int field = 0; field < 60; field++) {
            x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
            message.put("field-" + (x >>> 56), new long[] {x, field, seed});
        }
        ArrayDeque<Map<String, Object>> kept = sessions.get();
        kept.add(message);
        if (kept.size() > 2_000) kept.poll();
        return x + message.size();
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> sums[index * 16] += handle(sums[index * 16]));
        Frame.lostShare(1);
    }
}
