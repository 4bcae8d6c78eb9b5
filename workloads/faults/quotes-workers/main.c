// Quotes for customers over HTTP: one thread reads requests and puts each into the queue of the worker that is responsible for
// the customer; the worker asks the rates service, which takes a while, and answers. Slow divides customers among workers by
// country, and seven in ten are from the same; fast by customer number.
#include "simple.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 4, QUEUE = 1024, ROOM = 4096 };

struct job {
    int fd;
    unsigned long customer;
};

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct job jobs[QUEUE]; // a ring
    unsigned first, count;
};

static struct worker workers[WORKERS];
static struct sockaddr_in rates = {.sin_family = AF_INET};

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static void no_delay(int fd) {
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static struct job take(struct worker *worker) {
    pthread_mutex_lock(&worker->lock);
    while (worker->count == 0)
        pthread_cond_wait(&worker->filled, &worker->lock);
    struct job job = worker->jobs[worker->first];
    worker->first = (worker->first + 1) % QUEUE;
    worker->count--;
    pthread_mutex_unlock(&worker->lock);
    return job;
}

static void put(struct worker *worker, struct job job) {
    pthread_mutex_lock(&worker->lock);
    if (worker->count < QUEUE) // a client has one request at a time, so there is always room
        worker->jobs[(worker->first + worker->count++) % QUEUE] = job;
    pthread_cond_signal(&worker->filled);
    pthread_mutex_unlock(&worker->lock);
}

static void *work(void *argument) {
    struct worker *worker = argument;
    char text[ROOM], answer[ROOM];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&rates, sizeof rates) != 0)
        fail("rates");
    no_delay(fd);
    for (;;) {
        struct job job = take(worker);
        int length = snprintf(text, sizeof text, "GET /rate/%lu HTTP/1.1\r\nHost: rates\r\n\r\n", job.customer % 100);
        if (send(fd, text, (size_t)length, MSG_NOSIGNAL) != length || recv(fd, answer, sizeof answer, 0) <= 0)
            fail("rates");
        double quote = 1000 + (double)(job.customer * 7919 % 9973) / 100;
        char body[128];
        int size = snprintf(body, sizeof body, "{\"customer\": %lu, \"quote\": %.2f}\n", job.customer, quote);
        length = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
        send(job.fd, text, (size_t)length, MSG_NOSIGNAL);
    }
    return NULL;
}

static struct worker *responsible(unsigned long customer, bool by_country) {
    static const int country[10] = {0, 0, 0, 0, 0, 0, 0, 1, 2, 3};
    return &workers[by_country ? (unsigned long)country[customer % 10] : customer % WORKERS];
}

int main(int argc, char **argv) {
    const char *usage = "slow|fast PORT PORT-OF-RATES";
    simple_words(argc, argv, 3, usage);
    struct sockaddr_in at = {.sin_family = AF_INET};
    if (argc != 4) {
        fprintf(stderr, "usage: %s %s\n", argv[0], usage);
        return 2;
    }
    bool by_country = strcmp(argv[1], "slow") == 0;
    at.sin_addr.s_addr = rates.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)atoi(argv[2]));
    rates.sin_port = htons((uint16_t)atoi(argv[3]));
    int one = 1, poll = epoll_create1(EPOLL_CLOEXEC), listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 128) != 0)
        fail("listen");
    for (int i = 0; i < WORKERS; i++) {
        pthread_mutex_init(&workers[i].lock, NULL);
        pthread_cond_init(&workers[i].filled, NULL);
        if ((errno = pthread_create(&workers[i].thread, NULL, work, &workers[i])) != 0)
            fail("pthread_create");
        char name[16];
        snprintf(name, sizeof name, "quotes-%d", i);
        pthread_setname_np(workers[i].thread, name);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            char request[ROOM];
            int fd = events[i].data.fd;
            if (fd == listener) {
                fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                event.data.fd = fd;
                if (fd >= 0) {
                    no_delay(fd);
                    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
                }
                continue;
            }
            ssize_t got = recv(fd, request, sizeof request - 1, 0);
            if (got <= 0) {
                close(fd);
                continue;
            }
            request[got] = '\0'; // a request is small and comes whole
            unsigned long customer = 0;
            sscanf(request, "GET /quote/%lu", &customer);
            put(responsible(customer, by_country), (struct job){fd, customer});
        }
    }
}
