import java.util.*;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.store.*;

public class Search {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        Random random = new Random(11);
        Directory directory = new ByteBuffersDirectory();
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new WhitespaceAnalyzer()))) {
            for (int i = 0; i < 30000; i++) {
                StringBuilder text = new StringBuilder();
                for (int w = 0; w < 60; w++) text.append(word(random)).append(' ');
                Document document = new Document();
                document.add(new TextField("text", text.toString(), Field.Store.NO));
                writer.addDocument(document);
            }
            writer.forceMerge(1);
        }
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
        searcher.setQueryCache(null);
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            BooleanQuery.Builder query = new BooleanQuery.Builder();
            for (int w = 0; w < 4; w++) query.add(new TermQuery(new Term("text", word(random))), BooleanClause.Occur.SHOULD);
            query.add(new PhraseQuery("text", word(random), word(random)), BooleanClause.Occur.SHOULD);
            searcher.search(query.build(), 200);
            done++;
            if (System.nanoTime() - said > 500_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }

    // Few words are frequent, many are rare.
    static String word(Random random) {
        double r = random.nextDouble();
        return "w" + (int) (2000 * r * r * r);
    }
}
