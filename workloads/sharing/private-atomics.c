// Innocent: each thread counts atomically in lines of its own. Atomic additions take their time, but nobody waits for a line.
#include "share.h"

static struct {
    LINE uint64_t value;
} counters[SHARE_MOST];

NAMED void count(uint64_t *counter, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++)
        __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

static void work(struct share_thread *self) {
    while (!share_over()) {
        count(&counters[self->index].value, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, &counters[i].value, "counters[].value");
    return share_run(work);
}
