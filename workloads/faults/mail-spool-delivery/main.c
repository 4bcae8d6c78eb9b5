// A mail spool: threads deliver messages, each as a marker file that is made under a temporary name, renamed from station to
// station and removed by its owner. The slow variant has one folder for all, the fast one a folder for each thread.
#include "pace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 4, KEPT = 32 };

struct courier {
    pthread_t thread;
    int number;
    int folder; // descriptor of the folder that it delivers to
};

static void name_message(char *name, size_t size, const char *kind, int courier, unsigned long number) {
    snprintf(name, size, "%s.%lu.courier-%d", kind, number, courier);
}

// A message is a marker of no bytes: its content is elsewhere. It goes from "tmp" by way of "check" and "sort" to "new".
static void deliver(const struct courier *courier, unsigned long number) {
    static const char *const stations[] = {"tmp", "check", "sort", "new"};
    char from[64], to[64];
    name_message(from, sizeof from, stations[0], courier->number, number);
    int file = openat(courier->folder, from, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0 || close(file) != 0)
        pace_fail(from);
    for (size_t i = 1; i < sizeof stations / sizeof *stations; i++) {
        name_message(to, sizeof to, stations[i], courier->number, number);
        if (renameat(courier->folder, from, courier->folder, to) != 0)
            pace_fail(to);
        memcpy(from, to, sizeof from);
    }
}

// The oldest message has been taken by its owner.
static void collect(const struct courier *courier, unsigned long number) {
    char name[64];
    name_message(name, sizeof name, "new", courier->number, number);
    if (unlinkat(courier->folder, name, 0) != 0)
        pace_fail(name);
}

static void *carry(void *argument) {
    struct courier *courier = argument;
    unsigned long number = 0;
    for (; !pace_over(); number++) {
        deliver(courier, number);
        if (number >= KEPT)
            collect(courier, number - KEPT);
        pace_did(1);
    }
    for (unsigned long old = number > KEPT ? number - KEPT : 0; old < number; old++)
        collect(courier, old);
    return NULL;
}

int main(int argc, char **argv) {
    static struct courier couriers[THREADS];
    char path[300];
    pace_read(argc, argv);
    for (int i = 0; i < THREADS; i++) {
        snprintf(path, sizeof path, "%s/spool-%d", pace_dir, pace_slow ? 0 : i);
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            pace_fail(path);
        couriers[i].number = i;
        couriers[i].folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (couriers[i].folder < 0)
            pace_fail(path);
    }
    pace_start();
    for (int i = 0; i < THREADS; i++) {
        errno = pthread_create(&couriers[i].thread, NULL, carry, &couriers[i]);
        if (errno != 0)
            pace_fail("pthread_create");
        pthread_setname_np(couriers[i].thread, "courier");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(couriers[i].thread, NULL);
    pace_finish(1);
    for (int i = 0; i < THREADS; i++) {
        close(couriers[i].folder);
        snprintf(path, sizeof path, "%s/spool-%d", pace_dir, i);
        rmdir(path);
    }
    return 0;
}
