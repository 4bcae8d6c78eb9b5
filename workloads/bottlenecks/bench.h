// The frame of the C programs with one known bottleneck: NAME [SECONDS] [SIZE].
//
// It calls one function, which does a known number of operations a call, until the time is up, in the main thread and with
// nothing else to do. It prints at the start what it is about to do, four times a second and at the end `done N`, and at the end
// what an oracle needs: CPU time, calls, nanoseconds of CPU time an operation and a call.
#pragma once
#include "simple.h"

#include <stddef.h>
#include <sys/mman.h>

struct bench {
    const char *operation; // what one operation is
    const char *unit;      // of the size
    uint64_t size;         // default
    uint64_t per_call;     // operations of one call of the function; 0: as many as take 40 ms
    uint64_t burst;        // calls between two looks at the clock; 0 is 1
    void (*prepare)(uint64_t size);
    uint64_t (*call)(uint64_t operations);
};

static volatile uint64_t bench_sink;

// Memory of `size` bytes, on huge or on 4-KiB pages, all zero. It is never given back.
static inline void *bench_memory(uint64_t size, bool huge) {
    const uint64_t page = 2 << 20;
    char *memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        simple_fail("mmap");
    memory = (char *)(((uintptr_t)memory + page - 1) & ~(uintptr_t)(page - 1));
    // A kernel without transparent huge pages refuses; the program is right all the same, just slower.
    (void)madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return memory;
}

// The greatest power of two that is at most `value`.
static inline uint64_t bench_power_of_two(uint64_t value) { return UINT64_C(1) << (63 - __builtin_clzll(value)); }

static inline int bench_run(const struct bench *bench, int argc, char **argv) {
    simple_words(argc, argv, 2, "[SECONDS] [SIZE]");
    double seconds = argc > 1 ? simple_seconds(argv[1]) : 2;
    uint64_t size = argc > 2 ? simple_count(argv[2]) : bench->size;
    uint64_t burst = bench->burst ? bench->burst : 1, per_call = bench->per_call;
    uint64_t (*volatile call)(uint64_t) = bench->call; // what it does is no business of the optimiser
    uint64_t preparing = simple_clock(CLOCK_MONOTONIC);
    if (bench->prepare)
        bench->prepare(size);
    for (uint64_t took = 0; bench->per_call == 0 && took < 40000000;) {
        per_call = per_call ? per_call * 2 : 1024;
        took = simple_clock(CLOCK_THREAD_CPUTIME_ID);
        bench_sink = call(per_call);
        took = simple_clock(CLOCK_THREAD_CPUTIME_ID) - took;
    }
    preparing = simple_clock(CLOCK_MONOTONIC) - preparing;
    printf("truth: operation %s\ntruth: size %" PRIu64 " %s\ntruth: operations per call %" PRIu64 "\n", bench->operation, size,
           bench->unit, per_call);
    printf("truth: seconds preparing %.4f\n", (double)preparing * 1e-9);
    fflush(stdout);

    const uint64_t quarter = 250000000;
    uint64_t calls = 0, started = simple_clock(CLOCK_MONOTONIC), cpu = simple_clock(CLOCK_THREAD_CPUTIME_ID), now = started;
    uint64_t end = started + (uint64_t)(seconds * 1e9), next = started + quarter;
    while (now < end) {
        for (uint64_t i = 0; i < burst; i++)
            bench_sink = call(per_call);
        calls += burst;
        now = simple_clock(CLOCK_MONOTONIC);
        if (now >= next && now < end) {
            printf("done %" PRIu64 "\n", calls * per_call);
            fflush(stdout);
            next += quarter;
        }
    }
    cpu = simple_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    printf("done %" PRIu64 "\noperations: %" PRIu64 "\n", calls * per_call, calls * per_call);
    printf("truth: wall seconds %.4f\ntruth: cpu seconds %.4f\n", (double)(now - started) * 1e-9, (double)cpu * 1e-9);
    printf("truth: calls %" PRIu64 "\ntruth: ns per call %.3f\ntruth: ns per operation %.4f\n", calls, (double)cpu / (double)calls,
           (double)cpu / (double)(calls * per_call));
    return 0;
}
