import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** What the tests of live JVMs look at: says where some of its data is, then checks objects against two interfaces by turns. */
final class Live {
    interface Readable {}

    interface Closable {}

    static class Base {
        volatile long inherited;
        short brief;
    }

    static class Counter extends Base implements Readable, Closable {
        volatile long hits;
        Object other;
        boolean flag;
    }

    static volatile long first, second;
    static Object shared = "shared";

    static void say(String name, Unsafe unsafe, Object of, long offset) {
        Object[] holder = {of};
        int scale = unsafe.arrayIndexScale(Object[].class), base = unsafe.arrayBaseOffset(Object[].class);
        long reference = scale == 8 ? unsafe.getLong(holder, (long) base) : unsafe.getInt(holder, (long) base) & 0xffffffffL;
        System.out.println(name + " " + reference + " " + offset);
    }

    public static void main(String[] words) throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        Counter counter = new Counter();
        counter.other = new Object();
        long[] many = new long[100];
        Object[] objects = new Runnable[20];
        System.gc();
        say("hits", unsafe, counter, unsafe.objectFieldOffset(Counter.class.getDeclaredField("hits")));
        say("inherited", unsafe, counter, unsafe.objectFieldOffset(Base.class.getDeclaredField("inherited")));
        say("array", unsafe, many, unsafe.arrayBaseOffset(long[].class) + 8L * 50);
        say("objects", unsafe, objects, unsafe.arrayBaseOffset(Object[].class) + unsafe.arrayIndexScale(Object[].class) * 3L);
        Field second = Live.class.getDeclaredField("second");
        say("statics", unsafe, unsafe.staticFieldBase(second), unsafe.staticFieldOffset(second));
        say("atomic", unsafe, new java.util.concurrent.atomic.AtomicLong(7), -1);
        System.out.println("ready");
        Object object = counter;
        long yes = 0;
        for (int i = 0; System.in.available() == 0 && yes >= 0; i++)
            for (int j = 0; j < 1000; j++) yes += (j & 1) == 0 ? object instanceof Readable ? 1 : 0 : object instanceof Closable ? 1 : 0;
        System.out.println(yes + " " + counter.hits + many[3] + objects.length + shared);
    }
}
