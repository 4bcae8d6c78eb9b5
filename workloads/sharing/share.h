// The frame of the C and C++ programs whose threads share (or do not share) cache lines: NAME [SECONDS] [THREADS].
//
// Threads do their operations until the time is up, bound to the CPUs in turn, so that they do run at once. The program prints at the start which thread uses which words, four times a
// second and at the end `done N`, and at the end the CPU time an operation took.
//
// Built with -DMENDED it is the mended twin: what OWN_LINE marks has two cache lines for itself, since processors fetch pairs.
#pragma once
#include "simple.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#ifdef MENDED
#define OWN_LINE __attribute__((aligned(128)))
#else
#define OWN_LINE
#endif
#define LINE __attribute__((aligned(128))) // of what begins at a line in both variants

enum { SHARE_MOST = 16, SHARE_ROUND = 1000 };

// One thread. Nobody else touches its lines while it works.
struct share_thread {
    uint64_t done; // operations
    unsigned index;
    void (*body)(struct share_thread *);
    pthread_t handle;
} __attribute__((aligned(256)));

static double share_seconds = 2;
static unsigned share_count; // threads
static struct share_thread share_threads[SHARE_MOST];
static int share_stopped __attribute__((aligned(256)));
static char share_end __attribute__((aligned(256), unused)); // keeps what follows off that line

// Whether the time is up. To be asked once in SHARE_ROUND operations.
static inline bool share_over(void) { return __atomic_load_n(&share_stopped, __ATOMIC_RELAXED); }

// Reads the command line; `threads` is the default.
static inline void share_begin(int argc, char **argv, unsigned threads) {
    simple_words(argc, argv, 2, "[SECONDS] [THREADS]");
    if (argc > 1)
        share_seconds = simple_seconds(argv[1]);
    share_count = argc > 2 ? (unsigned)simple_count(argv[2]) : threads;
    if (share_count > SHARE_MOST) {
        fprintf(stderr, "at most %d threads\n", SHARE_MOST);
        exit(2);
    }
    printf("truth: threads %u\n", share_count);
}

// Say that a thread writes (and may read) a word again and again, or only reads it. What is used once in a thousand operations is
// not said.
static inline void share_writes(unsigned thread, const volatile void *word, const char *name) {
    printf("truth: writes %u %p %s\n", thread, (const void *)word, name);
}
static inline void share_reads(unsigned thread, const volatile void *word, const char *name) {
    printf("truth: reads %u %p %s\n", thread, (const void *)word, name);
}

// Binds a thread to one of the CPUs that the process may use; the next one gets the next.
static inline void share_bind(unsigned index) {
    cpu_set_t may, only;
    if (sched_getaffinity(getpid(), sizeof may, &may) != 0)
        simple_fail("sched_getaffinity");
    int cpu = -1;
    for (int left = (int)index % CPU_COUNT(&may); left >= 0; left--)
        while (!CPU_ISSET(++cpu, &may))
            ;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0)
        simple_fail("sched_setaffinity");
}

static inline void *share_enter(void *argument) {
    struct share_thread *self = (struct share_thread *)argument;
    share_bind(self->index);
    self->body(self);
    return NULL;
}

// Runs `body` in all threads until the time is up, and prints the totals.
static inline int share_run(void (*body)(struct share_thread *)) {
    const struct timespec quarter = {0, 250000000};
    fflush(stdout);
    uint64_t started = simple_clock(CLOCK_MONOTONIC), cpu = simple_clock(CLOCK_PROCESS_CPUTIME_ID), done, now;
    for (unsigned i = 0; i < share_count; i++) {
        share_threads[i].index = i;
        share_threads[i].body = body;
        if ((errno = pthread_create(&share_threads[i].handle, NULL, share_enter, &share_threads[i])) != 0)
            simple_fail("pthread_create");
    }
    for (;;) {
        now = simple_clock(CLOCK_MONOTONIC);
        double left = share_seconds - (double)(now - started) * 1e-9;
        if (left <= 0)
            break;
        const struct timespec rest = {0, (long)(left * 1e9)};
        nanosleep(left < 0.25 ? &rest : &quarter, NULL);
        done = 0;
        for (unsigned i = 0; i < share_count; i++)
            done += __atomic_load_n(&share_threads[i].done, __ATOMIC_RELAXED);
        printf("done %" PRIu64 "\n", done);
        fflush(stdout);
    }
    __atomic_store_n(&share_stopped, 1, __ATOMIC_RELAXED);
    done = 0;
    for (unsigned i = 0; i < share_count; i++) {
        pthread_join(share_threads[i].handle, NULL);
        done += share_threads[i].done;
    }
    cpu = simple_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    now = simple_clock(CLOCK_MONOTONIC);
    printf("done %" PRIu64 "\noperations: %" PRIu64 "\n", done, done);
    printf("truth: wall seconds %.4f\ntruth: cpu seconds %.4f\n", (double)(now - started) * 1e-9, (double)cpu * 1e-9);
    printf("truth: cpu ns per operation %.4f\n", (double)cpu / (double)(done ? done : 1));
    return 0;
}

// Counts operations of this thread.
static inline void share_did(struct share_thread *self, uint64_t operations) {
    __atomic_store_n(&self->done, self->done + operations, __ATOMIC_RELAXED);
}

// Work of about a nanosecond a step that shares nothing; use the result.
static inline uint64_t share_work(uint64_t value, unsigned steps) {
    for (unsigned i = 0; i < steps; i++)
        value = (value ^ (value >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    __asm__ volatile("" : "+r"(value));
    return value;
}
