// Waits for `rep movsb` (x86-64 only): small messages are copied, each by one instruction.
#include "bench.h"

static char *from, *to;
static uint64_t length;

static void prepare(uint64_t size) {
    length = size;
    from = bench_memory(size, true);
    to = bench_memory(size, true);
    memset(from, 'a', size);
}

NAMED void copy_message(char *into, const char *message, uint64_t size) {
    __asm__ volatile("rep movsb" : "+D"(into), "+S"(message), "+c"(size) : : "memory");
}

static uint64_t several(uint64_t operations) {
    for (uint64_t i = 0; i < operations; i++)
        copy_message(to, from, length);
    return (uint64_t)to[0];
}

int main(int argc, char **argv) {
    const struct bench bench = {"copy a message", "bytes", 1000, 1000, 1, prepare, several};
    return bench_run(&bench, argc, argv);
}
