// Pairs of a parser and a reader that takes what was parsed from a ring: a reader that finds it empty looks again at once, against one that sleeps until
// there is a batch. Nothing is called after what it does: the loop is a part of the reader.
#include "workload.h"

enum { RING = 4096, BATCH = 64, ROUNDS = 2000 };

struct ring {
    alignas(128) _Atomic uint64_t head; // written
    alignas(128) _Atomic uint64_t tail; // taken
    _Atomic bool closed;
    pthread_mutex_t mutex;
    pthread_cond_t more;
    bool slow;
    uint64_t slots[RING];
    uint64_t sum;
};

static inline void be_kind(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void *drain(void *of) {
    struct ring *ring = of;
    uint64_t tail = 0;
    for (;;) {
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (head == tail) {
            if (atomic_load(&ring->closed))
                return NULL;
            if (ring->slow) {
                be_kind();
                continue;
            }
            pthread_mutex_lock(&ring->mutex);
            while (atomic_load(&ring->head) == tail && !atomic_load(&ring->closed))
                pthread_cond_wait(&ring->more, &ring->mutex);
            pthread_mutex_unlock(&ring->mutex);
            continue;
        }
        for (; tail != head; tail++)
            ring->sum += churn(ring->slots[tail % RING], 20);
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
}

static void parse(struct worker *worker) {
    struct ring ring = {.mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .slow = !worker->options->fast};
    pthread_t reader;
    if (pthread_create(&reader, NULL, drain, &ring) != 0)
        die("pthread_create");
    pthread_setname_np(reader, "reader");
    uint64_t value = worker->index + 1, head = 0;
    while (worker_continues(worker)) {
        for (int i = 0; i < BATCH; i++) {
            value = churn(value, ROUNDS);
            while (head - atomic_load_explicit(&ring.tail, memory_order_acquire) >= RING)
                sleep_ns(50000);
            ring.slots[head++ % RING] = value;
            if (ring.slow)
                atomic_store_explicit(&ring.head, head, memory_order_release);
        }
        pthread_mutex_lock(&ring.mutex);
        atomic_store(&ring.head, head);
        pthread_cond_signal(&ring.more);
        pthread_mutex_unlock(&ring.mutex);
        worker_did(worker, BATCH);
    }
    pthread_mutex_lock(&ring.mutex);
    atomic_store(&ring.closed, true);
    pthread_cond_signal(&ring.more);
    pthread_mutex_unlock(&ring.mutex);
    pthread_join(reader, NULL);
    consume(ring.sum);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "ring-reader",
        .operation = "parse an item and hand it over",
        .slow = "the reader looks again and again",
        .fast = "the reader sleeps until there is a batch",
        .ops = 1000000,
        .threads = 2,
    };
    struct options options = workload_begin(&workload, argc, argv);
    workers_run("parser", options.threads, options.ops, &options, parse, NULL);
    workload_end();
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
