// Innocent: each thread adds up and changes a large array of its own. Nothing must be found.
#include "share.h"

enum { WORDS = 32768 };
static uint64_t data[SHARE_MOST][WORDS] __attribute__((aligned(4096)));

NAMED uint64_t pass(uint64_t *words) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < WORDS; i++)
        sum += words[i]++;
    return sum;
}

static void work(struct share_thread *self) {
    uint64_t sum = 0;
    while (!share_over()) {
        sum += pass(data[self->index]);
        share_did(self, WORDS);
    }
    __asm__ volatile("" : : "r"(sum));
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, data[i], "data[][]");
    return share_run(work);
}
