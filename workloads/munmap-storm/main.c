// Threads that map, touch and unmap a buffer for each operation, as an allocator does that gives memory back at once,
// against a buffer that each thread keeps.
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 256 << 10, ROUNDS = 20000 };

static _Atomic uint64_t mmap_calls;

static unsigned char *map(void) {
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    return memory;
}

static void work(struct worker *worker) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *kept = worker->options->fast ? map() : NULL;
    uint64_t maps = kept ? 1 : 0, value = worker->index + 1;
    while (worker_continues(worker)) {
        unsigned char *buffer = kept;
        if (buffer == NULL) {
            buffer = map();
            maps++;
        }
        for (size_t at = 0; at < SIZE; at += page)
            buffer[at] = (unsigned char)(value + at);
        value = churn(value + buffer[SIZE / 2], ROUNDS);
        if (buffer != kept && munmap(buffer, SIZE) != 0)
            die("munmap");
        worker_did(worker, 1);
    }
    if (kept)
        munmap(kept, SIZE);
    consume(value);
    atomic_fetch_add(&mmap_calls, maps);
}

// Interrupts for TLB shootdowns on all CPUs since boot, -1 where /proc/interrupts has no such line (it is x86's).
static int64_t tlb_shootdowns(void) {
    FILE *file = fopen("/proc/interrupts", "re");
    char *line = NULL;
    size_t room = 0;
    int64_t total = -1;
    while (file && getline(&line, &room, file) > 0) {
        char *next = line + strspn(line, " ");
        if (strncmp(next, "TLB:", 4) != 0)
            continue;
        total = 0;
        for (next += 4;;) {
            char *end;
            long long count = strtoll(next, &end, 10);
            if (end == next)
                break;
            total += count;
            next = end;
        }
    }
    free(line);
    if (file)
        fclose(file);
    return total;
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "munmap-storm",
        .operation = "fill one byte of each page of a 256 KiB buffer and compute with it",
        .slow = "mmap and munmap of the buffer for each operation",
        .fast = "a buffer per thread, kept",
        .ops = 100000,
        .threads = 4,
    };
    struct options options = workload_begin(&workload, argc, argv);
    int64_t before = tlb_shootdowns();
    workers_run("mapper", options.threads, options.ops, &options, work, NULL);
    int64_t after = tlb_shootdowns();
    workload_end();
    truth("mmap calls %" PRIu64, (uint64_t)atomic_load(&mmap_calls));
    if (before >= 0 && after >= before)
        truth("TLB shootdown interrupts of the system %" PRId64, after - before);
    return 0;
}
