// Bound by latency: floating-point numbers of an array in the first cache are added up, each to the sum before.
#include "bench.h"

static double *numbers;
static uint64_t count;

static void prepare(uint64_t size) {
    count = bench_power_of_two(size / sizeof *numbers);
    numbers = bench_memory(count * sizeof *numbers, true);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = (double)i * 0.25;
}

NAMED uint64_t sum_up(uint64_t rounds) {
    double sum = 0;
    for (uint64_t i = 0; i < rounds; i++)
        sum += numbers[i & (count - 1)];
    return (uint64_t)sum;
}

int main(int argc, char **argv) {
    const struct bench bench = {"add a number", "bytes", 8192, 0, 1, prepare, sum_up};
    return bench_run(&bench, argc, argv);
}
