// Innocent: a mutex is kept for long, and those who want it sleep in the kernel. They wait for the lock, not for its cache line.
#include "share.h"

static LINE pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static LINE uint64_t ledger;

NAMED uint64_t book(uint64_t value) {
    pthread_mutex_lock(&mutex);
    value = share_work(value, 50000);
    ledger += value & 1;
    pthread_mutex_unlock(&mutex);
    return value;
}

static void work(struct share_thread *self) {
    uint64_t value = self->index + 1;
    while (!share_over()) {
        value = book(value);
        share_did(self, 1);
        value = share_work(value, 5000);
    }
}

int main(int argc, char **argv) {
    share_begin(argc, argv, 4);
    return share_run(work);
}
