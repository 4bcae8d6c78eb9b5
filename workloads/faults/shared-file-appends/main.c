// Threads that append records to one file past the page cache: the kernel holds the file's lock until the disk has each. Against
// a file for each thread.
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD = 4096, MOST = 32 << 20, ROUNDS = 4000, THREADS = 8 };

static int files[THREADS];
static _Atomic uint64_t append_ns, appends;

static void work(struct worker *worker) {
    unsigned char *data = aligned_alloc(RECORD, RECORD);
    if (data == NULL)
        die("aligned_alloc");
    memset(data, 1, RECORD);
    int fd = files[worker->index % THREADS];
    uint64_t value = worker->index + 1, spent = 0, count = 0;
    while (worker_continues(worker)) {
        value = churn(value, ROUNDS);
        data[value % RECORD]++;
        uint64_t from = now_ns();
        if (write(fd, data, RECORD) != RECORD)
            die("write");
        spent += now_ns() - from;
        if (++count % (MOST / THREADS / RECORD) == 0 && ftruncate(fd, 0) != 0)
            die("ftruncate");
        worker_did(worker, 1);
    }
    consume(value);
    free(data);
    atomic_fetch_add(&append_ns, spent);
    atomic_fetch_add(&appends, count);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "shared-file-appends",
        .operation = "compute and append 4 KiB",
        .slow = "to one file for all threads",
        .fast = "to a file per thread",
        .ops = 100000,
        .threads = THREADS,
        .files = true,
    };
    struct options options = workload_begin(&workload, argc, argv);
    if (options.threads > THREADS)
        options.threads = THREADS;
    for (int i = 0; i < THREADS; i++) {
        if (options.fast || i == 0) {
            files[i] = scratch_file(&options);
        } else { // the same file, but a position of its own
            char path[32];
            snprintf(path, sizeof path, "/proc/self/fd/%d", files[0]);
            files[i] = open(path, O_WRONLY | O_CLOEXEC);
        }
        if (files[i] < 0 || fcntl(files[i], F_SETFL, O_APPEND | O_DIRECT) != 0)
            die("O_DIRECT");
    }
    workers_run("appender", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("appends %" PRIu64, (uint64_t)appends);
    truth("seconds in write %.3f", (double)append_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
