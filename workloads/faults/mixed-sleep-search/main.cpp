// Two faults at once: a loop that sleeps between looks at an answer, and a search that goes through all there is.
#include "frame.hpp"

#include <algorithm>

static std::vector<uint32_t> catalogue;
static double searching = 0, sleeping = 0;

// The search begins at the part of the catalogue that the article is in, or at its beginning.
__attribute__((noinline)) static size_t find_article(uint32_t article, bool in_parts) {
    constexpr size_t part = 20000;
    size_t at = 0;
    while (in_parts && at + part < catalogue.size() && catalogue[at + part] <= article)
        at += part;
    while (at < catalogue.size() && catalogue[at] != article)
        at++;
    return at;
}

static constexpr uint64_t OVER = ~0ull;
static std::atomic<uint64_t> asked{0}, answered{0};

// Answers at once; how the client waits is the fault.
static void answer() {
    pthread_setname_np(pthread_self(), "backend");
    uint64_t last = 0;
    for (;;) {
        asked.wait(last);
        last = asked;
        // The client's last question has its answer, or it would wait for that for ever.
        if (last == OVER)
            return;
        answered = last;
        answered.notify_one();
    }
}

static uint64_t ask(uint64_t question) {
    double from = frame::now();
    asked = question;
    asked.notify_one();
    while (answered != question) {
        if (frame::slow)
            std::this_thread::sleep_for(std::chrono::microseconds(250));
        else
            answered.wait(question - 1);
    }
    sleeping += frame::now() - from;
    return question;
}

int main(int argc, char **argv) {
    frame::begin(argc, argv);
    for (uint32_t i = 0; i < 600000; i++)
        catalogue.push_back(i * 3);
    std::thread backend(answer);
    uint64_t question = 0, found = 0;
    double base_search = 0, base_ask = 0;
    auto operation = [&](unsigned) {
        question++;
        ask(question);
        double from = frame::now();
        found += find_article(static_cast<uint32_t>(question * 7919 % 600000 * 3), !frame::slow);
        searching += frame::now() - from;
    };
    if (frame::slow) { // what the same parts cost without the faults: the least of ten tries
        frame::slow = false;
        base_search = base_ask = 1;
        for (int attempt = 0; attempt < 10; attempt++) {
            searching = sleeping = 0;
            for (int i = 0; i < 100; i++)
                operation(0);
            base_search = std::min(base_search, searching / 100), base_ask = std::min(base_ask, sleeping / 100);
        }
        searching = sleeping = 0;
        frame::slow = true;
    }
    frame::run("client", 1, operation);
    asked = OVER;
    asked.notify_one();
    backend.join();
    double operations = static_cast<double>(frame::done);
    double waits = sleeping - base_ask * operations, looks = searching - base_search * operations;
    printf("truth: found %lu\ntruth: seconds asking %.3f\ntruth: seconds searching %.3f\n", (unsigned long)found, sleeping, searching);
    frame::lost_share(waits / (waits + looks));
    printf("truth: lost share of slower-function %.3f\n", frame::slow ? looks / (waits + looks) : 0.0);
}
