#!/usr/bin/env bash
# What sampling costs the command: the same work with and without, in turn, as ratios with their spread; and the recorder's memory.
#
# usage: scripts/bench/stacks.sh [ROUNDS]     TWINSCOPE=path of the program
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=${TWINSCOPE:-target/release/twinscope}
rounds=${1:-10}
work=$(mktemp -d "${TMPDIR:-/tmp}/twinscope-stacks.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/busy.c" <<'C'
#include <stdlib.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void leaf(unsigned long n) { for (unsigned long i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) static void deep(int n) { if (n) { deep(n - 1); sum++; } else leaf(10000); }
int main(void) { for (int i = 0; i < 120000; i++) deep(i % 40); return 0; }
C
command -v sqlite3 >/dev/null || { echo "stacks.sh: sqlite3 is missing" >&2; exit 1; }
cc -O2 -o "$work/busy" "$work/busy.c"
# Seconds of CPU time of the command, as the recording has them; and the recorder's largest resident memory.
run() {
    "$twinscope" record -q -f -o "$work/run.twin" --only stacks "$1" -- "$work/busy"
    "$twinscope" sql "$work/run.twin" --format csv "select max(rss) from recorder" | tail -n 1 >"$work/rss.$1" || true
    sqlite3 "$work/run.twin" "select json_extract(value, '$.user') + json_extract(value, '$.system') from manifest where key = 'usage'"
}
for ((round = 0; round < rounds; round++)); do
    # Each order in turn: what warms up or slows down over time is on both sides.
    if ((round % 2)); then with=$(run --stacks=99) without=$(run --stacks=0); else without=$(run --stacks=0) with=$(run --stacks=99); fi
    awk -v a="$with" -v b="$without" 'BEGIN { print a / b }'
done | sort -g >"$work/ratios"
awk '{ v[NR] = $1 } END {
    q = int((NR + 3) / 4); m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
    printf "99 Hz\tCPU time of the command, median\t%%\t%.2f\n", 100 * (m - 1)
    printf "99 Hz\tlower quartile\t%%\t%.2f\n99 Hz\tupper quartile\t%%\t%.2f\n", 100 * (v[q] - 1), 100 * (v[NR + 1 - q] - 1)
}' "$work/ratios"
for with in 0 99; do
    awk -v h=$with '{ printf "%d Hz\tresident memory of the recorder\tMiB\t%.1f\n", h, $1 / 1048576 }' "$work/rss.--stacks=$with"
done
