// An engine that applies rules to records: each rule is a function of its own, as a generator writes them, with a large part that only reports records which
// are broken. There are none. What differs between the variants is where these parts lie: out of line, in a section of their own (-DOUT_OF_LINE), so that what
// runs takes some dozens of pages; or where they are written, so that each function lies on a page of its own.
#include "pace.h"

enum { RULES = 2048 };

__attribute__((cold, noinline, noreturn)) static void broken(uint64_t record) {
    fprintf(stderr, "broken record %lu\n", (unsigned long)record);
    exit(1);
}

// The report of a broken record: as long as a page, less what runs.
#ifdef OUT_OF_LINE
#define REPORT ".pushsection .text.reports, \"ax\"\n.fill 3968, 1, 0x90\n.popsection"
#else
#define REPORT ".fill 3968, 1, 0x90"
#endif
#define RULE(n)                                                                                                        \
    __attribute__((noinline)) static uint64_t rule_##n(uint64_t record) {                                              \
        record ^= record >> 29, record *= 0xbf58476d1ce4e5b9u + 2 * (uint64_t)(0##n), record ^= record >> 32;          \
        if (record == 0) {                                                                                             \
            __asm__ volatile(REPORT);                                                                                  \
            broken(record);                                                                                            \
        }                                                                                                              \
        return record | 1;                                                                                             \
    }
#define RULES_8(n) RULE(n##0) RULE(n##1) RULE(n##2) RULE(n##3) RULE(n##4) RULE(n##5) RULE(n##6) RULE(n##7)
#define RULES_64(n)                                                                                                    \
    RULES_8(n##0) RULES_8(n##1) RULES_8(n##2) RULES_8(n##3) RULES_8(n##4) RULES_8(n##5) RULES_8(n##6) RULES_8(n##7)
#define RULES_512(n)                                                                                                   \
    RULES_64(n##0) RULES_64(n##1) RULES_64(n##2) RULES_64(n##3) RULES_64(n##4) RULES_64(n##5) RULES_64(n##6) RULES_64(n##7)
RULES_512(0) RULES_512(1) RULES_512(2) RULES_512(3)

#define NAME(n) rule_##n,
#define NAMES_8(n) NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) NAME(n##5) NAME(n##6) NAME(n##7)
#define NAMES_64(n)                                                                                                    \
    NAMES_8(n##0) NAMES_8(n##1) NAMES_8(n##2) NAMES_8(n##3) NAMES_8(n##4) NAMES_8(n##5) NAMES_8(n##6) NAMES_8(n##7)
#define NAMES_512(n)                                                                                                   \
    NAMES_64(n##0) NAMES_64(n##1) NAMES_64(n##2) NAMES_64(n##3) NAMES_64(n##4) NAMES_64(n##5) NAMES_64(n##6) NAMES_64(n##7)
static uint64_t (*const rules[RULES])(uint64_t) = {NAMES_512(0) NAMES_512(1) NAMES_512(2) NAMES_512(3)};

// Rules that no record needs, where somebody asks for them.
#ifdef UNUSED
#define SPARE(n)                                                                                                       \
    __attribute__((used, noinline)) static uint64_t spare_##n(uint64_t record) { return record * (2 * (uint64_t)(0##n) + 3); }
#define SPARES_8(n) SPARE(n##0) SPARE(n##1) SPARE(n##2) SPARE(n##3) SPARE(n##4) SPARE(n##5) SPARE(n##6) SPARE(n##7)
#define SPARES_64(n)                                                                                                   \
    SPARES_8(n##0) SPARES_8(n##1) SPARES_8(n##2) SPARES_8(n##3) SPARES_8(n##4) SPARES_8(n##5) SPARES_8(n##6) SPARES_8(n##7)
SPARES_64(0) SPARES_64(1) SPARES_64(2) SPARES_64(3) SPARES_64(4) SPARES_64(5) SPARES_64(6) SPARES_64(7)
#endif

int main(int argc, char **argv) {
    pace_read(argc, argv);
    // The order in which records need rules.
    static uint16_t order[RULES];
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < RULES; i++) order[i] = (uint16_t)i;
    for (int i = RULES - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        int j = (int)(state % (uint64_t)(i + 1));
        uint16_t kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
    pace_start();
    uint64_t record = 1;
    while (!pace_over()) {
        for (int i = 0; i < RULES; i++) record = rules[order[i]](record);
        pace_did(1);
    }
    pace_finish(1);
    fprintf(stderr, "last record: %lu\n", (unsigned long)record);
    return 0;
}
