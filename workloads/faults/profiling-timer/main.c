// A profiler left on in production: a timer per thread that fires every 25 us, and counts; against every 10 ms.
#include "workload.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000, SLOW_NS = 25000, FAST_NS = 10000000 };

static _Atomic uint64_t ticks;

static void tick(int signal) {
    (void)signal;
    atomic_fetch_add_explicit(&ticks, 1, memory_order_relaxed);
}

static void work(struct worker *worker) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        die("timer_create");
    long ns = worker->options->fast ? FAST_NS : SLOW_NS;
    struct itimerspec every = {.it_interval = {.tv_nsec = ns}, .it_value = {.tv_nsec = ns}};
    timer_settime(timer, 0, &every, NULL);
    uint64_t value = worker->index + 1;
    while (worker_continues(worker)) {
        value = churn(value, ROUNDS);
        worker_did(worker, 1);
    }
    consume(value);
    timer_delete(timer);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "profiling-timer",
        .operation = "compute",
        .slow = "a timer every 25 us in each thread",
        .fast = "a timer every 10 ms",
        .ops = 600000,
    };
    struct options options = workload_begin(&workload, argc, argv);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    workers_run("worker", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("timer signals %" PRIu64, (uint64_t)ticks);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
