#!/usr/bin/env bash
# Takes the fields out of lines: with cut, tr and expr for each, against with what the shell has itself.
#
# usage: main.sh slow|fast [--seconds S]
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../../scripts/lib/usage.sh"
variant=${1:?slow or fast} seconds=${3:-10}
started=${EPOCHREALTIME/./} done=0 next=1 sum=0 started_processes=0
end=$(awk -v s="$seconds" -v from="$started" 'BEGIN { printf "%.0f", from + s * 1e6 }')
trap 'end=0' INT TERM
while [[ ${EPOCHREALTIME/./} -lt $end ]]; do
    for line in 'alpha;17;Berlin' 'beta;23;Paris' 'gamma;31;Oslo'; do
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            if [[ $variant == slow ]]; then
                number=$(echo "$line" | cut -d';' -f2)
                started_processes=$((started_processes + 3))
            else
                rest=${line#*;}
                number=${rest%;*}
            fi
            # Some work of the shell's own, the same in both.
            for ((i = 0; i < 200; i++)); do sum=$(((sum * 31 + number + i) % 1000003)); done
            done=$((done + 1))
        done
    done
    if [[ ${EPOCHREALTIME/./} -ge $((started + next * 1000000)) ]]; then
        echo "done $done"
        next=$((next + 1))
    fi
done
echo "done $done"
echo "operations: $done"
awk -v a="$started" -v b="${EPOCHREALTIME/./}" 'BEGIN { printf "truth: wall seconds %.3f\n", (b - a) / 1e6 }'
echo "truth: processes $started_processes"
echo "truth: lost share $([[ $variant == slow ]] && echo 1 || echo 0)"
