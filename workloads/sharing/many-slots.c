// False sharing among many more threads than CPUs: sixteen of them note what they have seen in one array of 32-bit numbers.
#include "share.h"

static LINE struct slot {
    OWN_LINE volatile uint32_t seen;
} slots[SHARE_MOST];

NAMED void see(unsigned who, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        slots[who].seen++;
}

static void work(struct share_thread *self) {
    while (!share_over()) {
        see(self->index, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 16);
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, &slots[i].seen, "slots[].seen");
    return share_run(work);
}
