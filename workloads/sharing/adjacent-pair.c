// Sharing of a pair of lines only: each thread has a line of its own, but the two are the halves of 128 bytes that processors
// may fetch together.
#include "share.h"

#ifdef MENDED
enum { APART = 512 };
#else
enum { APART = 64 };
#endif
static char memory[2048] __attribute__((aligned(512)));

static volatile uint64_t *word_of(unsigned thread) { return (volatile uint64_t *)(memory + thread * APART); }

NAMED void bump(volatile uint64_t *word, unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++)
        __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

static void work(struct share_thread *self) {
    volatile uint64_t *word = word_of(self->index);
    while (!share_over()) {
        bump(word, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, word_of(i), "memory");
    return share_run(work);
}
