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
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
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
# shellcheck source=scripts/bench/stretches.sh
source scripts/bench/stretches.sh

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
