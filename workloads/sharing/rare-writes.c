// Innocent: all threads read a limit for each operation, and one changes it every ten milliseconds. A line that moves a hundred times a
// second costs nothing. Nothing must be found.
#include "share.h"

static LINE volatile uint64_t limit = 100;

NAMED uint64_t admit(uint64_t request, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        request = share_work(request, 3) % limit;
    return request;
}

static void work(struct share_thread *self) {
    uint64_t request = self->index + 1, last = simple_clock(CLOCK_MONOTONIC);
    while (!share_over()) {
        request = admit(request, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
        uint64_t now = simple_clock(CLOCK_MONOTONIC);
        if (self->index == 0 && now - last > 10000000) {
            limit = 100 + (request & 7);
            last = now;
        }
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    return share_run(work);
}
