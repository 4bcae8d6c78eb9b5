/** A parser that tells by an exception from 30 calls deep that a field is optional; against one whose exceptions have no stack. */
public final class Main {
    static final class Absent extends RuntimeException {
        Absent(boolean withStack) {
            super("absent", null, false, withStack);
        }
    }

    static long parse(int depth, long seed) {
        if (depth == 0) {
            if ((seed & 3) != 0) throw new Absent(Frame.slow);
            return seed;
        }
        return parse(depth - 1, seed * 31 + depth) + depth;
    }

    static long handle(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 12; i++) {
            x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
            try {
                x += parse(30, x);
            } catch (Absent e) {
                x += 7;
            }
        }
        return x;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> sums[index * 16] += handle(sums[index * 16]));
        Frame.lostShare(1);
    }
}
