#!/usr/bin/env bash
# A journey, short: examples/orders/quick.toml is run as a reader would run it. The search ends, and an HTTP server of the JDK takes
# several times the rate once it does not wait for the ACK of its own headers.
# step: quiet build
#
# usage: tests/journey-orders.sh     TWINSCOPE=path of the program, KEEP=folder to keep the session in
set -uo pipefail
cd "$(dirname "$0")/.."

twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
# shellcheck source=tests/count.sh
. tests/count.sh
for needed in javac jq; do
    if ! command -v $needed >/dev/null; then
        skip "the journey of the orders: no $needed"
        finish
    fi
done
if [[ $(nproc) -lt 2 ]]; then
    skip "the journey of the orders: server and client need a CPU each"
    finish
fi
if [[ -n ${KEEP:-} ]]; then
    mkdir -p "$KEEP"
    work=$(realpath "$KEEP")
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
session=$work/orders.tune

if (cd examples/orders && "$twinscope" tune -q quick.toml -o "$session") >"$work/said.txt" 2>&1; then
    ok "the search ends"
elif grep -q 'attempts of one block were void' "$work/said.txt"; then
    # The client says that it was late: something else has its CPU.
    skip "the journey of the orders: $(tail -n 1 "$work/said.txt")"
    finish
else
    bad "the search: exit code $?: $(tail -n 5 "$work/said.txt")"
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
is "each measured trial has its rate" '[.trials[] | .set[0][0] == "rate"] | length >= 16 and all'
is "no trial failed" '[.trials[] | .end != "failed"] | all'
# Without it an answer takes 40 ms, unless the next request on its connection brings the ACK before.
is "without delay it takes more" '(.search.rates[1].tried | map(select(.broke == null).rate) | max) > 2 * (.search.rates[0].tried | map(select(.broke == null).rate) | max)'
is "it is not called worse" '.changes[0].verdict | IN("better", "open", "not_decided")'
if "$twinscope" report "$session" -o "$work/orders.html" >"$work/said.txt" 2>&1; then
    ok "the page is written"
else
    bad "report: $(tail -n 3 "$work/said.txt")"
fi
finish
