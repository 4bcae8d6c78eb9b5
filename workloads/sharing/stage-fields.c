// False sharing: two stages of a pipeline each note their progress in one struct, in neighbouring fields.
#include "share.h"

static LINE struct pipeline {
    volatile uint64_t id; // set once, read by both
    OWN_LINE volatile uint64_t parsed;
    OWN_LINE volatile uint64_t rendered;
} pipeline;

NAMED uint64_t parse(uint64_t text) {
    text = share_work(text ^ pipeline.id, 10);
    pipeline.parsed += 1;
    return text;
}

NAMED uint64_t render(uint64_t text) {
    text = share_work(text ^ pipeline.id, 10);
    pipeline.rendered += 1;
    return text;
}

static void work(struct share_thread *self) {
    uint64_t text = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++)
            text = self->index ? render(text) : parse(text);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    pipeline.id = 17;
    for (unsigned i = 0; i < share_count; i++) {
        share_reads(i, &pipeline.id, "pipeline.id");
        share_writes(i, i ? &pipeline.rendered : &pipeline.parsed, i ? "pipeline.rendered" : "pipeline.parsed");
    }
    return share_run(work);
}
