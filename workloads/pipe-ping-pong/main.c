// A client that sends each message through a pipe and waits for its answer, against 32 messages a round trip.
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>
#include <stdlib.h>

enum { MESSAGE_WORDS = 8, MANY = 32, ROUNDS = 1000 };

// One client and its server; threads 2n and 2n + 1.
struct pair {
    int request[2], answer[2]; // read end, write end
    uint64_t round_trips;
};

struct message {
    uint64_t words[MESSAGE_WORDS];
};

// Reads a whole message or several (their writes are below PIPE_BUF, hence not torn); 0 at the end of the pipe.
static size_t receive(int fd, struct message *messages, size_t most) {
    ssize_t got;
    while ((got = read(fd, messages, most * sizeof *messages)) < 0 && errno == EINTR)
        ;
    if (got < 0 || got % (ssize_t)sizeof *messages != 0)
        die("read from pipe");
    return (size_t)got / sizeof *messages;
}

static void serve(struct pair *pair) {
    struct message messages[MANY];
    size_t count;
    while ((count = receive(pair->request[0], messages, MANY)) > 0) {
        for (size_t i = 0; i < count; i++)
            messages[i].words[0] = churn(messages[i].words[0], ROUNDS);
        write_all(pair->answer[1], messages, count * sizeof *messages);
    }
    close(pair->answer[1]);
}

static void call(struct worker *worker, struct pair *pair, uint64_t share) {
    struct message messages[MANY] = {0};
    uint64_t at_once = worker->options->fast ? MANY : 1;
    for (uint64_t sent = 0; sent < share && !workload_stopped();) {
        size_t count = (size_t)(share - sent < at_once ? share - sent : at_once);
        write_all(pair->request[1], messages, count * sizeof *messages);
        for (size_t answered = 0; answered < count;) {
            size_t got = receive(pair->answer[0], messages + answered, count - answered);
            if (got == 0)
                die("the server is gone");
            answered += got;
        }
        pair->round_trips++;
        sent += count;
        worker_did(worker, count);
    }
    close(pair->request[1]);
}

static void work(struct worker *worker) {
    struct pair *pair = (struct pair *)worker->shared + worker->index / 2;
    if (worker->index % 2 != 0) {
        serve(pair);
        return;
    }
    unsigned pairs = worker->options->threads;
    uint64_t ops = worker->options->ops;
    call(worker, pair, ops == UINT64_MAX ? ops : ops / pairs + (worker->index / 2 < ops % pairs));
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "pipe-ping-pong",
        .operation = "one message of 64 bytes to the server, and its answer",
        .slow = "1 message a round trip",
        .fast = "32 messages a round trip",
        .ops = 1700000,
        .threads = 1,
    };
    struct options options = workload_begin(&workload, argc, argv);
    struct pair *pairs = calloc(options.threads, sizeof *pairs);
    if (pairs == NULL)
        die("calloc");
    for (unsigned i = 0; i < options.threads; i++)
        if (pipe2(pairs[i].request, O_CLOEXEC) != 0 || pipe2(pairs[i].answer, O_CLOEXEC) != 0)
            die("pipe");
    workers_run("pipe", options.threads * 2, 0, &options, work, pairs);
    workload_end();
    uint64_t round_trips = 0;
    for (unsigned i = 0; i < options.threads; i++)
        round_trips += pairs[i].round_trips;
    truth("round trips %" PRIu64, round_trips);
    free(pairs);
    return 0;
}
