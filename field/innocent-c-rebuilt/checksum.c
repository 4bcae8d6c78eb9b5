/* Compresses a table with zlib, and checks it. */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

int main(int argc, char **argv)
{
    enum { SIZE = 1 << 20 };
    static unsigned char text[SIZE], packed[SIZE * 2], unpacked[SIZE];
    unsigned long sum = 0;

    srand(3);
    for (int i = 0; i < SIZE; i++)
        text[i] = i % 9 ? 'a' + rand() % 7 : ' ';
    for (int pass = 0; pass < atoi(argv[1]) / 4; pass++) {
        uLongf packed_size = sizeof packed, unpacked_size = sizeof unpacked;
        compress2(packed, &packed_size, text, SIZE, 6);
        uncompress(unpacked, &unpacked_size, packed, packed_size);
        sum += packed_size + crc32(0, unpacked, unpacked_size);
    }
    printf("%lu\n", sum);
    return 0;
}
