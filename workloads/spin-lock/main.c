// A spin lock with more threads than CPUs, against a mutex that sleeps.
#include "workload.h"

#include <inttypes.h>

enum { OUTSIDE_ROUNDS = 200, INSIDE_ROUNDS = 200, THREADS = 8 };

static struct {
    alignas(128) _Atomic bool held;
    alignas(128) pthread_mutex_t mutex;
    uint64_t value; // guarded by either lock
    pthread_mutex_t totals;
    uint64_t spins;
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER, .totals = PTHREAD_MUTEX_INITIALIZER};

static void spin_lock(uint64_t *spins) {
    while (atomic_exchange_explicit(&shared.held, true, memory_order_acquire)) {
        while (atomic_load_explicit(&shared.held, memory_order_relaxed))
            ++*spins;
    }
}

static void work(struct worker *worker) {
    bool spin = !worker->options->fast;
    uint64_t spins = 0, value = worker->index + 1;
    while (worker_continues(worker)) {
        value = churn(value, OUTSIDE_ROUNDS);
        if (spin)
            spin_lock(&spins);
        else
            pthread_mutex_lock(&shared.mutex);
        shared.value = churn(shared.value ^ value, INSIDE_ROUNDS);
        if (spin)
            atomic_store_explicit(&shared.held, false, memory_order_release);
        else
            pthread_mutex_unlock(&shared.mutex);
        worker_did(worker, 1);
    }
    pthread_mutex_lock(&shared.totals);
    shared.spins += spins;
    pthread_mutex_unlock(&shared.totals);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "spin-lock",
        .operation = "compute, then update a shared value under a lock",
        .slow = "a spin lock",
        .fast = "a mutex",
        .ops = 9000000,
        .threads = THREADS,
    };
    struct options options = workload_begin(&workload, argc, argv);
    workers_run("locker", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("spins %" PRIu64, shared.spins);
    return 0;
}
