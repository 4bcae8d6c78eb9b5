#!/usr/bin/env bash
# Checks that every declared fault is well formed and that its programs run: a moment of both variants, with the contract of
# their output. Every program is asked for its --help. It does not record, and no time decides it.
#
# usage: workloads/faults/check.sh [NAME…]     builds first; default: all
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../scripts/lib/usage.sh"
cd "$(dirname "$0")"
# shellcheck source=lib.sh
. ./lib.sh

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# Some faults are workloads: they are built with the others, for a single step of the tests builds nothing before.
if ! { make --no-print-directory -s -C .. && ./build.sh; } >"$log/build" 2>&1; then
    cat "$log/build"
    echo "FAILED: build"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi

# The limit is for what hangs: on a busy machine the longest takes half a minute.
run() { (cd "$HERE" && timeout --signal=INT --kill-after=10 180 "$@") </dev/null >"$log/$name.out" 2>"$log/$name.err"; }

# check NAME: one line that begins with ok, FAILED or SKIPPED
check() {
    local name=$1 errors missing variant status progress from=$EPOCHREALTIME
    errors=$(declaration_errors "$name")
    if [[ -n $errors ]]; then
        echo "FAILED: ${errors//$'\n'/; }"
        return
    fi
    missing=$(lacks "$name")
    if [[ -n $missing ]]; then
        echo "SKIPPED: $name: $missing"
        return
    fi
    for variant in slow fast; do
        status=0
        with_fault "$name" "$variant" run || status=$?
        progress=$(declared "$name" each)
        [[ -n $progress ]] || progress=$(declared "$name" throughput)
        [[ $progress != - ]] || progress= # said to us alone
        if [[ $status -ne 0 ]]; then
            echo "FAILED: $name $variant: status $status: $(tail -n 3 "$log/$name.err" | tr '\n' ' ')"
            return
        elif ! grep -qE -- "${progress:-^done ([0-9]+)}" "$log/$name.out"; then
            echo "FAILED: $name $variant: no line of progress in its output"
            return
        elif [[ -z $(declared "$name" share) && $variant == slow ]] && ! grep -qE '^truth: lost share [01](\.[0-9]+)?$' "$log/$name.out"; then
            echo "FAILED: $name $variant: no truth of its share in its output"
            return
        fi
    done
    awk -v n="$name" -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "ok: %s (%.1f s)\n", n, b - a }'
}

# helps SOURCE: one line as check says it, of the program that was made of a source; nothing where it was not made here
helps() {
    local folder=${1%/*} name=${1%/*} said
    local program=()
    [[ $folder != common ]] || name=$(basename "$1" .c)
    case $1 in
    *.java) program=(java -jar "bin/$name.jar") ;;
    *.py) program=(python3 "$1") ;;
    *.js) program=(node "$1") ;;
    *.sh) program=("$1") ;;
    *) program=("bin/$name") ;;
    esac
    [[ -e ${program[-1]} ]] && command -v "${program[0]}" >/dev/null || return 0
    # The limit is for a program that does its work instead.
    if said=$(timeout --kill-after=1 60 "${program[@]}" --help 2>&1 </dev/null) && [[ $said == *usage:* ]]; then
        echo "ok: $name --help"
    else
        echo "FAILED: $name --help: ${said:0:200}" | head -n 1
    fi
}

export SECONDS_EACH=${SECONDS_EACH:-0.25}
names=("$@")
[[ $# -gt 0 ]] || mapfile -t names < <(fault_names)
# Most of them wait for servers and disks most of the time, so several run at once.
for name in "${names[@]}"; do
    while [[ $(jobs -rp | wc -l) -ge 6 ]]; do wait -n; done
    check "$name" >"$log/$name.result" &
done
wait
# What failed runs once more, alone.
for name in "${names[@]}"; do
    grep -q '^FAILED: ' "$log/$name.result" || continue
    echo "run once more: $name: $(<"$log/$name.result")"
    check "$name" >"$log/$name.result"
    grep -q '^FAILED: ' "$log/$name.result" || echo "UNSTABLE: $name"
done
if [[ $# -eq 0 ]]; then
    for source in common/*.c */main.* */Main.java; do
        while [[ $(jobs -rp | wc -l) -ge 6 ]]; do wait -n; done
        helps "$source" >"$log/help-${source//\//-}.result" &
    done
    wait
fi
cat "$log"/*.result
count() { grep -c "^$1: " <(cat "$log"/*.result); }
echo "$(count ok) passed, $(count FAILED) failed, $(count SKIPPED) skipped"
[[ $(count FAILED) -eq 0 ]]
