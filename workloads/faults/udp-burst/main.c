// A service that is asked over UDP: clients send their questions in bursts, and send again what is not answered within 5 ms. The service's receive buffer
// holds a few datagrams, against some hundreds.
#include "workload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BURST = 64, SIZE = 256, ROUNDS = 2000, SMALL = 4096, PATIENCE_MS = 5 };

static struct sockaddr_in service;
static _Atomic uint64_t again, waited_ns;

static int udp(void) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) != 0)
        die("UDP socket");
    return fd;
}

// Answers each question with its number. It ends with the process.
static void *serve(void *fd) {
    for (;;) {
        char question[SIZE];
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        ssize_t got = recvfrom((int)(intptr_t)fd, question, sizeof question, 0, (struct sockaddr *)&from, &size);
        if (got < (ssize_t)sizeof(uint32_t))
            continue;
        uint32_t number;
        memcpy(&number, question, sizeof number);
        consume(churn(number, ROUNDS));
        sendto((int)(intptr_t)fd, &number, sizeof number, 0, (struct sockaddr *)&from, size);
    }
    return NULL;
}

static void ask(struct worker *worker) {
    int fd = udp(), large = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
    if (connect(fd, (struct sockaddr *)&service, sizeof service) != 0)
        die("connect");
    uint32_t first = 0;
    while (worker_continues(worker)) {
        bool answered[BURST] = {false};
        unsigned open = BURST;
        for (bool more = false; open > 0 && !workload_stopped(); more = true) {
            for (uint32_t i = 0; i < BURST; i++) {
                if (answered[i])
                    continue;
                char question[SIZE] = {0};
                uint32_t number = first + i;
                memcpy(question, &number, sizeof number);
                if (send(fd, question, sizeof question, 0) != sizeof question && errno != ENOBUFS)
                    die("send");
                again += more;
            }
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            uint64_t from = now_ns();
            while (open > 0 && poll(&wait, 1, PATIENCE_MS) > 0) {
                uint32_t number;
                while (open > 0 && recv(fd, &number, sizeof number, MSG_DONTWAIT) == sizeof number)
                    if (number - first < BURST && !answered[number - first]) {
                        answered[number - first] = true;
                        open--;
                    }
                from = now_ns();
            }
            if (open > 0)
                waited_ns += now_ns() - from;
        }
        first += BURST;
        worker_did(worker, BURST - open);
    }
    close(fd);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "udp-burst",
        .operation = "one question and its answer",
        .slow = "the service's receive buffer is of 4 KiB",
        .fast = "it is as the system sets it",
        .ops = 400000,
        .threads = 1,
    };
    struct options options = workload_begin(&workload, argc, argv);
    int fd = udp(), small = SMALL;
    if (!options.fast)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    socklen_t size = sizeof service;
    getsockname(fd, (struct sockaddr *)&service, &size);
    pthread_t server;
    if (pthread_create(&server, NULL, serve, (void *)(intptr_t)fd) != 0)
        die("pthread_create");
    pthread_setname_np(server, "service");
    workers_run("client", options.threads, options.ops, &options, ask, NULL);
    workload_end();
    truth("questions sent again %" PRIu64, (uint64_t)again);
    truth("seconds waiting for lost answers %.3f", (double)waited_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
