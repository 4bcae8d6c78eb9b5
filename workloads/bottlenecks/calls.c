// A function that is called once an operation and always takes as long: the size says how many rounds, so how long a call.
#include "bench.h"

static uint64_t rounds;

static void prepare(uint64_t size) { rounds = size; }

NAMED uint64_t answer(uint64_t question, uint64_t steps) {
    uint64_t x = question;
    for (uint64_t i = 0; i < steps; i++)
        x = (x ^ (x >> 7)) * 5 + i;
    return x;
}

static uint64_t one(uint64_t operations) {
    uint64_t x = bench_sink;
    for (uint64_t i = 0; i < operations; i++)
        x += answer(x, rounds);
    return x;
}

int main(int argc, char **argv) {
    // `truth: ns per operation` is the time between two calls of answer().
    const struct bench bench = {"a call of answer()", "rounds a call", 200, 1, 100, prepare, one};
    return bench_run(&bench, argc, argv);
}
