import java.util.concurrent.atomic.AtomicLong;

/** Waits for atomic additions that nobody else contends for. */
final class JavaAtomic {
    static final AtomicLong sequence = new AtomicLong();

    static long take(int count) {
        long last = 0;
        for (int i = 0; i < count; i++) last += sequence.getAndIncrement();
        return last;
    }

    public static void main(String[] words) {
        Bench.run(words, "take a number", "counters", 1, 50_000, size -> { }, count -> take((int) count));
    }
}
