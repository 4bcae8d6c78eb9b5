import java.util.ArrayList;
import java.util.List;

/** An archive of accounts answers queries: each collects the entries that match, orders them by month, and adds them up. */
public final class Main {
    static final int ENTRIES = 150_000, PIECE = 8 << 10;

    record Entry(int account, int month, long cents) {}

    /** The entries of one answer, in pieces of a given length. */
    static final class Result {
        private final int piece;
        private final List<Entry[]> pieces = new ArrayList<>();
        private int size;

        Result(int expected, int piece) {
            this.piece = piece;
            for (int at = 0; at < expected; at += piece) pieces.add(new Entry[piece]);
        }

        void add(Entry entry) {
            pieces.get(size / piece)[size % piece] = entry;
            size++;
        }

        Entry get(int at) {
            return pieces.get(at / piece)[at % piece];
        }
    }

    static long answer(Entry[] entries, int account, int piece) {
        Result result = new Result(ENTRIES, piece);
        int from = account * 7919 % entries.length;
        for (int i = 0; i < ENTRIES / 2; i++) {
            Entry entry = entries[(from + i) % entries.length];
            if (entry.cents() % 5 != account % 5) result.add(entry);
        }
        long[] months = new long[12];
        for (int i = 0; i < result.size; i++) months[result.get(i).month()] += result.get(i).cents();
        long largest = 0;
        for (long month : months) largest = Math.max(largest, month);
        return largest;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        Entry[] entries = new Entry[1_000_000];
        for (int i = 0; i < entries.length; i++) entries[i] = new Entry(i % 5000, i * 31 % 12, i * 7L % 10_007);
        int piece = Frame.slow ? ENTRIES : PIECE;
        int[] next = {0, 1};
        Frame.run("query", 2, index -> answer(entries, next[index] += 2, piece));
        Frame.lostShare(1);
    }
}
