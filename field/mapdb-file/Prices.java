import java.util.Random;
import java.util.concurrent.ConcurrentMap;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.Serializer;

/** Fills a store with prices of parts and looks them up: FILE file|mapping LOOK_UPS. */
public class Prices {
    static final int PARTS = 40_000;

    public static void main(String[] arguments) {
        DBMaker.Maker maker = DBMaker.fileDB(arguments[0]);
        if (arguments[1].equals("mapping")) {
            maker.fileMmapEnable();
        }
        DB store = maker.make();
        ConcurrentMap<Integer, Long> prices = store.hashMap("prices", Serializer.INTEGER, Serializer.LONG).create();
        for (int part = 0; part < PARTS; part++) {
            prices.put(part, part * 7919L % 100_003);
        }
        Random random = new Random(1);
        long total = 0;
        for (int done = 1; done <= Integer.parseInt(arguments[2]); done++) {
            total += prices.get(random.nextInt(PARTS));
            if (done % 10_000 == 0) {
                System.out.println("done " + done);
            }
        }
        System.out.println("total " + total);
        store.close();
    }
}
