// True sharing inside a library: readers take a readers-writer lock that no writer ever wants, and fight over its count of readers.
// Mended, each thread has a copy of the table that it reads.
#include "share.h"

static LINE uint64_t table[64];
#ifdef MENDED
static LINE uint64_t copies[SHARE_MOST][64];
#else
static LINE pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#endif

NAMED uint64_t look_up(unsigned thread, uint64_t key) {
#ifdef MENDED
    return copies[thread][key & 63];
#else
    (void)thread;
    pthread_rwlock_rdlock(&lock);
    uint64_t found = table[key & 63];
    pthread_rwlock_unlock(&lock);
    return found;
#endif
}

static void work(struct share_thread *self) {
    uint64_t key = self->index + 1;
    while (!share_over()) {
        for (unsigned i = 0; i < SHARE_ROUND; i++)
            key = share_work(key + look_up(self->index, key), 10);
        share_did(self, SHARE_ROUND);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 2);
    for (unsigned i = 0; i < 64; i++)
        table[i] = i;
#ifdef MENDED
    for (unsigned i = 0; i < share_count; i++)
        memcpy(copies[i], table, sizeof table);
#else
    for (unsigned i = 0; i < share_count; i++)
        share_writes(i, &lock, "lock");
#endif
    return share_run(work);
}
