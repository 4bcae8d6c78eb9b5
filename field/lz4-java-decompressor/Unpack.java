import java.util.*;
import net.jpountz.lz4.*;

public class Unpack {
    public static void main(String[] arguments) {
        int seconds = Integer.parseInt(arguments[0]);
        Random random = new Random(9);
        byte[] text = new byte[1 << 20];
        for (int i = 0; i < text.length; ) {
            for (byte b : ("field" + random.nextInt(3000) + "=" + random.nextInt(10) + ";").getBytes()) {
                if (i < text.length) text[i++] = b;
            }
        }
        LZ4Factory factory = LZ4Factory.fastestInstance();
        byte[] packed = factory.fastCompressor().compress(text);
        LZ4FastDecompressor decompressor = factory.fastDecompressor();
        byte[] out = new byte[text.length];
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            decompressor.decompress(packed, 0, out, 0, out.length);
            done++;
            if (System.nanoTime() - said > 500_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }
}
