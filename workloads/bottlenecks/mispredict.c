// Waits for the right instructions: what a branch does depends on random bytes. More of them than a predictor learns: some know 32 KiB by heart.
#include "bench.h"

static uint8_t *bytes;
static uint64_t count;

static void prepare(uint64_t size) {
    uint64_t random = 11;
    count = bench_power_of_two(size);
    bytes = bench_memory(count, true);
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(simple_random(&random) >> 40);
}

NAMED uint64_t sort_out(uint64_t rounds) {
    uint64_t small = 0, large = 1;
    for (uint64_t i = 0; i < rounds; i++) {
        uint8_t byte = bytes[i & (count - 1)];
        if (byte < 128) {
            small += byte;
            __asm__("" : "+r"(small)); // keeps the branch a branch
        } else {
            large = large * 2 + byte;
            __asm__("" : "+r"(large));
        }
    }
    return small ^ large;
}

int main(int argc, char **argv) {
    const struct bench bench = {"sort a byte out", "bytes", 256 << 10, 0, 1, prepare, sort_out};
    return bench_run(&bench, argc, argv);
}
