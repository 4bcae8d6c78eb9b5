import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;

/** The frame of the Java programs with one known bottleneck; as bench.h, but the truths are of the time after the first fifth, when all is compiled. */
final class Bench {
    static volatile long sink;

    /** A count as 4096 or 16M. */
    static long count(String word) {
        int shift = word.endsWith("K") ? 10 : word.endsWith("M") ? 20 : word.endsWith("G") ? 30 : 0;
        return Long.parseLong(shift == 0 ? word : word.substring(0, word.length() - 1)) << shift;
    }

    static void run(String[] words, String operation, String unit, long size, long perCall, LongConsumer prepare, LongUnaryOperator call) {
        if (words.length > 0 && (words[0].equals("--help") || words[0].equals("-h"))) {
            System.out.println("usage: [SECONDS] [SIZE]");
            System.exit(0);
        }
        double seconds = words.length > 0 ? Double.parseDouble(words[0]) : 2;
        if (words.length > 1) size = count(words[1]);
        long preparing = System.nanoTime();
        prepare.accept(size);
        System.out.printf("truth: operation %s%ntruth: size %d %s%ntruth: operations per call %d%n", operation, size, unit, perCall);
        System.out.printf("truth: seconds preparing %.4f%n", (System.nanoTime() - preparing) * 1e-9);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long started = System.nanoTime(), end = started + (long) (seconds * 1e9), now = started, next = started + 250_000_000;
        long warm = started + (end - started) / 5, calls = 0, callsBefore = 0, cpu = threads.getCurrentThreadCpuTime();
        while (now < end) {
            sink = call.applyAsLong(perCall);
            calls++;
            now = System.nanoTime();
            if (warm != 0 && now >= warm) {
                warm = 0;
                callsBefore = calls;
                cpu = threads.getCurrentThreadCpuTime();
            }
            if (now >= next && now < end) {
                System.out.println("done " + calls * perCall);
                next += 250_000_000;
            }
        }
        cpu = threads.getCurrentThreadCpuTime() - cpu;
        // A run so short, or calls so long, that no call was left after the first fifth, has nothing but itself to go by.
        double measured = Math.max(1, calls - callsBefore);
        System.out.printf("done %d%noperations: %d%n", calls * perCall, calls * perCall);
        System.out.printf("truth: wall seconds %.4f%ntruth: cpu seconds %.4f%n", (now - started) * 1e-9, cpu * 1e-9);
        System.out.printf("truth: calls %d%ntruth: ns per call %.3f%ntruth: ns per operation %.4f%n", calls, cpu / measured, cpu / measured / perCall);
    }
}
