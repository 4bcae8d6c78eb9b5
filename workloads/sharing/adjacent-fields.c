// Two neighbouring fields of a record, each counted up by a thread of its own. The third word of the command line says where in
// its cache line the first one lies: at 0 to 48 both are in one line, at 56 they are not.
//
// usage: adjacent-fields [SECONDS] [THREADS] [OFFSET]
#include "share.h"

struct record {
    volatile uint64_t sent;
    OWN_LINE volatile uint64_t received;
};
static char memory[1024] __attribute__((aligned(512)));
static struct record *record __attribute__((aligned(256)));

NAMED void send_some(struct record *of, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        __atomic_fetch_add(&of->sent, 1, __ATOMIC_RELAXED);
}

NAMED void receive_some(struct record *of, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        __atomic_fetch_add(&of->received, 1, __ATOMIC_RELAXED);
}

static void work(struct share_thread *self) {
    struct record *mine = record;
    while (!share_over()) {
        if (self->index)
            receive_some(mine, SHARE_ROUND);
        else
            send_some(mine, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    unsigned offset = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    share_begin(argc > 3 ? 3 : argc, argv, 2);
#ifndef MENDED
    if (offset % 8 != 0 || offset > 56) {
        fprintf(stderr, "%u: expected an offset of 0, 8, … 56\n", offset);
        return 2;
    }
    record = (struct record *)(memory + 64 + offset); // so that at 56 the lines are not of one pair either
#else
    (void)offset; // the mended record has its own alignment
    record = (struct record *)memory;
#endif
    for (unsigned i = 0; i < share_count && i < 2; i++)
        share_writes(i, i ? &record->received : &record->sent, i ? "record.received" : "record.sent");
    return share_run(work);
}
