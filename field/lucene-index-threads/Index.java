import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;

public class Index {
    static String[] words = new String[50000];

    static void add(IndexWriter writer, int number) throws Exception {
        Random random = new Random(number);
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < 120; i++) {
            double rank = Math.pow(words.length, random.nextDouble());
            body.append(words[(int) rank - 1]).append(' ');
        }
        Document document = new Document();
        document.add(new StringField("id", Integer.toString(number), Field.Store.YES));
        document.add(new TextField("body", body.toString(), Field.Store.NO));
        writer.addDocument(document);
    }

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(5);
        for (int i = 0; i < words.length; i++) words[i] = Long.toString(Math.abs(random.nextLong()) % 3_000_000_000L, 36);
        int documents = Integer.parseInt(arguments[2]);
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setRAMBufferSizeMB(64);
        try (FSDirectory directory = FSDirectory.open(Path.of(arguments[0])); IndexWriter writer = new IndexWriter(directory, config)) {
            AtomicInteger next = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                Thread thread = new Thread(() -> {
                    try {
                        for (int number; (number = next.getAndIncrement()) < documents; ) add(writer, number);
                    } catch (Exception error) {
                        throw new RuntimeException(error);
                    }
                }, "indexer-" + i);
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) thread.join();
            writer.commit();
        }
    }
}
