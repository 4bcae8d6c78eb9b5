// A log shipper: takes raw records, gives both of their times in local time, masks what is private, and packs them into batches.
// Both variants run the same code. The fault is in its environment: without TZ, glibc looks at /etc/localtime for each time.
#include "pace.h"

enum { RECORDS = 4096, BATCH = 64 << 10 };

struct record {
    time_t happened, received;
    unsigned host, severity;
    char text[120];
};

static struct record backlog[RECORDS];
static const char *const severities[] = {"debug", "info", "notice", "warning", "error"};

static void fill_backlog(void) {
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        struct record *record = &backlog[i];
        record->happened = 1700000000 + (time_t)(state % 40000000);
        record->received = record->happened + (time_t)(state % 7);
        record->host = (unsigned)(state >> 20) % 300;
        record->severity = (unsigned)(state >> 40) % 5;
        snprintf(record->text, sizeof record->text, "GET /cart/%u?session=%08x took %u us status=%d", (unsigned)state % 90000,
                 (unsigned)(state >> 11), (unsigned)(state >> 30) % 50000, state % 9 ? 200 : 503);
    }
}

static char *put_text(char *at, const char *text) {
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_two(char *at, int value) {
    at[0] = (char)('0' + value / 10), at[1] = (char)('0' + value % 10);
    return at + 2;
}

// 2026-01-31 14:05:09
static char *put_time(char *at, time_t time) {
    const struct tm *local = localtime(&time);
    at = put_two(at, 19 + local->tm_year / 100);
    at = put_two(at, local->tm_year % 100);
    *at++ = '-';
    at = put_two(at, local->tm_mon + 1);
    *at++ = '-';
    at = put_two(at, local->tm_mday);
    *at++ = ' ';
    at = put_two(at, local->tm_hour);
    *at++ = ':';
    at = put_two(at, local->tm_min);
    *at++ = ':';
    return put_two(at, local->tm_sec);
}

// Copies a message; the value of session= is replaced by stars.
static char *put_masked(char *at, const char *text) {
    const char *session = strstr(text, "session=");
    char *start = at;
    at = put_text(at, text);
    if (session != NULL)
        memset(start + (session + 8 - text), '*', 8);
    return at;
}

static uint64_t batch_checksum(const char *batch, size_t length) {
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)batch[i]) * 1099511628211u;
    return sum;
}

static size_t pack_record(char *batch, const struct record *record) {
    char *at = put_time(batch, record->happened);
    *at++ = ' ';
    at = put_time(at, record->received);
    at = put_text(at, " web-");
    at = put_two(at, (int)record->host / 100);
    at = put_two(at, (int)record->host % 100);
    *at++ = ' ';
    at = put_text(at, severities[record->severity]);
    *at++ = ' ';
    at = put_masked(at, record->text);
    *at++ = '\n';
    return (size_t)(at - batch);
}

int main(int argc, char **argv) {
    static char batch[BATCH];
    pace_read(argc, argv);
    fill_backlog();
    pace_start();
    uint64_t checksums = 0;
    size_t filled = 0, next = 0, packed = 0;
    while (!pace_over()) {
        filled += pack_record(batch + filled, &backlog[next++ % RECORDS]);
        packed++;
        if (filled > BATCH - 512) {
            checksums ^= batch_checksum(batch, filled);
            pace_did(packed);
            filled = packed = 0;
        }
    }
    pace_finish(1);
    fprintf(stderr, "checksum of the batches: %016lx\n", (unsigned long)checksums);
    return 0;
}
