// A parallel phase, then an end phase with 40 % of the work: in one thread, against in all threads.
#include "workload.h"

enum { ROUNDS = 5000, END_PERCENT = 40 };

static void work(struct worker *worker) {
    uint64_t value = worker->index + 1;
    while (worker_continues(worker)) {
        value = churn(value, ROUNDS);
        worker_did(worker, 1);
    }
    consume(value);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "serial-end",
        .operation = "compute one item",
        .slow = "the end phase (40 % of the items) runs in one thread",
        .fast = "the end phase runs in all threads",
        .ops = 2200000,
    };
    struct options options = workload_begin(&workload, argc, argv);
    // Without a number of operations, batches of the default size follow each other until the time is up.
    uint64_t batch = options.ops == UINT64_MAX ? workload.ops : options.ops;
    uint64_t end_ops = batch / 100 * END_PERCENT + batch % 100 * END_PERCENT / 100;
    unsigned end_threads = options.fast ? options.threads : 1;
    uint64_t first_ns = 0, end_ns = 0;
    do {
        uint64_t started = now_ns();
        workers_run("first-phase", options.threads, batch - end_ops, &options, work, NULL);
        uint64_t middle = now_ns();
        workers_run("end-phase", end_threads, end_ops, &options, work, NULL);
        first_ns += middle - started;
        end_ns += now_ns() - middle;
    } while (options.ops == UINT64_MAX && !workload_stopped());
    workload_end();
    truth("first phase seconds %.3f", (double)first_ns / 1e9);
    truth("end phase seconds %.3f", (double)end_ns / 1e9);
    truth("end phase threads %u", end_threads);
    truth("single-threaded share of the time %.4f",
          end_threads == 1 ? (double)end_ns / (double)(first_ns + end_ns) : 0.0);
    return 0;
}
