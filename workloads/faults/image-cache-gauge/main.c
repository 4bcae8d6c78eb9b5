// An image cache with a gauge: threads map room for pictures, decode into it and give it back, beside a large store of thumbnails.
// A gauge thread reads how much memory the process has: in the slow variant from smaps_rollup, for which the kernel walks the
// page tables with the lock of the address space held, in the fast one from statm.
#include "pace.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 2, PICTURE = 256 << 10, PAGE = 4096 };
static const size_t store_size = (size_t)600 << 20;

static unsigned char *map_room(size_t size) {
    unsigned char *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        pace_fail("mmap");
    return room;
}

// Thumbnails of a cache that has run for a while, in small pages.
static unsigned char *load_store(void) {
    unsigned char *store = map_room(store_size);
    madvise(store, store_size, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < store_size; at += PAGE)
        store[at] = (unsigned char)(at / PAGE);
    return store;
}

// Decodes a picture: runs of colours.
static void decode_picture(unsigned char *room, uint64_t seed) {
    uint64_t state = seed | 1;
    for (size_t at = 0; at + 64 <= PICTURE; at += 64) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        memset(room + at, (int)(state & 255), 64);
    }
}

static uint64_t shrink_picture(const unsigned char *room) {
    uint64_t sum = 0;
    for (size_t at = 0; at < PICTURE; at += 16)
        sum = sum * 31 + room[at];
    return sum;
}

struct decoder {
    pthread_t thread;
    unsigned char *store;
    uint64_t seed;
};

static void *decode(void *argument) {
    struct decoder *decoder = argument;
    while (!pace_over()) {
        unsigned char *room = map_room(PICTURE);
        decode_picture(room, decoder->seed);
        uint64_t thumbnail = shrink_picture(room);
        if (munmap(room, PICTURE) != 0)
            pace_fail("munmap");
        decoder->store[thumbnail % store_size] = (unsigned char)thumbnail;
        decoder->seed += thumbnail;
        pace_did(1);
    }
    return NULL;
}

// Looks at the memory of the process every few milliseconds, and keeps the most it has seen.
static void *gauge(void *argument) {
    const char *path = pace_slow ? "/proc/self/smaps_rollup" : "/proc/self/statm";
    const struct timespec pause = {0, 2000000};
    long most = 0;
    while (!pace_over()) {
        char text[1024];
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
        if (length <= 0)
            pace_fail(path);
        close(file);
        text[length] = 0;
        const char *rss = pace_slow ? strstr(text, "Rss:") : strchr(text, ' ');
        long pages = rss == NULL ? 0 : pace_slow ? atol(rss + 4) / 4 : atol(rss);
        most = pages > most ? pages : most;
        nanosleep(&pause, NULL);
    }
    *(long *)argument = most;
    return NULL;
}

int main(int argc, char **argv) {
    static struct decoder decoders[THREADS];
    pthread_t gauge_thread;
    long most = 0;
    pace_read(argc, argv);
    unsigned char *store = load_store();
    pace_start();
    errno = pthread_create(&gauge_thread, NULL, gauge, &most);
    for (int i = 0; i < THREADS && errno == 0; i++) {
        decoders[i].store = store;
        decoders[i].seed = (uint64_t)i * 977 + 13;
        errno = pthread_create(&decoders[i].thread, NULL, decode, &decoders[i]);
    }
    if (errno != 0)
        pace_fail("pthread_create");
    pthread_setname_np(gauge_thread, "gauge");
    for (int i = 0; i < THREADS; i++)
        pthread_join(decoders[i].thread, NULL);
    pthread_join(gauge_thread, NULL);
    pace_finish(1);
    printf("truth: most resident MiB %ld\n", most / 256);
    return 0;
}
