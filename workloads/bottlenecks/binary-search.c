// Waits for loads: searches in a sorted array that no cache holds, without a branch on what is found.
#include "bench.h"

static uint64_t *sorted, count, seed = 3;

static void prepare(uint64_t size) {
    count = bench_power_of_two(size / 8);
    sorted = bench_memory(count * 8, true);
    for (uint64_t i = 0; i < count; i++)
        sorted[i] = i * 5;
}

// The position of the greatest element that is at most `value`.
NAMED uint64_t search(uint64_t value) {
    const uint64_t *from = sorted;
    for (uint64_t half = count / 2; half > 0; half /= 2) {
        uint64_t skip = from[half] <= value ? half : 0;
        __asm__("" : "+r"(skip)); // no jump, whatever the compiler thinks of it
        from += skip;
    }
    return (uint64_t)(from - sorted);
}

static uint64_t one(uint64_t operations) {
    (void)operations;
    return search(simple_random(&seed) % (count * 5));
}

int main(int argc, char **argv) {
    const struct bench bench = {"search for a value", "bytes", 256 << 20, 1, 1000, prepare, one};
    return bench_run(&bench, argc, argv);
}
