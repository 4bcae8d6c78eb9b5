/** Waits for integer divisions: remainders, each of the one before. */
final class JavaRemainder {
    static long modulus, state = 1;

    static long reduce(long value, long by, int steps) {
        for (int i = 0; i < steps; i++) value = ((value | 1L << 61) % by) * 31 + i;
        return value;
    }

    public static void main(String[] words) {
        Bench.run(words, "take a remainder", "modulus", 1_000_003, 20_000, size -> modulus = size,
            steps -> state = reduce(state, modulus, (int) steps));
    }
}
