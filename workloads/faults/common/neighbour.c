// Another program on the same machine: burns a share of some CPUs, in slices of a fifth of a second, until it is stopped.
//
// usage: neighbour [--threads N] [--percent P] [--seconds S]
#include "simple.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double percent = 100;
static volatile uint64_t sink;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *compress(void *seed) {
    uint64_t x = (uintptr_t)seed | 1;
    for (;;) {
        double until = now() + 0.2 * percent / 100;
        while (now() < until) {
            for (int i = 0; i < 100000; i++)
                x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
            sink = x;
        }
        if (percent < 100)
            usleep((useconds_t)(200000 * (1 - percent / 100)));
    }
    return NULL;
}

int main(int argc, char **argv) {
    simple_words(argc, argv, 6, "[--threads N] [--percent P] [--seconds S]");
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    double seconds = 60;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--threads") == 0)
            threads = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--percent") == 0)
            percent = atof(argv[i + 1]);
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = atof(argv[i + 1]);
    }
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, compress, (void *)(uintptr_t)(i + 1)) != 0) {
            perror("neighbour");
            return 1;
        }
        pthread_setname_np(thread, "compress");
    }
    usleep((useconds_t)(seconds * 1e6));
    return 0;
}
