// True sharing: threads draw the number of the next piece of work, one by one. Mended, they draw 64 at a time.
#include "share.h"

static LINE uint64_t next_piece;
#ifdef MENDED
enum { BATCH = 64 };
#else
enum { BATCH = 1 };
#endif

NAMED uint64_t draw(void) { return __atomic_fetch_add(&next_piece, BATCH, __ATOMIC_RELAXED); }

static void work(struct share_thread *self) {
    uint64_t sum = 0;
    while (!share_over()) {
        for (unsigned i = 0; i < 1024; i += BATCH) {
            uint64_t piece = draw();
            for (unsigned j = 0; j < BATCH; j++)
                sum += share_work(piece + j, 12);
        }
        share_did(self, 1024);
    }
    __asm__ volatile("" : : "r"(sum));
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
#ifndef MENDED
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, &next_piece, "next_piece");
#endif
    return share_run(work);
}
