// True sharing: consumers take jobs from one queue, each by moving its head with a compare-and-exchange. Mended, they take 32 at a time.
#include "share.h"

static LINE struct queue {
    uint64_t head;
    LINE uint64_t jobs[4096];
} queue;
#ifdef MENDED
enum { AT_ONCE = 32 };
#else
enum { AT_ONCE = 1 };
#endif

NAMED uint64_t take(void) {
    uint64_t head = __atomic_load_n(&queue.head, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&queue.head, &head, head + AT_ONCE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
    return head;
}

static void work(struct share_thread *self) {
    uint64_t sum = 0;
    while (!share_over()) {
        for (unsigned i = 0; i < 1024; i += AT_ONCE) {
            uint64_t head = take();
            for (unsigned j = 0; j < AT_ONCE; j++)
                sum += share_work(queue.jobs[(head + j) % 4096], 20);
        }
        share_did(self, 1024);
    }
    __asm__ volatile("" : : "r"(sum));
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 3);
    for (unsigned i = 0; i < 4096; i++)
        queue.jobs[i] = i;
#ifndef MENDED
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, &queue.head, "queue.head");
#endif
    return share_run(work);
}
