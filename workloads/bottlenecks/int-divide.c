// Waits for integer divisions, each of the result of the one before.
#include "bench.h"

static uint64_t divisor = 10007, state = 1;

NAMED uint64_t divide(uint64_t rounds) {
    uint64_t value = state, by = divisor;
    for (uint64_t i = 0; i < rounds; i++)
        value = UINT64_C(0xfedcba9876543210) / (value | by) + i;
    state = value;
    return value;
}

int main(int argc, char **argv) {
    const struct bench bench = {"divide", "numbers", 1, 0, 1, NULL, divide};
    return bench_run(&bench, argc, argv);
}
