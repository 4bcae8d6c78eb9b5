import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;

// Answers that are built in direct buffers, beside a table of customers in the heap.
public class Send {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        Map<Integer, List<String>> customers = new HashMap<>();
        for (int i = 0; i < 150000; i++) customers.put(i, new ArrayList<>(List.of("customer " + i, "street " + i)));
        try (FileChannel out = FileChannel.open(Path.of("/dev/null"), StandardOpenOption.WRITE)) {
            long begin = System.nanoTime(), said = begin, done = 0;
            while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
                ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
                for (int i = 0; i < 40; i++) {
                    for (String field : customers.get((int) ((done * 7919 + i) % 150000))) buffer.put(field.getBytes());
                }
                buffer.flip();
                out.write(buffer);
                done++;
                if (System.nanoTime() - said > 500_000_000L) {
                    said = System.nanoTime();
                    System.out.println("done " + done);
                }
            }
            System.out.println("done " + done);
        }
    }
}
