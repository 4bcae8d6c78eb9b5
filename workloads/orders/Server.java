// A small HTTP server of the JDK (jdk.httpserver): GET /orders?customer=N answers with the orders of a customer as JSON. Each
// request makes garbage, as services do, and a part of what it makes is kept in a cache of limited size, so that the heap has
// something to copy and to keep.
//
// usage: java [options of the JVM] -cp bin Server PORT [cached customers]

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

public final class Server {
    private static final int WORKERS = 4;
    private static final int ORDERS = 24;

    record Order(long number, String article, int count, long cents) {}

    /** The orders of the customers that were asked for last. */
    private static final class Cache extends LinkedHashMap<Long, List<Order>> {
        private final int most;

        Cache(int most) {
            super(most * 2, 0.75f, true);
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, List<Order>> eldest) {
            return size() > most;
        }
    }

    private final Map<Long, List<Order>> cache;
    private final AtomicLong asked = new AtomicLong();

    private Server(int cached) {
        cache = Collections.synchronizedMap(new Cache(cached));
    }

    /** Orders that depend on nothing but the customer: what a database would say. */
    private static List<Order> read(long customer) {
        long state = customer * 0x9E3779B97F4A7C15L + 1;
        List<Order> orders = new ArrayList<>();
        for (int i = 0; i < ORDERS; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            String article = "article-" + Long.toString(state >>> 40, 36);
            orders.add(new Order(customer * 1000 + i, article, 1 + (int) (state >>> 60), 100 + (state >>> 44)));
        }
        return orders;
    }

    private static byte[] json(long customer, List<Order> orders) {
        List<Order> sorted = new ArrayList<>(orders);
        sorted.sort(Comparator.comparingLong((Order order) -> order.cents() * order.count()).reversed());
        long total = 0;
        StringBuilder text = new StringBuilder("{\"customer\":").append(customer).append(",\"orders\":[");
        String comma = "";
        for (Order order : sorted) {
            total += order.cents() * order.count();
            text.append(comma).append(String.format("{\"number\":%d,\"article\":\"%s\",\"count\":%d,\"cents\":%d}",
                order.number(), order.article(), order.count(), order.cents()));
            comma = ",";
        }
        return text.append("],\"total\":").append(total).append("}\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            // Each request is of another customer; some come back while they are cached.
            long number = asked.incrementAndGet();
            long customer = number % 4 == 0 ? number / 2 : number;
            List<Order> orders = cache.computeIfAbsent(customer, Server::read);
            byte[] body = json(customer, orders);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[0]);
        int cached = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5000;
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        http.createContext("/orders", new Server(cached)::answer);
        http.setExecutor(Executors.newFixedThreadPool(WORKERS));
        http.start();
        System.out.println("listening on port " + port);
    }
}
