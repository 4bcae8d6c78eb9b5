// A service that other services ask: answers each HTTP request after a time, as a store does that has to look far for it.
// Requests of one connection are answered one after another.
//
// usage: backend PORT MICROSECONDS [WORD…]
//   PATH=MICROSECONDS   the time for paths that begin with PATH
//   at-once=N           no more than N requests at the same time, whether or not someone still waits for them
#include "simple.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long usual, other;
static const char *other_path;
static size_t other_length;
static sem_t room;
static int limited;

static void wait_us(long us) {
    struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void *serve(void *argument) {
    int fd = (int)(intptr_t)argument;
    char request[4096], answer[1024];
    int head = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 600\r\n\r\n");
    memset(answer + head, ' ', 600);
    memcpy(answer + head, "{\"found\": true}", 15);
    prctl(PR_SET_TIMERSLACK, 1000); // ns
    size_t filled = 0;
    for (ssize_t got; (got = recv(fd, request + filled, sizeof request - 1 - filled, 0)) > 0;) {
        filled += (size_t)got;
        request[filled] = '\0';
        for (char *end; (end = strstr(request, "\r\n\r\n")) != NULL;) {
            int is_other = other_length > 0 && strncmp(request, "GET ", 4) == 0 && strncmp(request + 4, other_path, other_length) == 0;
            if (limited)
                sem_wait(&room);
            wait_us(is_other ? other : usual);
            if (limited)
                sem_post(&room);
            if (send(fd, answer, (size_t)head + 600, MSG_NOSIGNAL) < 0)
                break;
            filled -= (size_t)(end + 4 - request);
            memmove(request, end + 4, filled + 1);
        }
    }
    close(fd);
    return NULL;
}

int main(int argc, char **argv) {
    const char *usage = "PORT MICROSECONDS [PATH=MICROSECONDS] [at-once=N]";
    simple_words(argc, argv, INT_MAX - 1, usage);
    usual = argc > 2 ? atol(argv[2]) : 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (argc < 3 || usual < 0) {
        fprintf(stderr, "usage: %s %s\n", argv[0], usage);
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL) {
            fprintf(stderr, "backend: %s: not PATH=MICROSECONDS or at-once=N\n", argv[i]);
            return 2;
        }
        if (argv[i][0] == '/') {
            other_path = argv[i], other_length = (size_t)(value - argv[i]), other = atol(value + 1);
        } else {
            limited = 1;
            sem_init(&room, 0, (unsigned)atoi(value + 1));
        }
    }
    at.sin_port = htons((uint16_t)atoi(argv[1]));
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 1024) != 0) {
        perror("backend");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) != 0)
            close(fd);
        else
            pthread_detach(thread);
    }
}
