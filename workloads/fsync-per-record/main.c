// A journal that syncs each record to disk, against one that syncs 8 records together.
#include "workload.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { RECORD = 256, GROUP = 8, FILE_LIMIT = 32 << 20 };

static struct {
    int fd;
    pthread_mutex_t mutex;
    off_t at;
    uint64_t unsynced, syncs, sync_ns, longest_ns;
} journal = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void sync_journal(void) {
    uint64_t from = now_ns();
    if (fdatasync(journal.fd) != 0)
        die("fdatasync");
    uint64_t took = now_ns() - from;
    journal.syncs++;
    journal.sync_ns += took;
    journal.longest_ns = took > journal.longest_ns ? took : journal.longest_ns;
    journal.unsynced = 0;
}

static void work(struct worker *worker) {
    char record[RECORD];
    uint64_t value = worker->index + 1, group = worker->options->fast ? GROUP : 1;
    while (worker_continues(worker)) {
        value = churn(value, 20);
        memset(record, (int)('a' + value % 26), sizeof record);
        pthread_mutex_lock(&journal.mutex);
        if (pwrite(journal.fd, record, sizeof record, journal.at) != (ssize_t)sizeof record)
            die("write");
        journal.at = (journal.at + RECORD) % FILE_LIMIT;
        if (++journal.unsynced >= group)
            sync_journal();
        pthread_mutex_unlock(&journal.mutex);
        worker_did(worker, 1);
    }
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "fsync-per-record",
        .operation = "append one record of 256 bytes and have it on disk",
        .slow = "fdatasync() after each record",
        .fast = "fdatasync() after 8 records",
        .ops = 3000,
        .threads = 1,
        .files = true,
    };
    struct options options = workload_begin(&workload, argc, argv);
    journal.fd = scratch_file(&options);
    workers_run("journal", options.threads, options.ops, &options, work, NULL);
    if (journal.unsynced > 0)
        sync_journal();
    workload_end();
    truth("fdatasync calls %" PRIu64, journal.syncs);
    truth("mean fdatasync ms %.3f", journal.syncs ? (double)journal.sync_ns / 1e6 / (double)journal.syncs : 0.0);
    truth("longest fdatasync ms %.3f", (double)journal.longest_ns / 1e6);
    return 0;
}
