import java.util.concurrent.CountDownLatch;

/**
 * Allocates at a steady pace of known classes: of so many bytes 50 % are `byte[]`, 30 % `Allocations$Node`, 20 % `long[]`, each at a place of its own. Waits
 * before and after, so that what it does lies within what is looked at. Arguments: MB a second, seconds, threads.
 */
public final class Allocations {
    static final class Node {
        long a, b, c, d, e, f;
        Node next;
    }

    static volatile Object sink;

    static void bytes(int times) {
        for (int i = 0; i < times; i++) sink = new byte[984];
    }

    static void nodes(int times) {
        Node last = null;
        for (int i = 0; i < times; i++) {
            Node node = new Node();
            node.next = (i & 7) == 0 ? null : last;
            last = node;
            sink = node;
        }
    }

    static void longs(int times) {
        for (int i = 0; i < times; i++) sink = new long[123];
    }

    public static void main(String[] words) throws Exception {
        long pace = Long.parseLong(words[0]) * 1_000_000, seconds = Long.parseLong(words[1]);
        int threads = Integer.parseInt(words[2]);
        Thread.sleep(2_500);
        CountDownLatch done = new CountDownLatch(threads);
        for (int t = 0; t < threads; t++) {
            Thread worker = new Thread(() -> {
                // One round is 1 MB: 500 of 1,000 bytes, 300,160 bytes of nodes of 64 bytes, 200 of 1,000.
                long begin = System.nanoTime(), end = begin + seconds * 1_000_000_000L;
                for (long round = 0; System.nanoTime() < end; round++) {
                    for (int i = 0; i < 10; i++) {
                        bytes(50);
                        nodes(469);
                        longs(20);
                    }
                    long due = begin + (long) (round * 1e15 * threads / pace), wait = due - System.nanoTime();
                    if (wait > 1_000_000) try { Thread.sleep(wait / 1_000_000); } catch (InterruptedException e) { return; }
                }
                done.countDown();
                try { Thread.sleep(3_000); } catch (InterruptedException e) { return; }
            }, "worker-" + t);
            worker.start();
        }
        done.await();
        Thread.sleep(2_500);
    }
}
