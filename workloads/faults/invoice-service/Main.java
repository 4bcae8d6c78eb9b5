import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.concurrent.Executors;

/** Invoices over HTTP: asks the tariff service for a price and renders a page. The formatter of dates is not safe to share, so
 *  slow renders under a lock that all requests share, from the question about the price on; fast locks only the formatting. */
public final class Main {
    private static final Object lock = new Object();
    private static final SimpleDateFormat dates = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss zzz");
    private static String tariffs;

    private static String price(long invoice) throws IOException {
        try (InputStream answer = new URL(tariffs + "/tariff/" + invoice).openStream()) {
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8).trim();
        }
    }

    private static String date(long invoice) {
        synchronized (lock) {
            return dates.format(new Date(1_700_000_000_000L + invoice * 1000));
        }
    }

    private static String render(long invoice) throws IOException {
        StringBuilder page = new StringBuilder("<h1>Invoice " + invoice + "</h1>" + date(invoice) + price(invoice));
        for (int line = 0; line < 60; line++)
            page.append("<tr><td>").append(invoice * 31 + line).append("<td>").append((invoice * 7919 + line) % 9973 / 100.0);
        return page.toString();
    }

    private static String renderLocked(long invoice) throws IOException {
        synchronized (lock) {
            return render(invoice);
        }
    }

    public static void main(String[] words) throws IOException {
        if (words.length != 3) {
            boolean help = words.length > 0 && (words[0].equals("--help") || words[0].equals("-h"));
            (help ? System.out : System.err).println("usage: invoice-service slow|fast PORT PORT-OF-TARIFFS");
            System.exit(help ? 0 : 2);
        }
        boolean slow = words[0].equals("slow");
        tariffs = "http://127.0.0.1:" + words[2];
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[1])), 64);
        server.setExecutor(Executors.newFixedThreadPool(12));
        server.createContext("/invoice/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            long invoice = Long.parseLong(path.substring(path.lastIndexOf('/') + 1));
            byte[] page = (slow ? renderLocked(invoice) : render(invoice)).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
    }
}
