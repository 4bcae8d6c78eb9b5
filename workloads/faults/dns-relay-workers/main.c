// A DNS relay: worker threads wait at one UDP socket, each with an epoll of its own, and answer from a table. A resolver on the
// loopback asks. In the slow variant each query wakes all workers that wait; in the fast one the workers register exclusively.
#include "pace.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 12, NAMES = 4096, WINDOW = 2 };

struct query {
    uint64_t id;
    char name[48];
};

static struct {
    char name[48];
    uint32_t address;
} zone[NAMES];
static int service;

static uint64_t hash_name(const char *name) {
    uint64_t hash = 14695981039346656037u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static void load_zone(void) {
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[48];
        snprintf(name, sizeof name, "host-%u.dc%u.example.net", i, i % 7);
        uint64_t slot = hash_name(name) % NAMES;
        while (zone[slot].name[0])
            slot = (slot + 1) % NAMES;
        strcpy(zone[slot].name, name);
        zone[slot].address = 0x0a000000 + i;
    }
}

static uint32_t resolve(const char *name) {
    for (uint64_t slot = hash_name(name) % NAMES, i = 0; i < NAMES; i++, slot = (slot + 1) % NAMES)
        if (!strcmp(zone[slot].name, name))
            return zone[slot].address;
    return 0;
}

static void *relay(void *argument) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event interest = {.events = EPOLLIN | (pace_slow ? 0u : (uint32_t)EPOLLEXCLUSIVE)};
    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, service, &interest) != 0)
        pace_fail("epoll");
    while (!pace_over()) {
        struct epoll_event event;
        if (epoll_wait(set, &event, 1, 100) < 1)
            continue;
        struct query query;
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        if (recvfrom(service, &query, sizeof query, MSG_DONTWAIT, (struct sockaddr *)&from, &length) < (ssize_t)sizeof query)
            continue; // another worker has it
        struct {
            uint64_t id;
            uint32_t address;
        } answer = {query.id, resolve(query.name)};
        if (sendto(service, &answer, sizeof answer, 0, (struct sockaddr *)&from, length) < 0)
            pace_fail("sendto");
    }
    close(set);
    return argument;
}

static void *ask(void *argument) {
    int client = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to;
    socklen_t length = sizeof to;
    getsockname(service, (struct sockaddr *)&to, &length);
    struct timeval patience = {0, 100000};
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (client < 0 || connect(client, (struct sockaddr *)&to, sizeof to) != 0)
        pace_fail("connect");
    struct query query = {0};
    int open_queries = 0;
    while (!pace_over()) {
        for (; open_queries < WINDOW; open_queries++) {
            unsigned host = (unsigned)(query.id++ * 2654435761u) % NAMES;
            snprintf(query.name, sizeof query.name, "host-%u.dc%u.example.net", host, host % 7);
            if (send(client, &query, sizeof query, 0) < 0)
                pace_fail("send");
        }
        char answer[16];
        ssize_t got = recv(client, answer, sizeof answer, 0);
        if (got > 0)
            pace_did(1);
        open_queries = got > 0 ? open_queries - 1 : 0; // after a time-out, all are asked again
    }
    close(client);
    return argument;
}

int main(int argc, char **argv) {
    pthread_t threads[WORKERS + 1];
    pace_read(argc, argv);
    load_zone();
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    service = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (service < 0 || bind(service, (struct sockaddr *)&at, sizeof at) != 0)
        pace_fail("bind");
    pace_start();
    for (int i = 0; i <= WORKERS; i++) {
        errno = pthread_create(&threads[i], NULL, i < WORKERS ? relay : ask, NULL);
        if (errno != 0)
            pace_fail("pthread_create");
        pthread_setname_np(threads[i], i < WORKERS ? "relay" : "resolver");
    }
    for (int i = 0; i <= WORKERS; i++)
        pthread_join(threads[i], NULL);
    pace_finish(1);
    return 0;
}
