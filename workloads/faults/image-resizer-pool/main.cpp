// An image resizer: the main thread sets up a math library, which binds its caller to a CPU, and starts a pool of threads. In the
// slow variant the pool is started after that, and inherits the binding; in the fast one the mask is set back first.
#include "pace.h"

#include <atomic>
#include <thread>
#include <vector>

#include <sched.h>

namespace {

constexpr unsigned source_side = 384, target_side = 128;

// What some builds of a BLAS do when they are loaded: the caller becomes thread 0 of the library, on a CPU of its own.
void math_library_start() {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        pace_fail("sched_getaffinity");
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        pace_fail("sched_setaffinity");
}

struct Image {
    unsigned side;
    std::vector<float> pixels;
};

Image decode(unsigned number) {
    Image image{source_side, std::vector<float>(source_side * source_side)};
    unsigned value = number * 2654435761u + 1;
    for (auto &pixel : image.pixels) {
        value = value * 1664525u + 1013904223u;
        pixel = float(value >> 24);
    }
    return image;
}

// Each target pixel is a weighted mean of the source pixels around its place.
Image resize(const Image &source, unsigned side) {
    Image target{side, std::vector<float>(side * side)};
    unsigned step = source.side / side;
    for (unsigned y = 0; y < side; y++)
        for (unsigned x = 0; x < side; x++) {
            float sum = 0, weights = 0;
            for (int dy = -3; dy <= 3; dy++)
                for (int dx = -3; dx <= 3; dx++) {
                    unsigned row = std::min<unsigned>(source.side - 1, unsigned(std::max(0, int(y * step) + dy)));
                    unsigned column = std::min<unsigned>(source.side - 1, unsigned(std::max(0, int(x * step) + dx)));
                    float weight = 1.0f / float(1 + dx * dx + dy * dy);
                    sum += source.pixels[row * source.side + column] * weight;
                    weights += weight;
                }
            target.pixels[y * side + x] = sum / weights;
        }
    return target;
}

std::atomic<unsigned> next_image{0};
std::atomic<uint64_t> brightness{0};

void work_off() {
    while (!pace_over()) {
        Image small = resize(decode(next_image++), target_side);
        brightness += uint64_t(small.pixels[target_side * target_side / 2]);
        pace_did(1);
    }
}

} // namespace

int main(int argc, char **argv) {
    pace_read(argc, argv);
    pace_start();
    cpu_set_t before;
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        pace_fail("sched_getaffinity");
    math_library_start();
    if (!pace_slow && sched_setaffinity(0, sizeof before, &before) != 0)
        pace_fail("sched_setaffinity");
    std::vector<std::thread> pool;
    for (unsigned i = 0; i < std::max(2u, unsigned(CPU_COUNT(&before))); i++) {
        pool.emplace_back(work_off);
        pthread_setname_np(pool.back().native_handle(), "resizer");
    }
    for (auto &thread : pool)
        thread.join();
    pace_finish(1);
    return 0;
}
