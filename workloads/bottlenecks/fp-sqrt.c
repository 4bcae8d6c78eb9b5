// Waits for square roots, of which none depends on another: the unit that makes them is the bottleneck.
#include "bench.h"

#include <math.h>

static double *squares;
static uint64_t count;

static void prepare(uint64_t size) {
    count = bench_power_of_two(size / sizeof *squares);
    squares = bench_memory(count * sizeof *squares, true);
    for (uint64_t i = 0; i < count; i++)
        squares[i] = (double)(i * i) + 0.1;
}

NAMED uint64_t lengths(uint64_t rounds) {
    double sum = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        double of = squares[i & (count - 1)], root;
#if defined(__x86_64__)
        __asm__("sqrtsd %1, %0" : "=x"(root) : "x"(of)); // without the call of sqrt() for its errno
#else
        root = __builtin_sqrt(of);
#endif
        sum += root;
    }
    return (uint64_t)sum;
}

int main(int argc, char **argv) {
    const struct bench bench = {"take a square root", "bytes", 8192, 0, 1, prepare, lengths};
    return bench_run(&bench, argc, argv);
}
