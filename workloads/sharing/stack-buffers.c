// False sharing of a stack: main() has the jobs of two helpers in an array of its own frame, and hands each a pointer to one.
#include "share.h"

struct job {
    OWN_LINE uint32_t key; // set once
    volatile uint32_t blocks;
    volatile uint64_t checksum;
};
static struct job *jobs[SHARE_MOST] __attribute__((aligned(256)));

NAMED uint64_t digest(struct job *job, uint64_t block) {
    block = share_work(block ^ job->key, 6);
    job->checksum = (job->checksum << 1) ^ block;
    job->blocks++;
    return block;
}

static void work(struct share_thread *self) {
    struct job *job = jobs[self->index];
    uint64_t block = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++)
            block = digest(job, block);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    LINE struct job mine[SHARE_MOST] = {0};
    share_begin(argc, argv, 2);
    for (unsigned i = 0; i < share_count; i++) {
        jobs[i] = &mine[i];
        mine[i].key = 7 * i;
        share_reads(i, &mine[i].key, "mine[].key");
        share_writes(i, &mine[i].checksum, "mine[].checksum");
        share_writes(i, &mine[i].blocks, "mine[].blocks");
    }
    return share_run(work);
}
