// A server that answers every request with some words, for scripts/bench/turns.sh: the JDK's own, with threads that are kept. Arguments: port, threads.

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

class Hello {
    public static void main(String[] words) throws Exception {
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        byte[] answer = "Hello, and well met.\n".getBytes(StandardCharsets.UTF_8);
        var server = HttpServer.create(address, 1024);
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, answer.length);
            try (var body = exchange.getResponseBody()) {
                body.write(answer);
            }
        });
        server.start();
    }
}
