// See workload.h.
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 1024 };
static const uint64_t SECOND = 1000000000;

static const struct workload *declared;
static _Atomic bool stopped;
static _Atomic bool finished;
static _Atomic uint64_t sink;
static uint64_t started_ns, deadline_ns; // deadline 0: none
static int stop_signal;
static pthread_t progress_thread;

// The phase that runs now, and the operations of the phases before it.
static pthread_mutex_t phase_lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker *phase_workers;
static unsigned phase_count;
static uint64_t phases_done;

_Noreturn void die(const char *what) {
    fprintf(stderr, "%s: %s: %s\n", declared ? declared->name : "workload", what, strerror(errno));
    exit(1);
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

void sleep_ns(uint64_t ns) {
    struct timespec left = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

uint64_t churn(uint64_t seed, unsigned rounds) {
    uint64_t x = seed | 1;
    for (unsigned i = 0; i < rounds; i++)
        x = (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x;
}

void consume(uint64_t value) { atomic_fetch_xor_explicit(&sink, value, memory_order_relaxed); }

bool workload_stopped(void) { return atomic_load_explicit(&stopped, memory_order_relaxed); }

void truth(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("truth: ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

void lock_counted(pthread_mutex_t *mutex, struct lock_truth *counts) {
    counts->taken++;
    if (pthread_mutex_trylock(mutex) == 0)
        return;
    uint64_t from = now_ns();
    pthread_mutex_lock(mutex);
    counts->contended++;
    counts->waited_ns += now_ns() - from;
}

int scratch_file(const struct options *options) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s-XXXXXX", options->dir, declared->name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        die(options->dir);
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0 || unlink(path) != 0)
        die(path);
    return fd;
}

void write_all(int fd, const void *data, size_t size) {
    const char *next = data;
    while (size > 0) {
        ssize_t wrote = write(fd, next, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            die("write");
        next += wrote;
        size -= (size_t)wrote;
    }
}

static void usage(FILE *to) {
    fprintf(to,
            "usage: %s slow|fast [--ops N] [--seconds S] [--threads N]%s\n\n"
            "  operation: %s\n  slow:      %s\n  fast:      %s\n\n"
            "  --ops N      operations to do (default %" PRIu64 "; without limit when only --seconds is given)\n"
            "  --seconds S  stop after S seconds\n"
            "  --threads N  threads, 1 to %d\n%s",
            declared->name, declared->files ? " [--dir FOLDER]" : "", declared->operation, declared->slow,
            declared->fast, declared->ops, MAX_THREADS,
            declared->files ? "  --dir FOLDER where the scratch file goes, at most 64 MB (default $TMPDIR or /var/tmp)\n" : "");
}

static _Noreturn void wrong(const char *option, const char *value) {
    fprintf(stderr, "%s: %s: not possible: %s\n", declared->name, option, value);
    usage(stderr);
    exit(2);
}

static uint64_t whole_number(const char *option, const char *text, uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || value == 0 || value > most)
        wrong(option, text);
    return value;
}

// Prints how much is done; called once a second, and at the end.
static uint64_t print_done(void) {
    pthread_mutex_lock(&phase_lock);
    uint64_t done = phases_done;
    for (unsigned i = 0; i < phase_count; i++)
        done += atomic_load_explicit(&phase_workers[i].done, memory_order_relaxed);
    pthread_mutex_unlock(&phase_lock);
    printf("done %" PRIu64 "\n", done);
    fflush(stdout);
    return done;
}

// Prints progress on whole seconds and takes the signals that end the run: all other threads block them.
static void *progress(void *signals) {
    uint64_t next = started_ns + SECOND;
    while (!atomic_load(&finished)) {
        uint64_t now = now_ns();
        uint64_t until = deadline_ns != 0 && deadline_ns < next && !workload_stopped() ? deadline_ns : next;
        uint64_t wait = until > now ? until - now : 0;
        struct timespec timeout = {.tv_sec = (time_t)(wait / SECOND), .tv_nsec = (long)(wait % SECOND)};
        int taken = sigtimedwait(signals, NULL, &timeout);
        if (taken == SIGINT || taken == SIGTERM) {
            stop_signal = taken;
            atomic_store(&stopped, true);
        }
        now = now_ns();
        if (deadline_ns != 0 && now >= deadline_ns)
            atomic_store(&stopped, true);
        if (now >= next && !atomic_load(&finished)) {
            print_done();
            next += SECOND;
        }
    }
    return NULL;
}

struct options workload_begin(const struct workload *workload, int argc, char **argv) {
    declared = workload;
    const char *tmp = getenv("TMPDIR");
    struct options options = {.ops = 0, .threads = workload->threads, .dir = tmp && *tmp ? tmp : "/var/tmp"};
    if (options.threads == 0) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        options.threads = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (unsigned)cpus;
    }
    static const struct option known[] = {
        {"ops", required_argument, NULL, 'o'}, {"seconds", required_argument, NULL, 's'},
        {"threads", required_argument, NULL, 't'}, {"dir", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
    };
    double seconds = 0;
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        char *end;
        switch (option) {
        case 'o':
            options.ops = whole_number("--ops", optarg, UINT64_MAX - 1);
            break;
        case 's':
            seconds = strtod(optarg, &end);
            if (end == optarg || *end != '\0' || !(seconds > 0 && seconds < 1e6))
                wrong("--seconds", optarg);
            break;
        case 't':
            options.threads = (unsigned)whole_number("--threads", optarg, MAX_THREADS);
            break;
        case 'd':
            if (!workload->files)
                wrong("--dir", "this workload writes no file");
            options.dir = optarg;
            break;
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    }
    if (optind + 1 != argc || (strcmp(argv[optind], "slow") != 0 && strcmp(argv[optind], "fast") != 0)) {
        usage(stderr);
        exit(2);
    }
    options.fast = strcmp(argv[optind], "fast") == 0;
    if (options.ops == 0)
        options.ops = seconds > 0 ? UINT64_MAX : workload->ops;

    static sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1); // only wakes the progress thread at the end
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    started_ns = now_ns();
    deadline_ns = seconds > 0 ? started_ns + (uint64_t)(seconds * 1e9) : 0;
    if ((errno = pthread_create(&progress_thread, NULL, progress, &signals)) != 0)
        die("pthread_create");
    pthread_setname_np(progress_thread, "progress");
    return options;
}

static void *worker_main(void *argument) {
    struct worker *worker = argument;
    worker->body(worker);
    return NULL;
}

void workers_run(const char *name, unsigned count, uint64_t ops, const struct options *options,
                 void (*body)(struct worker *), void *shared) {
    struct worker *workers = aligned_alloc(alignof(struct worker), count * sizeof *workers);
    if (workers == NULL)
        die("aligned_alloc");
    memset(workers, 0, count * sizeof *workers);
    pthread_mutex_lock(&phase_lock);
    phase_workers = workers;
    phase_count = count;
    pthread_mutex_unlock(&phase_lock);
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &workers[i];
        worker->share = ops == UINT64_MAX ? UINT64_MAX : ops / count + (i < ops % count);
        worker->index = i;
        worker->options = options;
        worker->shared = shared;
        worker->body = body;
    }
    for (unsigned i = 0; i < count; i++) {
        if ((errno = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i])) != 0)
            die("pthread_create");
        pthread_setname_np(workers[i].thread, name);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_mutex_lock(&phase_lock);
    for (unsigned i = 0; i < count; i++)
        phases_done += atomic_load_explicit(&workers[i].done, memory_order_relaxed);
    phase_workers = NULL;
    phase_count = 0;
    pthread_mutex_unlock(&phase_lock);
    free(workers);
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

uint64_t workload_end(void) {
    double wall = (double)(now_ns() - started_ns) / 1e9;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    atomic_store(&finished, true);
    pthread_kill(progress_thread, SIGUSR1);
    pthread_join(progress_thread, NULL);
    uint64_t done = print_done();
    printf("operations: %" PRIu64 "\n", done);
    if (stop_signal != 0)
        truth("stopped by SIG%s", sigabbrev_np(stop_signal));
    truth("wall seconds %.3f", wall);
    truth("user seconds %.3f", seconds_of(used.ru_utime));
    truth("system seconds %.3f", seconds_of(used.ru_stime));
    truth("voluntary switches %ld", used.ru_nvcsw);
    truth("involuntary switches %ld", used.ru_nivcsw);
    truth("minor faults %ld", used.ru_minflt);
    return done;
}
