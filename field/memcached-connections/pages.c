// Two threads, each of which gets four values for each page: PORT PAGES_PER_CONNECTION SECONDS.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int port, keep;
static atomic_int done;

static int open_connection(void) {
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) {
        perror("connect");
        exit(1);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void ask(int fd, const char *request) {
    char answer[2048];
    size_t have = 0;
    if (write(fd, request, strlen(request)) < 0) exit(1);
    do {
        ssize_t more = read(fd, answer + have, sizeof answer - 1 - have);
        if (more <= 0) exit(1);
        have += more;
        answer[have] = 0;
    } while (!strstr(answer, "END\r\n") && !strstr(answer, "STORED\r\n"));
}

static void *pages(void *seed) {
    unsigned random = (unsigned)(size_t)seed;
    char request[200];
    for (;;) {
        int fd = open_connection();
        for (int page = 0; page < keep; page++) {
            for (int value = 0; value < 4; value++) {
                snprintf(request, sizeof request, "get part:%d\r\n", rand_r(&random) % 1000);
                ask(fd, request);
            }
            done++;
        }
        close(fd);
    }
}

int main(int count, char **argument) {
    pthread_t thread;
    char request[200];
    if (count != 4) return 2;
    port = atoi(argument[1]), keep = atoi(argument[2]);
    int fd = open_connection();
    for (int part = 0; part < 1000; part++) {
        snprintf(request, sizeof request, "set part:%d 0 0 100\r\n%0100d\r\n", part, part);
        ask(fd, request);
    }
    for (size_t seed = 1; seed <= 2; seed++) pthread_create(&thread, NULL, pages, (void *)seed);
    for (int second = atoi(argument[3]); second > 0; second--) {
        sleep(1);
        printf("done %d\n", done);
        fflush(stdout);
    }
    return 0;
}
