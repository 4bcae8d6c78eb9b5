// False sharing of heap objects: one thread allocates a small cursor for each of the others, one after another.
#include "share.h"

struct cursor {
    uint64_t length; // set once
    volatile uint64_t position;
};
static struct cursor *cursors[SHARE_MOST] __attribute__((aligned(256)));

NAMED struct cursor *new_cursor(void) {
#ifdef MENDED
    struct cursor *cursor = aligned_alloc(128, 128);
#else
    struct cursor *cursor = malloc(sizeof *cursor);
#endif
    if (!cursor)
        simple_fail("malloc");
    *cursor = (struct cursor){.length = 4095};
    return cursor;
}

NAMED uint64_t advance(struct cursor *cursor, uint64_t by) {
    uint64_t step = by & cursor->length;
    cursor->position += step;
    return step;
}

static void work(struct share_thread *self) {
    struct cursor *cursor = cursors[self->index];
    uint64_t record = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++) {
            record = share_work(record, 3);
            record += advance(cursor, record);
        }
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    for (unsigned i = 0; i < share_count; i++) {
        cursors[i] = new_cursor();
        share_reads(i, &cursors[i]->length, "cursor.length");
        share_writes(i, &cursors[i]->position, "cursor.position");
    }
    return share_run(work);
}
