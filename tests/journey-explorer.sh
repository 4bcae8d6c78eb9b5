#!/usr/bin/env bash
# A journey, short: examples/explorer/quick.toml is run as a reader would run it. The ladder ends, each trial finds all states, and the
# step that takes away the locks is kept, which makes exploring several times as fast.
# step: quiet build long
#
# usage: tests/journey-explorer.sh     TWINSCOPE=path of the program, KEEP=folder to keep the session in
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

# shellcheck source=tests/count.sh
. tests/count.sh
# shellcheck source=tests/journey.sh
. tests/journey.sh
needs "the journey of the explorer" javac jq
work_in explorer

if run_example explorer; then
    ok "the ladder is climbed"
else
    bad "the ladder: exit code $?: $(tail -n 5 "$work/said.txt")"
fi
show_session
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
report_session
finish
