#!/usr/bin/env bash
# How long it takes from a perf.data to a flame graph: twinscope, beside perf script with Brendan Gregg's FlameGraph scripts. The file is made here, by perf on
# a program of many stacks. FlameGraph is only measured: nothing of it is kept.
#
# usage: scripts/bench/import.sh [MEGABYTES]     default: 100
#
# TWINSCOPE: the program (default target/release/twinscope). FLAMEGRAPH: a clone of github.com/brendangregg/FlameGraph; without it, only the time of
# `perf script` is measured, which is a part of the other's. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
cd "$(dirname "$0")/../.."

megabytes=${1:-100}
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/deep.c" <<'C'
// Calls itself by many ways, so that samples have many different stacks of 10 to 60 frames.
#include <stdlib.h>
static volatile unsigned long sink;
static unsigned long seed = 1;
#define FUNCTION(n) __attribute__((noinline)) static void f##n(int depth);
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
EACH(FUNCTION)
static void any(int depth) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    // A fork at every eighth call: some thousands of different stacks, as programs have.
    switch (depth % 8 == 0 ? seed >> 63 : depth & 7) {
#define CASE(n) case n: f##n(depth); break;
        EACH(CASE)
    }
    sink++;
}
#define BODY(n) static void f##n(int depth) { if (depth > 0) any(depth - 1); for (int i = 0; i < 200; i++) sink += i * n; sink++; }
EACH(BODY)
int main(int count, char **words) {
    for (long rounds = atol(words[count - 1]); rounds > 0; rounds--) any(10 + rounds % 50);
    return 0;
}
C
gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$work/deep" "$work/deep.c"
# Software clocks give no more than some thousands of samples a second: what was recorded is then repeated, record by record.
perf record -q -e cpu-clock -F 4000 -g -o "$work/small" "$work/deep" 400000 2> /dev/null
python3 - "$work/small" "$work/perf.data" "$megabytes" <<'PY'
# Repeats the samples of a perf.data until it is as large as asked, each round later than the one before.
import struct, sys
data, want = open(sys.argv[1], 'rb').read(), int(sys.argv[3]) << 20
attr_at, attr_size = struct.unpack_from('<QQ', data, 24)
at, size = struct.unpack_from('<QQ', data, 40)
sample_type = struct.unpack_from('<Q', data, attr_at + 24)[0]
time_at = 8 + 8 * bin(sample_type & (1 << 16 | 1 | 2)).count('1')
records, others, samples = at, [], []
while records < at + size:
    kind, _, length = struct.unpack_from('<IHH', data, records)
    (samples if kind == 9 else others).append(data[records:records + length])
    records += length
others = b''.join(r for r in others if struct.unpack_from('<I', r)[0] != 68)
times = [struct.unpack_from('<Q', s, time_at)[0] for s in samples]
span, round_end = max(times) - min(times) + 1, struct.pack('<IHH', 68, 0, 8)
out, total, turn = [others], len(others), 0
while total < want:
    for sample, time in zip(samples, times):
        copy = bytearray(sample)
        struct.pack_into('<Q', copy, time_at, time + turn * span)
        out.append(bytes(copy))
        total += len(copy)
    out.append(round_end)
    total += 8
    turn += 1
body, rest = b''.join(out), data[at + size:]
shift = len(body) - size
head = bytearray(data[:at])
struct.pack_into('<Q', head, 48, len(body))
# The table of features, and what it points to, lie behind the data.
flags = struct.unpack_from('<4Q', data, 72)
count, rest = sum(bin(f).count('1') for f in flags), bytearray(rest)
for i in range(count):
    struct.pack_into('<Q', rest, 16 * i, struct.unpack_from('<Q', rest, 16 * i)[0] + shift)
open(sys.argv[2], 'wb').write(bytes(head) + body + bytes(rest))
print(f'{len(head) + len(body) + len(rest) >> 20} MiB, {len(samples) * turn} samples', file=sys.stderr)
PY

# Seconds of the wall clock and of CPU time, and the greatest resident memory of a program of the command.
measured() {
    python3 -c '
import resource, subprocess, sys, time
start = time.time()
subprocess.run(["bash", "-c", sys.argv[2]], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
what = sys.argv[1]
for metric, unit, value in ("time", "s", time.time() - start), ("CPU", "s", used.ru_utime + used.ru_stime), ("largest RSS of a process", "MiB", used.ru_maxrss >> 10):
    print(what, metric, unit, round(value, 2), sep="\t")' "$1" "$2" | tee -a "$work/figures"
}
flame="'$twinscope' flame '$work/x.twin' -o '$work/x.svg' > '$work/said'"
script="perf script -i '$work/perf.data' 2> /dev/null"

measured "twinscope import and flame -o x.svg" "'$twinscope' import '$work/perf.data' -o '$work/x.twin' > '$work/said' 2>&1 && $flame"
measured "flame of the recording alone" "$flame"
theirs="perf script alone"
measured "$theirs" "$script > '$work/script.txt'"
if [[ -n ${FLAMEGRAPH:-} ]]; then
    rm "$work/script.txt"
    theirs="perf script, stackcollapse-perf.pl, flamegraph.pl"
    measured "$theirs" "$script | '$FLAMEGRAPH/stackcollapse-perf.pl' | '$FLAMEGRAPH/flamegraph.pl' > '$work/theirs.svg'"
fi
awk -F'\t' -v theirs="$theirs" '$1 ~ /^twinscope/ { own[$2] = $4 } $1 == theirs && own[$2] > 0 && $3 == "s" {
    printf "%s\t%s, times that of twinscope\t\t%.1f\n", theirs, $2, $4 / own[$2] }' "$work/figures"
