import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URL;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Passes on what the server of articles says, which takes 15 ms to answer. */
public class Shop extends AbstractHandler {
    final URL articles;

    Shop(URL articles) {
        this.articles = articles;
    }

    @Override
    public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response) throws IOException {
        try (var answer = articles.openStream()) {
            response.getOutputStream().write(answer.readAllBytes());
        }
        base.setHandled(true);
    }

    public static void main(String[] arguments) throws Exception {
        Server server = new Server(new QueuedThreadPool(Integer.parseInt(arguments[2]), 4));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        server.addConnector(connector);
        server.setHandler(new Shop(new URL("http://127.0.0.1:" + arguments[1] + "/")));
        server.start();
        server.join();
    }
}
