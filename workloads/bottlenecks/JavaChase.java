/** Waits for loads: the entries of a table are indices of the entries to look at next. */
final class JavaChase {
    static int[] table;
    static int at;

    static int follow(int[] table, int from, long steps) {
        for (long i = 0; i < steps; i++) from = table[from];
        return from;
    }

    public static void main(String[] words) {
        Bench.run(words, "follow an index", "bytes", 128 << 20, 20_000, size -> {
            int entries = Integer.highestOneBit((int) (size / 4));
            table = new int[entries];
            // One cycle through all: the full period of a linear congruential generator.
            for (int i = 0; i < entries; i++) table[i] = (i * 1_664_525 + 1_013_904_223) & (entries - 1);
        }, steps -> at = follow(table, at, steps));
    }
}
