import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import javax.management.ObjectName;

/** A monitor counts the objects of each class ten times a second, which walks the whole heap each time; against never. */
public final class Main {
    static final Map<Integer, long[]> cache = new HashMap<>();

    static long handle(long seed) {
        long x = seed | 1;
        for (int i = 0; i < 20_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x + cache.get((int) (x >>> 48)).length;
    }

    public static void main(String[] words) throws Exception {
        Frame.begin(words);
        for (int i = 0; i < 1 << 16; i++) cache.put(i, new long[48]);
        ObjectName diagnostic = new ObjectName("com.sun.management:type=DiagnosticCommand");
        Thread monitor = new Thread(() -> {
            while (Frame.slow && !Frame.stopped.get()) {
                try {
                    Object[] none = {new String[0]};
                    ManagementFactory.getPlatformMBeanServer().invoke(diagnostic, "gcClassHistogram", none, new String[] {String[].class.getName()});
                } catch (javax.management.JMException e) {
                    throw new IllegalStateException(e);
                }
                LockSupport.parkNanos(60_000_000);
            }
        }, "monitor");
        monitor.setDaemon(true);
        monitor.start();
        long[] sums = new long[2 * 16];
        Frame.run("request", 2, index -> sums[index * 16] += handle(sums[index * 16]));
        Frame.lostShare(1);
    }
}
