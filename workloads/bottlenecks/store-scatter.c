// Waits for stores: marks are written all over a table that no cache holds; nothing is read.
#include "bench.h"

static uint64_t *table, mask, seed = 1;

static void prepare(uint64_t size) {
    uint64_t slots = bench_power_of_two(size / 8);
    table = bench_memory(slots * 8, true);
    memset(table, 1, slots * 8);
    mask = slots - 1;
}

NAMED uint64_t mark(uint64_t marks) {
    uint64_t key = seed, *slots = table, last = mask;
    for (uint64_t i = 0; i < marks; i++) {
        key = key * UINT64_C(6364136223846793005) + 1442695040888963407;
        slots[(key >> 29) & last] = key;
    }
    seed = key;
    return key;
}

int main(int argc, char **argv) {
    const struct bench bench = {"mark a slot", "bytes", 256 << 20, 0, 1, prepare, mark};
    return bench_run(&bench, argc, argv);
}
