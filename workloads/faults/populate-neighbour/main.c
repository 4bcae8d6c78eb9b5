// Threads that map and unmap a small buffer for each operation, beside a loader that maps large files' worth of memory: in the
// same process, where each waits for the lock of the address space, against in a process of its own.
#include "workload.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 16 << 10, LARGE = 96 << 20, ROUNDS = 20000 };

static _Atomic uint64_t map_ns, calls;

static void *load(void *unused) {
    while (!workload_stopped()) {
        unsigned char *memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory == MAP_FAILED)
            die("mmap");
        memory[1] = 1;
        munmap(memory, LARGE);
    }
    return unused;
}

static void work(struct worker *worker) {
    uint64_t value = worker->index + 1, waited = 0, count = 0;
    while (worker_continues(worker)) {
        uint64_t from = now_ns();
        unsigned char *memory = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        waited += now_ns() - from;
        if (memory == MAP_FAILED)
            die("mmap");
        memory[0] = (unsigned char)value;
        value = churn(value + memory[0], ROUNDS);
        from = now_ns();
        munmap(memory, SMALL);
        waited += now_ns() - from;
        count += 2;
        worker_did(worker, 1);
    }
    consume(value);
    atomic_fetch_add(&map_ns, waited);
    atomic_fetch_add(&calls, count);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "populate-neighbour",
        .operation = "compute with a small buffer that is mapped and unmapped",
        .slow = "the loader is a thread of the same process",
        .fast = "the loader is a process of its own",
        .ops = 200000,
        .threads = 2,
    };
    bool fast = argc > 1 && argv[1][0] == 'f';
    pid_t child = 0;
    if (fast) { // before there are threads
        child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            prctl(PR_SET_NAME, "loader");
            load(NULL);
        }
    }
    struct options options = workload_begin(&workload, argc, argv);
    pthread_t loader;
    if (!options.fast) {
        if (pthread_create(&loader, NULL, load, NULL) != 0)
            die("pthread_create");
        pthread_setname_np(loader, "loader");
    }
    workers_run("mapper", options.threads, options.ops, &options, work, NULL);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    } else {
        pthread_detach(loader);
    }
    workload_end();
    truth("map calls %" PRIu64, (uint64_t)calls);
    truth("seconds in map calls %.3f", (double)map_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    fflush(NULL);
    _exit(0);
}
