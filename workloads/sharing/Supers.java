import java.util.Arrays;

/** Classes with two interfaces and a superclass, for the programs that ask what an object is. */
final class Supers {
    interface Readable {}

    interface Closable {}

    static class Stream {}

    static class Stream0 extends Stream implements Readable, Closable {}

    static class Stream1 extends Stream implements Readable, Closable {}

    static class Stream2 extends Stream implements Readable, Closable {}

    static class Stream3 extends Stream implements Readable, Closable {}

    static class Stream4 extends Stream implements Readable, Closable {}

    static class Stream5 extends Stream implements Readable, Closable {}

    static class Stream6 extends Stream implements Readable, Closable {}

    static class Stream7 extends Stream implements Readable, Closable {}

    static final Class<?>[] KINDS = {Stream0.class, Stream1.class, Stream2.class, Stream3.class, Stream4.class, Stream5.class,
        Stream6.class, Stream7.class};

    /** Places in HotSpot's description of a class, of JDK 17 on 64 bits. */
    static final int SECONDARY_SUPER_CACHE = 0x20, PRIMARY_SUPER_1 = 0x38;

    private Supers() {}

    static Object make(Class<?> kind) {
        try {
            return kind.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Sixty-four references to one object of a class. */
    static Object[] of(Class<?> kind) {
        Object[] all = new Object[64];
        Arrays.fill(all, make(kind));
        return all;
    }

    private static final Object[][] MIXED = new Object[8][64];

    static {
        for (int i = 0; i < 8; i++) for (int j = 0; j < 64; j++) MIXED[i][j] = (i + j) % 9 == 8 ? "none" : make(KINDS[(i + j) % 9]);
    }

    /** Objects of all classes, and some of none. */
    static Object[] mixed(int seed) {
        return MIXED[seed & 7];
    }

    /**
     * Where HotSpot describes the class of an object, as JDK 17 has it by default: 32 bits, from 0x800000000, not shifted. Of a JVM
     * that is set up otherwise, the place in the line is right.
     */
    static long address(Object of) {
        return 0x800000000L + (Share.UNSAFE.getInt(of, 8L) & 0xffffffffL);
    }
}
