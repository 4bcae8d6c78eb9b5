// True sharing: four threads count in one number. Mended, each has its own, which could be added up when asked for.
#include "share.h"

static LINE uint64_t total;
#ifdef MENDED
static struct {
    LINE uint64_t value;
} parts[SHARE_MOST];
#endif

static uint64_t *counter_of(unsigned thread) {
#ifdef MENDED
    return &parts[thread].value;
#else
    (void)thread;
    return &total;
#endif
}

NAMED void count(uint64_t *counter, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void work(struct share_thread *self) {
    while (!share_over()) {
        count(counter_of(self->index), SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    total = 0;
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, counter_of(i), "total");
    return share_run(work);
}
