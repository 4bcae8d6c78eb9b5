// Waits for a serialising instruction (x86-64 only): a load fence in each round, as in code that guards against speculation.
#include "bench.h"

static uint64_t limits[64];

static void prepare(uint64_t size) {
    for (unsigned i = 0; i < 64; i++)
        limits[i] = size + i;
}

NAMED uint64_t guarded(uint64_t rounds) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t at = i & 63;
        __asm__ volatile("lfence" ::: "memory");
        sum += limits[at];
    }
    return sum;
}

int main(int argc, char **argv) {
    const struct bench bench = {"a guarded load", "number", 1, 0, 1, prepare, guarded};
    return bench_run(&bench, argc, argv);
}
