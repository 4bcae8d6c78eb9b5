// Waits for loads: lists of heap records, linked in random order, are walked to their end. No register counts.
#include "bench.h"

enum { LENGTH = 1024 };
struct record {
    uint64_t key, amount;
    struct record *next;
    char text[40];
};
static struct record **heads;
static uint64_t lists, turn;

static void prepare(uint64_t size) {
    lists = size / sizeof(struct record) / LENGTH;
    if (lists == 0)
        lists = 1;
    uint64_t count = lists * LENGTH, state = 7;
    struct record *records = bench_memory(count * sizeof *records, true);
    uint32_t *order = malloc(count * sizeof *order);
    heads = calloc(lists, sizeof(struct record *));
    if (!order || !heads)
        simple_fail("malloc");
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i > 0; i--) {
        uint64_t j = simple_random(&state) % (i + 1);
        uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct record *record = &records[order[i]];
        *record = (struct record){.key = i, .amount = i & 15, .next = heads[i / LENGTH]};
        heads[i / LENGTH] = record;
    }
    free(order);
}

NAMED uint64_t total(uint64_t operations) {
    uint64_t sum = 0;
    (void)operations; // a list is as long as a call does
    for (const struct record *record = heads[turn++ % lists]; record; record = record->next)
        sum += record->amount;
    return sum;
}

int main(int argc, char **argv) {
    const struct bench bench = {"take a record of a list", "bytes", 64 << 20, LENGTH, 16, prepare, total};
    return bench_run(&bench, argc, argv);
}
