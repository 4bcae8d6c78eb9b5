// A reclaimer that makes every other thread pass a memory barrier (membarrier, as user-space RCU and hazard pointers do) for each
// object it frees, against for each 64: each call interrupts the CPUs that run the program's other threads.
#include "workload.h"

#include <inttypes.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 500, BATCH = 64 };

static uint64_t barriers, barrier_ns;
static _Atomic bool over;

static void reclaim(struct worker *worker) {
    uint64_t value = 1, pending = 0;
    while (worker_continues(worker)) {
        value = churn(value, ROUNDS);
        if (++pending == (worker->options->fast ? BATCH : 1)) {
            uint64_t from = now_ns();
            if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
                die("membarrier");
            barrier_ns += now_ns() - from;
            barriers++;
            pending = 0;
        }
        worker_did(worker, 1);
    }
    consume(value);
    atomic_store(&over, true);
}

static void *read_lists(void *unused) {
    uint64_t value = 7;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        value = churn(value, 1000);
    consume(value);
    return unused;
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "membarrier-fence",
        .operation = "compute and free one object",
        .slow = "a membarrier call for each object",
        .fast = "one for 64 objects",
        .ops = 700000,
        .threads = 1,
    };
    struct options options = workload_begin(&workload, argc, argv);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        die("membarrier");
    pthread_t reader;
    if (pthread_create(&reader, NULL, read_lists, NULL) != 0)
        die("pthread_create");
    pthread_setname_np(reader, "reader");
    workers_run("reclaimer", 1, options.ops, &options, reclaim, NULL);
    pthread_join(reader, NULL);
    workload_end();
    truth("membarrier calls %" PRIu64, barriers);
    truth("membarrier seconds %.3f", (double)barrier_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
