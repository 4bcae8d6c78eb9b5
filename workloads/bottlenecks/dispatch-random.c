// Waits for the right instructions: an interpreter whose next step is drawn, so that no indirect call is foreseen.
#include "bench.h"

enum { KINDS = 16 };
#ifndef PERIOD
#define PERIOD 65536
#endif

static uint64_t step_0(uint64_t x) { return x + 1; }
static uint64_t step_1(uint64_t x) { return x ^ 0x55; }
static uint64_t step_2(uint64_t x) { return x << 1; }
static uint64_t step_3(uint64_t x) { return x - 3; }
static uint64_t step_4(uint64_t x) { return ~x; }
static uint64_t step_5(uint64_t x) { return x >> 1; }
static uint64_t step_6(uint64_t x) { return x | 8; }
static uint64_t step_7(uint64_t x) { return x & ~UINT64_C(16); }
static uint64_t (*const steps[KINDS])(uint64_t) = {step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7,
                                                   step_7, step_6, step_5, step_4, step_3, step_2, step_1, step_0};
static uint8_t program[65536];
static uint64_t state = 1;

static void prepare(uint64_t size) {
    uint64_t random = size;
    for (unsigned i = 0; i < sizeof program; i++)
        program[i] = i < PERIOD ? (simple_random(&random) >> 20) % KINDS : program[i % PERIOD];
}

NAMED uint64_t interpret(uint64_t operations) {
    uint64_t value = state;
    for (uint64_t i = 0; i < operations; i++)
        value = steps[program[i & (sizeof program - 1)]](value);
    state = value;
    return value;
}

int main(int argc, char **argv) {
    const struct bench bench = {"a step of a program", "seed", 5, 0, 1, prepare, interpret};
    return bench_run(&bench, argc, argv);
}
