// An asset pipeline: a server that keeps its assets in memory runs an external converter for each job and hashes what it
// converts. The slow variant starts the converter by fork and exec, which copies the page tables of the assets; the fast one by
// posix_spawn, which does not.
#include "pace.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASSET = 64 << 10, ASSETS = 1600 }; // 100 MiB

static unsigned char *store;
extern char **environ;

// The assets of a server that has run for a while: small pages, each touched.
static void load_assets(void) {
    size_t size = (size_t)ASSET * ASSETS;
    store = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (store == MAP_FAILED)
        pace_fail("mmap");
    madvise(store, size, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < size; at += 512)
        store[at] = (unsigned char)(at >> 9);
}

static uint64_t digest(const unsigned char *asset) {
    uint64_t sum = 14695981039346656037u;
    for (int i = 0; i < ASSET; i++)
        sum = (sum ^ asset[i]) * 1099511628211u;
    return sum;
}

static pid_t start_converter(char *const *words) {
    pid_t child;
    if (!pace_slow) {
        errno = posix_spawn(&child, words[0], NULL, NULL, words, environ);
        if (errno != 0)
            pace_fail("posix_spawn");
        return child;
    }
    child = fork();
    if (child < 0)
        pace_fail("fork");
    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    return child;
}

static void convert(void) {
    char format[] = "--to=webp";
    char *const words[] = {"/bin/true", format, NULL};
    pid_t child = start_converter(words);
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            pace_fail("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "the converter failed: status %d\n", status);
        exit(1);
    }
}

int main(int argc, char **argv) {
    pace_read(argc, argv);
    load_assets();
    pace_start();
    uint64_t sums = 0;
    for (unsigned number = 0; !pace_over(); number++) {
        unsigned char *asset = store + (size_t)(number * 2654435761u % ASSETS) * ASSET;
        sums ^= digest(asset);
        convert();
        asset[number % ASSET]++; // a counter of uses
        pace_did(1);
    }
    pace_finish(1);
    fprintf(stderr, "sum of the digests: %016lx\n", (unsigned long)sums);
    return 0;
}
