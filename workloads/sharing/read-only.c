// Innocent: all threads read the same table, and nobody writes it. Nothing must be found.
#include "share.h"

static LINE uint64_t table[1024];

NAMED uint64_t look_up(uint64_t key, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        key = table[key & 1023] + key * 5;
    return key;
}

static void work(struct share_thread *self) {
    uint64_t key = self->index;
    while (!share_over()) {
        key = look_up(key, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
    __asm__ volatile("" : : "r"(key));
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    for (unsigned i = 0; i < 1024; i++)
        table[i] = i * 7919;
    return share_run(work);
}
