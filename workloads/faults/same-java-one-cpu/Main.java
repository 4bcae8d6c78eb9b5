/** Sessions of a shop live for a while in a table that is most of the heap. Both variants are the same, only how many CPUs the JVM is told of differs. */
public final class Main {
    static final class Session {
        final long[] basket = new long[24];
        Session next;
    }

    static final int SESSIONS = 800_000;
    static final Session[] table = new Session[SESSIONS];

    static long visit(long random) {
        for (int i = 0; i < 200; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            int at = (int) ((random >>> 33) % SESSIONS);
            Session session = new Session();
            session.basket[i % 24] = random;
            if (table[at] != null) session.basket[0] = table[at].basket[i % 24];
            table[at] = session;
        }
        return random;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        long[] randoms = new long[2 * 16];
        randoms[16] = 99;
        Frame.run("visitor", 2, index -> randoms[index * 16] = visit(randoms[index * 16]));
    }
}
