import java.util.concurrent.atomic.AtomicLong;

/** True sharing in Java: all threads draw numbers from one sequence. Mended, they draw a hundred at a time. */
final class JavaSequence {
    static final AtomicLong sequence = new AtomicLong();

    static long draw(long value, int times) {
        for (int i = 0; i < times; i += Layout.BATCH) {
            long number = sequence.getAndAdd(Layout.BATCH);
            for (int j = 0; j < Layout.BATCH; j++) value = Share.work(value ^ (number + j), 10);
        }
        return value;
    }

    public static void main(String[] words) throws InterruptedException {
        Share.begin(words, 2);
        // The only field of an AtomicLong comes after its header, at 16.
        if (!Layout.MENDED)
            for (int i = 0; i < Share.threads; i++) Share.writes(i, Share.address(sequence) + 16, "AtomicLong.value");
        long[] values = new long[1024 * (Share.threads + 1)];
        Share.run(index -> () -> values[1024 * index] = draw(values[1024 * index], Share.ROUND));
    }
}
