// Innocent though busy: a request goes through eleven small functions of several kinds, and no instruction stands out. What it does
// is what it should do; no instruction and no single bottleneck must be named.
#include "bench.h"

static char text[64], other[96];
static unsigned char packet[64];

NAMED uint32_t checksum(const unsigned char *bytes, unsigned count) {
    uint32_t sum = 1, high = 0;
    for (unsigned i = 0; i < count; i++)
        sum += bytes[i], high += sum;
    return high << 16 | (sum & 0xffff);
}
NAMED uint32_t hash_text(const char *word) {
    uint32_t hash = 2166136261u;
    for (; *word; word++)
        hash = (hash ^ (unsigned char)*word) * 16777619u;
    return hash;
}
NAMED unsigned hex(const unsigned char *bytes, unsigned count, char *into) {
    for (unsigned i = 0; i < count; i++)
        into[2 * i] = "0123456789abcdef"[bytes[i] >> 4], into[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    into[2 * count] = 0;
    return 2 * count;
}
NAMED uint64_t parse_hex(const char *digits) {
    uint64_t value = 0;
    for (; *digits; digits++)
        value = value << 4 | (uint64_t)(*digits <= '9' ? *digits - '0' : *digits - 'a' + 10);
    return value;
}
NAMED void reverse(char *word, unsigned length) {
    for (unsigned i = 0, j = length - 1; i < j; i++, j--) {
        char kept = word[i];
        word[i] = word[j];
        word[j] = kept;
    }
}
NAMED unsigned bits(const unsigned char *bytes, unsigned count) {
    unsigned total = 0;
    for (unsigned i = 0; i < count; i++)
        total += (unsigned)__builtin_parity(bytes[i]);
    return total;
}
NAMED void order(unsigned char *bytes, unsigned count) {
    for (unsigned i = 1; i < count; i++) {
        unsigned char taken = bytes[i];
        unsigned j = i;
        for (; j > 0 && bytes[j - 1] > taken; j--)
            bytes[j] = bytes[j - 1];
        bytes[j] = taken;
    }
}
NAMED unsigned runs(const unsigned char *bytes, unsigned count, char *into) {
    unsigned out = 0;
    for (unsigned i = 0; i < count;) {
        unsigned length = 1;
        while (i + length < count && bytes[i + length] == bytes[i])
            length++;
        into[out++] = (char)length, into[out++] = (char)bytes[i];
        i += length;
    }
    return out;
}
NAMED unsigned day_of_week(unsigned year, unsigned month, unsigned day) {
    static const unsigned char shift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    year -= month < 3;
    return (year + year / 4 - year / 100 + year / 400 + shift[month - 1] + day) % 7;
}
NAMED void upper(char *word) {
    for (; *word; word++)
        *word = *word >= 'a' && *word <= 'z' ? (char)(*word - 32) : *word;
}
NAMED double mean(const unsigned char *bytes, unsigned count) {
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += bytes[i];
    return sum / count;
}

static uint64_t requests(uint64_t operations) {
    uint64_t result = 0;
    for (uint64_t i = 0; i < operations; i++) {
        memcpy(packet, &i, sizeof i);
        result += checksum(packet, 24);
        result += hex(packet, 8, text);
        result += parse_hex(text);
        result += hash_text(text);
        reverse(text, 16);
        upper(text);
        result += bits(packet, 16);
        order(packet, 8);
        result += runs(packet, 16, other);
        for (unsigned month = 1; month <= 4; month++)
            result += day_of_week(2000 + (unsigned)(i & 63), month, 7);
        result += (uint64_t)mean(packet, 8);
    }
    return result;
}

int main(int argc, char **argv) {
    const struct bench bench = {"a request", "clients", 1, 1000, 1, NULL, requests};
    return bench_run(&bench, argc, argv);
}
