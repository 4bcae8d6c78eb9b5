#!/usr/bin/env bash
# Compiles files again and again, with as many jobs as there are CPUs or with one: no thread lives for longer than a file takes.
#
# usage: main.sh slow|fast [--seconds S]
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../../scripts/lib/usage.sh"
variant=${1:?slow or fast} seconds=${3:-10} cpus=$(nproc)
jobs=$([[ $variant == slow ]] && echo 1 || echo "$cpus") done=0
files=$(seq -f '%g.o' $((cpus * 4)))
cd "${SCRATCH:?}"
c-source 60 >source.c
printf '%%.o: source.c\n\t@gcc -O2 -c -o $@ $< && echo compiled 1\nall: %s\n' "${files//$'\n'/ }" >Makefile
started=${EPOCHREALTIME/./}
end=$(awk -v s="$seconds" -v from="$started" 'BEGIN { printf "%.0f", from + s * 1e6 }')
trap 'end=0' INT TERM
while [[ ${EPOCHREALTIME/./} -lt $end ]]; do
    make --always-make --no-builtin-rules --jobs="$jobs" all
    done=$((done + cpus * 4))
done
echo "operations: $done"
awk -v a="$started" -v b="${EPOCHREALTIME/./}" 'BEGIN { printf "truth: wall seconds %.3f\n", (b - a) / 1e6 }'
