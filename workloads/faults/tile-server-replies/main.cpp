// A map tile server on the loopback and its viewer: a reply is a small head and a small tile, which go out in two writes. Where
// the socket is as it comes, the second write waits until the viewer has acknowledged the first; the fast variant sets
// TCP_NODELAY.
#include "pace.h"

#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

struct Request {
    unsigned zoom, x, y;
};
struct Head {
    unsigned status, length;
};

constexpr unsigned tile_size = 600, side = 1300;

void require(bool good, const char *what) {
    if (!good && !pace_over())
        pace_fail(what);
}

bool read_all(int socket, void *data, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t got = recv(socket, (char *)data + at, size - at, 0);
        if (got <= 0)
            return false;
        at += size_t(got);
    }
    return true;
}

// Draws the contour lines of a tile and packs them into a few hundred bytes.
std::vector<unsigned char> render_tile(const Request &request) {
    std::vector<unsigned char> tile(tile_size);
    for (unsigned row = 0; row < side; row++)
        for (unsigned column = 0; column < side; column++) {
            unsigned x = request.x * side + column, y = request.y * side + row;
            unsigned height = (x * x / 97 + y * y / 89 + x * y / 31) >> (request.zoom % 5);
            for (int octave = 0; octave < 4; octave++)
                height = height * 1664525u + (height >> 13) + 1013904223u;
            tile[(row * side + column) % tile_size] ^= (unsigned char)(height >> 24);
        }
    return tile;
}

void serve(int listener) {
    int viewer = accept(listener, nullptr, nullptr);
    require(viewer >= 0, "accept");
    if (int on = 1; !pace_slow)
        require(setsockopt(viewer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
    for (Request request; read_all(viewer, &request, sizeof request);) {
        auto tile = render_tile(request);
        Head head{200, unsigned(tile.size())};
        if (send(viewer, &head, sizeof head, MSG_NOSIGNAL) < 0 || send(viewer, tile.data(), tile.size(), MSG_NOSIGNAL) < 0)
            break;
    }
    close(viewer);
}

void view(const sockaddr_in &server) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(connection >= 0 && connect(connection, (const sockaddr *)&server, sizeof server) == 0, "connect");
    std::vector<unsigned char> tile(tile_size);
    for (unsigned number = 0; !pace_over(); number++) {
        Request request{number % 17, number * 7 % 512, number * 13 % 512};
        Head head;
        require(send(connection, &request, sizeof request, MSG_NOSIGNAL) > 0, "send");
        require(read_all(connection, &head, sizeof head) && head.length == tile.size(), "the head of a reply");
        require(read_all(connection, tile.data(), tile.size()), "a tile");
        pace_did(1);
    }
    close(connection);
}

} // namespace

int main(int argc, char **argv) {
    pace_read(argc, argv);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (sockaddr *)&at, sizeof at) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (sockaddr *)&at, &length) != 0)
        pace_fail("listen");
    pace_start();
    constexpr int viewers = 2;
    std::vector<std::thread> threads;
    for (int i = 0; i < viewers; i++) {
        threads.emplace_back(serve, listener);
        threads.emplace_back(view, at);
    }
    for (auto &thread : threads)
        thread.join();
    pace_finish(1);
    return 0;
}
