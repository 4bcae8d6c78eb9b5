// Waits for full fences: each of a ring's slots is written and published with a sequentially consistent store.
#include "bench.h"

static uint64_t *ring, slots;

static void prepare(uint64_t size) {
    slots = bench_power_of_two(size / 8);
    ring = bench_memory(slots * 8, true);
}

NAMED uint64_t publish(uint64_t rounds) {
    uint64_t last = slots - 1, *into = ring;
    for (uint64_t i = 0; i < rounds; i++)
        __atomic_store_n(&into[i & last], i, __ATOMIC_SEQ_CST);
    return into[0];
}

int main(int argc, char **argv) {
    const struct bench bench = {"publish a slot", "bytes", 4096, 0, 1, prepare, publish};
    return bench_run(&bench, argc, argv);
}
