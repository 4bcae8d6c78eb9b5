import java.nio.file.Path;
import java.util.Random;
import org.apache.lucene.codecs.lucene912.Lucene912Codec;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.FSDirectory;

/** Writes an index of articles, or shows the first ten of each subject: write DIRECTORY MODE, search DIRECTORY SEARCHES. */
public class Articles {
    static final int ARTICLES = 40_000, SUBJECTS = 500;

    static String text(Random random) {
        StringBuilder text = new StringBuilder();
        while (text.length() < 700) {
            text.append("word").append(random.nextInt(3000)).append(' ');
        }
        return text.toString();
    }

    static void write(FSDirectory directory, String mode) throws Exception {
        Random random = new Random(1);
        IndexWriterConfig config = new IndexWriterConfig().setCodec(new Lucene912Codec(Lucene912Codec.Mode.valueOf(mode)));
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int number = 0; number < ARTICLES; number++) {
                Document article = new Document();
                article.add(new StringField("subject", "subject" + random.nextInt(SUBJECTS), Field.Store.YES));
                article.add(new StoredField("text", text(random)));
                writer.addDocument(article);
            }
            writer.forceMerge(1);
        }
    }

    static void search(FSDirectory directory, int searches) throws Exception {
        Random random = new Random(2);
        long shown = 0;
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            for (int done = 1; done <= searches; done++) {
                StoredFields articles = searcher.storedFields();
                for (ScoreDoc found : searcher.search(new TermQuery(new Term("subject", "subject" + random.nextInt(SUBJECTS))), 10).scoreDocs) {
                    shown += articles.document(found.doc).get("text").length();
                }
                if (done % 100 == 0) {
                    System.out.println("done " + done);
                }
            }
        }
        System.out.println("shown " + shown);
    }

    public static void main(String[] arguments) throws Exception {
        try (FSDirectory directory = FSDirectory.open(Path.of(arguments[1]))) {
            if (arguments[0].equals("write")) {
                write(directory, arguments[2]);
            } else {
                search(directory, Integer.parseInt(arguments[2]));
            }
        }
    }
}
