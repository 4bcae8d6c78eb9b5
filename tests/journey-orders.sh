#!/usr/bin/env bash
# A journey, short: examples/orders/quick.toml is run as a reader would run it. The search ends, and an HTTP server of the JDK takes
# several times the rate once it does not wait for the ACK of its own headers.
# step: quiet build long
#
# usage: tests/journey-orders.sh     TWINSCOPE=path of the program, KEEP=folder to keep the session in
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

# shellcheck source=tests/count.sh
. tests/count.sh
# shellcheck source=tests/journey.sh
. tests/journey.sh
needs "the journey of the orders" javac jq
if [[ $(nproc) -lt 2 ]]; then
    skip "the journey of the orders: server and client need a CPU each"
    finish
fi
work_in orders

if run_example orders; then
    ok "the search ends"
elif grep -q 'attempts of one block were void' "$work/said.txt"; then
    # The client says that it was late: something else has its CPU.
    skip "the journey of the orders: $(tail -n 1 "$work/said.txt")"
    finish
else
    bad "the search: exit code $?: $(tail -n 5 "$work/said.txt")"
fi
show_session
is "each measured trial has its rate" '[.trials[] | .set[0][0] == "rate"] | length >= 16 and all'
is "no trial failed" '[.trials[] | .end != "failed"] | all'
# Without it an answer takes 40 ms, unless the next request on its connection brings the ACK before.
is "without delay it takes more" '(.search.rates[1].tried | map(select(.broke == null).rate) | max) > 2 * (.search.rates[0].tried | map(select(.broke == null).rate) | max)'
is "it is not called worse" '.changes[0].verdict | IN("better", "open", "not_decided")'
report_session
finish
