import org.jsoup.Jsoup;

public class Parse {
    public static void main(String[] arguments) {
        int seconds = Integer.parseInt(arguments[0]);
        // Tags that are never closed nest deeper and deeper, as on pages of old wikis.
        StringBuilder html = new StringBuilder("<html><body>");
        for (int i = 0; i < 1200; i++) html.append("<div>line ").append(i);
        String page = html.toString();
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            Jsoup.parse(page);
            done++;
            if (System.nanoTime() - said > 500_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }
}
