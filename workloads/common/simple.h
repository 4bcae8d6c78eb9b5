// What the programs of bottlenecks/ and sharing/ share, and some of faults/: the words of the command line, clocks, random numbers.
// C and C++.
#ifndef SIMPLE_H
#define SIMPLE_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A function that has to be found under its own name: never inlined, copied or specialised.
#ifdef __clang__
#define NAMED __attribute__((noinline))
#else
#define NAMED __attribute__((noipa))
#endif

// Prints what failed, with errno, and exits with 1.
__attribute__((noreturn)) static inline void simple_fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

// Takes up to `most` words on the command line. Otherwise, and for --help, prints the usage and exits.
static inline void simple_words(int argc, char **argv, int most, const char *usage) {
    bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (!help && argc <= most + 1)
        return;
    fprintf(help ? stdout : stderr, "usage: %s %s\n", argv[0], usage);
    exit(help ? 0 : 2);
}

// A clock in nanoseconds: CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID.
static inline uint64_t simple_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// A positive number of the command line, as seconds; exits with 2 when it is none.
static inline double simple_seconds(const char *word) {
    char *end;
    double seconds = strtod(word, &end);
    if (end == word || *end != 0 || !(seconds > 0)) {
        fprintf(stderr, "%s: expected a number of seconds\n", word);
        exit(2);
    }
    return seconds;
}

// A whole number of the command line, with K, M or G for powers of 1024; exits with 2 when it is none.
static inline uint64_t simple_count(const char *word) {
    char *end;
    uint64_t count = strtoull(word, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == word || end[shift ? 1 : 0] != 0 || count == 0) {
        fprintf(stderr, "%s: expected a count, as 4096 or 16M\n", word);
        exit(2);
    }
    return count << shift;
}

// The next of a sequence of pseudo-random numbers (splitmix64 of Sebastiano Vigna, public domain).
static inline uint64_t simple_random(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
