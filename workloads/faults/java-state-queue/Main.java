import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Workers of a state-space search put what they find into a queue that goes to disk in batches. The slow one encodes and writes a batch while it
 * holds the lock of the queue; the fast one takes a full batch out, and whoever filled it writes it without the lock.
 */
public final class Main {
    static final int BATCH = 256, STATE = 64;

    static final class StateQueue {
        private final ReentrantLock lock = new ReentrantLock();
        private final FileChannel file;
        private long[] batch = new long[BATCH];
        private int length;

        StateQueue(Path path) throws IOException {
            file = FileChannel.open(path, StandardOpenOption.WRITE);
        }

        void put(long state) {
            long[] full = null;
            lock.lock();
            try {
                batch[length++] = state;
                if (length == BATCH) {
                    length = 0;
                    if (Frame.slow) write(batch);
                    else {
                        full = batch;
                        batch = new long[BATCH];
                    }
                }
            } finally {
                lock.unlock();
            }
            if (full != null) write(full);
        }

        private void write(long[] states) {
            ByteBuffer bytes = ByteBuffer.allocate(BATCH * STATE);
            for (long state : states) {
                for (int i = 0; i < STATE / 8; i++) bytes.putLong(step(state, 300));
            }
            try {
                file.write(bytes.flip(), 0);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static long step(long state, int times) {
        for (int i = 0; i < times; i++) state = (state ^ (state >>> 29)) * 0xbf58476d1ce4e5b9L;
        return state;
    }

    public static void main(String[] words) throws Exception {
        Frame.begin(words);
        Path path = Files.createTempFile("states", ".queue");
        StateQueue queue = new StateQueue(path);
        long[] states = new long[4 * 16];
        for (int i = 0; i < 4; i++) states[i * 16] = i + 1;
        Frame.run("worker", 4, index -> queue.put(states[index * 16] = step(states[index * 16], 600)));
        Files.delete(path);
        Frame.lostShare(1);
    }
}
