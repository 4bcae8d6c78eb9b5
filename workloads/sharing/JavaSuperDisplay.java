/**
 * False sharing of what the JVM itself keeps: one thread asks by turns whether objects are of one interface and of another, and
 * each answer is noted in a word of their class (JDK-8180450: up to JDK 22); the other asks whether they are of a superclass,
 * which it looks up a few words behind. Mended, the first one asks for one interface only.
 */
final class JavaSuperDisplay {
    static long askInterfaces(Object[] objects, int times) {
        long yes = 0;
        for (int i = 0; i < times; i++) {
            Object object = objects[i & 63];
            if (Layout.MENDED || (i & 1) == 0 ? object instanceof Supers.Readable : object instanceof Supers.Closable) yes++;
        }
        return yes;
    }

    static long askSuperclass(Object[] objects, int times) {
        long yes = 0;
        for (int i = 0; i < times; i++) yes += objects[(int) (i + yes) & 63] instanceof Supers.Stream ? 1 : 2;
        return yes;
    }

    public static void main(String[] words) throws InterruptedException {
        Share.begin(words, 2);
        for (int i = 0; i < 2000; i++) {
            askInterfaces(Supers.mixed(i), 64);
            askSuperclass(Supers.mixed(i), 64);
        }
        // A class whose two words are in one line; where a class begins, the JVM decides.
        Object[] objects = null;
        for (Class<?> kind : Supers.KINDS) {
            objects = Supers.of(kind);
            long address = Supers.address(objects[0]);
            if (address + Supers.SECONDARY_SUPER_CACHE >> 6 == address + Supers.PRIMARY_SUPER_1 >> 6) break;
        }
        long address = Supers.address(objects[0]);
        if (!Layout.MENDED) {
            Share.writes(0, address + Supers.SECONDARY_SUPER_CACHE, "Klass::_secondary_super_cache");
            Share.reads(1, address + Supers.PRIMARY_SUPER_1, "Klass::_primary_supers[1]");
        }
        Object[] same = objects;
        long[] sums = new long[1024 * (Share.threads + 1)];
        Share.run(index -> () -> sums[1024 * index] += index == 0 ? askInterfaces(same, Share.ROUND) : askSuperclass(same, Share.ROUND));
    }
}
