import java.util.Random;

/** Waits for the right instructions: what happens to an event depends on its random kind. More of them than a predictor learns. */
final class JavaBranches {
    static byte[] kinds;
    static long credit, debit, notes;

    static void book(byte[] kinds) {
        long in = credit, out = debit, other = notes;
        for (byte kind : kinds) {
            if (kind < -20) in = in * 3 + kind;
            else if (kind < 60) out = (out ^ kind) * 5;
            else other = (other << 1) - kind;
        }
        credit = in;
        debit = out;
        notes = other;
    }

    public static void main(String[] words) {
        Bench.run(words, "book an event", "seed", 4, 256 << 10, seed -> {
            kinds = new byte[256 << 10];
            new Random(seed).nextBytes(kinds);
        }, count -> {
            book(kinds);
            return credit ^ debit ^ notes;
        });
    }
}
