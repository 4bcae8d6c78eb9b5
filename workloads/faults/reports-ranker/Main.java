import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A shop answers requests while a thread of the same JVM ranks the products again and again for the recommendations. */
public final class Main {
    static final int PRODUCTS = 6_000_000;

    static final class Ranking {
        private final double[] clicks = new double[PRODUCTS], ages = new double[PRODUCTS];
        private volatile double norm;

        Ranking() {
            for (int i = 0; i < PRODUCTS; i++) {
                clicks[i] = i * 7919L % 10_007;
                ages[i] = 1 + i % 365;
            }
        }

        static double weigh(double[] clicks, double[] ages) {
            double sum = 0;
            for (int i = 0; i < clicks.length; i++) sum += Math.sqrt(clicks[i]) / ages[i];
            return sum;
        }

        void refresh() {
            norm = weigh(clicks, ages);
        }
    }

    record Line(String product, int count, long cents) {}

    /** One request: a basket is read, priced, and written as text. */
    static int basket(long number, double norm) {
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < 40; i++) lines.add(new Line("product-" + (number * 31 + i) % 5000, 1 + i % 4, 199 + i * 50L));
        Map<String, Long> totals = new HashMap<>();
        for (Line line : lines) totals.merge(line.product(), line.count() * line.cents(), Long::sum);
        StringBuilder text = new StringBuilder();
        totals.forEach((product, cents) -> text.append(product).append(' ').append(cents / 100).append('.').append(cents % 100).append('\n'));
        return text.append(norm > 0).length();
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        Ranking ranking = new Ranking();
        Thread thread = new Thread(() -> {
            while (!Frame.stopped.get()) ranking.refresh();
        }, "ranking");
        thread.setDaemon(true);
        thread.start();
        long[] next = new long[2];
        Frame.run("request", 2, index -> basket(next[index]++, ranking.norm));
        Frame.lostShare(1);
    }
}
