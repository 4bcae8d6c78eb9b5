#!/usr/bin/env bash
# What a recording costs services near their limit: nginx under wrk and PostgreSQL under pgbench on loopback, under load all the time, with a recording of
# the whole service (--pid: ledger, waits with stacks, locks, system calls, samples; all other sources too) in stretches of ten seconds, and without, and with perf; and
# shells that start one program after another, with a recording of all threads (--all). Of the
# pace in tenths of a second those which other users of the machine disturbed least are compared (`bench loss`, crates/cli/examples/bench/undisturbed.rs).
# The load has as many threads as there are CPUs: with fewer, services and load wait for each other, CPUs fall idle and are woken thousands of times a
# second, and what is measured is the time to wake them, which is long on virtual machines.
# These see what the recording does all the time; what it does once a second it does as a process of its own, which is measured by itself. So there is also
# the part of all CPUs' time that the recorder took in ten seconds of that load: its programs in the kernel, as the kernel measures them
# (kernel.bpf_stats_enabled, root; the measuring is some tens of nanoseconds of each run), and itself.
#
# usage: scripts/bench/services.sh [NAME…]     TWINSCOPE=path of the program, HELPER=path of the example `bench`, ROUNDS=number, SECONDS_EACH=number
#
# Names: nginx postgres processes. What is not installed here is left out, and said. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
helper=$(realpath "${HELPER:-target/release/examples/bench}")
rounds=${ROUNDS:-8} each=${SECONDS_EACH:-10}
names=("$@")
[[ $# -gt 0 ]] || names=(nginx postgres processes)
# What perf takes to see a part of it, in stretches of their own: where code runs, and who was switched when; neither counts calls or names locks.
peers=()
if command -v perf >/dev/null; then
    peers=("record -q -F 99 --call-graph dwarf,16384" "sched record -q")
else
    echo "SKIPPED: perf as a peer: it is not installed" >&2
fi
# shellcheck source=scripts/bench/servers.sh
source scripts/bench/servers.sh

# Ticks of all CPUs in code of programs and in all, without what was idle or stolen (proc_stat(5)); of the former, those of the process $1, if any.
ticks() {
    awk '/^cpu / { print $2 + $3, $2 + $3 + $4 + $7 + $8 }' /proc/stat
    if [[ -n ${1:-} ]]; then awk '{ print $14 }' "/proc/$1/stat"; else echo 0; fi
}
# A stretch that counts, with the recorder $1 or "without", as a line of $work/phases: "from until OWN ALL $1", where ALL ticks were not idle and OWN of
# them in code of other programs than the process $2, the recorder.
phase() {
    local from=$EPOCHREALTIME before after
    before=$(ticks "${2:-}")
    sleep "$each"
    after=$(ticks "${2:-}")
    # shellcheck disable=SC2086
    set -- "$1" $before $after
    echo "$from $EPOCHREALTIME $(($5 - $2 - ($7 - $4))) $(($6 - $3)) $1" >>"$work/phases"
}
# Stretches in turn with a recording, for which `record` has the options $@, and without, under load and while its work is counted. What thins itself out finds out in
# some seconds of load that it should, and the service's code is read first, so that a recording has had some when its stretch begins.
in_turn() {
    local recorder round peer
    : >"$work/phases"
    sleep 3
    head -n 1 /proc/stat >"$work/ran"
    for ((round = 0; round < rounds; round++)); do
        phase without
        "$twinscope" record -q -f -o "$work/run.twin" "$@" 2>>"$work/errors" &
        recorder=$!
        sleep 6
        phase twinscope $recorder
        kill -INT $recorder
        wait $recorder
        sleep 0.5
        for peer in "${peers[@]}"; do
            # shellcheck disable=SC2086
            perf $peer -a -o "$work/perf.data" >/dev/null 2>"$work/perf" &
            recorder=$!
            sleep 2
            phase "perf $peer" $recorder
            kill -INT $recorder
            wait $recorder
            sleep 0.5
            rm -f "$work/perf.data"
        done
    done
    head -n 1 /proc/stat >>"$work/ran"
}
# The lines of `bench loss`, which reads counts, for $1, and how much the CPUs had nothing to do.
lost() {
    printf '%s\tstretches of each kind\t\t%s\n' "$1" "$rounds"
    "$helper" loss "$work/phases" | sed -E "s/^(without|twinscope)\t/$1\t/; t; s/^/$1, /; s/ -q//"
    awk -v what="$1" '{ for (i = 2; i <= 9; i++) all[NR] += $i; idle[NR] = $5 + $6 }
        END { printf "%s\tCPUs idle\t%%\t%.1f\n", what, 100 * (idle[2] - idle[1]) / (all[2] - all[1]) }' "$work/ran"
}

# Nanoseconds of CPU time that the eBPF programs of the process $1 took, which the kernel measures, and that it took itself.
programs() {
    local file
    for file in "/proc/$1/fdinfo"/*; do grep -hs -e prog_id -e run_time_ns "$file" | paste -sd ' '; done |
        sort -u -k2,2 | awk '{ sum += $4 } END { printf "%.0f", sum }'
}
itself() { cat "/proc/$1/task"/*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }'; }
# Whether the kernel measures eBPF programs, and what it was set to before that was asked of it; empty while it was not.
stats=/proc/sys/kernel/bpf_stats_enabled were=
restore_stats() {
    [[ -z $were ]] || echo "$were" >$stats
    were=
}
trap 'restore_stats; clean' EXIT
# What the recorder takes, for which `record` has the options $2, under the load $3…: lines of `what<TAB>metric<TAB>unit<TAB>value`.
costs() {
    local what=$1 options=$2 recorder before time
    shift 2
    [[ -w $stats ]] || { echo "SKIPPED: ${name:?}: what eBPF programs cost: $stats cannot be written" >&2; return; }
    # shellcheck disable=SC2086
    "$twinscope" record -q -f -o "$work/run.twin" $options 2>>"$work/errors" &
    recorder=$!
    sleep 2
    # Its names are found by then.
    each=20 "$@" >/dev/null
    # Whatever ends the script: it is set back at its end.
    were=$(<$stats)
    echo 1 >$stats
    before=("$(programs $recorder)" "$(itself $recorder)") time=$EPOCHREALTIME
    each=10 "$@" >/dev/null
    awk -v what="$what" -v cpus="$(nproc)" -v programs="$(($(programs $recorder) - before[0]))" -v itself="$(($(itself $recorder) - before[1]))" \
        -v began="$time" -v ended="$EPOCHREALTIME" 'BEGIN { all = (ended - began) * cpus * 1e7
            printf "%s\tCPU time of eBPF programs, of all CPUs\t%%\t%.2f\n%s\tCPU time of the recorder, of all CPUs\t%%\t%.2f\n", what, programs / all, what, itself / all }'
    restore_stats
    kill -INT $recorder
    wait $recorder
}

cpus=$(nproc)
requests() { wrk "-t$cpus" "-c$((cpus * 32))" "-d${each}s" http://127.0.0.1:18952/ >/dev/null; }
bench_nginx() {
    local what="nginx under wrk" server load counter
    set_up_nginx 18952 "" 'location /served { stub_status; keepalive_requests 1000000; }' || return 0
    nginx -c "$work/nginx.conf" &
    server=$!
    sleep 0.5
    wrk "-t$cpus" "-c$((cpus * 32))" -d9999s http://127.0.0.1:18952/ >/dev/null &
    load=$!
    "$helper" served 127.0.0.1:18952 >"$work/counts" &
    counter=$!
    started+=("$server" "$load" "$counter")
    in_turn --pid $server
    kill $load $counter
    lost "$what" <"$work/counts"
    costs "$what" "--pid $server" requests
    kill $server
}

transactions() { "${as[@]}" "$bin/pgbench" -S -n -c $((cpus * 4)) -j "$cpus" -T "$each" postgres >/dev/null 2>&1; }
bench_postgres() {
    local what="PostgreSQL under pgbench -S" bin as server load
    set_up_postgres || return 0
    (cd "$work/pg" && exec "${as[@]}" "$bin/postgres" -D data -k "$work/pg" -h '' >/dev/null 2>&1) &
    server=$!
    for _ in $(seq 50); do "$bin/pg_isready" -q && break; sleep 0.1; done
    "${as[@]}" "$bin/pgbench" -i -q -s 1 postgres >/dev/null 2>&1
    # It writes down when each transaction ended.
    (cd "$work/pg" && exec "${as[@]}" "$bin/pgbench" -S -n -c $((cpus * 4)) -j "$cpus" -T 9999 -l --log-prefix=transactions postgres >/dev/null 2>&1) &
    load=$!
    started+=("$server" "$load")
    in_turn --pid $server
    kill $load
    wait $load
    cat "$work/pg"/transactions.* | awk '{ n[sprintf("%.0f", int(($5 + $6 / 1e6) * 10))]++ } END { for (tenth in n) print tenth, n[tenth] }' | sort -n |
        awk '{ total += $2; printf "%.1f %d\n", ($1 + 1) / 10, total }' | lost "$what"
    rm -f "$work/pg"/transactions.*
    costs "$what" "--pid $server" transactions
    kill -INT $server
}

# Shells that start a program as soon as the one before has ended, one on each CPU.
start_shells() {
    local cpu
    for ((cpu = 0; cpu < cpus; cpu++)); do
        sh -c 'while :; do /bin/true; done' &
        shells+=($!)
    done
    started+=("${shells[@]}")
}
wait_for_shells() { sleep "$each"; }
bench_processes() {
    local what="shells that start programs" shells=() counter
    start_shells
    # The kernel counts them (proc_stat(5)); this one starts ten a second itself.
    while sleep 0.1; do awk -v at="$EPOCHREALTIME" '$1 == "processes" { print at, $2 }' /proc/stat; done >"$work/counts" &
    counter=$!
    started+=("$counter")
    in_turn --all
    kill $counter
    lost "$what" <"$work/counts"
    costs "$what" --all wait_for_shells
    kill "${shells[@]}"
}

run_named "${names[@]}"
[[ ! -s $work/errors ]] || cat "$work/errors" >&2
