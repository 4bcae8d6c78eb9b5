// Bound by latency: a hash of multiplications, each of the result of the one before.
#include "bench.h"

static uint64_t state = 1;

NAMED uint64_t scramble(uint64_t rounds) {
    uint64_t hash = state;
    for (uint64_t i = 0; i < rounds; i++)
        hash = (hash ^ i) * UINT64_C(0x100000001b3);
    state = hash;
    return hash;
}

int main(int argc, char **argv) {
    const struct bench bench = {"multiply", "numbers", 1, 0, 1, NULL, scramble};
    return bench_run(&bench, argc, argv);
}
