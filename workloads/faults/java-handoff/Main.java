import java.util.concurrent.SynchronousQueue;

/** Hands values from one thread to another and waits for the answer: one at a time, against 64. */
public final class Main {
    static long work(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 1000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x;
    }

    static long[] work(long[] values) {
        for (int i = 0; i < values.length; i++) values[i] = work(values[i]);
        return values;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        SynchronousQueue<long[]> questions = new SynchronousQueue<>(), answers = new SynchronousQueue<>();
        Thread server = new Thread(() -> {
            try {
                while (true) answers.put(work(questions.take()));
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        }, "server");
        server.setDaemon(true);
        server.start();
        int batch = Frame.slow ? 1 : 64;
        long[][] values = {new long[batch]};
        long[] trips = {0};
        Frame.run("client", 1, index -> {
            try {
                questions.put(work(values[0]));
                values[0] = answers.take();
                trips[0]++;
                Frame.done.add(batch - 1);
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        });
        Frame.truth("round trips " + trips[0]);
        Frame.lostShare(1);
    }
}
