// Waits for a serialising instruction (x86-64 only): the time stamp counter is read around each small step, with `cpuid` before it
// as old code has it. In a virtual machine each `cpuid` is an exit to the hypervisor.
#include "bench.h"

NAMED uint64_t stamp(void) {
    uint32_t low, high, leaf = 0;
    __asm__ volatile("cpuid\n\trdtsc" : "+a"(leaf), "=d"(high) : : "ebx", "ecx", "memory");
    low = leaf;
    return (uint64_t)high << 32 | low;
}

static uint64_t several(uint64_t operations) {
    uint64_t last = 0;
    for (uint64_t i = 0; i < operations; i++)
        last = stamp();
    return last;
}

int main(int argc, char **argv) {
    const struct bench bench = {"read the time", "readers", 1, 100, 1, NULL, several};
    return bench_run(&bench, argc, argv);
}
