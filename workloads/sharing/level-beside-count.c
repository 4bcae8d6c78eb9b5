// False sharing of a field that is only read with one that is written: one thread asks for the log level, the other counts requests
// beside it.
#include "share.h"

static LINE struct server {
    OWN_LINE volatile int level;
    OWN_LINE volatile uint64_t requests;
} server = {.level = 3};

NAMED uint64_t log_or_not(uint64_t value) {
    int level = server.level;
    if (level > 5)
        value = share_work(value, 1000);
    return share_work(value + (uint64_t)level, 4);
}

NAMED void accept_request(void) { server.requests++; }

static void work(struct share_thread *self) {
    uint64_t value = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++) {
            value = share_work(value, 2);
            if (self->index == 0)
                accept_request();
            else
                value = log_or_not(value);
        }
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    share_writes(0, &server.requests, "server.requests");
    for (unsigned i = 1; i < share_count; i++)
        share_reads(i, &server.level, "server.level");
    return share_run(work);
}
