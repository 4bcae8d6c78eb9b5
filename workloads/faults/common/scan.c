// Reads blocks of a file in a random order and hashes them; what it costs depends on where the file is: in memory or on disk.
//
// usage: scan slow|fast [--seconds S] [--threads N] FILE BLOCK [direct] [blocks=N]
//   blocks=N   each operation reads N blocks in a row, and hashes the first
#include "workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file;
static uint64_t size, block, blocks = 1;
static _Atomic uint64_t read_ns, hash_ns, bytes;

static void work(struct worker *worker) {
    unsigned char *data = aligned_alloc(4096, block);
    if (data == NULL)
        die("aligned_alloc");
    uint64_t count = size / block, value = worker->index, order = worker->index * 7919, spent = 0, hashing = 0, got = 0;
    while (worker_continues(worker)) {
        // Steps of a prime, so that no block comes again before all have been read.
        order = (order + 1000003) % count;
        for (uint64_t i = 0; i < blocks; i++) {
            uint64_t from = now_ns();
            ssize_t length = pread(file, data, block, (off_t)((order + i) % count * block));
            if (length <= 0)
                die("pread");
            uint64_t middle = now_ns();
            for (ssize_t at = 0; at < (i == 0 ? length : 64); at++)
                value = (value ^ data[at]) * UINT64_C(0x100000001b3);
            spent += middle - from;
            hashing += now_ns() - middle;
            got += (uint64_t)length;
        }
        worker_did(worker, 1);
    }
    free(data);
    consume(value);
    atomic_fetch_add(&read_ns, spent);
    atomic_fetch_add(&hash_ns, hashing);
    atomic_fetch_add(&bytes, got);
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "scan",
        .operation = "read and hash a block (scan slow|fast [--seconds S] FILE BLOCK [direct] [blocks=N])",
        .slow = "as its surroundings make it",
        .fast = "the same",
        .ops = 100000,
        .threads = 1,
    };
    // Words that are not the frame's come last.
    int own = argc;
    for (int i = 2; i < argc; i++)
        if (argv[i][0] == '/') {
            own = i;
            break;
        }
    if (own + 1 >= argc) {
        workload_begin(&workload, argc, argv); // answers --help
        die("FILE and BLOCK are missing");
    }
    bool direct = false;
    for (int i = own + 2; i < argc; i++) {
        direct |= strcmp(argv[i], "direct") == 0;
        if (strncmp(argv[i], "blocks=", 7) == 0)
            blocks = strtoull(argv[i] + 7, NULL, 10);
    }
    struct options options = workload_begin(&workload, own, argv);
    file = open(argv[own], O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        die(argv[own]);
    block = strtoull(argv[own + 1], NULL, 10);
    size = (uint64_t)about.st_size;
    if (block < 512 || size < block || blocks < 1)
        die("FILE or BLOCK is too small");
    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    workers_run("scanner", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("bytes read %" PRIu64, (uint64_t)bytes);
    truth("seconds in read %.3f", (double)read_ns / 1e9);
    truth("seconds hashing %.3f", (double)hash_ns / 1e9);
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
