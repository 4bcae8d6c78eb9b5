import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Recommendations over HTTP, made from profiles of users that are kept in memory, a few of which each request renews. Both
 *  variants are the same: slow is given a heap that the profiles almost fill. */
public final class Main {
    private static final int USERS = 60_000;

    /** What is known of a user: some 2 KiB. */
    record Profile(int user, List<String> seen) {
        static Profile of(int user, int round) {
            List<String> seen = new ArrayList<>(24);
            for (int i = 0; i < 24; i++) seen.add("article " + (user * 31 + i * 7919 + round));
            return new Profile(user, seen);
        }
    }

    private static final AtomicReferenceArray<Profile> profiles = new AtomicReferenceArray<>(USERS);

    private static String recommend(int number) {
        for (int i = 0; i < 40; i++) {
            int user = Math.floorMod(number * 7919 + i * 104_729, USERS);
            profiles.set(user, Profile.of(user, number));
        }
        StringBuilder page = new StringBuilder("[");
        for (int i = 0; i < 8; i++) {
            Profile like = profiles.get(Math.floorMod(number + i * 977, USERS));
            page.append('"').append(like.seen().get(number % 24)).append("\",");
        }
        return page.append("null]").toString();
    }

    public static void main(String[] words) throws IOException {
        if (words.length != 2) {
            boolean help = words.length > 0 && (words[0].equals("--help") || words[0].equals("-h"));
            (help ? System.out : System.err).println("usage: recommendations slow|fast PORT");
            System.exit(help ? 0 : 2);
        }
        for (int user = 0; user < USERS; user++) profiles.set(user, Profile.of(user, 0));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[1])), 64);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/for/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            byte[] page = recommend(Integer.parseInt(path.substring(5))).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
    }
}
