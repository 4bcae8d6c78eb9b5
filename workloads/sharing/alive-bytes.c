// False sharing of bytes: eight workers say that they are alive, and look whether they are asked to do something else, in a
// pair of bytes each.
#include "share.h"

static LINE struct flag {
    OWN_LINE volatile uint8_t asked;
    volatile uint8_t alive;
} flags[SHARE_MOST];

NAMED uint64_t step(struct flag *flag, uint64_t value) {
    flag->alive = 1;
    return share_work(value + flag->asked, 8);
}

static void work(struct share_thread *self) {
    uint64_t value = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++)
            value = step(&flags[self->index], value);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 8);
    for (unsigned i = 0; i < share_count; i++) {
        share_reads(i, &flags[i].asked, "flags[].asked");
        share_writes(i, &flags[i].alive, "flags[].alive");
    }
    return share_run(work);
}
