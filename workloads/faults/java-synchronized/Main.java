import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Requests that ask another service while they hold the monitor of the session store, against before they enter it. */
public final class Main {
    static final class SessionStore {
        private final Map<Long, Long> sessions = new HashMap<>();

        synchronized void loadUnderLock(long id) {
            sessions.put(id % 4096, fetch(id));
        }

        synchronized void put(long id, long value) {
            sessions.put(id % 4096, value);
        }
    }

    /** An answer from elsewhere: 300 us, most of them off the CPU. */
    static long fetch(long id) {
        LockSupport.parkNanos(200_000);
        long x = id | 1;
        for (int i = 0; i < 20_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        SessionStore store = new SessionStore();
        AtomicLong ids = new AtomicLong();
        Frame.run("request", 6, index -> {
            long id = ids.incrementAndGet();
            if (Frame.slow) store.loadUnderLock(id);
            else store.put(id, fetch(id));
        });
        Frame.lostShare(1);
    }
}
