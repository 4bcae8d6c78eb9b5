# shellcheck shell=bash
# What a recording costs a service that is under load all the time: stretches with it and without, in turn, and what the recorder takes by itself. Sourced
# from scripts/bench/services.sh and scripts/bench/turns.sh, which set `twinscope`, `helper`, `rounds` (stretches of each kind), `each` (seconds of a
# stretch) and `peers` (options of perf, each for stretches of its own), after scripts/bench/servers.sh.

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
