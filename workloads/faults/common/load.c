// A client of a server on loopback: each thread asks over a connection of its own and waits for the answer.
//
// usage: load slow|fast [--seconds S] [--threads N] http PORT PATH     one GET is an operation
//        load slow|fast [--seconds S] [--threads N] redis PORT         a SET and a GET are an operation
#include "workload.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool redis;
static uint16_t port;
static const char *path = "/";
static _Atomic uint64_t bytes, longest_ns;

struct connection {
    int fd;
    size_t filled;
    char buffer[64 << 10];
};

static void send_all(struct connection *connection, const char *data, size_t size) {
    while (size > 0) {
        ssize_t sent = send(connection->fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            die("send");
        data += sent;
        size -= (size_t)sent;
    }
}

// Reads more; the buffer always ends with a zero byte.
static void fill(struct connection *connection) {
    ssize_t got = recv(connection->fd, connection->buffer + connection->filled, sizeof connection->buffer - 1 - connection->filled, 0);
    if (got <= 0)
        die("recv");
    connection->filled += (size_t)got;
    connection->buffer[connection->filled] = '\0';
    bytes += (uint64_t)got;
}

// Reads on until `size` more bytes than those in the buffer's front `used` have come, and forgets them all.
static void skip(struct connection *connection, size_t size) {
    while (size > connection->filled) {
        size -= connection->filled;
        connection->filled = 0;
        fill(connection);
    }
    memmove(connection->buffer, connection->buffer + size, connection->filled - size);
    connection->filled -= size;
    connection->buffer[connection->filled] = '\0';
}

// Waits until the buffer holds `mark`; its place.
static char *wait_for(struct connection *connection, const char *mark) {
    char *found;
    while ((found = strstr(connection->buffer, mark)) == NULL)
        fill(connection);
    return found;
}

static void http(struct connection *connection) {
    char request[512];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n", path);
    send_all(connection, request, (size_t)length);
    char *body = wait_for(connection, "\r\n\r\n");
    if (strncmp(connection->buffer, "HTTP/1.1 200", 12) != 0)
        die(connection->buffer);
    char *size = strcasestr(connection->buffer, "\r\nContent-Length:");
    if (size != NULL && size < body) {
        skip(connection, (size_t)(body + 4 - connection->buffer) + strtoull(size + 17, NULL, 10));
        return;
    }
    skip(connection, (size_t)(body + 4 - connection->buffer));
    for (;;) { // chunks
        char *line = wait_for(connection, "\r\n");
        size_t chunk = strtoull(connection->buffer, NULL, 16);
        skip(connection, (size_t)(line + 2 - connection->buffer) + chunk + 2);
        if (chunk == 0)
            return;
    }
}

static void set_and_get(struct connection *connection, uint64_t key) {
    static const char value[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    char request[512];
    int length = snprintf(request, sizeof request, "SET load:%06u %s\r\n", (unsigned)(key % 100000), value);
    send_all(connection, request, (size_t)length);
    char *end = wait_for(connection, "\r\n");
    if (connection->buffer[0] != '+')
        die(connection->buffer);
    skip(connection, (size_t)(end + 2 - connection->buffer));
    length = snprintf(request, sizeof request, "GET load:%06u\r\n", (unsigned)(key % 100000));
    send_all(connection, request, (size_t)length);
    end = wait_for(connection, "\r\n");
    skip(connection, (size_t)(end + 2 - connection->buffer) + strtoull(connection->buffer + 1, NULL, 10) + 2);
}

static void work(struct worker *worker) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL || (connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
        die("socket");
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(connection->fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("connect");
    int one = 1;
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    uint64_t key = worker->index + 1, longest = 0;
    while (worker_continues(worker)) {
        uint64_t from = now_ns();
        key = churn(key, 4);
        if (redis)
            set_and_get(connection, key >> 8);
        else
            http(connection);
        uint64_t took = now_ns() - from;
        longest = took > longest ? took : longest;
        worker_did(worker, 1);
    }
    close(connection->fd);
    free(connection);
    uint64_t before = atomic_load(&longest_ns);
    while (longest > before && !atomic_compare_exchange_weak(&longest_ns, &before, longest))
        ;
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "load",
        .operation = "one request and its answer (last words: http PORT PATH, or redis PORT)",
        .slow = "as the server makes it",
        .fast = "the same",
        .ops = 100000,
        .threads = 4,
    };
    int own = 2;
    while (own < argc && strcmp(argv[own], "http") != 0 && strcmp(argv[own], "redis") != 0)
        own++;
    if (own + 1 >= argc)
        die("http PORT PATH or redis PORT is missing");
    redis = argv[own][0] == 'r';
    port = (uint16_t)atoi(argv[own + 1]);
    if (own + 2 < argc)
        path = argv[own + 2];
    struct options options = workload_begin(&workload, own, argv);
    workers_run("client", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("bytes received %" PRIu64, (uint64_t)bytes);
    truth("longest answer ms %.3f", (double)longest_ns / 1e6);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
