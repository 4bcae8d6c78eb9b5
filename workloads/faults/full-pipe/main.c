// Makes records and writes them into a pipe, $SCRATCH/pipe, whose reader is fast or slow: the same program in both variants.
#include "workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD = 4096, ROUNDS = 20000 };

static int out;
static uint64_t write_ns;

static void work(struct worker *worker) {
    unsigned char record[RECORD];
    uint64_t value = 1;
    while (worker_continues(worker)) {
        value = churn(value, ROUNDS);
        memset(record, (int)(value & 63) + 32, sizeof record);
        uint64_t from = now_ns();
        write_all(out, record, sizeof record);
        write_ns += now_ns() - from;
        worker_did(worker, 1);
    }
    consume(value);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "full-pipe",
        .operation = "make and write a record of 4 KiB",
        .slow = "the reader takes 40 MB a second",
        .fast = "the reader takes all",
        .ops = 100000,
        .threads = 1,
    };
    struct options options = workload_begin(&workload, argc, argv);
    const char *folder = getenv("SCRATCH");
    char path[4096];
    snprintf(path, sizeof path, "%s/pipe", folder ? folder : ".");
    out = open(path, O_WRONLY | O_CLOEXEC);
    if (out < 0)
        die(path);
    workers_run("producer", 1, options.ops, &options, work, NULL);
    close(out);
    workload_end();
    truth("seconds in write %.3f", (double)write_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
