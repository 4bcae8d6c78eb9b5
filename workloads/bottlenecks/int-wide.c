// Bound by the width of the core: four hashes of shifts, additions and exclusive ors at a time.
#include "bench.h"

static uint64_t state[4] = {1, 2, 3, 4};

NAMED uint64_t mix(uint64_t rounds) {
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (uint64_t i = 0; i < rounds; i++) {
        a = (a << 5) ^ (a + i);
        b = (b >> 3) ^ (b + i);
        c = (c << 7) ^ (c + i);
        d = (d >> 9) ^ (d + i);
    }
    state[0] = a, state[1] = b, state[2] = c, state[3] = d;
    return a ^ b ^ c ^ d;
}

int main(int argc, char **argv) {
    const struct bench bench = {"a step of four hashes", "numbers", 4, 0, 1, NULL, mix};
    return bench_run(&bench, argc, argv);
}
