/**
 * The model: dining philosophers. Each thinks, holds its first fork, eats with both, or has put back the first and still holds
 * the second; the last one takes its forks in the other order, so that they never all wait for each other. A state is a long with
 * two bits for each philosopher.
 */
final class Philosophers {
    static final int THINKS = 0, HOLDS_FIRST = 1, EATS = 2, HOLDS_SECOND = 3;
    private static final String NAMES = "tfes";
    final int count;

    Philosophers(int count) {
        if (count < 2 || count > 31) throw new IllegalArgumentException("2 to 31 philosophers, not " + count);
        this.count = count;
    }

    /** All think. */
    long first() {
        return 0;
    }

    private static int of(long state, int philosopher) {
        return (int) (state >>> 2 * philosopher) & 3;
    }

    /** Whether the philosopher holds the fork at its left side; its first one, but for the last philosopher. */
    private boolean holdsLeft(long state, int philosopher) {
        int doing = of(state, philosopher);
        return doing == EATS || doing == (philosopher == count - 1 ? HOLDS_SECOND : HOLDS_FIRST);
    }

    private boolean holdsRight(long state, int philosopher) {
        int doing = of(state, philosopher);
        return doing == EATS || doing == (philosopher == count - 1 ? HOLDS_FIRST : HOLDS_SECOND);
    }

    private boolean leftIsFree(long state, int philosopher) {
        return !holdsRight(state, philosopher == 0 ? count - 1 : philosopher - 1);
    }

    private boolean rightIsFree(long state, int philosopher) {
        return !holdsLeft(state, philosopher == count - 1 ? 0 : philosopher + 1);
    }

    /** Writes the states that may come after this one and returns how many there are. */
    int successors(long state, long[] into) {
        int found = 0;
        for (int who = 0; who < count; who++) {
            int doing = of(state, who);
            boolean leftFirst = who != count - 1;
            boolean may = switch (doing) {
                case THINKS -> leftFirst ? leftIsFree(state, who) : rightIsFree(state, who);
                case HOLDS_FIRST -> leftFirst ? rightIsFree(state, who) : leftIsFree(state, who);
                default -> true;
            };
            if (may) into[found++] = state & ~(3L << 2 * who) | (long) (doing + 1 & 3) << 2 * who;
        }
        return found;
    }

    /** The invariant: nobody holds a fork that the neighbour holds. */
    boolean holds(long state) {
        for (int who = 0; who < count; who++) {
            if (holdsRight(state, who) && holdsLeft(state, who == count - 1 ? 0 : who + 1)) return false;
        }
        return true;
    }

    /** Whether all think again after a while if nobody takes a first fork any more. The array is for the successors. */
    boolean comesToRest(long state, long[] next) {
        for (int moves = 0; state != first(); moves++) {
            // Each has at most three moves to make.
            if (moves > 3 * count) return false;
            int successors = successors(state, next);
            int move = 0;
            while (move < successors && takesFirst(state, next[move])) move++;
            if (move == successors) return false;
            state = next[move];
        }
        return true;
    }

    /** Whether who moves from one state to the next was thinking. */
    private static boolean takesFirst(long state, long next) {
        int who = Long.numberOfTrailingZeros(state ^ next) / 2;
        return of(state, who) == THINKS;
    }

    /** The state in letters, for the log. */
    String text(long state) {
        StringBuilder text = new StringBuilder(count);
        for (int who = 0; who < count; who++) text.append(NAMES.charAt(of(state, who)));
        return text.toString();
    }
}
