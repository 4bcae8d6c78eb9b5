import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntFunction;
import sun.misc.Unsafe;

/**
 * The frame of the Java programs whose threads share cache lines: as share.h, but threads are not bound to CPUs. Which words
 * they use is said by address, as HotSpot has it at the start; no collection moves objects later, for next to nothing is
 * allocated.
 */
final class Share {
    static final int ROUND = 10_000;
    static final Unsafe UNSAFE;
    static volatile boolean stopped;
    static double seconds = 2;
    static int threads;
    /** Bits that a compressed reference is shifted by; -1 where references are addresses. */
    private static final int SHIFT;

    static {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            UNSAFE = (Unsafe) field.get(null);
        } catch (ReflectiveOperationException error) {
            throw new ExceptionInInitializerError(error);
        }
        if (Unsafe.ARRAY_OBJECT_INDEX_SCALE == 8) {
            SHIFT = -1;
        } else {
            // Two empty arrays of 16 bytes, allocated one after another. Something may come between, but not always.
            long apart = 0;
            for (int i = 0; i < 100 && apart != 16 && apart != 2; i++) {
                Object first = new byte[0], second = new byte[0];
                apart = reference(second) - reference(first);
            }
            SHIFT = apart == 2 ? 3 : 0;
        }
    }

    /** A reference as HotSpot keeps it in an array. */
    private static long reference(Object of) {
        Object[] holder = {of};
        return Unsafe.ARRAY_OBJECT_INDEX_SCALE == 8 ? UNSAFE.getLong(holder, (long) Unsafe.ARRAY_OBJECT_BASE_OFFSET)
            : UNSAFE.getInt(holder, (long) Unsafe.ARRAY_OBJECT_BASE_OFFSET) & 0xffffffffL;
    }

    /** Where an object is. Right as far as the place in its line goes; of a heap that is not based at zero, the base is missing. */
    static long address(Object of) {
        return SHIFT < 0 ? reference(of) : reference(of) << SHIFT;
    }

    static long address(Object of, String field) {
        try {
            return address(of) + UNSAFE.objectFieldOffset(of.getClass().getDeclaredField(field));
        } catch (NoSuchFieldException error) {
            throw new IllegalArgumentException(error);
        }
    }

    static void begin(String[] words, int defaultThreads) {
        if (words.length > 0 && (words[0].equals("--help") || words[0].equals("-h"))) {
            System.out.println("usage: [SECONDS] [THREADS]");
            System.exit(0);
        }
        if (words.length > 0) seconds = Double.parseDouble(words[0]);
        threads = words.length > 1 ? Integer.parseInt(words[1]) : defaultThreads;
        System.out.println("truth: threads " + threads);
    }

    /** Says that a thread writes (and may read) a word again and again. */
    static void writes(int thread, long address, String name) {
        System.out.printf("truth: writes %d 0x%x %s%n", thread, address, name);
    }

    /** Says that a thread reads a word again and again, and never writes it. */
    static void reads(int thread, long address, String name) {
        System.out.printf("truth: reads %d 0x%x %s%n", thread, address, name);
    }

    /** Calls each thread's body until the time is up; a call does ROUND operations. */
    static void run(IntFunction<Runnable> bodyOf) throws InterruptedException {
        final int apart = 64;
        AtomicLongArray done = new AtomicLongArray(apart * (threads + 1));
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int at = apart * (i + 1);
            Runnable body = bodyOf.apply(i);
            all[i] = new Thread(() -> {
                while (!stopped) {
                    body.run();
                    done.lazySet(at, done.getPlain(at) + ROUND);
                }
            }, "worker-" + i);
        }
        long started = System.nanoTime(), now, warm = 0, warmDone = 0;
        for (Thread thread : all) thread.start();
        while ((now = System.nanoTime() - started) < seconds * 1e9) {
            Thread.sleep(Math.max(1, (long) Math.min(250, (seconds * 1e9 - now) / 1e6)));
            // What comes before is compiling.
            if (warm == 0) {
                warm = system.getProcessCpuTime();
                warmDone = total(done);
            }
            System.out.println("done " + total(done));
        }
        long cpu = system.getProcessCpuTime() - warm;
        long measured = total(done) - warmDone;
        stopped = true;
        for (Thread thread : all) thread.join();
        System.out.printf("done %d%noperations: %d%n", total(done), total(done));
        System.out.printf("truth: wall seconds %.4f%n", (System.nanoTime() - started) * 1e-9);
        if (measured > 0) System.out.printf("truth: cpu seconds %.4f%ntruth: cpu ns per operation %.4f%n", cpu * 1e-9, cpu / (double) measured);
    }

    private static long total(AtomicLongArray done) {
        long sum = 0;
        for (int i = 0; i < done.length(); i++) sum += done.get(i);
        return sum;
    }

    /** Work of about a nanosecond a step that shares nothing. */
    static long work(long value, int steps) {
        for (int i = 0; i < steps; i++) value = (value ^ (value >>> 29)) * 0xbf58476d1ce4e5b9L;
        return value;
    }
}
