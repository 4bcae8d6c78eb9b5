// Jobs that mostly sleep, as calls to a database do, in a pool of 1 worker, against a pool of 4.
#include "queue.h"

#include <inttypes.h>

enum { SLEEP_NS = 1000000, ROUNDS = 40000, QUEUED = 64, MANY = 4 };

static struct {
    struct queue queue;
    uint64_t ops;
    pthread_mutex_t totals;
    uint64_t jobs, queued_ns, longest_queued_ns, idle_ns, alive_ns;
} shared = {.totals = PTHREAD_MUTEX_INITIALIZER};

static void submit(void) {
    for (uint64_t i = 0; i < shared.ops && !workload_stopped(); i++) {
        uint64_t now = now_ns();
        queue_put(&shared.queue, &now, 1);
    }
    queue_close(&shared.queue);
}

static void serve(struct worker *worker) {
    uint64_t from = now_ns(), idle = 0, queued = 0, longest = 0, jobs = 0, submitted;
    for (;;) {
        uint64_t waiting_since = now_ns();
        if (queue_take(&shared.queue, &submitted, 1) == 0)
            break;
        uint64_t taken = now_ns();
        idle += taken - waiting_since;
        uint64_t waited = taken > submitted ? taken - submitted : 0;
        queued += waited;
        longest = waited > longest ? waited : longest;
        sleep_ns(SLEEP_NS);
        consume(churn(submitted, ROUNDS));
        jobs++;
        worker_did(worker, 1);
    }
    pthread_mutex_lock(&shared.totals);
    shared.jobs += jobs;
    shared.queued_ns += queued;
    shared.longest_queued_ns = longest > shared.longest_queued_ns ? longest : shared.longest_queued_ns;
    shared.idle_ns += idle;
    shared.alive_ns += now_ns() - from;
    pthread_mutex_unlock(&shared.totals);
}

// Thread 0 submits, the others are the pool.
static void work(struct worker *worker) {
    if (worker->index == 0)
        submit();
    else
        serve(worker);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "small-pool",
        .operation = "one job: a sleep of 1 ms and some 60 us of CPU",
        .slow = "a pool of 1 worker",
        .fast = "a pool of --threads workers",
        .ops = 9000,
        .threads = MANY,
    };
    struct options options = workload_begin(&workload, argc, argv);
    queue_open(&shared.queue, QUEUED);
    shared.ops = options.ops;
    unsigned workers = options.fast ? options.threads : 1;
    workers_run("pool", workers + 1, 0, &options, work, NULL);
    workload_end();
    truth("pool workers %u", workers);
    truth("mean time queued ms %.3f", shared.jobs ? (double)shared.queued_ns / 1e6 / (double)shared.jobs : 0.0);
    truth("longest time queued ms %.3f", (double)shared.longest_queued_ns / 1e6);
    truth("pool idle share %.4f", shared.alive_ns ? (double)shared.idle_ns / (double)shared.alive_ns : 0.0);
    truth("submitter waits %" PRIu64, shared.queue.full_waits);
    return 0;
}
