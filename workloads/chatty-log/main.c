// A log that makes one write() a record, against one that gathers 64 KiB first. Both write the same bytes to a file.
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 64 << 10, FILE_LIMIT = 48 << 20, RECORD_LIMIT = 256, ROUNDS = 200 };

static struct {
    pthread_mutex_t mutex;
    int fd;
    off_t size; // of the file; it starts over at FILE_LIMIT, as a log that rotates does
    size_t filled;
    char buffer[BUFFER];
    uint64_t writes, bytes;
} shared_log = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void put(const char *data, size_t size) {
    if (shared_log.size + (off_t)size > FILE_LIMIT) {
        if (lseek(shared_log.fd, 0, SEEK_SET) != 0)
            die("lseek");
        shared_log.size = 0;
    }
    write_all(shared_log.fd, data, size);
    shared_log.size += (off_t)size;
    shared_log.bytes += size;
    shared_log.writes++;
}

static void flush_log(void) {
    if (shared_log.filled > 0)
        put(shared_log.buffer, shared_log.filled);
    shared_log.filled = 0;
}

static void work(struct worker *worker) {
    uint64_t user = worker->index + 1;
    while (worker_continues(worker)) {
        user = churn(user, ROUNDS);
        char record[RECORD_LIMIT];
        int size = snprintf(record, sizeof record, "level=info user=%016" PRIx64 " path=/api/v1/items/%04u status=%d took_us=%u\n",
                            user, (unsigned)(user >> 50), user % 97 ? 200 : 500, (unsigned)(user >> 40) % 9000);
        pthread_mutex_lock(&shared_log.mutex);
        if (worker->options->fast) {
            if (shared_log.filled + (size_t)size > BUFFER)
                flush_log();
            memcpy(shared_log.buffer + shared_log.filled, record, (size_t)size);
            shared_log.filled += (size_t)size;
        } else {
            put(record, (size_t)size);
        }
        pthread_mutex_unlock(&shared_log.mutex);
        worker_did(worker, 1);
    }
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "chatty-log",
        .operation = "compute a little and log one record of about 80 bytes",
        .slow = "a write() per record",
        .fast = "a write() per 64 KiB",
        .ops = 9000000,
        .threads = 1,
        .files = true,
    };
    struct options options = workload_begin(&workload, argc, argv);
    shared_log.fd = scratch_file(&options);
    workers_run("logger", options.threads, options.ops, &options, work, NULL);
    flush_log();
    workload_end();
    truth("write calls %" PRIu64, shared_log.writes);
    truth("bytes written %" PRIu64, shared_log.bytes);
    return 0;
}
