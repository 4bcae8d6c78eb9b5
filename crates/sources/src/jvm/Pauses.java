import java.util.ArrayDeque;

/** What a JVM stops for: collections, thread dumps, an explicit collection. It then waits for its input to end, so that it can be looked at. */
public final class Pauses {
    static volatile Object sink;

    public static void main(String[] words) throws Exception {
        double seconds = Double.parseDouble(words[0]);
        Thread sleeper = new Thread(() -> {
            try {
                Thread.sleep(1_000_000);
            } catch (InterruptedException e) {
                // Asked to end.
            }
        }, "a thread whose name is longer than the kernel keeps");
        sleeper.setDaemon(true);
        sleeper.start();
        System.out.println("begins");
        ArrayDeque<byte[]> kept = new ArrayDeque<>();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        long done = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 40; i++) {
                byte[] block = new byte[8192];
                sink = block;
                if (done % 4 == 0) kept.add(block);
                if (kept.size() > 1200) kept.poll();
                done++;
            }
            if (done % 40_000 == 0) Thread.getAllStackTraces();
            if (done % 120_000 == 0) System.gc();
            if (done % 400 == 0) Thread.sleep(1);
        }
        System.out.println("done");
        while (System.in.read() >= 0) continue;
    }
}
