# Writes a source tree of two levels; $1 is how the upper Makefile calls the lower one.
mkdir -p lib
for file in $(seq 1 14); do
    {
        echo '#include <stdio.h>'
        echo '#include <string.h>'
        for function in $(seq 1 60); do
            cat <<C
int part_${file}_${function}(const char *text, int *table, int size)
{
    int sum = $function, i, j;
    for (i = 0; i < size; i++) {
        for (j = i; j < size; j += $function + 1)
            table[j] = table[i] * (j + $file) + text[j % 16];
        sum += table[i] ^ (sum << ($function % 7));
        switch (sum & 7) { case 0: sum++; break; case 1: sum *= 3; break; case 5: sum -= (int)strlen(text); break; default: table[i] += sum; }
    }
    return sum;
}
C
        done
    } >lib/part$file.c
done
printf 'all:\n\tcd lib && %s all\n' "$1" >Makefile
printf 'objects := $(patsubst %%.c,%%.o,$(wildcard *.c))\nall: libpart.a\nlibpart.a: $(objects)\n\tar rc $@ $^\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >lib/Makefile
