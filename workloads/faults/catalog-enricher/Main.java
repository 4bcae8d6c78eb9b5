import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Builds catalog pages: for each of the twelve products of a page it asks a stock service over TCP. */
public final class Main {
    static final int PRODUCTS = 12;

    /** The other side: answers each question after the two milliseconds that its own database takes. */
    static void answer(Socket client) {
        try (client; var in = new DataInputStream(client.getInputStream()); var out = new DataOutputStream(client.getOutputStream())) {
            client.setTcpNoDelay(true);
            while (true) {
                int product = in.readInt();
                Thread.sleep(2);
                out.writeLong(product * 31L % 97);
            }
        } catch (IOException | InterruptedException e) {
            // The client has gone.
        }
    }

    static void serve(ServerSocket socket) {
        while (true) {
            try {
                Socket client = socket.accept();
                Thread thread = new Thread(() -> answer(client), "stock");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return;
            }
        }
    }

    static final class StockClient {
        private final Socket socket;
        private final DataInputStream in;
        private final DataOutputStream out;

        StockClient(int port) {
            try {
                socket = new Socket(InetAddress.getLoopbackAddress(), port);
                socket.setTcpNoDelay(true);
                in = new DataInputStream(socket.getInputStream());
                out = new DataOutputStream(socket.getOutputStream());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        long inStock(int product) {
            try {
                out.writeInt(product);
                return in.readLong();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] words) throws InterruptedException, IOException {
        Frame.begin(words);
        Frame.every = 0.1;
        ServerSocket socket = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        Thread server = new Thread(() -> serve(socket), "stock-accept");
        server.setDaemon(true);
        server.start();
        ThreadLocal<StockClient> clients = ThreadLocal.withInitial(() -> new StockClient(socket.getLocalPort()));
        ExecutorService lookups = Executors.newFixedThreadPool(6, task -> {
            Thread thread = new Thread(task, "lookup");
            thread.setDaemon(true);
            return thread;
        });
        Frame.run("page", 1, index -> {
            int page = (int) Frame.done.sum();
            List<Integer> products = IntStream.range(page * PRODUCTS, (page + 1) * PRODUCTS).boxed().collect(Collectors.toList());
            StringBuilder html = new StringBuilder();
            if (Frame.slow) {
                products.parallelStream().map(product -> clients.get().inStock(product)).collect(Collectors.toList())
                    .forEach(left -> html.append("<td>").append(left));
            } else {
                products.stream().map(product -> lookups.submit(() -> clients.get().inStock(product))).collect(Collectors.toList())
                    .forEach(left -> html.append("<td>").append(wait(left)));
            }
        });
        Frame.lostShare(1);
    }

    static long wait(java.util.concurrent.Future<Long> answer) {
        try {
            return answer.get();
        } catch (InterruptedException | java.util.concurrent.ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
