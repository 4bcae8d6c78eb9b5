// Waits for `repne scas` (x86-64 only): a word is looked for in an array, as HotSpot does in a class's secondary supers.
#include "bench.h"

static uint64_t *words, count;

static void prepare(uint64_t size) {
    count = size;
    words = bench_memory(size * 8, true);
    for (uint64_t i = 0; i < size; i++)
        words[i] = i + 1;
}

NAMED bool contains(const uint64_t *in, uint64_t length, uint64_t word) {
    bool found;
    __asm__ volatile("repne scasq" : "=@ccz"(found), "+D"(in), "+c"(length) : "a"(word) : "memory");
    return found;
}

static uint64_t several(uint64_t operations) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < operations; i++)
        found += contains(words, count, count);
    return found;
}

int main(int argc, char **argv) {
    const struct bench bench = {"look for a word", "words", 32, 1000, 1, prepare, several};
    return bench_run(&bench, argc, argv);
}
