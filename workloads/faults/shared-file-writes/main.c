// Threads that write records into one file, each in a region of its own: the kernel lets one writer at a time into a file.
// Against a file for each thread.
#include "workload.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { RECORD = 256 << 10, REGION = 8 << 20, ROUNDS = 20000, THREADS = 4 };

static int files[THREADS];
static _Atomic uint64_t write_ns, writes;

static void work(struct worker *worker) {
    static unsigned char data[THREADS][RECORD];
    unsigned char *mine = data[worker->index % THREADS];
    bool fast = worker->options->fast;
    int fd = files[fast ? worker->index % THREADS : 0];
    off_t base = fast ? 0 : (off_t)worker->index * REGION, at = 0;
    uint64_t value = worker->index + 1, spent = 0, count = 0;
    while (worker_continues(worker)) {
        value = churn(value, ROUNDS);
        mine[value % RECORD]++;
        uint64_t from = now_ns();
        if (pwrite(fd, mine, RECORD, base + at) != RECORD)
            die("pwrite");
        spent += now_ns() - from;
        count++;
        at = (at + RECORD) % REGION;
        worker_did(worker, 1);
    }
    consume(value);
    atomic_fetch_add(&write_ns, spent);
    atomic_fetch_add(&writes, count);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "shared-file-writes",
        .operation = "compute and write 256 KiB",
        .slow = "into one file for all threads",
        .fast = "into a file per thread",
        .ops = 100000,
        .threads = THREADS,
        .files = true,
    };
    struct options options = workload_begin(&workload, argc, argv);
    if (options.threads > THREADS)
        options.threads = THREADS;
    for (int i = 0; i < THREADS; i++)
        files[i] = scratch_file(&options);
    workers_run("writer", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("write calls %" PRIu64, (uint64_t)writes);
    truth("seconds in write %.3f", (double)write_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
