// Reads what others write into a named pipe, no faster than so many MB a second, until the pipe is closed.
//
// usage: drain PIPE MB_PER_SECOND
#include "simple.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static char data[64 << 10];
    simple_words(argc, argv, 2, "PIPE MB_PER_SECOND");
    double rate = argc == 3 ? atof(argv[2]) * 1e6 : 0;
    int fd = rate > 0 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0) {
        perror("drain");
        return 1;
    }
    for (ssize_t got; (got = read(fd, data, sizeof data)) > 0;) {
        int64_t ns = (int64_t)((double)got / rate * 1e9);
        struct timespec pause = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
        if (ns > 60000) // shorter ones would take longer than they should
            nanosleep(&pause, NULL);
    }
    return 0;
}
