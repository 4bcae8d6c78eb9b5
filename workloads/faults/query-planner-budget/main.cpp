// A query planner: looks for a cheap order of joins, and gives up when its budget of time is spent. It looks at the clock for
// each order that it tries. The slow variant takes the CPU time of the process for that (std::clock), the fast one steady_clock.
#include "pace.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <vector>

namespace {

constexpr unsigned relations = 8;
constexpr double budget = 0.5; // seconds

struct Statistics {
    double rows[relations], selectivity[relations][relations];
};

Statistics make_statistics(uint64_t query) {
    Statistics statistics;
    uint64_t state = query * 0x9e3779b97f4a7c15u + 1;
    auto roll = [&] { return double((state = state * 6364136223846793005u + 1442695040888963407u) >> 40); };
    for (unsigned i = 0; i < relations; i++) {
        statistics.rows[i] = 10 + roll();
        for (unsigned k = 0; k < relations; k++)
            statistics.selectivity[i][k] = 1 / (1 + roll() / 1000);
    }
    return statistics;
}

// Rows of all intermediate results of an order.
double cost_of(const Statistics &statistics, const std::vector<unsigned> &order) {
    double rows = statistics.rows[order[0]], cost = 0;
    for (unsigned i = 1; i < relations; i++) {
        double selected = statistics.rows[order[i]];
        for (unsigned k = 0; k < i; k++)
            selected *= statistics.selectivity[order[k]][order[i]];
        rows = std::max(1.0, rows * selected);
        cost += rows;
    }
    return cost;
}

class Budget {
  public:
    Budget() : started(spent_so_far()) {}
    bool left() const { return spent_so_far() - started < budget; }

  private:
    static double spent_so_far() {
        if (pace_slow)
            return double(std::clock()) / CLOCKS_PER_SEC;
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    double started;
};

double plan(uint64_t query) {
    auto statistics = make_statistics(query);
    Budget time;
    std::vector<unsigned> order(relations);
    std::iota(order.begin(), order.end(), 0);
    double best = cost_of(statistics, order);
    for (int tries = 0; tries < 2000 && time.left(); tries++) {
        std::next_permutation(order.begin(), order.end());
        best = std::min(best, cost_of(statistics, order));
    }
    return best;
}

} // namespace

int main(int argc, char **argv) {
    pace_read(argc, argv);
    pace_start();
    double sum = 0;
    for (uint64_t query = 0; !pace_over(); query++) {
        sum += plan(query);
        pace_did(1);
    }
    pace_finish(1);
    fprintf(stderr, "sum of the costs: %g\n", sum);
    return 0;
}
