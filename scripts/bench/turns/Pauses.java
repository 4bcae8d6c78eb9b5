// A server that answers every request with some words and stands still now and then, for scripts/bench/turns.sh: the JDK's own, which has all of its objects
// collected at its own wish. Arguments: port, threads, MiB of objects that are alive, milliseconds between collections (0: none), milliseconds that a request takes.

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.Executors;

class Pauses {
    static final ArrayList<Object[]> ALIVE = new ArrayList<>();

    public static void main(String[] words) throws Exception {
        for (int at = 0; at < Integer.parseInt(words[2]) * 16384; at++) {
            ALIVE.add(new Object[] { at > 0 ? ALIVE.get(at / 2) : null, new byte[16] });
        }
        byte[] answer = "Hello, and well met.\n".getBytes(StandardCharsets.UTF_8);
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0])), 1024);
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        long takes = Long.parseLong(words[4]);
        server.createContext("/", exchange -> {
            try {
                Thread.sleep(takes);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            exchange.sendResponseHeaders(200, answer.length);
            try (var body = exchange.getResponseBody()) {
                body.write(answer);
            }
        });
        server.start();
        long pause = Long.parseLong(words[3]);
        while (true) {
            Thread.sleep(pause > 0 ? pause : 60_000);
            if (pause > 0) {
                System.gc();
            }
        }
    }
}
