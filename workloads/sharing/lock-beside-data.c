// False sharing of a lock's word and data beside it: one thread takes the lock, which nobody else wants, the other counts hits
// without it.
#include "share.h"

static LINE struct cache {
    int lock;
    uint32_t entries;
    OWN_LINE volatile uint64_t hits;
} cache;

NAMED void insert(void) {
    while (__atomic_exchange_n(&cache.lock, 1, __ATOMIC_ACQUIRE))
        ;
    cache.entries++;
    __atomic_store_n(&cache.lock, 0, __ATOMIC_RELEASE);
}

NAMED void hit(uint64_t key) { cache.hits += key & 1; }

static void work(struct share_thread *self) {
    uint64_t key = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++) {
            key = share_work(key, 5);
            if (self->index)
                hit(key);
            else
                insert();
        }
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    share_writes(0, &cache.lock, "cache.lock");
    share_writes(0, &cache.entries, "cache.entries");
    for (unsigned i = 1; i < share_count && i < 2; i++)
        share_writes(i, &cache.hits, "cache.hits");
    return share_run(work);
}
