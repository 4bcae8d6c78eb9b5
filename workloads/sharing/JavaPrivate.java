/** Innocent: each thread changes an array of its own, and reads one that nobody changes. Nothing must be found. */
final class JavaPrivate {
    static long pass(long[] mine, long[] everybody, int times) {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            mine[i] += everybody[i & 1023];
            sum ^= mine[i];
        }
        return sum;
    }

    public static void main(String[] words) throws InterruptedException {
        Share.begin(words, 2);
        long[] everybody = new long[1024];
        for (int i = 0; i < everybody.length; i++) everybody[i] = i * 31L;
        Share.run(index -> {
            long[] mine = new long[Share.ROUND + 64];
            return () -> mine[Share.ROUND + 32] = pass(mine, everybody, Share.ROUND);
        });
    }
}
