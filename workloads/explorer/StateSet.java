import java.util.HashSet;

/** The states that were seen: one or many hash sets, each with its lock. */
final class StateSet {
    /** A hash set and its lock. */
    private static final class Stripe {
        final HashSet<Long> states = new HashSet<>();

        synchronized boolean add(long state) {
            return states.add(state);
        }
    }

    private final Stripe[] stripes;

    /** With a number of stripes that is a power of two. */
    StateSet(int stripes) {
        this.stripes = new Stripe[stripes];
        for (int i = 0; i < stripes; i++) this.stripes[i] = new Stripe();
    }

    private Stripe of(long state) {
        return stripes[(int) (state * 0x9E3779B97F4A7C15L >>> 40) & stripes.length - 1];
    }

    /** Adds a state, and says whether it is new. */
    boolean add(long state) {
        return of(state).add(state);
    }

    /** All states; nobody may add any meanwhile. */
    long[] all() {
        int size = 0;
        for (Stripe stripe : stripes) size += stripe.states.size();
        long[] all = new long[size];
        int at = 0;
        for (Stripe stripe : stripes) {
            for (long state : stripe.states) all[at++] = state;
        }
        return all;
    }
}
