#!/usr/bin/env bash
# Checks that every declared fault is well formed and that its programs run: a moment of both variants, with the contract of
# their output. It does not record, and no time decides it.
#
# usage: workloads/faults/check.sh [NAME…]     builds first; default: all
set -uo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
. ./lib.sh

passed=0 failed=0 skipped=0
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
bad() {
    echo "FAILED: $*"
    failed=$((failed + 1))
}

if ! ./build.sh >"$log/build" 2>&1; then
    cat "$log/build"
    bad "build"
fi

run() { (cd "$HERE" && timeout --signal=INT --kill-after=10 30 "$@") </dev/null >"$log/out" 2>"$log/err"; }

export SECONDS_EACH=${SECONDS_EACH:-0.25}
[[ $# -gt 0 ]] || mapfile -t names < <(fault_names)
for name in "${@:-${names[@]}}"; do
    mapfile -t errors < <(declaration_errors "$name")
    if [[ ${#errors[@]} -gt 0 ]]; then
        bad "${errors[@]}"
        continue
    fi
    missing=$(lacks "$name")
    if [[ -n $missing ]]; then
        echo "SKIPPED: $name: $missing"
        skipped=$((skipped + 1))
        continue
    fi
    before=$failed from=$EPOCHREALTIME
    for variant in slow fast; do
        with_fault "$name" "$variant" run
        status=$?
        progress=$(declared "$name" each)
        [[ -n $progress ]] || progress=$(declared "$name" throughput)
        if [[ $status -ne 0 ]]; then
            bad "$name $variant: status $status: $(tail -n 3 "$log/err" | tr '\n' ' ')"
        elif ! grep -qE -- "${progress:-^done ([0-9]+)}" "$log/out"; then
            bad "$name $variant: no line of progress in its output"
        elif [[ -z $(declared "$name" share) && $variant == slow ]] && ! grep -qE '^truth: lost share [01](\.[0-9]+)?$' "$log/out"; then
            bad "$name $variant: no truth of its share in its output"
        fi
    done
    [[ $failed -gt $before ]] || passed=$((passed + 1))
    [[ $failed -gt $before ]] || awk -v n="$name" -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "ok: %s (%.1f s)\n", n, b - a }'
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
