// A server that answers every request with some words, for scripts/bench/turns.sh: Finagle, on Netty's event loops. Arguments: port; KiB that a request
// allocates, in pieces that live as long as the next ones do not take their place; MiB of such pieces that are kept.

import com.twitter.finagle.Http;
import com.twitter.finagle.Service;
import com.twitter.finagle.http.Request;
import com.twitter.finagle.http.Response;
import com.twitter.util.Await;
import com.twitter.util.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;

class FinagleHello {
    static final int PIECE = 1024;

    public static void main(String[] words) throws Exception {
        int pieces = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        int kept = words.length > 2 ? Integer.parseInt(words[2]) * 1024 : 1;
        var cache = new AtomicReferenceArray<byte[]>(kept);
        for (int at = 0; pieces > 0 && at < kept; at++) {
            cache.set(at, new byte[PIECE]);
        }
        var service = new Service<Request, Response>() {
            @Override
            public Future<Response> apply(Request request) {
                int sum = 0;
                for (int at = 0; at < pieces; at++) {
                    var piece = new byte[PIECE];
                    piece[at % PIECE] = 1;
                    var old = at % 16 == 0 ? cache.getAndSet(ThreadLocalRandom.current().nextInt(kept), piece) : piece;
                    sum += old[at % PIECE];
                }
                var answer = Response.apply();
                answer.setContentString("Hello, and well met: " + sum + ".\n");
                return Future.value(answer);
            }
        };
        Await.ready(Http.server().serve("127.0.0.1:" + words[0], service));
    }
}
