import java.util.ArrayDeque;

/** States that are to be explored. It ends when it is empty and nobody explores. */
final class WorkQueue {
    private final ArrayDeque<Long> states = new ArrayDeque<>();
    /** States that were put in and are not explored yet. */
    private long open;

    /** Puts states in. */
    synchronized void put(long[] from, int count) {
        for (int i = 0; i < count; i++) states.add(from[i]);
        open += count;
        if (count == 1) notify();
        else notifyAll();
    }

    /** Says that states taken before are explored, and takes others, at most as many as there is room for: 0 at the end. */
    synchronized int take(int explored, long[] into) {
        open -= explored;
        if (open == 0) notifyAll();
        while (states.isEmpty() && open > 0) {
            try {
                wait();
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        }
        int taken = 0;
        while (taken < into.length && !states.isEmpty()) into[taken++] = states.poll();
        return taken;
    }
}
