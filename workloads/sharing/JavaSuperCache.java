/**
 * True sharing of what the JVM itself keeps: two threads ask by turns whether objects of a class are of one interface and of
 * another, and each answer is noted in the one word of the class that remembers the last interface asked for (JDK-8180450: up to
 * JDK 22). Mended, they ask for one interface only.
 */
final class JavaSuperCache {
    static long ask(Object[] objects, int times) {
        long yes = 0;
        for (int i = 0; i < times; i++) {
            Object object = objects[i & 63];
            if (Layout.MENDED || (i & 1) == 0 ? object instanceof Supers.Readable : object instanceof Supers.Closable) yes++;
        }
        return yes;
    }

    public static void main(String[] words) throws InterruptedException {
        Share.begin(words, 2);
        // All kinds first, so that the compiler does not take it for granted that there is one.
        for (int i = 0; i < 2000; i++) ask(Supers.mixed(i), 64);
        Object[] same = Supers.of(Supers.KINDS[0]);
        if (!Layout.MENDED)
            for (int i = 0; i < Share.threads; i++)
                Share.writes(i, Supers.address(same[0]) + Supers.SECONDARY_SUPER_CACHE, "Klass::_secondary_super_cache");
        long[] sums = new long[1024 * (Share.threads + 1)];
        Share.run(index -> () -> sums[1024 * index] += ask(same, Share.ROUND));
    }
}
