import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/** Sessions of traders enter orders; one book per instrument matches them by price. */
public final class Main {
    static final int SESSIONS = 6;

    static final class Book {
        private final TreeMap<Integer, Integer> bids = new TreeMap<>(), asks = new TreeMap<>();
        private final ReentrantLock lock = new ReentrantLock(Frame.slow);
        private long traded;

        /** Matches an order against the other side, and keeps what is left of it. */
        int enter(boolean buy, int price, int size) {
            lock.lock();
            try {
                TreeMap<Integer, Integer> other = buy ? asks : bids;
                while (size > 0 && !other.isEmpty()) {
                    var best = buy ? other.firstEntry() : other.lastEntry();
                    if (buy ? best.getKey() > price : best.getKey() < price) break;
                    int taken = Math.min(size, best.getValue());
                    size -= taken;
                    traded += taken;
                    if (taken == best.getValue()) other.remove(best.getKey());
                    else other.put(best.getKey(), best.getValue() - taken);
                }
                if (size > 0) (buy ? bids : asks).merge(price, size, Integer::sum);
                return size;
            } finally {
                lock.unlock();
            }
        }
    }

    static final class Session {
        private long state;
        private final StringBuilder message = new StringBuilder();

        Session(int number) {
            state = number * 0x9e3779b97f4a7c15L + 1;
        }

        int random(int below) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            return (int) ((state >>> 33) % below);
        }

        /** A message as it comes from the line, with its check sum. */
        String receive() {
            message.setLength(0);
            message.append("35=D|54=").append(1 + random(2)).append("|44=").append(9_900 + random(200)).append("|38=").append(1 + random(50));
            int sum = 0;
            for (int i = 0; i < message.length(); i++) sum += message.charAt(i);
            return message.append("|10=").append(sum % 256).toString();
        }

        void trade(Book book) {
            String[] fields = receive().split("\\|");
            boolean buy = fields[1].endsWith("1");
            int price = Integer.parseInt(fields[2].substring(3)), size = Integer.parseInt(fields[3].substring(3));
            if (book.enter(buy, price, size) > size) throw new IllegalStateException("more is left than was entered");
        }
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        Book book = new Book();
        Session[] sessions = new Session[SESSIONS];
        for (int i = 0; i < SESSIONS; i++) sessions[i] = new Session(i + 1);
        Frame.run("session", SESSIONS, index -> {
            for (int i = 0; i < 10; i++) sessions[index].trade(book);
        });
        Frame.lostShare(1);
    }
}
