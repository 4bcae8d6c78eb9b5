// Threads that count in one shared structure behind one mutex, against counters of their own that are added up at the end.
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROUNDS = 40 }; // work outside the lock, per operation

struct tally {
    uint64_t count, sum, largest;
};

static struct {
    pthread_mutex_t mutex;
    struct tally tally;
    struct lock_truth locks;
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void add(struct tally *tally, uint64_t count, uint64_t sum, uint64_t largest) {
    tally->count += count;
    tally->sum += sum;
    if (largest > tally->largest)
        tally->largest = largest;
}

static void work(struct worker *worker) {
    struct tally own = {0};
    struct lock_truth locks = {0};
    uint64_t value = worker->index + 1;
    while (worker_continues(worker)) {
        value = churn(value, ROUNDS);
        if (worker->options->fast) {
            add(&own, 1, value, value);
        } else {
            lock_counted(&shared.mutex, &locks);
            add(&shared.tally, 1, value, value);
            pthread_mutex_unlock(&shared.mutex);
        }
        worker_did(worker, 1);
    }
    pthread_mutex_lock(&shared.mutex);
    add(&shared.tally, own.count, own.sum, own.largest);
    shared.locks.taken += locks.taken;
    shared.locks.contended += locks.contended;
    shared.locks.waited_ns += locks.waited_ns;
    pthread_mutex_unlock(&shared.mutex);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "contended-counter",
        .operation = "compute a value and count it (count, sum, largest)",
        .slow = "one tally behind one mutex",
        .fast = "a tally per thread, added up at the end",
        .ops = 150000000,
        .threads = 4,
    };
    struct options options = workload_begin(&workload, argc, argv);
    workers_run("counter", options.threads, options.ops, &options, work, NULL);
    uint64_t done = workload_end();
    truth("lock acquisitions %" PRIu64, shared.locks.taken);
    truth("contended acquisitions %" PRIu64, shared.locks.contended);
    truth("lock wait seconds %.3f", (double)shared.locks.waited_ns / 1e9);
    if (shared.tally.count != done) {
        fprintf(stderr, "contended-counter: counted %" PRIu64 ", did %" PRIu64 "\n", shared.tally.count, done);
        return 1;
    }
    return 0;
}
