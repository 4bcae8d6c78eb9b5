// A thread that moves itself to the next CPU for each operation, as programs do that bind themselves to the CPU "of" a piece of
// data, against one that stays.
#include "workload.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { TABLE = 192 << 10, ROUNDS = 3000 };

static uint64_t moves;

static void work(struct worker *worker) {
    static unsigned char table[TABLE];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t value = 1, count = 0;
    while (worker_continues(worker)) {
        if (!worker->options->fast) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(count % (uint64_t)cpus, &set);
            if (sched_setaffinity(0, sizeof set, &set) != 0)
                die("sched_setaffinity");
            moves++;
        }
        count++;
        value = churn(value, ROUNDS);
        for (size_t at = 0; at < TABLE; at += 64)
            value += table[at]++;
        worker_did(worker, 1);
    }
    consume(value);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "cpu-hopping",
        .operation = "go over a table of 192 KiB",
        .slow = "on another CPU each time",
        .fast = "where the scheduler puts it",
        .ops = 400000,
        .threads = 1,
    };
    struct options options = workload_begin(&workload, argc, argv);
    workers_run("walker", 1, options.ops, &options, work, NULL);
    workload_end();
    truth("moves %" PRIu64, moves);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
