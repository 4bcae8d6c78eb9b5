import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Requests that render a page while they hold the lock of the cache, against before they take it: one CPU of two has nothing to do then. */
public final class Main {
    static final class PageCache {
        private final Map<Long, Long> pages = new LinkedHashMap<>();
        private final ReentrantLock lock = new ReentrantLock();

        void renderUnderLock(long id) {
            lock.lock();
            try {
                pages.put(id % 512, render(id));
            } finally {
                lock.unlock();
            }
        }

        void put(long id, long page) {
            lock.lock();
            try {
                pages.put(id % 512, page);
            } finally {
                lock.unlock();
            }
        }
    }

    static long render(long id) {
        long x = id | 1;
        for (int i = 0; i < 60_000; i++) x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        return x;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        PageCache cache = new PageCache();
        AtomicLong ids = new AtomicLong();
        Frame.run("request", 6, index -> {
            long id = ids.incrementAndGet();
            if (Frame.slow) cache.renderUnderLock(id);
            else cache.put(id, render(id));
        });
        Frame.lostShare(1);
    }
}
