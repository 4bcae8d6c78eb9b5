// Waits for stores: a matrix is transposed row by row, so that each store goes to another line, 2^n bytes apart.
#include "bench.h"

static double *from, *to;
static uint64_t side, row;

static void prepare(uint64_t size) {
    for (side = 64; side * side * 4 * sizeof(double) <= size; side *= 2)
        ;
    from = bench_memory(side * side * sizeof *from, true);
    to = bench_memory(side * side * sizeof *to, true);
    for (uint64_t i = 0; i < side * side; i++)
        from[i] = (double)i;
}

NAMED void transpose_row(const double *restrict in, double *restrict out, uint64_t stride, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        out[i * stride] = in[i];
}

static uint64_t one(uint64_t operations) {
    for (uint64_t left = operations; left > 0; left -= left < side ? left : side) {
        row = (row + 1) % side;
        transpose_row(from + row * side, to + row, side, left < side ? left : side);
    }
    return row;
}

int main(int argc, char **argv) {
    const struct bench bench = {"move an element", "bytes of one matrix", 128 << 20, 65536, 1, prepare, one};
    return bench_run(&bench, argc, argv);
}
