// Parses messages; slow also validates each one, a step that was added later.
#include "frame.hpp"

#include <regex>

static double checking = 0;

__attribute__((noinline)) static bool validate(const std::string &message) {
    static const std::regex shape("([a-z]+=[0-9]+;)+");
    return std::regex_match(message, shape);
}

__attribute__((noinline)) static uint64_t parse(const std::string &message) {
    uint64_t sum = 0;
    for (size_t at = 0; at < message.size();) {
        size_t equals = message.find('=', at), end = message.find(';', at);
        sum += std::stoull(message.substr(equals + 1, end - equals - 1));
        at = end + 1;
    }
    return sum;
}

int main(int argc, char **argv) {
    frame::begin(argc, argv);
    std::vector<std::string> messages;
    for (int i = 0; i < 64; i++) {
        std::string message;
        for (int field = 0; field < 24; field++)
            message += std::string(1, static_cast<char>('a' + (field + i) % 26)) + "x=" + std::to_string(i * 977 + field * 31) + ";";
        messages.push_back(message);
    }
    uint64_t sum = 0;
    frame::run("parser", 1, [&](unsigned) {
        const std::string &message = messages[frame::done % messages.size()];
        for (int i = 0; i < 8; i++)
            sum += parse(message);
        if (frame::slow) {
            double from = frame::now();
            sum += validate(message);
            checking += frame::now() - from;
        }
    });
    printf("truth: sum %lu\ntruth: seconds validating %.3f\n", (unsigned long)sum, checking);
    frame::lost_share(1);
}
