#!/usr/bin/env bash
# What a recording costs services near their limit: nginx under wrk and PostgreSQL under pgbench on loopback, with and without a recording of the whole
# service (--pid: ledger, waits with stacks, locks, system calls, samples; all other sources too), in turn, as ratios of their throughput and of the
# service's CPU time for each request. These waver with the speed of a machine that others use too. So there is a third ratio, of all CPU time to that
# which the service and its client ran as user code: a slow moment lengthens both, and what the recording adds, to the kernel's part and as the recorder,
# only the first. And the part of all CPUs' time that the recorder took in ten seconds of that load: its programs in the kernel, as the kernel measures
# them (kernel.bpf_stats_enabled, root; the measuring is some tens of nanoseconds of each run), and itself.
#
# usage: scripts/bench/services.sh [NAME…]     TWINSCOPE=path of the program, ROUNDS=number, SECONDS_EACH=number
#
# Names: nginx postgres. What is not installed here is left out, and said. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
rounds=${ROUNDS:-8} each=${SECONDS_EACH:-5}
names=("$@")
[[ $# -gt 0 ]] || names=(nginx postgres)
# shellcheck source=scripts/bench/servers.sh
source scripts/bench/servers.sh

# Nanoseconds of CPU time of the service $1 and of its children, those that have ended too. On a machine that others use this says more than
# throughput does.
spent() {
    local pid
    for pid in $1 $(ps -o pid= --ppid "$1"); do cat "/proc/$pid/schedstat" 2>/dev/null; done |
        awk -v ended="$(awk '{ print ($16 + $17) * 1e7 }' "/proc/$1/stat")" '{ sum += $1 } END { printf "%.0f", sum + ended }'
}
# Ticks of CPU time of all CPUs, and how many of them ran user code that is not the recorder's, whose process id is in `recorder` while it runs.
ticks() {
    local own=0
    [[ -z ${recorder:-} ]] || own=$(awk '{ print $14 }' "/proc/$recorder/stat")
    awk -v own="$own" '/^cpu / { print $2 + $3 + $4 + $7 + $8, $2 + $3 - own }' /proc/stat
}
# Throughput of the load $2… of the service $1, microseconds of the service's CPU time for each request, and how many times the user code's CPU time that
# of all is. What thins itself out finds out in some
# seconds of load that it should, and so does a service that warms up.
measured() {
    local service=$1 before since rate
    shift
    each=4 "$@" >/dev/null
    # Processes that serve one client end a little later than it.
    sleep 0.3
    before=$(spent "$service") since=$(ticks) rate=$("$@")
    sleep 0.3
    awk -v rate="$rate" -v ns="$(($(spent "$service") - before))" -v s="$each" -v a="$since" -v b="$(ticks)" 'BEGIN { split(a, from); split(b, to)
        print rate, (rate > 0 ? ns / rate / s / 1000 : 0), (to[1] - from[1]) / (to[2] - from[2]) }'
}
# The same while the service is recorded.
recorded() {
    local service=$1 recorder
    shift
    "$twinscope" record -q -f -o "$work/run.twin" --pid "$service" 2>>"$work/errors" &
    recorder=$!
    # Its programs are loaded and the service's code is read before the load begins: a service is recorded while it runs.
    sleep 2
    measured "$service" "$@"
    kill -INT $recorder
    wait $recorder
}
# Lines of ratios, recorded to not, of the throughput that the load $3… of the service $2 prints.
in_turn() {
    local what=$1 service=$2 with without round
    shift 2
    "$@" >/dev/null
    for ((round = 0; round < rounds; round++)); do
        # Each order in turn: what warms up or slows down over time is on both sides.
        if ((round % 2)); then with=$(recorded "$service" "$@") without=$(measured "$service" "$@"); else without=$(measured "$service" "$@") with=$(recorded "$service" "$@"); fi
        awk -v what="$what" -v with="$with" -v without="$without" 'BEGIN { split(with, a); split(without, b); if (b[1] > 0 && b[2] > 0) {
            printf "%s\tthroughput without\t/s\t%.0f\n%s\tloss\t%%\t%.2f\n", what, b[1], what, 100 * (1 - a[1] / b[1])
            printf "%s\tCPU time of a request without\tµs\t%.2f\n%s\tmore CPU time of a request\t%%\t%.2f\n", what, b[2], what, 100 * (a[2] / b[2] - 1)
            printf "%s\tmore CPU time for the same user code\t%%\t%.2f\n", what, 100 * (a[3] / b[3] - 1) } }'
    done
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
# Of the recorder of the service $2 while it is under the load $3…, lines as in_turn prints them.
costs() {
    local what=$1 service=$2 recorder before time
    shift 2
    [[ -w $stats ]] || { echo "SKIPPED: ${name:?}: what eBPF programs cost: $stats cannot be written" >&2; return; }
    "$twinscope" record -q -f -o "$work/run.twin" --pid "$service" 2>>"$work/errors" &
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

requests() { wrk -t1 -c16 "-d${each}s" http://127.0.0.1:18952/ | awk '/^Requests\/sec/ { print $2 }'; }
bench_nginx() {
    set_up_nginx 18952 "" || return 0
    nginx -c "$work/nginx.conf" &
    local server=$!
    started+=("$server")
    sleep 0.5
    in_turn "nginx under wrk" $server requests
    costs "nginx under wrk" $server requests
    kill $server
}

transactions() { "${as[@]}" "$bin/pgbench" -S -n -c 4 -T "$each" postgres 2>/dev/null | awk '/^tps/ { print $3 }'; }
bench_postgres() {
    local bin as
    set_up_postgres || return 0
    (cd "$work/pg" && exec "${as[@]}" "$bin/postgres" -D data -k "$work/pg" -h '' >/dev/null 2>&1) &
    local server=$!
    started+=("$server")
    for _ in $(seq 50); do "$bin/pg_isready" -q && break; sleep 0.1; done
    "${as[@]}" "$bin/pgbench" -i -q -s 1 postgres >/dev/null 2>&1
    in_turn "PostgreSQL under pgbench -S" $server transactions
    costs "PostgreSQL under pgbench -S" $server transactions
    kill -INT $server
}

run_named "${names[@]}"
[[ ! -s $work/errors ]] || cat "$work/errors" >&2
