// False sharing with plain loads and stores: workers keep statistics of packets in an array of structs, four to a line.
#include "share.h"

static LINE struct stats {
    OWN_LINE uint32_t limit; // set once
    uint32_t packets;
    uint64_t bytes;
} stats[SHARE_MOST];

// Returns how much of the packet is taken.
NAMED uint64_t account(struct stats *of, uint64_t length) {
    uint64_t taken = length & of->limit;
    of->packets++;
    of->bytes += taken;
    return taken;
}

static void work(struct share_thread *self) {
    uint64_t header = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++) {
            header = share_work(header, 2);
            header += account(&stats[self->index], header);
        }
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    for (unsigned i = 0; i < share_count; i++) {
        stats[i].limit = 1023;
        share_reads(i, &stats[i].limit, "stats[].limit");
        share_writes(i, &stats[i].packets, "stats[].packets");
        share_writes(i, &stats[i].bytes, "stats[].bytes");
    }
    return share_run(work);
}
