// A session store of a web server: threads answer requests, each of which renders a page into buffers from malloc and keeps the
// page in its user's session until a newer one replaces it. Both variants run the same code; the slow one is told by its
// environment to have one heap for all threads.
#include "pace.h"

#include <unistd.h>

enum { THREADS = 4, SESSIONS = 512, PARTS = 10 };

struct page {
    size_t length;
    char *parts[PARTS];
};

struct front {
    pthread_t thread;
    uint64_t random;
    uint64_t bytes;
    struct page *sessions[SESSIONS]; // of the users that this thread serves
};

static uint64_t roll(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void forget_page(struct page *page) {
    if (page == NULL)
        return;
    for (int i = 0; i < PARTS; i++)
        free(page->parts[i]);
    free(page);
}

// A part of a page: a head line, some rows, the end.
static char *render_part(uint64_t *random, size_t *length) {
    size_t size = 1100 + roll(random) % 5000;
    char *part = malloc(size);
    if (part == NULL)
        pace_fail("malloc");
    memcpy(part, "<section class=row>", 19);
    size_t at = 19;
    uint64_t value = roll(random);
    for (int i = 0; i < 12; i++, value >>= 5)
        part[at++] = (char)('a' + value % 26);
    memcpy(part + at, "</section>", 11);
    *length += at + 10;
    return part;
}

static struct page *render_page(uint64_t *random) {
    struct page *page = malloc(sizeof *page);
    if (page == NULL)
        pace_fail("malloc");
    page->length = 0;
    for (int i = 0; i < PARTS; i++)
        page->parts[i] = render_part(random, &page->length);
    return page;
}

static void *serve(void *argument) {
    struct front *front = argument;
    while (!pace_over()) {
        for (int i = 0; i < 16; i++) {
            struct page **session = &front->sessions[roll(&front->random) % SESSIONS];
            struct page *page = render_page(&front->random);
            front->bytes += page->length;
            forget_page(*session);
            *session = page;
        }
        pace_did(16);
    }
    for (int i = 0; i < SESSIONS; i++)
        forget_page(front->sessions[i]);
    return NULL;
}

int main(int argc, char **argv) {
    static struct front fronts[THREADS];
    pace_read(argc, argv);
    pace_start();
    for (int i = 0; i < THREADS; i++) {
        fronts[i].random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
        errno = pthread_create(&fronts[i].thread, NULL, serve, &fronts[i]);
        if (errno != 0)
            pace_fail("pthread_create");
        pthread_setname_np(fronts[i].thread, "front");
    }
    uint64_t bytes = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(fronts[i].thread, NULL);
        bytes += fronts[i].bytes;
    }
    pace_finish(1);
    printf("truth: bytes rendered %lu\n", (unsigned long)bytes);
    return 0;
}
