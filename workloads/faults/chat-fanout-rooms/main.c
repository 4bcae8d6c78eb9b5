// A chat server: one thread serves many connections, of which a few speak; a message goes back to its room. The slow variant
// waits with poll() for all connections, which goes through the idle ones each time; the fast one with epoll.
#include "pace.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IDLE = 700, SPEAKERS = 8, ALL = IDLE + SPEAKERS, MESSAGE = 160 };

static int server_ends[ALL], client_ends[ALL];
static uint64_t spoken[ALL]; // messages of a room

static void connect_all(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * ALL + 64) {
        limit.rlim_cur = 2 * ALL + 64 < limit.rlim_max ? 2 * ALL + 64 : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (int i = 0; i < ALL; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
            pace_fail("socketpair");
        server_ends[i] = pair[0];
        client_ends[i] = pair[1];
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
    }
}

// Marks words that are not said here, and counts the message.
static size_t moderate(char *message, size_t length, int room) {
    static const char *const words[] = {"damn", "heck", "blast"};
    message[length] = 0;
    for (int round = 0; round < 6; round++)
        for (size_t i = 0; i < 3; i++)
            for (char *at = message; (at = strstr(at, words[i])) != NULL;)
                memset(at, '*', strlen(words[i]));
    spoken[room]++;
    return length;
}

static void answer(int room) {
    char message[MESSAGE + 1];
    ssize_t length = recv(server_ends[room], message, MESSAGE, 0);
    if (length <= 0)
        return;
    length = (ssize_t)moderate(message, (size_t)length, room);
    if (send(server_ends[room], message, (size_t)length, MSG_NOSIGNAL) == length)
        pace_did(1);
}

static void *serve(void *argument) {
    static struct pollfd polled[ALL];
    struct epoll_event ready[SPEAKERS];
    int set = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < ALL; i++) {
        struct epoll_event interest = {.events = EPOLLIN, .data = {.u32 = (uint32_t)i}};
        polled[i] = (struct pollfd){.fd = server_ends[i], .events = POLLIN};
        if (!pace_slow && epoll_ctl(set, EPOLL_CTL_ADD, server_ends[i], &interest) != 0)
            pace_fail("epoll_ctl");
    }
    while (!pace_over()) {
        int count = pace_slow ? poll(polled, ALL, 100) : epoll_wait(set, ready, SPEAKERS, 100);
        for (int i = 0; i < (pace_slow ? ALL : count); i++) {
            if (!pace_slow)
                answer((int)ready[i].data.u32);
            else if (polled[i].revents & POLLIN)
                answer(i);
        }
    }
    close(set);
    return argument;
}

// A room of people who speak one after the other.
static void *speak(void *argument) {
    int end = *(int *)argument;
    struct timeval patience = {0, 100000};
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char message[MESSAGE], back[MESSAGE];
    for (unsigned number = 0; !pace_over(); number++) {
        int length = snprintf(message, sizeof message, "%u: what the heck is wrong with build %u? it was fine before lunch", number,
                              number / 7);
        if (send(end, message, (size_t)length, MSG_NOSIGNAL) != length)
            pace_fail("send");
        while (recv(end, back, sizeof back, 0) < 0 && !pace_over())
            ;
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t server, speakers[SPEAKERS];
    pace_read(argc, argv);
    connect_all();
    pace_start();
    errno = pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < SPEAKERS && errno == 0; i++) // spread over the connections
        errno = pthread_create(&speakers[i], NULL, speak, &client_ends[i * (ALL / SPEAKERS) + 5]);
    if (errno != 0)
        pace_fail("pthread_create");
    for (int i = 0; i < SPEAKERS; i++)
        pthread_join(speakers[i], NULL);
    pthread_join(server, NULL);
    pace_finish(1);
    return 0;
}
