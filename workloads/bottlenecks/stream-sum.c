// Waits for memory that comes in order: one number of each cache line of a large array is added up.
#include "bench.h"

static uint64_t *numbers, lines, at;

static void prepare(uint64_t size) {
    lines = bench_power_of_two(size / 64);
    numbers = bench_memory(lines * 64, true);
    memset(numbers, 1, lines * 64);
}

NAMED uint64_t sum_lines(uint64_t count) {
    uint64_t sum = 0, from = at, last = lines - 1;
    const uint64_t *array = numbers;
    for (uint64_t i = 0; i < count; i++)
        sum += array[((from + i) & last) * 8];
    at = from + count;
    return sum;
}

int main(int argc, char **argv) {
    const struct bench bench = {"add the number of one cache line", "bytes", 512 << 20, 0, 1, prepare, sum_lines};
    return bench_run(&bench, argc, argv);
}
