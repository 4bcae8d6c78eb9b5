// Innocent: each thread follows pointers through memory of its own that no cache holds. Loads wait for memory, not for another thread.
#include "share.h"

#include <sys/mman.h>

struct node {
    struct node *next;
    char rest[56];
};
enum { NODES = 1 << 18 }; // 16 MiB a thread
static struct node *starts[SHARE_MOST] __attribute__((aligned(256)));

NAMED struct node *chase(struct node *node, unsigned steps) {
    for (unsigned i = 0; i < steps; i++)
        node = node->next;
    return node;
}

static void work(struct share_thread *self) {
    struct node *node = starts[self->index];
    while (!share_over()) {
        node = chase(node, SHARE_ROUND);
        share_did(self, SHARE_ROUND);
    }
    __asm__ volatile("" : : "r"(node));
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    for (unsigned i = 0; i < share_count; i++) {
        struct node *nodes = mmap(NULL, NODES * sizeof *nodes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (nodes == MAP_FAILED)
            simple_fail("mmap");
        // One cycle through all: the full period of a linear congruential generator.
        for (uint64_t n = 0; n < NODES; n++)
            nodes[n].next = &nodes[(n * UINT64_C(6364136223846793005) + 1442695040888963407) & (NODES - 1)];
        starts[i] = nodes;
    }
    return share_run(work);
}
