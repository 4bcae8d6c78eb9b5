// An order matcher: orders are checked and matched in rounds; after each round the matcher
// tells the market data feeds, which wait for that. The slow variant's feeds look at the number of the round in a loop, as if each
// had a CPU for itself; the fast one's sleep.
#include "pace.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct Order {
    uint64_t id;
    unsigned price, size;
    bool buy;
};

// A number that grows, and threads that wait until it does.
class Sequence {
  public:
    void advance() {
        {
            std::lock_guard<std::mutex> guard(mutex);
            at.fetch_add(1);
        }
        changed.notify_all();
    }
    // Waits until the number is past `seen`, or the run is over; gives the number.
    uint64_t after(uint64_t seen) {
        if (pace_slow) {
            while (at.load() <= seen && !pace_over())
                __builtin_ia32_pause();
        } else {
            std::unique_lock<std::mutex> guard(mutex);
            changed.wait(guard, [&] { return at.load() > seen || pace_over(); });
        }
        return at.load();
    }

  private:
    std::atomic<uint64_t> at{0};
    std::mutex mutex;
    std::condition_variable changed;
};

constexpr int feeds = 3, round_size = 400;
Sequence rounds;
std::atomic<uint64_t> published{0};

class Book {
  public:
    // Matches an order against the other side; what is left of it stays.
    unsigned match(Order order) {
        unsigned traded = 0;
        auto &other = order.buy ? asks : bids;
        while (order.size > 0 && !other.empty()) {
            auto best = order.buy ? other.begin() : std::prev(other.end());
            if (order.buy ? best->first > order.price : best->first < order.price)
                break;
            unsigned size = std::min(order.size, best->second);
            order.size -= size;
            best->second -= size;
            traded += size;
            if (best->second == 0)
                other.erase(best);
        }
        if (order.size > 0)
            (order.buy ? bids : asks)[order.price] += order.size;
        return traded;
    }
    unsigned best_bid() const { return bids.empty() ? 0 : bids.rbegin()->first; }

  private:
    std::map<unsigned, unsigned> bids, asks;
};

// What a client may not do is refused: a check of the order's fields and of its signature.
bool check_order(const Order &order) {
    uint64_t signature = order.id;
    for (int i = 0; i < 700; i++)
        signature = (signature ^ (signature >> 29) ^ order.price) * 0xbf58476d1ce4e5b9u + order.size;
    return order.size > 0 && signature != 0;
}

void match_rounds() {
    Book book;
    uint64_t random = 88172645463325252u, id = 0, traded = 0;
    while (!pace_over()) {
        for (int i = 0; i < round_size; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            Order order{id++, 9000 + unsigned(random % 2000), 1 + unsigned(random >> 20) % 90, (random >> 40 & 1) == 0};
            if (check_order(order))
                traded += book.match(order);
        }
        published = book.best_bid() + traded;
        rounds.advance();
        pace_did(round_size);
    }
    rounds.advance(); // the feeds see that the run is over
}

void feed(uint64_t *lines) {
    char line[64];
    for (uint64_t seen = 0; !pace_over();) {
        seen = rounds.after(seen);
        snprintf(line, sizeof line, "%lu|BID|%lu", (unsigned long)seen, (unsigned long)published.load());
        *lines += line[0] != 0;
    }
}

} // namespace

int main(int argc, char **argv) {
    pace_read(argc, argv);
    pace_start();
    std::vector<uint64_t> lines(feeds * 8);
    std::vector<std::thread> threads;
    for (int i = 0; i < feeds; i++)
        threads.emplace_back(feed, &lines[i * 8]);
    for (auto &thread : threads)
        pthread_setname_np(thread.native_handle(), "feed");
    std::thread matcher(match_rounds);
    pthread_setname_np(matcher.native_handle(), "matcher");
    matcher.join();
    for (auto &thread : threads)
        thread.join();
    pace_finish(1);
    return 0;
}
