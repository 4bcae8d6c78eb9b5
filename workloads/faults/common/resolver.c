// A resolver of names on loopback that answers each question after a time, as one does that has to ask others: 127.0.0.1 for
// addresses of IPv4, nothing for anything else.
//
// usage: resolver ADDRESS PORT MICROSECONDS
#include "simple.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, HEAD = 12 };

static int fd;
static long wait_us;

// The size of the question in a packet, its type and class included; 0 where it is none.
static size_t question(const unsigned char *packet, size_t size) {
    size_t at = HEAD;
    while (at < size && packet[at] != 0)
        at += (size_t)packet[at] + 1;
    return at + 5 <= size ? at + 5 - HEAD : 0;
}

static void *serve(void *argument) {
    static const unsigned char address[] = {0xc0, HEAD, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 127, 0, 0, 1};
    const struct timespec wait = {.tv_sec = wait_us / 1000000, .tv_nsec = wait_us % 1000000 * 1000};
    prctl(PR_SET_TIMERSLACK, 1000); // ns
    for (;;) {
        unsigned char packet[1024];
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(fd, packet, 512, 0, (struct sockaddr *)&from, &length);
        size_t asked = got > HEAD ? question(packet, (size_t)got) : 0;
        if (asked == 0)
            continue;
        nanosleep(&wait, NULL);
        int known = packet[HEAD + asked - 3] == 1; // type A
        memcpy(packet + 2, (unsigned char[]){0x81, 0x80, 0, 1, 0, (unsigned char)known, 0, 0, 0, 0}, 10);
        memcpy(packet + HEAD + asked, address, sizeof address);
        sendto(fd, packet, HEAD + asked + (known ? sizeof address : 0), 0, (struct sockaddr *)&from, length);
    }
    return argument;
}

int main(int argc, char **argv) {
    const char *usage = "ADDRESS PORT MICROSECONDS";
    simple_words(argc, argv, 3, usage);
    struct sockaddr_in at = {.sin_family = AF_INET};
    if (argc != 4 || inet_pton(AF_INET, argv[1], &at.sin_addr) != 1) {
        fprintf(stderr, "usage: %s %s\n", argv[0], usage);
        return 2;
    }
    at.sin_port = htons((uint16_t)atoi(argv[2]));
    wait_us = atol(argv[3]);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        perror("resolver");
        return 1;
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, serve, NULL) != 0)
            return 1;
    pause();
    return 0;
}
