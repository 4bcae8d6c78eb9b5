import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** Archives the state of accounts: renders a page of each, and keeps the last pages for who asks for them. */
public final class Main {
    static final int PAGE = 640 << 10, PIECE = 64 << 10, KEPT = 40;

    /** A page, in as many pieces as it was written in. */
    static final class Page {
        final List<byte[]> pieces = new ArrayList<>();

        Page(int piece) {
            for (int left = PAGE; left > 0; left -= piece) pieces.add(new byte[Math.min(left, piece)]);
        }

        void render(long account) {
            long state = account * 0x9e3779b97f4a7c15L | 1;
            for (byte[] piece : pieces) {
                for (int i = 0; i + 8 <= piece.length; i += 8) {
                    state ^= state << 13;
                    state ^= state >>> 7;
                    state ^= state << 17;
                    piece[i] = (byte) state;
                    piece[i + 3] = (byte) (state >>> 20);
                }
            }
        }

        long sum(CRC32C sum) {
            sum.reset();
            for (byte[] piece : pieces) sum.update(piece, 0, piece.length);
            return sum.getValue();
        }
    }

    /** What the archive knows of an account besides its pages. */
    record Account(long number, String owner, long[] balances) {}

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        List<Account> accounts = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) accounts.add(new Account(i, "owner " + i, new long[] {i, i * 3L, i * 7L}));
        List<ArrayDeque<Page>> kept = List.of(new ArrayDeque<>(), new ArrayDeque<>());
        CRC32C[] sums = {new CRC32C(), new CRC32C()};
        long[] next = {1, 2};
        Frame.run("archive", 2, index -> {
            Page page = new Page(Frame.slow ? PAGE : PIECE);
            Account account = accounts.get((int) (next[index] % accounts.size()));
            page.render(account.number() + account.balances()[1]);
            page.sum(sums[index]);
            next[index] += 2;
            kept.get(index).addLast(page);
            if (kept.get(index).size() > KEPT / 2) kept.get(index).removeFirst();
        });
        Frame.lostShare(1);
    }
}
