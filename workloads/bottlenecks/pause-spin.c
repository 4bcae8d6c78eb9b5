// Waits for another thread by looking again and again, with the pause that processors ask for. The other one sleeps.
#include "bench.h"

#include <pthread.h>

static _Alignas(128) uint64_t turn;
static _Alignas(128) uint64_t seen;

static void *director(void *argument) {
    const struct timespec pause = {0, 2000000};
    for (;;) {
        nanosleep(&pause, NULL);
        __atomic_fetch_add(&turn, 1, __ATOMIC_RELEASE);
    }
    return argument;
}

static void prepare(uint64_t size) {
    (void)size;
    pthread_t thread;
    if (pthread_create(&thread, NULL, director, NULL) != 0)
        simple_fail("pthread_create");
}

NAMED uint64_t await_turn(uint64_t turns) {
    for (uint64_t i = 0; i < turns; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == seen) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            __asm__ volatile("yield");
#endif
        }
        seen++;
    }
    return seen;
}

int main(int argc, char **argv) {
    const struct bench bench = {"await a turn", "threads", 1, 1, 1, prepare, await_turn};
    return bench_run(&bench, argc, argv);
}
