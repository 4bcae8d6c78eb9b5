// Two faults at once, both on the CPU: buffers that go back to the kernel after each request, and a check that was added.
#include "frame.hpp"

#include <malloc.h>

#include <numeric>

static bool returning = false, checked = false;
static double buffering = 0, checking = 0;

__attribute__((noinline)) static uint64_t checksum(const std::vector<uint32_t> &column) {
    uint32_t a = 1, b = 0;
    for (size_t at = 0; at < column.size(); at += 4) {
        a = (a + column[at]) % 65521;
        b = (b + a) % 65521;
    }
    return (static_cast<uint64_t>(b) << 32) | a;
}

static uint64_t handle(uint64_t seed) {
    double from = frame::now();
    static std::vector<uint32_t> kept(64 * 1024);
    std::vector<uint32_t> fresh;
    if (returning)
        fresh.resize(64 * 1024);
    std::vector<uint32_t> &column = returning ? fresh : kept;
    for (size_t at = 0; at < column.size(); at += 8)
        column[at] = static_cast<uint32_t>(seed = seed * 6364136223846793005u + 1442695040888963407u);
    if (returning) {
        kept.swap(fresh); // the buffer before it goes
        fresh = std::vector<uint32_t>();
    }
    double middle = frame::now();
    if (checked)
        seed += checksum(kept);
    buffering += middle - from;
    checking += frame::now() - middle;
    return seed + std::accumulate(kept.begin(), kept.begin() + 64, uint64_t{0});
}

int main(int argc, char **argv) {
    frame::begin(argc, argv);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    uint64_t seed = 1;
    for (int i = 0; i < 500; i++) // what a kept buffer costs
        seed = handle(seed);
    double base = buffering / 500;
    buffering = checking = 0;
    returning = checked = frame::slow;
    frame::run("handler", 1, [&](unsigned) { seed = handle(seed); });
    double pages = buffering - base * static_cast<double>(frame::done);
    printf("truth: seed %lu\ntruth: seconds with buffers %.3f\ntruth: seconds checking %.3f\n", (unsigned long)seed, buffering, checking);
    frame::lost_share(pages / (pages + checking));
    printf("truth: lost share of new-code-path %.3f\n", frame::slow ? checking / (pages + checking) : 0.0);
}
