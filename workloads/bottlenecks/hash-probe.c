// Waits for loads that do not wait for each other: look-ups in a table much larger than the caches.
#include "bench.h"

static uint64_t *table, mask, seed = 1;

static void prepare(uint64_t size) {
    uint64_t slots = bench_power_of_two(size / 8);
    table = bench_memory(slots * 8, true);
    for (uint64_t i = 0; i < slots; i++)
        table[i] = i * 3;
    mask = slots - 1;
}

NAMED uint64_t probe(uint64_t keys) {
    uint64_t key = seed, found = 0;
    const uint64_t *slots = table, last = mask;
    for (uint64_t i = 0; i < keys; i++) {
        key = key * UINT64_C(6364136223846793005) + 1442695040888963407;
        found += slots[(key >> 29) & last];
    }
    seed = key;
    return found;
}

int main(int argc, char **argv) {
    const struct bench bench = {"look a key up", "bytes", 256 << 20, 0, 1, prepare, probe};
    return bench_run(&bench, argc, argv);
}
