import java.util.ArrayList;
import java.util.List;

/** Prices orders by rules, each a small object with a method of its own. Both variants are the same, only the options differ. */
public final class Main {
    interface Rule {
        long apply(long cents, int quantity);
    }

    record Discount(int from, int percent) implements Rule {
        public long apply(long cents, int quantity) {
            return quantity >= from ? cents - cents * percent / 100 : cents;
        }
    }

    record Fee(long fee) implements Rule {
        public long apply(long cents, int quantity) {
            return cents + fee * quantity;
        }
    }

    record Tax(int perMille) implements Rule {
        public long apply(long cents, int quantity) {
            return cents + cents * perMille / 1000;
        }
    }

    static long price(List<Rule> rules, long cents, int quantity) {
        for (Rule rule : rules) cents = rule.apply(cents, quantity);
        return cents;
    }

    static long order(List<Rule> rules, long seed) {
        long sum = 0;
        for (int line = 0; line < 400; line++) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            sum += price(rules, (seed >>> 40) + 99, (int) (seed >>> 60) + 1);
        }
        return sum;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        List<Rule> rules = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            rules.add(new Discount(3 * i, 2 + i));
            rules.add(new Fee(5 + i));
            rules.add(new Tax(19 * i));
        }
        long[] sums = new long[2 * 16];
        Frame.run("pricing", 2, index -> sums[index * 16] += order(rules, sums[index * 16]));
        Frame.lostShare(1);
    }
}
