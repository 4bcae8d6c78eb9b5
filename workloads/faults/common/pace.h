// What the C and C++ programs that model a service share: the command line, the time limit, `done N` ten times a second, the
// totals at the end. Unlike workload.h, it leaves it to the program which threads it has and what they do.
#pragma once
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool pace_slow;               // the variant
static const char *pace_dir = "/tmp"; // folder for scratch files
static double pace_seconds = 10;
static uint64_t pace_started;
static uint64_t pace_done;  // atomic: operations done
static int pace_stopped;    // atomic: the time is up, or a signal asked to end
static pthread_t pace_ticker;

// CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t pace_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Prints what failed, with errno, and exits with 1.
static inline void pace_fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

// Whether the run is to end.
static inline bool pace_over(void) { return __atomic_load_n(&pace_stopped, __ATOMIC_RELAXED); }

// Counts operations as done.
static inline void pace_did(uint64_t count) { __atomic_fetch_add(&pace_done, count, __ATOMIC_RELAXED); }

static inline void pace_on_signal(int number) {
    (void)number;
    __atomic_store_n(&pace_stopped, 1, __ATOMIC_RELAXED);
}

static inline void *pace_tick(void *argument) {
    const struct timespec tenth = {0, 100000000};
    while (!pace_over()) {
        nanosleep(&tenth, NULL);
        printf("done %lu\n", (unsigned long)__atomic_load_n(&pace_done, __ATOMIC_RELAXED));
        fflush(stdout);
        if ((double)(pace_now() - pace_started) >= pace_seconds * 1e9)
            __atomic_store_n(&pace_stopped, 1, __ATOMIC_RELAXED);
    }
    return argument;
}

// Reads the command line; with --help, or when it is wrong, prints the usage and exits.
static inline void pace_read(int argc, char **argv) {
    bool known = argc > 1 && argc % 2 == 0 && (!strcmp(argv[1], "slow") || !strcmp(argv[1], "fast"));
    for (int i = 2; known && i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seconds"))
            pace_seconds = atof(argv[i + 1]);
        else if (!strcmp(argv[i], "--dir"))
            pace_dir = argv[i + 1];
        else
            known = false;
    }
    if (!known || !(pace_seconds > 0)) {
        bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
        fprintf(help ? stdout : stderr, "usage: %s slow|fast [--seconds S] [--dir FOLDER]\n", argv[0]);
        exit(help ? 0 : 2);
    }
    pace_slow = !strcmp(argv[1], "slow");
}

// Starts the clock and the progress lines. What is prepared before it is no part of the measured time.
static inline void pace_start(void) {
    signal(SIGINT, pace_on_signal);
    signal(SIGTERM, pace_on_signal);
    pace_started = pace_now();
    errno = pthread_create(&pace_ticker, NULL, pace_tick, NULL);
    if (errno != 0)
        pace_fail("pthread_create");
    pthread_setname_np(pace_ticker, "progress");
}

// Ends the progress lines and prints the totals; to be called when all threads have ended. `share` is the part of the slow-down
// that the fault makes.
static inline void pace_finish(double share) {
    __atomic_store_n(&pace_stopped, 1, __ATOMIC_RELAXED);
    pthread_join(pace_ticker, NULL);
    unsigned long done = (unsigned long)__atomic_load_n(&pace_done, __ATOMIC_RELAXED);
    printf("done %lu\noperations: %lu\n", done, done);
    printf("truth: wall seconds %.3f\n", (double)(pace_now() - pace_started) / 1e9);
    printf("truth: lost share %.3f\n", pace_slow ? share : 0.0);
}
