// False sharing: each thread counts atomically in its own element of an array, and the elements lie in one line.
#include "share.h"

static LINE struct tally {
    OWN_LINE uint64_t value;
} tallies[SHARE_MOST];

NAMED void count(struct tally *tally, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++)
        __atomic_fetch_add(&tally->value, 1, __ATOMIC_RELAXED);
}

static void work(struct share_thread *self) {
    while (!share_over()) {
        count(&tallies[self->index], SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, &tallies[i].value, "tallies[].value");
    return share_run(work);
}
