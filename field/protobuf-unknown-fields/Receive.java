import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Empty;
import java.io.ByteArrayOutputStream;

// A receiver whose schema does not have yet two repeated fields that the sender writes alternately.
public class Receive {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        for (int i = 0; i < 60; i++) {
            out.writeInt64(21, 1700000000L + i);
            out.writeInt64(22, i * 31L);
        }
        out.flush();
        byte[] message = bytes.toByteArray();
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            if (Empty.parseFrom(message).getUnknownFields().asMap().size() != 2) throw new IllegalStateException();
            done++;
            if (System.nanoTime() - said > 500_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }
}
