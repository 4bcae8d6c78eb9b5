// A buffer per request from an allocator that gives memory back to the kernel at once (M_MMAP_THRESHOLD and M_TRIM_THRESHOLD set
// low, as some services do to look small), against one that keeps it.
#include "frame.hpp"

#include <malloc.h>

#include <algorithm>
#include <sys/resource.h>

static uint64_t handle(uint64_t seed) {
    std::vector<uint32_t> column(96 * 1024);
    for (size_t at = 0; at < column.size(); at += 16)
        column[at] = static_cast<uint32_t>(seed = seed * 6364136223846793005u + 1442695040888963407u);
    return *std::max_element(column.begin(), column.end());
}

int main(int argc, char **argv) {
    frame::begin(argc, argv);
    mallopt(M_MMAP_THRESHOLD, frame::slow ? 128 << 10 : 64 << 20);
    mallopt(M_TRIM_THRESHOLD, frame::slow ? 128 << 10 : 256 << 20);
    std::atomic<uint64_t> sum{0};
    frame::run("handler", 1, [&](unsigned index) { sum += handle(index + frame::done); });
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    printf("truth: minor faults %ld\n", used.ru_minflt);
    frame::lost_share(1);
}
