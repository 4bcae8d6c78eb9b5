// Waits for loads that a store just before them blocks: two bytes are stored one by one, and then read as a part of one word.
#include "bench.h"

static union {
    volatile uint8_t bytes[8];
    volatile uint64_t word;
} packet;

NAMED uint64_t assemble(uint64_t rounds) {
    uint64_t value = 1;
    for (uint64_t i = 0; i < rounds; i++) {
        packet.bytes[0] = (uint8_t)value;
        packet.bytes[1] = (uint8_t)i;
        value += packet.word;
    }
    return value;
}

int main(int argc, char **argv) {
    const struct bench bench = {"assemble a word", "words", 1, 0, 1, NULL, assemble};
    return bench_run(&bench, argc, argv);
}
