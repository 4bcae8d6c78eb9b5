import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.Executors;

/** Keeps the last prices of 100,000 articles, some of which each request renews. */
public class Prices {
    static final byte[][] prices = new byte[100_000][];
    static final Random random = new Random(11);

    static synchronized int renew(int count) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            int article = random.nextInt(prices.length);
            byte[] price = new byte[1000];
            price[article % 1000] = (byte) article;
            prices[article] = price;
            sum += price[17];
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        for (int article = 0; article < prices.length; article++) {
            prices[article] = new byte[1000];
        }
        int port = Integer.parseInt(arguments[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", exchange -> {
            byte[] body = ("renewed " + renew(80) + "\n").getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
