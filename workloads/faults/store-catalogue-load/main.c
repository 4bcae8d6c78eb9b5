// A shop game's catalogue loader: parses a list of items with prices out of one large text in memory and enters each item into
// a table. The slow variant lets sscanf look at the text where it is, and sscanf looks for the end of the whole text first; the
// fast one hands it the one line.
#include "pace.h"

enum { ITEMS = 3000, TABLE = 8192, LINE = 128 };

struct item {
    char name[40];
    unsigned price, stock;
};

static struct item table[TABLE];
static char text[ITEMS * LINE];

static void write_catalogue(void) {
    static const char *const kinds[] = {"jacket", "boots", "helmet", "racer", "garage", "yacht"};
    uint64_t state = 2463534242u;
    char *at = text;
    for (int i = 0; i < ITEMS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        at += snprintf(at, LINE, "%s_%05d price=%u stock=%u\n", kinds[state % 6], i, (unsigned)(state >> 8) % 900000,
                       (unsigned)(state >> 40) % 500);
    }
}

static uint64_t hash_name(const char *name) {
    uint64_t hash = 14695981039346656037u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static struct item *find_item(const char *name) {
    uint64_t slot = hash_name(name) % TABLE;
    while (table[slot].name[0] && strcmp(table[slot].name, name) != 0)
        slot = (slot + 1) % TABLE;
    return &table[slot];
}

// Reads the item that a line gives; the text goes on after it.
static void parse_item(const char *line, size_t length, struct item *item) {
    char copy[LINE];
    if (!pace_slow) {
        memcpy(copy, line, length);
        copy[length] = 0;
        line = copy;
    }
    if (sscanf(line, "%39s price=%u stock=%u", item->name, &item->price, &item->stock) != 3) {
        fprintf(stderr, "the catalogue has a line that is no item\n");
        exit(1);
    }
}

// Loads the whole catalogue once; gives the value of the stock.
static uint64_t load_catalogue(void) {
    uint64_t value = 0, loaded = 0;
    for (const char *line = text, *end; *line && !pace_over(); line = end + 1) {
        struct item item;
        end = strchr(line, '\n');
        parse_item(line, (size_t)(end - line), &item);
        *find_item(item.name) = item;
        value += (uint64_t)item.price * item.stock;
        if (++loaded == 50) {
            pace_did(loaded);
            loaded = 0;
        }
    }
    return value;
}

int main(int argc, char **argv) {
    pace_read(argc, argv);
    write_catalogue();
    pace_start();
    uint64_t value = 0;
    while (!pace_over())
        value ^= load_catalogue();
    pace_finish(1);
    fprintf(stderr, "value: %lu\n", (unsigned long)value);
    return 0;
}
