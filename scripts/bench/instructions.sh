#!/usr/bin/env bash
# What samples with registers cost a program that computes, and the recorder: a chain of additions, which no neighbour on the machine disturbs, says how much
# CPU time a million of them takes, recorded with bursts every second and without any, by turns. Ten seconds between bursts, the default, cost a tenth of the
# difference. The recorder's thread says what it used itself; the calibration at the start (10 ms once) is apart.
#
# usage: scripts/bench/instructions.sh     TWINSCOPE=path of the program, ROUNDS=number, SECONDS_EACH=number
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
rounds=${ROUNDS:-8} each=${SECONDS_EACH:-6}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/chain.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
int main(int count, char **words) {
    double until = atof(words[count - 1]), begin = cpu();
    unsigned long x = 0, rounds = 0;
    while (cpu() - begin < until) {
        for (int i = 0; i < 100000; i++) __asm__ volatile(".rept 64\nadd %1, %0\n.endr" : "+r"(x) : "r"(3ul));
        rounds++;
    }
    printf("%.6f\n", (cpu() - begin) / rounds / 6.4 * 1e6);   /* ns a thousand additions */
}
C
cc -O2 -o "$work/chain" "$work/chain.c"
for round in $(seq "$rounds"); do
    for seconds in 0 1; do
        only=stacks
        [[ $seconds == 0 ]] || only=stacks,instructions
        "$twinscope" record -q -f --only "$only" --instructions="$seconds" -o "$work/$seconds-$round.twin" -- "$work/chain" "$each" >>"$work/$seconds"
    done
done
# The least: what a neighbour on the host adds to a round is more than what is looked for.
without=$(sort -g "$work/0" | head -1) with=$(sort -g "$work/1" | head -1)
cost() { # COLUMN: of the last round
    "$twinscope" sql --json "$work/1-$rounds.twin" "select max(cost_ns) - min(cost_ns) as cost, max(events) as events, count(*) as n from instructions_collector where t > 1e9" |
        python3 -c "import json,sys; print(json.load(sys.stdin)[0]['$1'])"
}
awk -v a="$without" -v b="$with" -v c="$(cost cost)" -v n="$(cost events)" -v s="$each" 'BEGIN {
    printf "instructions\tCPU time of the program, bursts every second\t%%\t%.3f\n", (b - a) / a * 100
    printf "instructions\tCPU time of the program, bursts every 10 s\t%%\t%.4f\n", (b - a) / a * 10
    printf "instructions\tCPU time of the recorder, bursts every second\t%%\t%.4f\n", c / s / 1e7
    printf "instructions\tCPU time of the recorder, bursts every 10 s\t%%\t%.4f\n", c / s / 1e8
    printf "instructions\tsamples with registers\t\t%d\n", n
}'
