#!/usr/bin/env bash
# Runs each program of programs.toml and its mended twin in turn and prints the CPU time an operation takes in both, and how many
# times less it is in the twin: the medians of ROUNDS runs of SECONDS. Wants a machine that does nothing else.
#
# usage: workloads/sharing/compare.sh [NAME…]     default: all that have a twin; SECONDS_EACH=2, ROUNDS=3
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../scripts/lib/usage.sh"
cd "$(dirname "$0")"
seconds=${SECONDS_EACH:-2} rounds=${ROUNDS:-3}
make -s || exit

declared() { # NAME KEY
    awk -v name="[$1]" -v key="$2" '$0 == name { on = 1; next } /^\[/ { on = 0 } on && $1 == key { sub(/^[a-z]+ = /, ""); gsub(/^"|"$/, ""); print }' programs.toml
}
once() { # COMMAND THREADS MORE: nanoseconds of CPU time an operation took
    # shellcheck disable=SC2086  # commands are words
    $1 "$seconds" $2 $3 | sed -n 's/^truth: cpu ns per operation //p'
}
median() { sort -g | awk '{ all[NR] = $1 } END { print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'; }

names=("$@")
[[ $# -gt 0 ]] || mapfile -t names < <(sed -n 's/^\[\(.*\)\]$/\1/p' programs.toml)
printf '%-22s %12s %12s %9s   %s\n' program 'ns slow' 'ns mended' speed-up 'of each round'
for name in "${names[@]}"; do
    command=$(declared "$name" command) mended=$(declared "$name" mended) threads=$(declared "$name" threads) more=$(declared "$name" more)
    [[ -n $mended ]] || continue
    slow=() fast=() each=()
    for ((round = 0; round < rounds; round++)); do
        slow+=("$(once "$command" "$threads" "$more")")
        fast+=("$(once "$mended" "$threads" "$more")")
        each+=("$(awk -v a="${slow[-1]}" -v b="${fast[-1]}" 'BEGIN { printf "%.2f", a / b }')")
    done
    awk -v name="$name" -v a="$(printf '%s\n' "${slow[@]}" | median)" -v b="$(printf '%s\n' "${fast[@]}" | median)" -v each="${each[*]}" \
        'BEGIN { printf "%-22s %12.2f %12.2f %9.2f   %s\n", name, a, b, a / b, each }'
done
