// A program whose speed is drawn anew at each start: two threads add to two counters of 8 bytes that lie side by side, at a
// place that is a multiple of 8 bytes. At seven places of eight both lie in one cache line, and the threads pass it to and
// fro; at the eighth a line ends between them. So does memory fall where a runtime packs its objects by 8 bytes.
//
// usage: bands [--seconds S] [--offset BYTES]     S: 3; BYTES: one of 0, 8 … 56, instead of one drawn by chance
//
// It prints `done N` ten times a second, N millions of additions, and at the end `operations: N` and `truth: offset BYTES`.
#include "simple.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/random.h>

enum { LINE = 64, THREADS = 2, BATCH = 4096 };

struct counters {
    uint64_t received, sent;
};

static struct counters *counters;
static atomic_bool over;
// The CPUs that it was started on: with one of them (taskset) its threads take turns there.
static cpu_set_t allowed;
// Batches done by each thread, each in lines of its own: what is counted here is not what is measured.
static struct {
    _Alignas(4 * LINE) atomic_uint_fast64_t batches;
} done[THREADS];

// As often as they can: `add` is what a profile shows, wherever the counters lie.
NAMED static void add(volatile uint64_t *counter) {
    for (int i = 0; i < BATCH; i++)
        *counter += 1;
}

static void *work(void *argument) {
    uintptr_t index = (uintptr_t)argument;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(index, &cpus);
    // Side by side only where there are two CPUs that it may use; without, it is slower and still right.
    if (CPU_ISSET(index, &allowed))
        (void)!pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    volatile uint64_t *counter = index == 0 ? &counters->received : &counters->sent;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        add(counter);
        atomic_fetch_add_explicit(&done[index].batches, 1, memory_order_relaxed);
    }
    return NULL;
}

static uint64_t millions(void) {
    uint64_t batches = 0;
    for (int i = 0; i < THREADS; i++)
        batches += atomic_load_explicit(&done[i].batches, memory_order_relaxed);
    return batches * BATCH / 1000000;
}

int main(int argc, char **argv) {
    double seconds = 3;
    uint64_t offset = LINE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            seconds = simple_seconds(argv[++i]);
        } else if (strcmp(argv[i], "--offset") == 0 && i + 1 < argc) {
            char *end;
            offset = strtoull(argv[++i], &end, 10);
            if (*end != 0 || offset >= LINE || offset % 8 != 0) {
                fprintf(stderr, "%s: expected 0, 8, 16 … 56\n", argv[i]);
                return 2;
            }
        } else {
            simple_words(argc, argv, 0, "[--seconds S] [--offset BYTES]");
        }
    }
    if (offset == LINE) {
        unsigned char byte;
        if (getrandom(&byte, sizeof byte, 0) != sizeof byte)
            simple_fail("getrandom");
        offset = byte % 8 * 8;
    }
    char *memory = aligned_alloc(4 * LINE, 16 * LINE);
    if (memory == NULL)
        simple_fail("aligned_alloc");
    memset(memory, 0, 16 * LINE);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    counters = (struct counters *)(memory + 8 * LINE + offset);
    pthread_t threads[THREADS];
    uint64_t start = simple_clock(CLOCK_MONOTONIC);
    for (uintptr_t i = 0; i < THREADS; i++) {
        errno = pthread_create(&threads[i], NULL, work, (void *)i);
        if (errno != 0)
            simple_fail("pthread_create");
    }
    for (uint64_t tick = 1; (double)tick / 10 <= seconds; tick++) {
        uint64_t now = simple_clock(CLOCK_MONOTONIC) - start, due = tick * 100000000;
        if (due > now) {
            struct timespec rest = {(time_t)((due - now) / 1000000000), (long)((due - now) % 1000000000)};
            nanosleep(&rest, NULL);
        }
        printf("done %" PRIu64 "\n", millions());
        fflush(stdout);
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("done %" PRIu64 "\noperations: %" PRIu64 "\ntruth: offset %" PRIu64 "\n", millions(), millions(), offset);
    free(memory);
    return 0;
}
