// Threads that update a hash table behind 1 lock for all of it, against 1024 locks, each for a stripe of it.
#include "workload.h"

#include <inttypes.h>

enum { ROUNDS = 30, BUCKETS = 1 << 16, CHAIN = 16, MOST_STRIPES = 1024 };

struct stripe {
    alignas(128) pthread_mutex_t mutex; // a cache line of its own: stripes must not slow each other
};

static struct {
    struct stripe stripes[MOST_STRIPES];
    uint64_t count; // of the stripes used
    uint64_t table[BUCKETS];
    pthread_mutex_t totals;
    struct lock_truth locks;
} shared = {.totals = PTHREAD_MUTEX_INITIALIZER};

static void work(struct worker *worker) {
    struct lock_truth locks = {0};
    uint64_t key = worker->index + 1;
    while (worker_continues(worker)) {
        key = churn(key, ROUNDS);
        // A stripe is a run of neighbouring buckets; a chain starts at a multiple of its length and stays in one stripe.
        uint64_t start = (key >> 20) % (BUCKETS / CHAIN) * CHAIN;
        pthread_mutex_t *mutex = &shared.stripes[start * shared.count / BUCKETS].mutex;
        lock_counted(mutex, &locks);
        uint64_t carried = key;
        for (unsigned i = 0; i < CHAIN; i++)
            shared.table[start + i] = carried = churn(shared.table[start + i] ^ carried, 4);
        pthread_mutex_unlock(mutex);
        worker_did(worker, 1);
    }
    pthread_mutex_lock(&shared.totals);
    shared.locks.taken += locks.taken;
    shared.locks.contended += locks.contended;
    shared.locks.waited_ns += locks.waited_ns;
    pthread_mutex_unlock(&shared.totals);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "lock-striping",
        .operation = "update one chain of a hash table",
        .slow = "1 lock for the table",
        .fast = "1024 locks, one for each stripe of the table",
        .ops = 50000000,
    };
    struct options options = workload_begin(&workload, argc, argv);
    shared.count = options.fast ? MOST_STRIPES : 1;
    for (unsigned i = 0; i < MOST_STRIPES; i++)
        pthread_mutex_init(&shared.stripes[i].mutex, NULL);
    workers_run("table", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("lock acquisitions %" PRIu64, shared.locks.taken);
    truth("contended acquisitions %" PRIu64, shared.locks.contended);
    truth("lock wait seconds %.3f", (double)shared.locks.waited_ns / 1e9);
    return 0;
}
