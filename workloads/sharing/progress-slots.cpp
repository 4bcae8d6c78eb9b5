// False sharing in C++: eight threads report their progress in a vector of atomic numbers.
#include "share.h"

#include <atomic>
#include <vector>

namespace {
struct Slot {
    OWN_LINE std::atomic<long> reported{0};
};

std::vector<Slot> &slots() {
    static std::vector<Slot> all(SHARE_MOST);
    return all;
}
} // namespace

NAMED void report(Slot &slot, unsigned times) {
    for (unsigned i = 0; i < times; i++)
        slot.reported.fetch_add(1, std::memory_order_relaxed);
}

static void work(share_thread *self) {
    Slot &slot = slots()[self->index];
    while (!share_over()) {
        report(slot, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 8);
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, &slots()[i].reported, "Slot::reported");
    return share_run(work);
}
