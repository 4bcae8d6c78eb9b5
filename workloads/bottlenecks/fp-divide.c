// Waits for divisions of floating-point numbers, each of the result of the one before: a continued fraction.
#include "bench.h"

static double value = 0.5;

NAMED uint64_t fraction(uint64_t rounds) {
    double x = value;
    for (uint64_t i = 0; i < rounds; i++)
        x = 1.0 / (1.5 + x);
    value = x;
    return (uint64_t)(x * 1e6);
}

int main(int argc, char **argv) {
    const struct bench bench = {"take one more term", "numbers", 1, 0, 1, NULL, fraction};
    return bench_run(&bench, argc, argv);
}
