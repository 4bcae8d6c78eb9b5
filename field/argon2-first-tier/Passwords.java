import java.nio.charset.StandardCharsets;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.params.Argon2Parameters;

public class Passwords {
    public static void main(String[] arguments) {
        int seconds = Integer.parseInt(arguments[0]);
        byte[] key = new byte[32];
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            Argon2BytesGenerator generator = new Argon2BytesGenerator();
            generator.init(new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id)
                .withSalt("sixteen bytes ok".getBytes(StandardCharsets.US_ASCII)).withIterations(2).withMemoryAsKB(2048).withParallelism(1).build());
            generator.generateBytes(("password" + done).toCharArray(), key);
            done++;
            if (System.nanoTime() - said > 300_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }
}
