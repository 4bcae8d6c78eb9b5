#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lz4.h"

int main(int argc, char **argv)
{
    static char text[8 << 20], packed[9 << 20], unpacked[8 << 20];
    unsigned seed = 7;
    int length = 0, count = argc > 1 ? atoi(argv[1]) : 1;
    while (length < (int)sizeof text - 80) {
        seed = seed * 1103515245u + 12345u;
        length += sprintf(text + length, "GET /item/%u/view?user=%u status=%u\n", seed >> 16 & 1023, seed >> 20 & 255, 200 + (seed >> 28));
    }
    long total = 0;
    for (int i = 0; i < count; i++) {
        int size = LZ4_compress_default(text, packed, length, sizeof packed);
        if (LZ4_decompress_safe(packed, unpacked, size, sizeof unpacked) != length || memcmp(text, unpacked, length))
            return 1;
        total += size;
    }
    printf("%ld bytes\n", total);
    return 0;
}
