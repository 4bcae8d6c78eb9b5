/** Positions of a game lead from one to the next by a table of half a gigabyte. Both variants are the same, only the options differ. */
public final class Main {
    static final long[] table = new long[1 << 26];

    static long look(long position) {
        for (int move = 0; move < 2_000; move++)
            position = position * 6364136223846793005L + 1442695040888963407L + table[(int) (position >>> 38)];
        return position;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        for (int i = 0; i < table.length; i += 512) table[i] = i;
        long[] positions = new long[2 * 16];
        positions[16] = 77;
        Frame.run("searcher", 2, index -> positions[index * 16] = look(positions[index * 16]));
        Frame.lostShare(1);
    }
}
