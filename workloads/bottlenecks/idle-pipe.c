// Innocent: two processes pass a byte to and fro; all of the time is the kernel's and that of nobody. Nothing must be named.
#include "bench.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static int there[2], back[2];

static void prepare(uint64_t size) {
    (void)size;
    char byte;
    if (pipe(there) != 0 || pipe(back) != 0)
        simple_fail("pipe");
    pid_t child = fork();
    if (child < 0)
        simple_fail("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
            ;
        _exit(0);
    }
}

NAMED uint64_t bounce(uint64_t operations) {
    char byte = 'a';
    for (uint64_t i = 0; i < operations; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            simple_fail("pipe");
    return (uint64_t)byte;
}

int main(int argc, char **argv) {
    const struct bench bench = {"a byte to and fro", "bytes", 1, 10, 1, prepare, bounce};
    return bench_run(&bench, argc, argv);
}
