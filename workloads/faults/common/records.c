// Ordinary work of a CPU, for faults that come from outside: threads that make lines of text, parse and sort them. Both
// variants are the same.
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 64 };

struct record {
    uint64_t key;
    double value;
    char name[16];
};

static size_t render(char *text, size_t room, uint64_t *seed) {
    size_t used = 0;
    for (int i = 0; i < LINES; i++) {
        *seed = churn(*seed, 4);
        used += (size_t)snprintf(text + used, room - used, "%" PRIu64 ",%u.%02u,user%u\n", *seed, (unsigned)(*seed % 9973),
                                 (unsigned)(*seed % 89), (unsigned)(*seed % 1000));
    }
    return used;
}

static int parse(const char *text, struct record *records) {
    int count = 0;
    for (const char *line = text; *line && count < LINES; line = strchr(line, '\n') + 1, count++) {
        char *end;
        records[count].key = strtoull(line, &end, 10);
        records[count].value = strtod(end + 1, &end);
        size_t length = strcspn(end + 1, "\n");
        memcpy(records[count].name, end + 1, length < 15 ? length : 15);
    }
    return count;
}

static int by_key(const void *a, const void *b) {
    uint64_t left = ((const struct record *)a)->key, right = ((const struct record *)b)->key;
    return (left > right) - (left < right);
}

static void work(struct worker *worker) {
    static _Thread_local char text[LINES * 64];
    static _Thread_local struct record records[LINES];
    uint64_t seed = worker->index + 1;
    while (worker_continues(worker)) {
        render(text, sizeof text, &seed);
        int count = parse(text, records);
        qsort(records, (size_t)count, sizeof *records, by_key);
        consume(records[0].key);
        worker_did(worker, 1);
    }
}

int main(int argc, char **argv) {
    const struct workload workload = {
        .name = "records",
        .operation = "make, parse and sort 64 lines",
        .slow = "what the surroundings do to it",
        .fast = "nothing in its way",
        .ops = 600000,
    };
    struct options options = workload_begin(&workload, argc, argv);
    workers_run("parser", options.threads, options.ops, &options, work, NULL);
    workload_end();
    truth("lost share %d", options.fast ? 0 : 1);
    return 0;
}
