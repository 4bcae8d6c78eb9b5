// Innocent: one thread writes a number all the time that nobody reads; the others have data of their own. Nothing must be found.
#include "share.h"

static LINE volatile uint64_t heartbeat;
static struct {
    LINE volatile uint64_t rows;
} tables[SHARE_MOST];

NAMED void beat(unsigned times) {
    for (unsigned i = 0; i < times; i++)
        heartbeat++;
}

NAMED void fill(volatile uint64_t *rows, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        *rows += i;
}

static void work(struct share_thread *self) {
    while (!share_over()) {
        if (self->index)
            fill(&tables[self->index].rows, SHARE_ROUND);
        else
            beat(SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 3);
    share_writes(0, &heartbeat, "heartbeat");
    for (unsigned i = 1; i < share_count; i++)
        share_writes(i, &tables[i].rows, "tables[].rows");
    return share_run(work);
}
