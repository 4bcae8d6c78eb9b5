// What the C++ programs share: the command line, threads that count operations, progress on stdout, truths.
#pragma once
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

namespace frame {

inline bool slow = false;
inline double seconds = 10;
inline std::atomic<bool> stopped{false};
inline std::atomic<uint64_t> done{0};

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline void begin(int argc, char **argv) {
    bool known = argc > 1 && (!strcmp(argv[1], "slow") || !strcmp(argv[1], "fast"));
    for (int i = 2; known && i < argc; i += 2) {
        known = i + 1 < argc && !strcmp(argv[i], "--seconds");
        if (known)
            seconds = atof(argv[i + 1]);
    }
    if (!known || !(seconds > 0)) {
        bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
        fprintf(help ? stdout : stderr, "usage: %s slow|fast [--seconds S]\n", argv[0]);
        exit(help ? 0 : 2);
    }
    slow = !strcmp(argv[1], "slow");
    auto stop = [](int) { stopped = true; };
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
}

// Runs `operation` again and again in `count` threads called `name` until the time is up, and prints the progress.
inline void run(const char *name, unsigned count, const std::function<void(unsigned)> &operation) {
    double started = now(), next = started + 1;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; i++) {
        threads.emplace_back([&, i] {
            while (!stopped) {
                operation(i);
                done++;
            }
        });
        pthread_setname_np(threads.back().native_handle(), name);
    }
    while (!stopped && now() < started + seconds) {
        double until = std::min(next, started + seconds);
        std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, until - now())));
        if (now() >= next) {
            printf("done %lu\n", (unsigned long)done.load());
            fflush(stdout);
            next += 1;
        }
    }
    stopped = true;
    for (auto &thread : threads)
        thread.join();
    double wall = now() - started;
    printf("done %lu\noperations: %lu\ntruth: wall seconds %.3f\n", (unsigned long)done.load(), (unsigned long)done.load(), wall);
}

// The part of the slow-down that the fault itself makes; 0 in the fast variant.
inline void lost_share(double share) { printf("truth: lost share %.3f\n", slow ? share : 0.0); }

} // namespace frame
