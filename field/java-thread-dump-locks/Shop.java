import com.sun.net.httpserver.HttpServer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** Serves prices. A monitor looks once a second which threads are blocked. */
public class Shop {
    static final Long[] prices = new Long[4_000_000];

    static void monitor(boolean synchronizers) throws InterruptedException {
        while (true) {
            Thread.sleep(1000);
            for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(true, synchronizers)) {
                if (thread.getThreadState() == Thread.State.BLOCKED) {
                    System.out.println(thread);
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int article = 0; article < prices.length; article++) {
            prices[article] = 1000L + article;
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", exchange -> {
            byte[] body = ("costs " + prices[exchange.hashCode() & 1_048_575] + "\n").getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        monitor(Boolean.parseBoolean(arguments[1]));
    }
}
