// A code cache that is never writable and executable at once: each patch makes its page writable and executable again, while
// another thread of the program runs, so that each change interrupts the other CPU to flush its TLB. Fast patches 64 at a time.
#include "workload.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 64, ROUNDS = 1500, BATCH = 64 };

static unsigned char *cache;
static size_t page;
static uint64_t protects, protect_ns;
static _Atomic bool over;

static void protect(int how) {
    uint64_t from = now_ns();
    if (mprotect(cache, page * PAGES, how) != 0)
        die("mprotect");
    protect_ns += now_ns() - from;
    protects++;
}

static void patch(struct worker *worker) {
    unsigned batch = worker->options->fast ? BATCH : 1;
    uint64_t value = 1;
    while (worker_continues(worker)) {
        protect(PROT_READ | PROT_WRITE);
        for (unsigned i = 0; i < batch; i++) {
            value = churn(value, ROUNDS);
            cache[value % (page * PAGES)] = (unsigned char)value;
        }
        protect(PROT_READ);
        worker_did(worker, batch);
    }
    consume(value);
    atomic_store(&over, true);
}

static void *render(void *unused) {
    uint64_t value = 7;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        value = churn(value, 1000) + cache[value % (page * PAGES)];
    consume(value);
    return unused;
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "mprotect-toggle",
        .operation = "compute and patch one place",
        .slow = "two mprotect calls for each patch",
        .fast = "two for 64 patches",
        .ops = 500000,
        .threads = 1,
    };
    struct options options = workload_begin(&workload, argc, argv);
    page = (size_t)sysconf(_SC_PAGESIZE);
    cache = mmap(NULL, page * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (cache == MAP_FAILED)
        die("mmap");
    pthread_t renderer;
    if (pthread_create(&renderer, NULL, render, NULL) != 0)
        die("pthread_create");
    pthread_setname_np(renderer, "render");
    workers_run("patcher", 1, options.ops, &options, patch, NULL);
    pthread_join(renderer, NULL);
    workload_end();
    truth("mprotect calls %" PRIu64, protects);
    truth("mprotect seconds %.3f", (double)protect_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
