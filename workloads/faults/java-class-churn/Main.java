import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;

/** Each request loads its handler with a class loader of its own, as for plug-ins that may change; against one loader that is kept. */
public final class Main {
    /** What a request is handled by. */
    public static final class Handler {
        public static long handle(Long seed) {
            return work(seed);
        }
    }

    /** Public, for a class of another loader is of another package. */
    public static long work(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 20_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x;
    }

    static final class Loader extends ClassLoader {
        final byte[] code;

        Loader(byte[] code) {
            super(Main.class.getClassLoader());
            this.code = code;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals("Main$Handler") ? findLoadedOrDefine(name) : super.loadClass(name, resolve);
        }

        Class<?> findLoadedOrDefine(String name) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : defineClass(name, code, 0, code.length);
        }
    }

    static long handle(byte[] code, Loader[] kept, int index, long seed) {
        try {
            Loader loader = Frame.slow ? new Loader(code) : kept[index];
            return (Long) loader.loadClass("Main$Handler").getMethod("handle", Long.class).invoke(null, seed);
        } catch (ClassNotFoundException | NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] words) throws Exception {
        Frame.begin(words);
        byte[] code;
        try (InputStream in = Main.class.getResourceAsStream("Main$Handler.class")) {
            code = in.readAllBytes();
        }
        Loader[] kept = {new Loader(code), new Loader(code)};
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> sums[index * 16] += handle(code, kept, index, sums[index * 16]));
        Frame.lostShare(1);
    }
}
