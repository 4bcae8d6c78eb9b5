#!/usr/bin/env bash
# Compresses $SCRATCH/input again and again, in blocks of the same size by one thread or by two. Where there is one, xz's main thread is it, so
# that the same code without names runs below other callers than in the threads of the other variant.
#
# usage: main.sh slow|fast [--seconds S]
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../../scripts/lib/usage.sh"
variant=${1:?slow or fast} seconds=${3:-10}
threads=$([[ $variant == slow ]] && echo 1 || echo 2)
started=${EPOCHREALTIME/./} done=0
end=$(awk -v s="$seconds" -v from="$started" 'BEGIN { printf "%.0f", from + s * 1e6 }')
trap 'end=0' INT TERM
while [[ ${EPOCHREALTIME/./} -lt $end ]]; do
    xz --stdout --threads="$threads" -1 --block-size=3MiB "${SCRATCH:?}/input" >/dev/null
    done=$((done + 1))
    echo "done $done"
done
echo "operations: $done"
awk -v a="$started" -v b="${EPOCHREALTIME/./}" 'BEGIN { printf "truth: wall seconds %.3f\n", (b - a) / 1e6 }'
