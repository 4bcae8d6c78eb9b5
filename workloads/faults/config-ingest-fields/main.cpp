// An importer of sensor readings: lines of fields of which some are empty or not a number, for which the field's default is
// taken. The slow variant learns that from an exception of std::stol, the fast one from the status of std::from_chars.
#include "pace.h"

#include <charconv>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

struct Reading {
    std::string sensor;
    long values[6];
};

constexpr long defaults[6] = {-1, 0, 100, 0, -273, 50};

std::vector<std::string> make_lines() {
    std::vector<std::string> lines;
    uint64_t state = 362436069;
    for (int i = 0; i < 2000; i++) {
        std::string line = "sensor-" + std::to_string(i % 400);
        for (int field = 0; field < 6; field++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            unsigned roll = unsigned(state >> 33);
            line += ';';
            line += roll % 16 == 0 ? (roll % 32 == 0 ? std::string("n/a") : std::string()) : std::to_string(roll % 100000);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

long field_or_default(const std::string &text, int field) {
    if (pace_slow) {
        try {
            return std::stol(text);
        } catch (const std::exception &) {
            return defaults[field];
        }
    }
    long value;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end != text.data() ? value : defaults[field];
}

Reading parse_line(std::string_view line) {
    Reading reading;
    size_t at = line.find(';');
    reading.sensor = line.substr(0, at);
    for (int field = 0; field < 6; field++) {
        size_t from = at + 1;
        at = std::min(line.find(';', from), line.size());
        reading.values[field] = field_or_default(std::string(line.substr(from, at - from)), field);
    }
    return reading;
}

// Running means of each sensor, with the last 32 readings smoothed.
class Summary {
  public:
    void add(const Reading &reading) {
        auto &sums = sensors[reading.sensor];
        for (int field = 0; field < 6; field++) {
            auto &window = sums.windows[field];
            window[sums.count % 32] = double(reading.values[field]);
            double mean = 0;
            for (double value : window)
                mean += value;
            sums.means[field] = mean / 32;
        }
        sums.count++;
    }
    double total() const {
        double sum = 0;
        for (const auto &[name, sums] : sensors)
            sum += sums.means[0];
        return sum;
    }

  private:
    struct Sums {
        unsigned count = 0;
        double windows[6][32] = {}, means[6] = {};
    };
    std::unordered_map<std::string, Sums> sensors;
};

} // namespace

int main(int argc, char **argv) {
    pace_read(argc, argv);
    auto lines = make_lines();
    Summary summary;
    pace_start();
    for (size_t next = 0; !pace_over();) {
        for (int i = 0; i < 100; i++)
            summary.add(parse_line(lines[next++ % lines.size()]));
        pace_did(100);
    }
    pace_finish(1);
    fprintf(stderr, "sum of the means: %.1f\n", summary.total());
    return 0;
}
