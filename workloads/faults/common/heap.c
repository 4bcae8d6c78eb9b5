// Goes over a table of so many MiB of private memory in a random order.
//
// usage: heap slow|fast [--seconds S] =MIB
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { VISITS = 32 };
static unsigned char *table;
static uint64_t pages;

static void work(struct worker *worker) {
    uint64_t value = worker->index + 1;
    while (worker_continues(worker)) {
        for (int i = 0; i < VISITS; i++) {
            value = churn(value, 500);
            // Nine of ten visits go to a tenth of the table.
            uint64_t page = value % 10 == 0 ? (value >> 8) % pages : (value >> 8) % (pages / 10);
            table[page * 4096 + value % 4096]++;
        }
        worker_did(worker, 1);
    }
    consume(value);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "heap",
        .operation = "32 visits of a table in memory (last word: =MIB, its size)",
        .slow = "as its surroundings make it",
        .fast = "the same",
        .ops = 100000,
        .threads = 2,
    };
    if (argc < 3 || argv[argc - 1][0] != '=') {
        workload_begin(&workload, argc, argv); // answers --help
        die("=MIB is missing");
    }
    uint64_t size = strtoull(argv[argc - 1] + 1, NULL, 10) << 20;
    struct options options = workload_begin(&workload, argc - 1, argv);
    table = malloc(size);
    if (table == NULL || size == 0)
        die("malloc");
    for (uint64_t at = 0; at < size; at += 8)
        memcpy(table + at, &at, 8);
    pages = size / 4096;
    workers_run("visitor", options.threads, options.ops, &options, work, NULL);
    workload_end();
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    truth("major faults %ld", used.ru_majflt);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
