// False sharing of heap objects that each thread allocates itself: all take them from one arena, in turn.
#include "share.h"

#include <malloc.h>

struct progress {
    uint64_t step; // set once
    volatile uint64_t lines;
};
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
static unsigned whose;

// Allocates when it is this thread's turn, so that the objects lie beside each other in the order of the threads.
NAMED struct progress *new_progress(struct share_thread *self) {
    void *volatile first = malloc(200); // what the library sets up for a thread comes with its first allocation
    free(first);
    pthread_mutex_lock(&turn);
    // Twice round: the first turn is of the first allocations.
    struct progress *progress = NULL;
    for (unsigned round = 0; round < 2; round++) {
        while (whose != round * share_count + self->index)
            pthread_cond_wait(&next, &turn);
        if (round == 1) {
#ifdef MENDED
            progress = aligned_alloc(128, 128);
#else
            progress = malloc(sizeof *progress);
#endif
            if (!progress)
                simple_fail("malloc");
            *progress = (struct progress){.step = 1};
            share_reads(self->index, &progress->step, "progress.step");
            share_writes(self->index, &progress->lines, "progress.lines");
            fflush(stdout);
        }
        whose++;
        pthread_cond_broadcast(&next);
    }
    pthread_mutex_unlock(&turn);
    return progress;
}

NAMED uint64_t note(struct progress *progress, uint64_t line) {
    progress->lines += progress->step;
    return share_work(line + progress->step, 5);
}

static void work(struct share_thread *self) {
    struct progress *progress = new_progress(self);
    uint64_t line = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++)
            line = note(progress, line);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    mallopt(M_ARENA_MAX, 1);
    share_begin(argc, argv, 3);
    return share_run(work);
}
