// What every workload shares: its command line, its threads, progress on stdout, a clean end, and the clock.
//
// A workload does the same operations in a slow and a fast variant. It prints `done N` once a second and at the end,
// then `operations: N`, then lines `truth: NAME VALUE` with what it measured of itself.
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a workload is; main() declares one.
struct workload {
    const char *name;      // of the program
    const char *operation; // what one operation is
    const char *slow;      // how the slow variant does it
    const char *fast;      // how the fast variant does it
    uint64_t ops;          // default number of operations: about 10 s of the slow variant on 2 CPUs
    unsigned threads;      // default number of threads; 0 is one per CPU
    bool files;            // takes --dir
};

// What the user asked for.
struct options {
    bool fast;
    uint64_t ops;     // operations to do; UINT64_MAX when only time limits the run
    unsigned threads; // at least 1
    const char *dir;  // folder for scratch files
};

// One thread of a phase. Its counter has a cache line of its own: only its thread writes it, the progress line reads it.
struct worker {
    alignas(128) _Atomic uint64_t done; // operations done in this phase
    uint64_t share;                     // operations that are this thread's part of the phase
    unsigned index;
    const struct options *options;
    void *shared; // the workload's own data
    void (*body)(struct worker *);
    pthread_t thread;
};

// Reads the command line (exits with 2 and the usage when it is wrong) and starts the progress thread.
struct options workload_begin(const struct workload *workload, int argc, char **argv);

// Runs `body` in `count` threads called `name`, which share `ops` operations, and waits for all of them.
void workers_run(const char *name, unsigned count, uint64_t ops, const struct options *options,
                 void (*body)(struct worker *), void *shared);

// Whether the run was asked to end: by SIGINT, SIGTERM or --seconds.
bool workload_stopped(void);

// Whether the worker has operations left to do.
static inline bool worker_continues(struct worker *worker) {
    return atomic_load_explicit(&worker->done, memory_order_relaxed) < worker->share && !workload_stopped();
}

// Counts `count` more operations as done.
static inline void worker_did(struct worker *worker, uint64_t count) {
    uint64_t done = atomic_load_explicit(&worker->done, memory_order_relaxed);
    atomic_store_explicit(&worker->done, done + count, memory_order_relaxed);
}

// Ends the progress thread and prints the totals; the workload's own truths come after it. Returns the operations done.
uint64_t workload_end(void);

// Prints `truth: …`.
void truth(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Prints what failed, with errno, and exits with 1.
_Noreturn void die(const char *what);

// CLOCK_MONOTONIC in nanoseconds.
uint64_t now_ns(void);

// Sleeps for `ns` nanoseconds.
void sleep_ns(uint64_t ns);

// Work for a CPU: `rounds` dependent steps of about a nanosecond each. Use the result, or the compiler drops the work.
uint64_t churn(uint64_t seed, unsigned rounds);

// Takes a result that nothing else uses, so that the work behind it is done.
void consume(uint64_t value);

// Takes a mutex; counts it as contended, with the time waited, when another thread had it.
struct lock_truth {
    uint64_t taken, contended, waited_ns;
};
void lock_counted(pthread_mutex_t *mutex, struct lock_truth *truth);

// Opens a new file in --dir for reading and writing. It has no name any more, so it is gone however the program ends.
int scratch_file(const struct options *options);

// Writes all of `size` bytes at the file's position.
void write_all(int fd, const void *data, size_t size);

#endif
