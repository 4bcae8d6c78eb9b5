// A reader that makes a read() for each byte of a file, against 64 KiB at a time.
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_SIZE = 16 << 20, BUFFER = 64 << 10, RECORD = 64, ROUNDS = 4000 };

static struct {
    int fd;
    pthread_mutex_t totals;
    uint64_t reads, sum;
} shared = {.totals = PTHREAD_MUTEX_INITIALIZER};

// A reader's place in the file, and what it has read ahead.
struct reader {
    off_t at;
    size_t next, filled, most;
    uint64_t reads;
    unsigned char buffer[BUFFER];
};

static unsigned char next_byte(struct reader *reader) {
    while (reader->next == reader->filled) {
        ssize_t got = pread(shared.fd, reader->buffer, reader->most, reader->at);
        if (got < 0 && errno != EINTR)
            die("read");
        reader->reads++;
        reader->next = 0;
        reader->filled = got > 0 ? (size_t)got : 0;
        reader->at = got == 0 ? 0 : reader->at + (off_t)reader->filled; // at the end of the file: start over
    }
    return reader->buffer[reader->next++];
}

static void work(struct worker *worker) {
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        die("calloc");
    reader->most = worker->options->fast ? BUFFER : 1;
    uint64_t sum = 0;
    while (worker_continues(worker)) {
        uint64_t record = 0;
        for (unsigned i = 0; i < RECORD; i++)
            record = (record ^ next_byte(reader)) * UINT64_C(0x100000001b3);
        sum ^= churn(record, ROUNDS);
        worker_did(worker, 1);
    }
    pthread_mutex_lock(&shared.totals);
    shared.reads += reader->reads;
    shared.sum += sum;
    pthread_mutex_unlock(&shared.totals);
    free(reader);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "one-byte-reads",
        .operation = "read one record of 64 bytes from a cached file and compute with it",
        .slow = "a read() per byte",
        .fast = "a read() per 64 KiB",
        .ops = 400000,
        .threads = 1,
        .files = true,
    };
    struct options options = workload_begin(&workload, argc, argv);
    shared.fd = scratch_file(&options);
    static unsigned char block[BUFFER];
    for (size_t i = 0; i < BUFFER; i++)
        block[i] = (unsigned char)churn(i, 3);
    for (size_t size = 0; size < FILE_SIZE; size += BUFFER)
        write_all(shared.fd, block, BUFFER);
    workers_run("reader", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("read calls %" PRIu64, shared.reads);
    truth("hash %016" PRIx64, shared.sum);
    return 0;
}
