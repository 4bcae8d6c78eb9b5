# Writes sources of the same size and a Makefile that lists their objects; $1: sort or reverse.
for file in $(seq 10 29); do
    for function in $(seq 60); do
        cat <<C
int step_${file}_${function}(const int *values, int count, int limit)
{
    int best = $function, at = 0;
    for (int i = 0; i < count; i++) {
        int value = values[i] % limit;
        if (value > best) { best = value; at = i; } else if (value == best) at ^= i * $file;
        for (int j = i & 3; j < count; j += 5) best += values[j] > value ? j : -j;
    }
    return at + best;
}
C
    done >step$file.c
done
objects=$(ls step*.c | sed 's/\.c$/.o/')
[[ $1 = sort ]] || objects=$(sort -r <<<"$objects")
printf 'objects := %s\nall: libstep.a\nlibstep.a: $(objects)\n\tar rc $@ $^\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' "$(echo $objects)" >Makefile
