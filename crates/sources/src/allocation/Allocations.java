import java.util.concurrent.CountDownLatch;

/**
 * Allocates at a steady pace of known classes: of so many bytes 49.6 % are `byte[]`, 30.5 % `Allocations$Node`, 19.9 % `long[]`, each at a place of its own
 * and in random order, as an even one might go in step with the buffers. Waits before and after, so that what it does lies within what is looked at.
 * Arguments: MB a second, seconds, threads.
 */
public final class Allocations {
    static final class Node {
        long a, b, c, d, e, f;
        Node next;
    }

    static volatile Object sink;

    /** 1,000 bytes. */
    static void bytes() {
        sink = new byte[984];
    }

    /** 16 times 64 bytes. */
    static void nodes() {
        Node last = null;
        for (int i = 0; i < 16; i++) {
            Node node = new Node();
            node.next = last;
            last = node;
        }
        sink = last;
    }

    /** 1,000 bytes. */
    static void longs() {
        sink = new long[123];
    }

    public static void main(String[] words) throws Exception {
        long pace = Long.parseLong(words[0]) * 1_000_000, seconds = Long.parseLong(words[1]);
        int threads = Integer.parseInt(words[2]);
        Thread.sleep(2_500);
        CountDownLatch done = new CountDownLatch(threads);
        for (int t = 0; t < threads; t++) {
            Thread worker = new Thread(() -> {
                // One round is 1 MB.
                long random = 88172645463325252L ^ Thread.currentThread().getId();
                long begin = System.nanoTime(), end = begin + seconds * 1_000_000_000L;
                for (long round = 0; System.nanoTime() < end; round++) {
                    for (int i = 0; i < 1000; i++) {
                        random ^= random << 13;
                        random ^= random >>> 7;
                        random ^= random << 17;
                        long of = (random >>> 1) % 10;
                        if (of < 5) bytes();
                        else if (of < 8) nodes();
                        else longs();
                    }
                    long due = begin + (long) (round * 1e15 * threads / pace), wait = due - System.nanoTime();
                    if (wait > 1_000_000) try { Thread.sleep(wait / 1_000_000); } catch (InterruptedException e) { return; }
                }
                done.countDown();
                // Whoever ends first waits for the other too.
                try { Thread.sleep(60_000); } catch (InterruptedException e) { return; }
            }, "worker-" + t);
            worker.setDaemon(true);
            worker.start();
        }
        done.await();
        // An idle JVM is looked at every five seconds: what its threads say of themselves at the end is to be seen.
        Thread.sleep(6_500);
    }
}
