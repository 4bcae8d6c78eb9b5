/** Bound by latency: interest is added to an account, a multiplication after another. */
final class JavaChain {
    static double balance = 100;

    static double compound(double balance, double rate, int terms) {
        for (int i = 0; i < terms; i++) balance = balance * rate + 0.5;
        return balance;
    }

    public static void main(String[] words) {
        Bench.run(words, "add the interest of a term", "thousandths", 1, 50_000, size -> { }, terms -> {
            balance = compound(balance, 0.99, (int) terms);
            return (long) balance;
        });
    }
}
