// A queue that wakes all of its 24 workers for each item, of which one finds it, against waking one.
#include "workload.h"

#include <inttypes.h>

enum { WORKERS = 24, ROUNDS = 6000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    uint64_t items, wakeups, empty_wakeups;
    bool closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .emptied = PTHREAD_COND_INITIALIZER};

static void serve(struct worker *worker) {
    uint64_t value = worker->index + 1;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (queue.items == 0 && !queue.closed) {
            pthread_cond_wait(&queue.filled, &queue.lock);
            queue.wakeups++;
            queue.empty_wakeups += queue.items == 0;
        }
        if (queue.items == 0)
            break;
        queue.items--;
        if (queue.items == 0)
            pthread_cond_signal(&queue.emptied);
        pthread_mutex_unlock(&queue.lock);
        value = churn(value, ROUNDS);
        worker_did(worker, 1);
        pthread_mutex_lock(&queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
    consume(value);
}

// Thread 0 brings one item at a time, as requests come in.
static void work(struct worker *worker) {
    if (worker->index != 0) {
        serve(worker);
        return;
    }
    while (!workload_stopped()) {
        pthread_mutex_lock(&queue.lock);
        while (queue.items > 0)
            pthread_cond_wait(&queue.emptied, &queue.lock);
        queue.items++;
        if (worker->options->fast)
            pthread_cond_signal(&queue.filled);
        else
            pthread_cond_broadcast(&queue.filled);
        pthread_mutex_unlock(&queue.lock);
    }
    pthread_mutex_lock(&queue.lock);
    queue.closed = true;
    pthread_cond_broadcast(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "herd",
        .operation = "serve one item of a queue",
        .slow = "each item wakes all workers",
        .fast = "each item wakes one worker",
        .ops = 200000,
        .threads = WORKERS,
    };
    struct options options = workload_begin(&workload, argc, argv);
    workers_run("server", options.threads + 1, UINT64_MAX, &options, work, NULL);
    workload_end();
    truth("wake-ups %" PRIu64, queue.wakeups);
    truth("wake-ups that found nothing %" PRIu64, queue.empty_wakeups);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
