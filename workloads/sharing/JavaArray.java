import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import sun.misc.Unsafe;

/** False sharing in Java: each thread counts in its own element of one array. Mended, the elements are two lines apart. */
final class JavaArray {
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    static void hit(long[] hits, int at, int times) {
        for (int i = 0; i < times; i++) ELEMENT.getAndAdd(hits, at, 1L);
    }

    public static void main(String[] words) throws InterruptedException {
        Share.begin(words, 4);
        long[] hits = new long[Layout.STRIDE * (Share.threads + 2)];
        for (int i = 0; i < Share.threads; i++)
            Share.writes(i, Share.address(hits) + Unsafe.ARRAY_LONG_BASE_OFFSET + 8L * Layout.STRIDE * (i + 1), "hits[]");
        Share.run(index -> () -> hit(hits, Layout.STRIDE * (index + 1), Share.ROUND));
    }
}
