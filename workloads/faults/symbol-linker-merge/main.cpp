// A linker: threads read object files' symbols, then the names are merged into one table, then the threads write the output. In
// the slow variant one thread merges all names; in the fast one the table has shards, and each thread merges its own.
#include "pace.h"

#include <barrier>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr unsigned workers = 2, objects = 16, symbols_each = 4000, shards = 16;

struct Symbol {
    std::string_view name;
    uint64_t hash, address;
};

struct Object {
    std::string names; // each ends with a zero
    std::vector<Symbol> symbols[shards]; // by their hash
};

std::vector<Object> inputs(objects);
std::unordered_map<std::string_view, const Symbol *> tables[shards];
uint64_t output[objects];
unsigned links = 0;

void make_inputs() {
    for (unsigned i = 0; i < objects; i++)
        for (unsigned k = 0; k < symbols_each; k++) {
            bool shared = k % 3 == 0; // an inline function that all have
            inputs[i].names += "_ZN7project" + std::to_string(shared ? k % 97 : i) + "Module" + std::to_string(k) + "E";
            inputs[i].names += '\0';
        }
}

// Reads the names of an object, hashes them and lays them out.
void read_symbols(Object &object) {
    for (auto &symbols : object.symbols)
        symbols.clear();
    uint64_t address = 0x400000;
    for (size_t at = 0; at < object.names.size();) {
        std::string_view name(object.names.data() + at);
        uint64_t hash = std::hash<std::string_view>()(name);
        address += 16 + hash % 256;
        object.symbols[hash % shards].push_back({name, hash, address});
        at += name.size() + 1;
    }
}

// Enters the symbols of the shards from `first` in steps of `step`: of each name, the first definition counts.
void merge_names(unsigned first, unsigned step) {
    for (unsigned shard = first; shard < shards; shard += step) {
        tables[shard].clear();
        for (const auto &object : inputs)
            for (const auto &symbol : object.symbols[shard])
                tables[shard].try_emplace(symbol.name, &symbol);
    }
}

// Applies the relocations of an object: each refers to symbols of its own and of others.
void write_output(unsigned number) {
    uint64_t sum = 0;
    for (const auto &symbols : inputs[number].symbols)
        for (size_t i = 0; i < symbols.size(); i += 8) {
            auto found = tables[symbols[i].hash % shards].find(symbols[i].name);
            sum = sum * 31 + found->second->address;
        }
    output[number] = sum;
}

bool stop = false; // decided by one thread, between two barriers

void link_rounds(unsigned worker, std::barrier<> &all) {
    while (!stop) {
        for (unsigned i = worker; i < objects; i += workers)
            read_symbols(inputs[i]);
        all.arrive_and_wait();
        if (!pace_slow)
            merge_names(worker, workers);
        else if (worker == 0)
            merge_names(0, 1);
        all.arrive_and_wait();
        for (unsigned i = worker; i < objects; i += workers)
            write_output(i);
        if (worker == 0) {
            pace_did(1);
            links++;
            stop = pace_over();
        }
        all.arrive_and_wait();
    }
}

} // namespace

int main(int argc, char **argv) {
    pace_read(argc, argv);
    make_inputs();
    pace_start();
    std::barrier<> all(workers);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < workers; i++) {
        threads.emplace_back(link_rounds, i, std::ref(all));
        pthread_setname_np(threads.back().native_handle(), "linker");
    }
    for (auto &thread : threads)
        thread.join();
    pace_finish(1);
    fprintf(stderr, "links: %u, of the first object: %016lx\n", links, (unsigned long)output[0]);
    return 0;
}
