#!/usr/bin/env bash
# Equal runs, recorded here: how often does `compare` list anything? Each of ten variants of five workloads is recorded RUNS times, and each
# two of its recordings are compared.
#
# A machine may really run one program at two paces: placement, neighbours, a hypervisor. So what is listed is counted and shown, and decides
# only where the machine cannot be the reason: the two runs went at one pace (within 5 %), `compare` itself saw nothing that disturbed
# them, and what is listed is the workload's own. That fails where all pairs of a variant do it, or more than a tenth of all
# undisturbed pairs. The strict part, 20 of 20, is a simulation: crates/explain/tests/equal_runs.rs.
#
# usage: tests/aa.sh     TWINSCOPE=path of the program, RUNS=3, SECONDS_A_RUN=2.4, KEEP=folder to keep the recordings in
# step: quiet build long
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

twinscope=${TWINSCOPE:-target/release/twinscope}
runs=${RUNS:-3} seconds=${SECONDS_A_RUN:-2.4}
workloads=(contended-counter chatty-log small-pool munmap-storm pipe-ping-pong)
for program in "$twinscope" "${workloads[@]/#/workloads/bin/}"; do
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

# Whether two numbers lie within 5 % of each other.
one_pace() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && b > 0 && a < 1.05 * b && b < 1.05 * a) }'; }

pairs=0 silent=0 disturbed=0 plain=0 failed=0
for name in "${workloads[@]}"; do
    for variant in slow fast; do
        paces=() bad=0 of=0
        for ((run = 0; run < runs; run++)); do
            file=$work/$name-$variant-$run
            # Ten reads a second: enough for a short run to be judged.
            if ! "$twinscope" record -q --force -i 100ms -o "$file.twin" --throughput '^done ([0-9]+)' -- \
                "workloads/bin/$name" "$variant" --seconds "$seconds" >"$file.out" 2>&1; then
                echo "aa: $name $variant could not be recorded"
                cat "$file.out"
                echo "0 passed, 1 failed, 0 skipped"
                exit 1
            fi
            paces+=("$(sed -n 's/^done \([0-9]*\).*/\1/p' "$file.out" | tail -n 1)")
        done
        for ((a = 0; a < runs; a++)); do
            for ((b = a + 1; b < runs; b++)); do
                json=$work/$name-$variant-$a-$b.json
                if ! "$twinscope" compare "$work/$name-$variant-$a.twin" "$work/$name-$variant-$b.twin" --json >"$json"; then
                    echo "aa: $name $variant: compare failed"
                    echo "0 passed, 1 failed, 0 skipped"
                    exit 1
                fi
                pairs=$((pairs + 1)) of=$((of + 1))
                listed=$(jq -r '[.differences[].metric, .facts[].fact] | unique | join(" ")' "$json")
                if [[ -z $listed ]]; then
                    silent=$((silent + 1))
                    continue
                fi
                # The name of a process has 15 bytes at most.
                own=$(jq -r --arg comm "${name:0:15}" \
                    '[.differences[] | select(.labels.comm == $comm or .metric == "work.done") | .metric] | unique | join(" ")' "$json")
                why=$(jq -r '[.cautions[].what] | unique | join(" ")' "$json")
                one_pace "${paces[a]}" "${paces[b]}" || why="pace $why"
                if [[ -n $why ]]; then
                    disturbed=$((disturbed + 1))
                    echo "listed, and disturbed (${why% }): $name $variant $a $b: $listed"
                elif [[ -n $own ]]; then
                    plain=$((plain + 1)) bad=$((bad + 1))
                    echo "listed at one pace: $name $variant $a $b: $own"
                else
                    disturbed=$((disturbed + 1))
                    echo "listed, not of the workload: $name $variant $a $b: $listed"
                fi
            done
        done
        if [[ $bad -eq $of ]]; then
            failed=$((failed + 1))
            echo "FAILED: $name $variant: every pair of equal runs lists something of the workload at one pace"
        fi
    done
done
echo "equal runs: $silent of $pairs pairs listed nothing; $plain listed the workload at one pace; $disturbed another pace, a neighbour, or the system"
if [[ $((plain * 10)) -gt $((pairs - disturbed)) ]]; then
    failed=$((failed + 1))
    echo "FAILED: more than a tenth of the undisturbed pairs"
fi
echo "$((10 - (failed < 10 ? failed : 10))) passed, $failed failed, 0 skipped"
[[ $failed -eq 0 ]]
