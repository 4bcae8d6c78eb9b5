// Innocent: sleeps a millisecond, does next to nothing, sleeps again. Nothing must be named.
#include "bench.h"

NAMED uint64_t housekeeping(uint64_t operations) {
    const struct timespec pause = {0, 1000000};
    for (uint64_t i = 0; i < operations; i++)
        nanosleep(&pause, NULL);
    return operations;
}

int main(int argc, char **argv) {
    const struct bench bench = {"sleep", "threads", 1, 1, 1, NULL, housekeeping};
    return bench_run(&bench, argc, argv);
}
