// Waits for loads: each address is what the load before it found. The size decides which cache (or memory) answers.
#include "bench.h"

#ifndef HUGE_PAGES
#define HUGE_PAGES true
#endif

struct node {
    struct node *next;
    char rest[56]; // a cache line each
};
static struct node *at;

// One cycle through all nodes in an order that no prefetcher guesses: the full period of a linear congruential generator.
static void prepare(uint64_t size) {
    uint64_t count = bench_power_of_two(size / sizeof(struct node));
    struct node *nodes = bench_memory(count * sizeof *nodes, HUGE_PAGES);
    for (uint64_t i = 0; i < count; i++)
        nodes[i].next = &nodes[(i * UINT64_C(6364136223846793005) + 1442695040888963407) & (count - 1)];
    at = nodes;
}

NAMED uint64_t chase(uint64_t rounds) {
    struct node *node = at;
    for (uint64_t i = 0; i < rounds; i++)
        node = node->next;
    at = node;
    return (uintptr_t)node;
}

int main(int argc, char **argv) {
    const struct bench bench = {"follow a pointer", "bytes", 16 << 10, 0, 1, prepare, chase};
    return bench_run(&bench, argc, argv);
}
