// Bound by the width of the core: eight filters at a time, none of which waits for another.
#include "bench.h"

static double weight = 0.75;

NAMED uint64_t filter(uint64_t rounds) {
    double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, w = weight;
    for (uint64_t i = 0; i < rounds; i++) {
        a = a * w + 1, b = b * w + 1, c = c * w + 1, d = d * w + 1;
        e = e * w + 1, f = f * w + 1, g = g * w + 1, h = h * w + 1;
    }
    return (uint64_t)(a + b + c + d + e + f + g + h);
}

int main(int argc, char **argv) {
    const struct bench bench = {"a step of eight filters", "numbers", 8, 0, 1, NULL, filter};
    return bench_run(&bench, argc, argv);
}
