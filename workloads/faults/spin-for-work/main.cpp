// A pool whose idle threads look for work again and again, against a pool whose idle threads sleep. The jobs
// come one by one from a thread that needs a CPU to make them.
#include "frame.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

static std::mutex lock;
static std::condition_variable filled, taken;
static std::deque<uint64_t> jobs;
static std::atomic<size_t> waiting{0};
static std::atomic<uint64_t> looks{0};

static uint64_t compute(uint64_t seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = (seed ^ (seed >> 29)) * 0xbf58476d1ce4e5b9u;
    return seed;
}

// What a spinning loop does to be kind to the other thread of its core; it keeps the CPU.
static inline void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

static bool take(uint64_t &job) {
    if (frame::slow) {
        uint64_t tries = 0;
        while (waiting.load(std::memory_order_relaxed) == 0 && !frame::stopped) {
            tries++;
            pause_briefly();
        }
        looks += tries;
    }
    std::unique_lock guard(lock);
    while (jobs.empty() && !frame::stopped && !frame::slow)
        filled.wait_for(guard, std::chrono::milliseconds(100));
    if (jobs.empty())
        return false;
    job = jobs.front();
    jobs.pop_front();
    waiting--;
    taken.notify_one();
    return true;
}

int main(int argc, char **argv) {
    frame::begin(argc, argv);
    std::atomic<uint64_t> sum{0};
    std::vector<std::thread> pool;
    for (int i = 0; i < 5; i++) {
        pool.emplace_back([&] {
            pthread_setname_np(pthread_self(), "pool");
            for (uint64_t job; !frame::stopped;)
                if (take(job))
                    sum += compute(job, 5000);
        });
    }
    uint64_t seed = 1;
    frame::run("producer", 1, [&](unsigned) {
        seed = compute(seed, 30000);
        std::unique_lock guard(lock);
        while (jobs.size() >= 8 && !frame::stopped)
            taken.wait_for(guard, std::chrono::milliseconds(100));
        jobs.push_back(seed);
        waiting++;
        filled.notify_one();
    });
    filled.notify_all();
    for (auto &thread : pool)
        thread.join();
    printf("truth: looks for work %lu\n", (unsigned long)looks.load());
    frame::lost_share(1);
}
