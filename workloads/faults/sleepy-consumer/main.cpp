// A consumer that looks for work every 2 ms, against one that is woken. The producer waits for each answer, as a client does.
#include "frame.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>

struct Mailbox {
    std::mutex lock;
    std::condition_variable changed;
    std::optional<uint64_t> letter;
};

static std::atomic<uint64_t> sleeps{0};

static uint64_t take(Mailbox &box) {
    std::unique_lock guard(box.lock);
    while (!box.letter && !frame::stopped) {
        if (frame::slow) {
            guard.unlock();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            sleeps++;
            guard.lock();
        } else {
            box.changed.wait_for(guard, std::chrono::milliseconds(200));
        }
    }
    uint64_t letter = box.letter.value_or(0);
    box.letter.reset();
    return letter;
}

static void put(Mailbox &box, uint64_t letter) {
    std::lock_guard guard(box.lock);
    box.letter = letter;
    box.changed.notify_one();
}

static uint64_t digest(uint64_t seed) {
    std::string text = std::to_string(seed);
    for (int i = 0; i < 400; i++)
        text = std::to_string(std::hash<std::string>{}(text));
    return std::hash<std::string>{}(text);
}

int main(int argc, char **argv) {
    frame::begin(argc, argv);
    Mailbox requests, answers;
    std::thread server([&] {
        pthread_setname_np(pthread_self(), "server");
        while (!frame::stopped)
            put(answers, digest(take(requests)));
    });
    uint64_t value = 1;
    frame::run("client", 1, [&](unsigned) {
        put(requests, digest(value));
        value = take(answers);
    });
    server.join();
    printf("truth: sleeps %lu\n", (unsigned long)sleeps.load());
    frame::lost_share(1);
}
