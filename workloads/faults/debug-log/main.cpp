// A service that logs at level debug: a hundred lines a request into a log file, against two.
#include "frame.hpp"

#include <fstream>

#include <unistd.h>

int main(int argc, char **argv) {
    frame::begin(argc, argv);
    const char *folder = getenv("SCRATCH");
    std::string path = std::string(folder ? folder : "/var/tmp") + "/debug-log-" + std::to_string(getpid()) + ".log";
    std::ofstream log(path);
    remove(path.c_str()); // it is gone however this ends
    if (!log) {
        perror(path.c_str());
        return 1;
    }
    uint64_t lines = 0, bytes = 0, value = 1;
    double logging = 0;
    frame::run("request", 1, [&](unsigned) {
        for (int i = 0; i < 6000; i++)
            value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9u;
        double from = frame::now();
        for (int step = 0; step < (frame::slow ? 100 : 2); step++) {
            log << "2026-01-01T00:00:00.000Z DEBUG request=" << frame::done << " step=" << step << " session=" << value
                << " state=running upstream=10.0.0.7:8443 attempt=1 cache=miss headers={accept: */*, host: example.org}\n";
            lines++;
        }
        log.flush();
        bytes = static_cast<uint64_t>(log.tellp());
        if (bytes > (256u << 20)) {
            log.seekp(0);
        }
        logging += frame::now() - from;
    });
    printf("truth: log lines %lu\ntruth: seconds logging %.3f\n", (unsigned long)lines, logging);
    frame::lost_share(1);
}
