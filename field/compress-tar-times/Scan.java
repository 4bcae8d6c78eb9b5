import java.io.*;
import java.nio.file.*;
import org.apache.commons.compress.archivers.tar.*;

// Counts the files of uploaded archives; an archive that cannot be read is refused.
public class Scan {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[1]);
        File[] archives = new File(arguments[0]).listFiles((folder, name) -> name.endsWith(".tar"));
        java.util.Arrays.sort(archives);
        long begin = System.nanoTime(), done = 0, files = 0, refused = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            for (File archive : archives) {
                try (TarArchiveInputStream in = new TarArchiveInputStream(new BufferedInputStream(Files.newInputStream(archive.toPath())))) {
                    while (in.getNextTarEntry() != null) files++;
                } catch (IOException e) {
                    refused++;
                }
                done++;
                if (System.nanoTime() - begin > seconds * 1_000_000_000L) break;
            }
            System.out.println("done " + done + " files " + files + " refused " + refused);
        }
    }
}
