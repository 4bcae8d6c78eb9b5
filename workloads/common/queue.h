// A bounded queue of 64-bit items between threads: one mutex and two condition variables, as most programs have it.
#ifndef QUEUE_H
#define QUEUE_H

#include "workload.h"

enum { QUEUE_CAPACITY = 4096 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    size_t limit; // most items it holds, at most QUEUE_CAPACITY
    size_t head, length;
    bool closed;
    struct lock_truth locks;      // all threads together; guarded by the mutex
    uint64_t empty_waits;         // times a thread slept because there was nothing to take
    uint64_t full_waits;          // times a thread slept because there was no room
    uint64_t items[QUEUE_CAPACITY];
};

void queue_open(struct queue *queue, size_t limit);

// Adds all items, sleeping while there is no room.
void queue_put(struct queue *queue, const uint64_t *items, size_t count);

// Takes 1 to `most` items, sleeping while there are none; 0 when the queue is closed and empty.
size_t queue_take(struct queue *queue, uint64_t *items, size_t most);

// Nothing more will be put.
void queue_close(struct queue *queue);

#endif
