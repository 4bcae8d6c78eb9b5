#!/usr/bin/env bash
# Compiles one file again and again, with optimization or without.
#
# usage: main.sh slow|fast [--seconds S]
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../../scripts/lib/usage.sh"
variant=${1:?slow or fast} seconds=${3:-10} done=0
level=$([[ $variant == slow ]] && echo 2 || echo 0)
cd "${SCRATCH:?}"
# Compilers of some seconds.
c-source "$(awk -v s="$seconds" 'BEGIN { printf "%d", 1 + 24 * s }')" >source.c
started=${EPOCHREALTIME/./}
end=$(awk -v s="$seconds" -v from="$started" 'BEGIN { printf "%.0f", from + s * 1e6 }')
trap 'end=0' INT TERM
while [[ ${EPOCHREALTIME/./} -lt $end ]]; do
    gcc "-O$level" -c -o source.o source.c
    done=$((done + 1))
    echo "done $done"
done
echo "operations: $done"
awk -v a="$started" -v b="${EPOCHREALTIME/./}" 'BEGIN { printf "truth: wall seconds %.3f\n", (b - a) / 1e6 }'
