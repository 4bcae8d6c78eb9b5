// Waits for atomic additions that nobody else contends for: one thread, one counter.
#include "bench.h"

static _Alignas(128) uint64_t counter;

NAMED uint64_t tally(uint64_t rounds) {
    for (uint64_t i = 0; i < rounds; i++)
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    return counter;
}

int main(int argc, char **argv) {
    const struct bench bench = {"add 1 to a counter", "counters", 1, 0, 1, NULL, tally};
    return bench_run(&bench, argc, argv);
}
