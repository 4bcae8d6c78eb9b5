// Consumers that take 1 item at a time from a shared queue, against 32 at a time.
#include "queue.h"

#include <inttypes.h>

enum { PUT_AT_ONCE = 32, TAKE_MANY = 32, ROUNDS = 100 };

static struct {
    struct queue queue;
    uint64_t ops;
} shared;

static void produce(void) {
    uint64_t items[PUT_AT_ONCE];
    for (uint64_t put = 0; put < shared.ops && !workload_stopped();) {
        size_t count = shared.ops - put < PUT_AT_ONCE ? (size_t)(shared.ops - put) : PUT_AT_ONCE;
        for (size_t i = 0; i < count; i++)
            items[i] = put + i + 1;
        queue_put(&shared.queue, items, count);
        put += count;
    }
    queue_close(&shared.queue);
}

// Thread 0 produces, the others consume.
static void work(struct worker *worker) {
    if (worker->index == 0) {
        produce();
        return;
    }
    uint64_t items[TAKE_MANY], result = 0;
    size_t count;
    while ((count = queue_take(&shared.queue, items, worker->options->fast ? TAKE_MANY : 1)) > 0) {
        for (size_t i = 0; i < count; i++)
            result ^= churn(items[i], ROUNDS);
        worker_did(worker, count);
    }
    consume(result);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "batch-queue",
        .operation = "one item through the queue",
        .slow = "consumers take 1 item at a time",
        .fast = "consumers take up to 32 items at a time",
        .ops = 90000000,
        .threads = 4,
    };
    struct options options = workload_begin(&workload, argc, argv);
    queue_open(&shared.queue, QUEUE_CAPACITY);
    shared.ops = options.ops;
    workers_run("queue", options.threads + 1, 0, &options, work, NULL);
    workload_end();
    truth("lock acquisitions %" PRIu64, shared.queue.locks.taken);
    truth("contended acquisitions %" PRIu64, shared.queue.locks.contended);
    truth("lock wait seconds %.3f", (double)shared.queue.locks.waited_ns / 1e9);
    truth("waits for items %" PRIu64, shared.queue.empty_waits);
    truth("waits for room %" PRIu64, shared.queue.full_waits);
    return 0;
}
