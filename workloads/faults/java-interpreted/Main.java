import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes reports of records: ordinary code of many methods. Both variants are the same, only the JVM's options differ. */
public final class Main {
    record Sale(String shop, String article, int count, double price) {}

    static List<Sale> sales(long seed) {
        List<Sale> all = new ArrayList<>();
        long x = seed | 1;
        for (int i = 0; i < 200; i++) {
            x = (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
            all.add(new Sale("shop-" + (x & 15), "article-" + (x >>> 8 & 63), (int) (x >>> 20 & 7), (x >>> 30 & 1023) / 10.0));
        }
        return all;
    }

    static Map<String, Double> report(List<Sale> sales) {
        Map<String, Double> sums = new HashMap<>();
        for (Sale sale : sales) sums.merge(sale.shop() + "/" + sale.article(), sale.count() * sale.price(), Double::sum);
        return sums;
    }

    static String render(Map<String, Double> sums) {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, Double> sum : sums.entrySet()) lines.add(sum.getKey() + "=" + Math.round(sum.getValue()));
        lines.sort(null);
        return String.join(";", lines);
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        long[] sums = new long[2 * 16];
        Frame.run("report", 2, index -> sums[index * 16] += render(report(sales(sums[index * 16]))).hashCode());
        Frame.lostShare(1);
    }
}
