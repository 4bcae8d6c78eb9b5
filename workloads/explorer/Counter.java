import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** A number that all threads add to. */
interface Counter {
    void add();

    long get();

    static Counter of(String kind) {
        return switch (kind) {
            case "mutex" -> new Locked();
            case "atomic" -> new Atomic();
            case "striped" -> new Striped();
            default -> throw new IllegalArgumentException("--counter: mutex, atomic or striped, not " + kind);
        };
    }

    /** A number under a lock. */
    final class Locked implements Counter {
        private long value;

        @Override
        public synchronized void add() {
            value++;
        }

        @Override
        public synchronized long get() {
            return value;
        }
    }

    /** One atomic number. */
    final class Atomic implements Counter {
        private final AtomicLong value = new AtomicLong();

        @Override
        public void add() {
            value.incrementAndGet();
        }

        @Override
        public long get() {
            return value.get();
        }
    }

    /** A number for each of some cache lines, added up when it is asked for. */
    final class Striped implements Counter {
        private final LongAdder value = new LongAdder();

        @Override
        public void add() {
            value.increment();
        }

        @Override
        public long get() {
            return value.sum();
        }
    }
}
