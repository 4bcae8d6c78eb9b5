// False sharing in C++: the two ends of a ring, one moved by the producer and one by the consumer, lie in one line. Each knows the
// other end by heart and looks only when it has come to it, so the line is fought over for nothing most of the time.
#include "share.h"

#include <atomic>

namespace {
constexpr uint64_t SLOTS = 1 << 14;
struct LINE Ring {
    uint64_t *slots; // set once
    OWN_LINE std::atomic<uint64_t> head{0};
    OWN_LINE std::atomic<uint64_t> tail{0};
};
LINE uint64_t memory[SLOTS];
Ring ring{memory};
} // namespace

// Puts `count` numbers in, or none when the time is up.
NAMED bool produce(uint64_t &known_tail, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t head = ring.head.load(std::memory_order_relaxed);
        while (head - known_tail == SLOTS) {
            known_tail = ring.tail.load(std::memory_order_acquire);
            if (share_over())
                return false;
        }
        ring.slots[head % SLOTS] = share_work(head, 3);
        ring.head.store(head + 1, std::memory_order_release);
    }
    return true;
}

NAMED bool consume(uint64_t &known_head, uint64_t count, uint64_t &sum) {
    for (uint64_t i = 0; i < count; i++) {
        uint64_t tail = ring.tail.load(std::memory_order_relaxed);
        while (tail == known_head) {
            known_head = ring.head.load(std::memory_order_acquire);
            if (share_over())
                return false;
        }
        sum = share_work(sum + ring.slots[tail % SLOTS], 3);
        ring.tail.store(tail + 1, std::memory_order_release);
    }
    return true;
}

static void work(share_thread *self) {
    uint64_t known = 0, sum = 0;
    while (!share_over())
        if (self->index ? consume(known, SHARE_ROUND, sum) : produce(known, SHARE_ROUND))
            share_did(self, SHARE_ROUND);
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    share_reads(0, &ring.slots, "Ring::slots");
    share_writes(0, &ring.head, "Ring::head");
    if (share_count < 2)
        return 2; // there is nothing to do for one alone
    share_reads(1, &ring.slots, "Ring::slots");
    share_writes(1, &ring.tail, "Ring::tail");
    return share_run(work);
}
