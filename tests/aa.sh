#!/usr/bin/env bash
# Two identical runs list nothing: 20 pairs over five workloads, fast and slow variants, recorded one after the other.
# Wants a machine with nothing else to do: where other programs use the CPUs, what they do is a difference, and is listed. So a pair that
# lists something is recorded once more: what is listed again is a fault of ours, what is not was chance or a neighbour, of which
# one in twenty is let pass and every one is shown.
#
# usage: tests/aa.sh     TWINSCOPE=path of the program, PAIRS=20, SECONDS_A_RUN=4, KEEP=folder to keep the recordings in
set -uo pipefail
cd "$(dirname "$0")/.."

twinscope=${TWINSCOPE:-target/release/twinscope}
pairs=${PAIRS:-20} seconds=${SECONDS_A_RUN:-4}
runs=("contended-counter slow" "chatty-log slow" "small-pool slow" "munmap-storm slow" "pipe-ping-pong slow"
    "contended-counter fast" "chatty-log fast" "small-pool fast" "munmap-storm fast" "pipe-ping-pong fast")
for program in "$twinscope" workloads/bin/small-pool; do
    if [[ ! -x $program ]]; then
        echo "aa: $program: not built: make build workloads" >&2
        exit 1
    fi
done
if [[ -n ${KEEP:-} ]]; then
    work=$KEEP
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi

# Records a pair and compares it; whether nothing was listed. What was listed is in $listing, by name in $listing.names.
silent() {
    local pair=$1 name=$2 variant=$3 run
    listing=$work/$pair.txt
    for run in a b; do
        if ! "$twinscope" record -q --force -o "$work/$pair-$run.twin" --throughput '^done ([0-9]+)' -- \
            "workloads/bin/$name" "$variant" --seconds "$seconds" >"$work/$pair-$run.out" 2>&1; then
            echo "pair $pair: $name $variant could not be recorded"
            cat "$work/$pair-$run.out"
            exit 1
        fi
    done
    "$twinscope" compare "$work/$pair-a.twin" "$work/$pair-b.twin" --json >"$listing.json" || exit 1
    "$twinscope" compare "$work/$pair-a.twin" "$work/$pair-b.twin" --all >"$listing"
    sed -n 's/^ *"\(metric\|fact\)": "\(.*\)",*$/\2/p' "$listing.json" | sort -u >"$listing.names"
    [[ ! -s $listing.names ]]
}

passed=0 failed=0 chance=0
for ((pair = 0; pair < pairs; pair++)); do
    read -r name variant <<<"${runs[pair % ${#runs[@]}]}"
    if silent "$pair" "$name" "$variant"; then
        passed=$((passed + 1))
        echo "ok: pair $pair: $name $variant: $(sed -n 2p "$listing")"
        continue
    fi
    cat "$listing"
    cp "$listing.names" "$work/first.names"
    if silent "$pair" "$name" "$variant" || [[ -z $(comm -12 "$work/first.names" "$listing.names") ]]; then
        chance=$((chance + 1))
        echo "listed once and not again: pair $pair: $name $variant: $(tr '\n' ' ' <"$work/first.names")"
    else
        failed=$((failed + 1))
        cat "$listing"
        echo "FAILED: pair $pair: $name $variant: listed twice: $(comm -12 "$work/first.names" "$listing.names" | tr '\n' ' ')"
    fi
done
echo "$passed of $pairs pairs listed nothing, $chance listed something once, $failed twice"
if [[ $chance -gt $((pairs / 20)) ]]; then
    failed=$((failed + chance))
else
    passed=$((passed + chance))
fi
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed -eq 0 && $passed -eq $pairs ]]
