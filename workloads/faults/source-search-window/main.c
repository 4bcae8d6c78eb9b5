// A source search: threads go through a tree of small files and look for words in each. The slow variant maps each file into
// memory to look at it, the fast one reads it into a buffer that stays.
#include "pace.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 600, LARGEST = 24 << 10, THREADS = 2 };

static char paths[FILES][256];
static _Atomic uint64_t found;
static const char *const words[] = {"quantum_entangle", "hyperdrive_init"};

static void make_tree(void) {
    static const char *const lines[] = {"static int parse_header(const char *line) {\n", "    if (line == NULL) return -EINVAL;\n",
                                        "    for (size_t i = 0; i < count; i++)\n", "        total += hyperdrive_init(i);\n",
                                        "    return total;\n}\n\n"};
    uint64_t state = 12345;
    for (int i = 0; i < FILES; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/unit-%03d.c", pace_dir, i);
        FILE *file = fopen(paths[i], "w");
        if (file == NULL)
            pace_fail(paths[i]);
        state = state * 6364136223846793005u + 1442695040888963407u;
        long size = 2000 + (long)((state >> 33) % (LARGEST - 3000));
        for (int line = 0; ftell(file) < size; line++)
            fputs(lines[(line + i) % 5 == 3 && line % 40 ? 2 : line % 5], file);
        if (fclose(file) != 0)
            pace_fail(paths[i]);
    }
}

static uint64_t count_words(const char *text, size_t length) {
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = text, *end = text + length;
        while ((at = memmem(at, (size_t)(end - at), words[i], strlen(words[i]))) != NULL) {
            count++;
            at++;
        }
    }
    return count;
}

static uint64_t search_window(int file, size_t length) {
    char *text = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
    if (text == MAP_FAILED)
        pace_fail("mmap");
    uint64_t count = count_words(text, length);
    if (munmap(text, length) != 0)
        pace_fail("munmap");
    return count;
}

static uint64_t search_buffer(int file, size_t length, char *buffer) {
    if (read(file, buffer, length) != (ssize_t)length)
        pace_fail("read");
    return count_words(buffer, length);
}

static void *search(void *argument) {
    static _Atomic unsigned next;
    char *buffer = malloc(LARGEST);
    if (buffer == NULL)
        pace_fail("malloc");
    uint64_t count = 0;
    while (!pace_over()) {
        const char *path = paths[next++ % FILES];
        struct stat facts;
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0 || fstat(file, &facts) != 0)
            pace_fail(path);
        size_t length = (size_t)facts.st_size;
        count += pace_slow ? search_window(file, length) : search_buffer(file, length, buffer);
        close(file);
        pace_did(1);
    }
    found += count;
    free(buffer);
    return argument;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    pace_read(argc, argv);
    make_tree();
    pace_start();
    for (int i = 0; i < THREADS; i++) {
        errno = pthread_create(&threads[i], NULL, search, NULL);
        if (errno != 0)
            pace_fail("pthread_create");
        pthread_setname_np(threads[i], "searcher");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pace_finish(1);
    printf("truth: words found %lu\n", (unsigned long)found);
    for (int i = 0; i < FILES; i++)
        unlink(paths[i]);
    return 0;
}
