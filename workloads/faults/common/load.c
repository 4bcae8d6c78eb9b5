// A client of a server on loopback: each thread asks over a connection of its own and waits for the answer. It waits for the
// server to listen before it begins.
//
// usage: load slow|fast [--seconds S] [--threads N] http PORT PATH [WORD…]     one GET is an operation
//        load slow|fast [--seconds S] [--threads N] redis PORT [WORD…]         a SET and a GET are an operation
//   @ in PATH        stands for a number that is another for each request
//   every=N:PATH     one request in N asks for this path instead
//   rate=N           N requests a second in all, at fixed times, whether or not those before are answered: each thread has its
//                    part of them, and a latency counts from the time at which the request was due
//   connect          a connection for each operation, not for each thread
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
static const char *path = "/", *rare_path;
static uint64_t rare;    // one request in so many asks for rare_path; 0: none
static double rate;      // requests a second in all threads; 0: as the server answers
static bool reconnects;  // a connection for each operation
static _Atomic uint64_t bytes;

// Latencies of all threads, in ns.
static pthread_mutex_t latencies_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *latencies, latencies_count;

struct connection {
    int fd;
    size_t filled;
    char buffer[64 << 10];
};

// Latencies of one thread, in ns.
struct times {
    uint64_t *ns, count, room;
};

static void keep(struct times *times, uint64_t ns) {
    if (times->count == times->room) {
        times->room = times->room == 0 ? 4096 : 2 * times->room;
        times->ns = realloc(times->ns, times->room * sizeof *times->ns);
        if (times->ns == NULL)
            die("realloc");
    }
    times->ns[times->count++] = ns;
}

static void merge(struct times *times) {
    pthread_mutex_lock(&latencies_lock);
    latencies = realloc(latencies, (latencies_count + times->count + 1) * sizeof *latencies);
    if (latencies == NULL)
        die("realloc");
    for (uint64_t i = 0; i < times->count; i++)
        latencies[latencies_count++] = times->ns[i];
    pthread_mutex_unlock(&latencies_lock);
    free(times->ns);
}

static int by_size(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

// A connection to the server, or -1 where it does not listen.
static int try_connect(void) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket");
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

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

static void http(struct connection *connection, uint64_t number) {
    char request[512];
    const char *wanted = rare > 0 && number % rare == rare - 1 ? rare_path : path, *at = strchr(wanted, '@');
    int length = at == NULL ? snprintf(request, sizeof request, "GET %s", wanted)
                            : snprintf(request, sizeof request, "GET %.*s%" PRIu64 "%s", (int)(at - wanted), wanted, number, at + 1);
    length += snprintf(request + length, sizeof request - (size_t)length, " HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n%s\r\n",
                       reconnects ? "Connection: close\r\n" : "");
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

static void join(struct connection *connection) {
    connection->filled = 0;
    connection->buffer[0] = '\0';
    connection->fd = try_connect();
    if (connection->fd < 0)
        die("connect");
}

static void work(struct worker *worker) {
    uint64_t threads = worker->options->threads;
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        die("calloc");
    if (!reconnects)
        join(connection);
    struct times times = {0};
    // All threads have the same distance between two requests, and none begins with another.
    uint64_t step = rate > 0 ? (uint64_t)((double)threads * 1e9 / rate) : 0, due = now_ns() + step * worker->index / threads;
    uint64_t key = worker->index + 1;
    for (uint64_t round = 0; worker_continues(worker); round++) {
        if (step > 0) {
            for (uint64_t now; (now = now_ns()) < due && !workload_stopped();)
                sleep_ns(due - now < 50000000 ? due - now : 50000000);
            if (workload_stopped())
                break;
        }
        uint64_t from = step > 0 ? due : now_ns();
        due += step;
        key = churn(key, 4);
        if (reconnects)
            join(connection);
        if (redis)
            set_and_get(connection, key >> 8);
        else
            http(connection, round * threads + worker->index);
        keep(&times, now_ns() - from);
        if (reconnects)
            close(connection->fd);
        worker_did(worker, 1);
    }
    if (!reconnects)
        close(connection->fd);
    free(connection);
    merge(&times);
}

// The latency that a part of the requests did not exceed, in ms.
static double latency(double part) {
    return latencies_count == 0 ? 0 : (double)latencies[(uint64_t)(part * (double)(latencies_count - 1))] / 1e6;
}

static void read_word(char *word) {
    char *colon = strchr(word, ':');
    if (strncmp(word, "rate=", 5) == 0)
        rate = atof(word + 5);
    else if (strcmp(word, "connect") == 0)
        reconnects = true;
    else if (strncmp(word, "every=", 6) == 0 && colon != NULL)
        rare = strtoull(word + 6, NULL, 10), rare_path = colon + 1;
    else if (word[0] == '/')
        path = word;
    else
        die(word);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "load",
        .operation = "one request and its answer (last words: http PORT PATH, or redis PORT; more: the top of load.c)",
        .slow = "as the server makes it",
        .fast = "the same",
        .ops = 100000,
        .threads = 4,
    };
    int own = 2;
    while (own < argc && strcmp(argv[own], "http") != 0 && strcmp(argv[own], "redis") != 0)
        own++;
    if (own + 1 >= argc) {
        workload_begin(&workload, argc, argv); // answers --help
        die("http PORT PATH or redis PORT is missing");
    }
    redis = argv[own][0] == 'r';
    port = (uint16_t)atoi(argv[own + 1]);
    for (int i = own + 2; i < argc; i++)
        read_word(argv[i]);
    int fd;
    for (int tries = 0; (fd = try_connect()) < 0; tries++, sleep_ns(20000000))
        if (tries == 1000)
            die("connect");
    close(fd);
    struct options options = workload_begin(&workload, own, argv);
    workers_run("client", options.threads, options.ops, &options, work, NULL);
    workload_end();
    qsort(latencies, latencies_count, sizeof *latencies, by_size);
    truth("bytes received %" PRIu64, (uint64_t)bytes);
    truth("p50 ms %.3f", latency(0.5));
    truth("p90 ms %.3f", latency(0.9));
    truth("p99 ms %.3f", latency(0.99));
    truth("p99.9 ms %.3f", latency(0.999));
    truth("longest answer ms %.3f", latency(1));
    if (rate <= 0)
        truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
