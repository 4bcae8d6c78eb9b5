#!/usr/bin/env bash
# Goes through the packed logs of a shop and adds up what each kind of request took.
#
# usage: main.sh slow|fast [--seconds S]
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../../scripts/lib/usage.sh"
variant=${1:?slow or fast} seconds=${3:-10}
folder=$(mktemp -d "${SCRATCH:-${TMPDIR:-/tmp}}/logs-XXXXXX")
trap 'rm -rf "$folder"' EXIT

for ((i = 0; i < 400; i++)); do
    printf '2024-03-%02d 10:%02d:%02d shop-%d GET /articles/%d/pictures?size=large&format=webp 200 %d "Mozilla/5.0 (X11; Linux x86_64)"\n' \
        $((i % 28 + 1)) $((i % 60)) $((i * 7 % 60)) $((i % 4)) $((i * 7919 % 10000)) $((i * 31 % 900))
done | gzip >"$folder/log.gz"

started=${EPOCHREALTIME/./} lines=0 next=1 errors=0
declare -A took=()
end=$(awk -v s="$seconds" -v from="$started" 'BEGIN { printf "%.0f", from + s * 1e6 }')
trap 'end=0' INT TERM

# One file of the log, from the standard input.
add_up() {
    local day time shop method path status millis rest
    while read -r day time shop method path status millis rest; do
        took[$shop]=$((${took[$shop]:-0} + millis))
        [[ $status == 200 && $method == GET && $path == /articles/* ]] || errors=$((errors + 1))
        lines=$((lines + 1))
        if [[ ${EPOCHREALTIME/./} -ge $((started + next * 100000)) ]]; then
            echo "done $lines"
            next=$(((${EPOCHREALTIME/./} - started) / 100000 + 1))
        fi
    done
}

while [[ ${EPOCHREALTIME/./} -lt $end ]]; do
    if [[ $variant == slow ]]; then
        add_up < <(gzip -dc "$folder/log.gz")
    else
        gzip -dc "$folder/log.gz" >"$folder/log"
        add_up <"$folder/log"
    fi
done
echo "done $lines"
echo "operations: $lines"
awk -v a="$started" -v b="${EPOCHREALTIME/./}" 'BEGIN { printf "truth: wall seconds %.3f\n", (b - a) / 1e6 }'
echo "truth: lost share $([[ $variant == slow ]] && echo 1 || echo 0)"
