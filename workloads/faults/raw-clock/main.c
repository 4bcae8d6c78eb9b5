// A program that stamps each of 8 steps of an operation: with CPU time of the thread, which is a system call, against the
// monotonic clock, which the vDSO answers.
#include "workload.h"

#include <inttypes.h>
#include <time.h>

enum { STEPS = 8, ROUNDS = 150 };

static _Atomic uint64_t reads, read_ns;

static void work(struct worker *worker) {
    clockid_t clock = worker->options->fast ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    uint64_t value = worker->index + 1, count = 0, spent = 0;
    struct timespec stamp[STEPS];
    while (worker_continues(worker)) {
        for (int i = 0; i < STEPS; i++) {
            value = churn(value, ROUNDS);
            clock_gettime(clock, &stamp[i]);
        }
        value += (uint64_t)(stamp[STEPS - 1].tv_nsec - stamp[0].tv_nsec);
        count += STEPS;
        if (count % (STEPS * 1024) == 0) { // what one costs, now and then
            uint64_t from = now_ns();
            for (int i = 0; i < 64; i++)
                clock_gettime(clock, &stamp[0]);
            spent += (now_ns() - from) / 64 * STEPS * 1024;
        }
        worker_did(worker, 1);
    }
    consume(value);
    atomic_fetch_add(&reads, count);
    atomic_fetch_add(&read_ns, spent);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "raw-clock",
        .operation = "compute in 8 steps, with the time of each",
        .slow = "CPU time of the thread: a system call",
        .fast = "the monotonic clock",
        .ops = 6000000,
    };
    struct options options = workload_begin(&workload, argc, argv);
    workers_run("meter", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("clock reads %" PRIu64, (uint64_t)reads);
    truth("seconds in clock reads %.3f", (double)read_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
