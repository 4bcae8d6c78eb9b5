// See queue.h.
#include "queue.h"

void queue_open(struct queue *queue, size_t limit) {
    *queue = (struct queue){.limit = limit < QUEUE_CAPACITY ? limit : QUEUE_CAPACITY};
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    pthread_cond_init(&queue->not_full, NULL);
}

// The counts are in the queue, so they are added once its mutex is held.
static void lock(struct queue *queue) {
    struct lock_truth once = {0};
    lock_counted(&queue->mutex, &once);
    queue->locks.taken += once.taken;
    queue->locks.contended += once.contended;
    queue->locks.waited_ns += once.waited_ns;
}

void queue_put(struct queue *queue, const uint64_t *items, size_t count) {
    lock(queue);
    for (size_t i = 0; i < count; i++) {
        if (queue->length == queue->limit) {
            // Sleep until half of it is free: to be woken for every free place would cost more than the work.
            pthread_cond_signal(&queue->not_empty);
            while (queue->length > queue->limit / 2) {
                queue->full_waits++;
                pthread_cond_wait(&queue->not_full, &queue->mutex);
            }
        }
        queue->items[(queue->head + queue->length++) % QUEUE_CAPACITY] = items[i];
    }
    pthread_mutex_unlock(&queue->mutex);
    pthread_cond_signal(&queue->not_empty);
}

size_t queue_take(struct queue *queue, uint64_t *items, size_t most) {
    lock(queue);
    while (queue->length == 0 && !queue->closed) {
        queue->empty_waits++;
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    }
    size_t count = queue->length < most ? queue->length : most;
    for (size_t i = 0; i < count; i++)
        items[i] = queue->items[(queue->head + i) % QUEUE_CAPACITY];
    queue->head = (queue->head + count) % QUEUE_CAPACITY;
    queue->length -= count;
    bool more = queue->length > 0, room = queue->length <= queue->limit / 2;
    pthread_mutex_unlock(&queue->mutex);
    if (more) // one put() wakes one thread, which wakes the next
        pthread_cond_signal(&queue->not_empty);
    if (room)
        pthread_cond_signal(&queue->not_full);
    return count;
}

void queue_close(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}
