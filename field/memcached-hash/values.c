// Fills a memcached with two million values, or gets values of it, a hundred at once: PORT fill|SECONDS.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VALUES = 2000000, AT_ONCE = 100 };

static int fd;

static int connect_to(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd = socket(AF_INET, SOCK_STREAM, 0);
    return connect(fd, (struct sockaddr *)&to, sizeof to);
}

static void ask(const char *request, size_t length, const char *last) {
    static char answer[65536];
    size_t have = 0;
    if (write(fd, request, length) < 0) exit(1);
    do {
        ssize_t more = read(fd, answer + have, sizeof answer - 1 - have);
        if (more <= 0) exit(1);
        have += more;
        answer[have] = 0;
    } while (have < strlen(last) || strcmp(answer + have - strlen(last), last));
}

int main(int count, char **argument) {
    static char request[65536];
    if (count != 3 || connect_to(atoi(argument[1]))) return 2;
    if (!strcmp(argument[2], "fill")) {
        for (int value = 0; value < VALUES; value += AT_ONCE) {
            size_t length = 0;
            for (int one = value; one < value + AT_ONCE; one++)
                length += sprintf(request + length, "set value:%d 0 0 20 noreply\r\n%020d\r\n", one, one);
            length += sprintf(request + length, "mn\r\n");
            ask(request, length, "MN\r\n");
        }
        return 0;
    }
    srand(1);
    time_t end = time(NULL) + atoi(argument[2]);
    for (long done = 0; time(NULL) < end;) {
        size_t length = sprintf(request, "get");
        for (int one = 0; one < AT_ONCE; one++) length += sprintf(request + length, " value:%d", rand() % VALUES);
        length += sprintf(request + length, "\r\n");
        ask(request, length, "END\r\n");
        done += AT_ONCE;
        if (done % 10000 == 0) printf("done %ld\n", done), fflush(stdout);
    }
    return 0;
}
