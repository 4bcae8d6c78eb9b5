// Waits for integer divisions by a base that is known at run time only: numbers are written out digit by digit.
#include "bench.h"

enum { NUMBERS = 1000 };
static unsigned base;
static char text[80];

static void prepare(uint64_t size) { base = (unsigned)size; }

NAMED unsigned write_number(uint64_t value, unsigned in_base, char *into) {
    unsigned length = 0;
    do {
        into[length++] = "0123456789abcdefghijklmnopqrstuvwxyz"[value % in_base];
        value /= in_base;
    } while (value);
    return length;
}

static uint64_t several(uint64_t operations) {
    uint64_t length = 0;
    for (uint64_t i = 0; i < operations; i++)
        length += write_number(UINT64_MAX - i * 7919, base, text);
    return length;
}

int main(int argc, char **argv) {
    const struct bench bench = {"write a number of 64 bits", "base", 10, NUMBERS, 1, prepare, several};
    return bench_run(&bench, argc, argv);
}
