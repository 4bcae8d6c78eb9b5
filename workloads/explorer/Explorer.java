import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Explores all states of a model with several threads, then checks each. It prints `done N` while it runs, and at the end how many
 * states, transitions and deadlocks there are; it ends with 1 where the invariant is broken, a state has no successor, or there
 * are not as many states as --states says.
 */
public final class Explorer {
    private static final int BATCH = 32;
    private final Philosophers model;
    private final StateSet seen;
    private final WorkQueue queue = new WorkQueue();
    private final Counter explored, transitions;
    private final PrintWriter log;
    private final int threads, batch;
    private final AtomicInteger broken = new AtomicInteger();
    private final AtomicInteger deadlocks = new AtomicInteger();
    private volatile boolean over;

    private Explorer(Options options) throws IOException {
        model = new Philosophers(options.number("philosophers", 12));
        seen = new StateSet(options.word("set", "one-lock", "one-lock", "stripes-1024").equals("one-lock") ? 1 : 1024);
        explored = Counter.of(options.word("counter", "mutex", "mutex", "atomic", "striped"));
        transitions = Counter.of(options.word("counter", "mutex", "mutex", "atomic", "striped"));
        threads = options.number("threads", 1);
        batch = options.word("batch", "1", "1", "32").equals("1") ? 1 : BATCH;
        boolean logs = options.word("log", "on", "on", "off").equals("on");
        String file = options.text("log-file", "explorer.log");
        log = logs ? new PrintWriter(file) : null;
    }

    public static void main(String[] words) throws Exception {
        Options options = new Options(words);
        Explorer explorer = new Explorer(options);
        boolean parallelEnd = options.word("end", "serial", "serial", "parallel").equals("parallel");
        int expected = options.number("states", 0);
        options.end();
        System.exit(explorer.run(parallelEnd, expected) ? 0 : 1);
    }

    private boolean run(boolean parallelEnd, int expected) throws InterruptedException {
        Thread reporter = new Thread(this::report, "reporter");
        reporter.setDaemon(true);
        reporter.start();
        long began = System.nanoTime();
        long first = model.first();
        seen.add(first);
        queue.put(new long[] {first}, 1);
        inThreads(threads, "explorer", ignored -> explore());
        if (log != null) log.close();
        long between = System.nanoTime();
        long[] states = check(parallelEnd ? threads : 1);
        System.out.printf("explored in %.3f s, checked in %.3f s%n", (between - began) / 1e9, (System.nanoTime() - between) / 1e9);
        over = true;
        reporter.join();
        System.out.println("transitions: " + transitions.get());
        System.out.println("deadlocks: " + deadlocks.get());
        System.out.println("states: " + states.length);
        if (broken.get() > 0) System.err.println("explorer: " + broken.get() + " states break an invariant");
        boolean all = explored.get() == states.length && (expected == 0 || expected == states.length);
        if (!all) System.err.println("explorer: " + states.length + " states, explored " + explored.get() + ", expected " + expected);
        return all && broken.get() == 0 && deadlocks.get() == 0;
    }

    /** What each thread does: takes states, and puts in their successors that nobody has seen. */
    private void explore() {
        long[] taken = new long[batch], next = new long[model.count], found = new long[batch * model.count];
        int count = 0;
        while ((count = queue.take(count, taken)) > 0) {
            int fresh = 0;
            for (int i = 0; i < count; i++) {
                int successors = model.successors(taken[i], next);
                for (int j = 0; j < successors; j++) {
                    transitions.add();
                    if (!seen.add(next[j])) continue;
                    found[fresh++] = next[j];
                    if (batch == 1) {
                        queue.put(found, fresh);
                        fresh = 0;
                    }
                }
                explored.add();
                if (log != null) note(taken[i], successors);
            }
            if (fresh > 0) queue.put(found, fresh);
        }
    }

    /** A line of the log, there at once even if the program dies at the next state. */
    private void note(long state, int successors) {
        String line = "explored " + model.text(state) + ", " + successors + " successors";
        synchronized (log) {
            log.println(line);
            log.flush();
        }
    }

    /** The end phase: each state fulfils the invariant, can come to rest, and has successors, all of which were seen. */
    private long[] check(int threads) throws InterruptedException {
        long[] states = seen.all();
        if (threads == 1) Arrays.sort(states);
        else Arrays.parallelSort(states);
        inThreads(threads, "checker", number -> {
            int from = (int) ((long) states.length * number / threads);
            int to = (int) ((long) states.length * (number + 1) / threads);
            long[] next = new long[model.count];
            for (int i = from; i < to; i++) {
                int successors = model.successors(states[i], next);
                if (successors == 0) deadlocks.incrementAndGet();
                boolean holds = model.holds(states[i]) && model.comesToRest(states[i], next);
                for (int j = 0; j < successors; j++) holds &= Arrays.binarySearch(states, next[j]) >= 0;
                if (!holds) broken.incrementAndGet();
            }
        });
        return states;
    }

    private interface Part {
        void of(int number);
    }

    private static void inThreads(int count, String name, Part part) throws InterruptedException {
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            Thread thread = new Thread(() -> part.of(number), name + "-" + number);
            thread.setUncaughtExceptionHandler((which, error) -> {
                error.printStackTrace();
                Runtime.getRuntime().halt(2);
            });
            thread.start();
            started.add(thread);
        }
        for (Thread thread : started) thread.join();
    }

    private void report() {
        while (!over) {
            System.out.println("done " + explored.get());
            try {
                Thread.sleep(200);
            } catch (InterruptedException stop) {
                break;
            }
        }
        System.out.println("done " + explored.get());
    }
}
