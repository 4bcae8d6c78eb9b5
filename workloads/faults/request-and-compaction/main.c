// A request passes through three threads; compactors of the same program always have work to do. With many of them the stages
// wait in the run queue each time they are woken.
#include "workload.h"

#include <inttypes.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { STAGES = 3, STAGE_ROUNDS = 30000, COMPACTORS = 16 };

static int wake[STAGES];
static uint64_t late_ns, hops; // of the stages; each written by the one stage that runs

static void stage(struct worker *worker) {
    unsigned self = worker->index;
    uint64_t value = self + 1;
    static _Atomic uint64_t sent_ns;
    for (;;) {
        uint64_t token;
        if (read(wake[self], &token, sizeof token) != sizeof token)
            die("read");
        late_ns += now_ns() - atomic_load(&sent_ns);
        hops++;
        value = churn(value, STAGE_ROUNDS);
        if (self == STAGES - 1)
            worker_did(worker, 1);
        atomic_store(&sent_ns, now_ns());
        unsigned next = (self + 1) % STAGES;
        token = 1;
        if (write(wake[next], &token, sizeof token) != sizeof token)
            die("write");
        if (workload_stopped())
            break;
    }
    // The token that is on its way here is not read any more: those who still wait get another.
    uint64_t token = 1;
    if (write(wake[(self + 1) % STAGES], &token, sizeof token) != sizeof token)
        die("write");
    consume(value);
}

static void *compact(void *seed) {
    static unsigned char block[COMPACTORS][64 << 10];
    uint64_t value = (uintptr_t)seed;
    unsigned char *mine = block[value % COMPACTORS];
    while (!workload_stopped())
        for (size_t at = 0; at < sizeof block[0]; at++)
            mine[at] = (unsigned char)(value = value * 6364136223846793005u + mine[at]);
    consume(value);
    return NULL;
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "request-and-compaction",
        .operation = "one request through three threads",
        .slow = "16 compactors beside it",
        .fast = "1 compactor beside it",
        .ops = 20000,
        .threads = STAGES,
    };
    struct options options = workload_begin(&workload, argc, argv);
    for (int i = 0; i < STAGES; i++)
        wake[i] = eventfd(i == 0, EFD_CLOEXEC);
    for (unsigned i = 0; i < (options.fast ? 1 : COMPACTORS); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, compact, (void *)(uintptr_t)(i + 1)) != 0)
            die("pthread_create");
        pthread_setname_np(thread, "compactor");
        pthread_detach(thread);
    }
    workers_run("stage", STAGES, UINT64_MAX, &options, stage, NULL);
    workload_end();
    truth("mean delay of a wake-up us %.1f", hops ? (double)late_ns / 1e3 / (double)hops : 0.0);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
