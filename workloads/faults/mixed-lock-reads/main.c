// Two faults at once, in one thread that does the operations: it waits for a mutex that a checkpointer keeps while it sleeps,
// and it reads its input byte by byte. What each costs is measured by its own clock.
#include "workload.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { INPUT = 1024, ROUNDS = 100000, KEPT_NS = 1200000, PAUSE_NS = 30000 };

static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t state;
static int input;
static uint64_t lock_ns, read_ns;

static void *checkpoint(void *options) {
    bool fast = ((struct options *)options)->fast;
    while (!workload_stopped()) {
        pthread_mutex_lock(&state_lock);
        state = churn(state, 1000);
        if (!fast)
            sleep_ns(KEPT_NS); // as it would wait for a disk
        pthread_mutex_unlock(&state_lock);
        sleep_ns(fast ? KEPT_NS + PAUSE_NS : PAUSE_NS);
    }
    return NULL;
}

static void read_input(bool fast, unsigned char *text) {
    if (fast) {
        if (pread(input, text, INPUT, 0) != INPUT)
            die("pread");
        return;
    }
    for (int at = 0; at < INPUT; at++)
        if (pread(input, text + at, 1, at) != 1)
            die("pread");
}

static void work(struct worker *worker) {
    unsigned char text[INPUT];
    uint64_t value = 1;
    while (worker_continues(worker)) {
        uint64_t from = now_ns();
        read_input(worker->options->fast, text);
        uint64_t middle = now_ns();
        value = churn(value + text[value % INPUT], ROUNDS);
        uint64_t before = now_ns();
        pthread_mutex_lock(&state_lock);
        lock_ns += now_ns() - before;
        state += value;
        pthread_mutex_unlock(&state_lock);
        read_ns += middle - from;
        worker_did(worker, 1);
    }
    consume(value);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "mixed-lock-reads",
        .operation = "read 1 KiB, compute, and update a state under a mutex",
        .slow = "a byte a read; the checkpointer sleeps with the mutex",
        .fast = "one read; the checkpointer sleeps without it",
        .ops = 20000,
        .threads = 1,
        .files = true,
    };
    struct options options = workload_begin(&workload, argc, argv);
    input = scratch_file(&options);
    unsigned char text[INPUT];
    memset(text, 'x', sizeof text);
    write_all(input, text, sizeof text);
    pthread_t checkpointer;
    if (pthread_create(&checkpointer, NULL, checkpoint, &options) != 0)
        die("pthread_create");
    pthread_setname_np(checkpointer, "checkpoint");
    workers_run("parser", 1, options.ops, &options, work, NULL);
    pthread_join(checkpointer, NULL);
    workload_end();
    double lock = (double)lock_ns / 1e9, reading = (double)read_ns / 1e9;
    truth("seconds waiting for the mutex %.3f", lock);
    truth("seconds reading %.3f", reading);
    // The fast variant's one read and free mutex take a few microseconds an operation: nothing beside these.
    truth("lost share %.3f", options.fast ? 0.0 : lock / (lock + reading));
    truth("lost share of syscalls %.3f", options.fast ? 0.0 : reading / (lock + reading));
    return 0;
}
