#!/usr/bin/env bash
# How long it takes from a perf.data to a flame graph: twinscope, beside perf script with Brendan Gregg's FlameGraph scripts. The file is made here, by perf on
# a program of many stacks. FlameGraph is only measured: nothing of it is kept. Then an hour of a machine of 16 busy CPUs, exported to the Firefox Profiler.
#
# usage: scripts/bench/import.sh [MEGABYTES [SECONDS]]     default: 100, and the hour
#
# TWINSCOPE: the program (default target/release/twinscope). FLAMEGRAPH: a clone of github.com/brendangregg/FlameGraph; without it, only the time of
# `perf script` is measured, which is a part of the other's. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."

megabytes=${1:-100} seconds=${2:-3600}
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

scripts/bench/perf_data.py "$work" --megabytes "$megabytes"

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

rm -f "$work"/perf.data "$work"/script.txt
scripts/bench/perf_data.py "$work" --seconds "$seconds" --cpus 16 --hz 99
what="$((seconds / 60)) minutes of 16 CPUs at 99 Hz"
measured "$what, import" "'$twinscope' import '$work/perf.data' -o '$work/hour.twin' > '$work/said' 2>&1"
rm "$work/perf.data"
measured "$what, flame -o x.firefox.json" "'$twinscope' flame '$work/hour.twin' -o '$work/hour.firefox.json' > '$work/said'"
printf '%s\tsize of the file\tMB\t%s\n' "$what, flame -o x.firefox.json" "$(($(stat -c %s "$work/hour.firefox.json") / 1000000))"
