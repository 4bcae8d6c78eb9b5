// Sends packets to another host: so many each millisecond, from the last CPU, until it is stopped.
//
// usage: flood ADDRESS PORT [PACKETS]
#include "simple.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *usage = "ADDRESS PORT [PACKETS]";
    simple_words(argc, argv, 3, usage);
    int packets = argc > 3 ? atoi(argv[3]) : 60;
    struct sockaddr_in to = {.sin_family = AF_INET};
    if (argc < 3 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
        fprintf(stderr, "usage: %s %s\n", argv[0], usage);
        return 2;
    }
    to.sin_port = htons((uint16_t)atoi(argv[2]));
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
    sched_setaffinity(0, sizeof last, &last);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (;;) {
        char packet[64] = {0};
        for (int i = 0; i < packets; i++)
            sendto(fd, packet, sizeof packet, 0, (struct sockaddr *)&to, sizeof to);
        at.tv_nsec += 1000000;
        if (at.tv_nsec >= 1000000000) {
            at.tv_sec++;
            at.tv_nsec -= 1000000000;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
}
