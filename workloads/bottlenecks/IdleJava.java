import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Innocent: a queue is asked for work that never comes, with a timeout of two milliseconds. Nothing must be named. */
final class IdleJava {
    static final ArrayBlockingQueue<Long> queue = new ArrayBlockingQueue<>(1);

    static long ask() {
        try {
            return queue.poll(2, TimeUnit.MILLISECONDS) == null ? 0 : 1;
        } catch (InterruptedException end) {
            throw new IllegalStateException(end);
        }
    }

    public static void main(String[] words) {
        Bench.run(words, "ask for work", "queues", 1, 1, size -> { }, count -> ask());
    }
}
