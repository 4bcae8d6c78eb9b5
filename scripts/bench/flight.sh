#!/usr/bin/env bash
# A flight recorder: what a trigger costs, when one fires, how soon its snapshot is whole, and what a close look takes.
#
# usage: scripts/bench/flight.sh     TWINSCOPE=path of the program, SECONDS_EACH=length of each recording that is measured
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
seconds=${SECONDS_EACH:-20} triggers=200
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

put() { printf '%s\t%s\t%s\t%s\n' "$@"; }

# cpu_of NUMBER METRIC: seconds of CPU time of a recording with so many triggers on a metric that never fire
cpu_of() {
    local options=() i
    for i in $(seq "$1"); do options+=(--trigger "t$i: $2 > $((1000000 + i)) for 10s"); done
    rm -f cost.twin
    /usr/bin/env time -f '%U %S' -o time "$twinscope" record -q --keep 1h -d "${seconds}s" -i 1s \
        --only cpu,processes,meminfo -o cost.twin "${options[@]}" 2>err || { cat err >&2; return 1; }
    awk '{ print $1 + $2 }' time
}

# In turn, with and without; of the differences the median.
for metric in cpu.busy process.user; do
    for _ in 1 2 3; do
        without=$(cpu_of 0 "$metric")
        with=$(cpu_of $triggers "$metric")
        awk -v a="$without" -v b="$with" -v n=$triggers -v s="$seconds" 'BEGIN { print 100 * (b - a) / n / s }'
    done | sort -g | sed -n 2p >median
    put "a trigger on $metric, at 1 s" "CPU" "% of one CPU" "$(cat median)"
done

# A load that begins at a known time.
"$twinscope" record -q --keep 1h -o flight.twin -i 1s --trigger 'busy: cpu.busy > 0.6 for 2s' --after 3s --close-look 5s 2>err &
recorder=$!
sleep 5
begin=$(date +%s.%N)
timeout 12 sh -c 'while :; do :; done' || true &
memory() { awk '/^VmRSS/ { print $2 / 1024 }' "/proc/$recorder/status"; }
before=$(memory)
until ls flight-2*-busy-close-look.twin >/dev/null 2>&1; do sleep 0.01; done
fired=$(date +%s.%N)
until ls flight-2*-busy.twin >/dev/null 2>&1; do sleep 0.01; done
saved=$(date +%s.%N)
wait $! || true
sleep 6
put "a load that begins" "the trigger fires after, readings at 1 s and 2 s asked for" "s" "$(awk -v a="$begin" -v b="$fired" 'BEGIN { print b - a }')"
put "a load that begins" "the snapshot is whole so long after it was due" "s" "$(awk -v a="$fired" -v b="$saved" 'BEGIN { print b - a - 3 }')"
put "a close look" "memory of the recorder, after less before" "MiB" "$(awk -v a="$before" -v b="$(memory)" 'BEGIN { print b - a }')"
kill -INT $recorder
wait $recorder || true
put "a close look" "begun so long after the trigger" "s" "$(
    "$twinscope" info --json flight.twin flight-2*-busy-close-look.twin | python3 -c '
import json, sys
flight, look = json.load(sys.stdin)
fired = flight["manifest"]["start_unix"] / 1e9 + flight["marks"][0]["t"]
print(round(look["manifest"]["start_unix"] / 1e9 - fired, 3))
'
)"
