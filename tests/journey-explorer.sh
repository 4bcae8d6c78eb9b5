#!/usr/bin/env bash
# A journey, short: examples/explorer/quick.toml is run as a reader would run it. The ladder ends, each trial finds all states, and the
# step that takes away the locks is kept, which makes exploring several times as fast.
# step: quiet build
#
# usage: tests/journey-explorer.sh     TWINSCOPE=path of the program, KEEP=folder to keep the session in
set -uo pipefail
cd "$(dirname "$0")/.."

twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
# shellcheck source=tests/count.sh
. tests/count.sh
for needed in javac jq; do
    if ! command -v $needed >/dev/null; then
        skip "the journey of the explorer: no $needed"
        finish
    fi
done
if [[ -n ${KEEP:-} ]]; then
    mkdir -p "$KEEP"
    work=$(realpath "$KEEP")
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
session=$work/explorer.tune

if (cd examples/explorer && "$twinscope" tune -q quick.toml -o "$session") >"$work/said.txt" 2>&1; then
    ok "the ladder is climbed"
else
    bad "the ladder: exit code $?: $(tail -n 5 "$work/said.txt")"
fi
if "$twinscope" tune show "$session" --json >"$work/session.json" 2>"$work/errors.txt"; then
    ok "the session is shown"
else
    bad "show: $(cat "$work/errors.txt")"
    finish
fi
# is WHAT FILTER: a filter of jq that must be true
is() {
    local said
    if said=$(jq -r "$2" "$work/session.json") && [[ $said == true ]]; then ok "$1"; else bad "$1: $2: $said"; fi
}
is "it is finished" '.finished'
is "each trial was measured: none failed" '[.trials[] | .end == "measured"] | length >= 30 and all'
wrong=0 outputs=0
for output in "$session"/trials/*/output; do
    outputs=$((outputs + 1))
    grep -qx 'states: 177147' "$output" || wrong=$((wrong + 1))
done
if [[ $outputs -ge 30 && $wrong -eq 0 ]]; then ok "all $outputs found 177,147 states"; else bad "$wrong of $outputs trials found another number of states"; fi
is "the step without locks is kept" '.rungs[0].kept'
is "it is better" '.rungs[0].change.verdict == "better" and .rungs[0].change.interval[1] < 1'
if "$twinscope" report "$session" -o "$work/explorer.html" >"$work/said.txt" 2>&1; then
    ok "the page is written"
else
    bad "report: $(tail -n 3 "$work/said.txt")"
fi
finish
