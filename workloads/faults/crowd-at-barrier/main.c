// A grid of temperatures whose rows are shared out among threads that meet after each step: many more threads than CPUs, against two.
#include "workload.h"

enum { ROWS = 640, COLUMNS = 512 };

static float grid[2][ROWS + 2][COLUMNS + 2];
static pthread_barrier_t meeting;
static bool over;

static void step(struct worker *worker, unsigned from) {
    unsigned count = worker->options->threads;
    unsigned first = 1 + worker->index * ROWS / count, end = 1 + (worker->index + 1) * ROWS / count;
    for (unsigned row = first; row < end; row++)
        for (unsigned column = 1; column <= COLUMNS; column++)
            grid[!from][row][column] = 0.25f * (grid[from][row - 1][column] + grid[from][row + 1][column] +
                                                grid[from][row][column - 1] + grid[from][row][column + 1]);
}

static void work(struct worker *worker) {
    unsigned from = 0;
    for (;;) {
        // One says for all whether there is another step: who left earlier would be waited for.
        if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
            over = workload_stopped();
        pthread_barrier_wait(&meeting);
        if (over)
            return;
        step(worker, from);
        from = !from;
        if (worker->index == 0)
            worker_did(worker, 1);
    }
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "crowd-at-barrier",
        .operation = "one step of the grid",
        .slow = "many threads",
        .fast = "two threads",
        .ops = UINT64_MAX,
        .threads = 2,
    };
    struct options options = workload_begin(&workload, argc, argv);
    for (unsigned row = 0; row < ROWS + 2; row++)
        for (unsigned column = 0; column < COLUMNS + 2; column++)
            grid[0][row][column] = grid[1][row][column] = (float)(row * column % 97);
    if (pthread_barrier_init(&meeting, NULL, options.threads) != 0)
        die("pthread_barrier_init");
    workers_run("row", options.threads, options.ops, &options, work, NULL);
    workload_end();
    consume((uint64_t)grid[0][ROWS / 2][COLUMNS / 2]);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
