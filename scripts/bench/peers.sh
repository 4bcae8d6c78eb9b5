#!/usr/bin/env bash
# What recording with other tools costs beside Twinscope, and what their usual command names of bundled slow programs whose
# fault is known: the figures of docs/comparison.md. Runs of all tools are interleaved. Tools that are missing are left out.
#
# usage: scripts/bench/peers.sh cost|names     TWINSCOPE=path, ROUNDS=3, SECONDS_EACH=3, OUT=target/peers for their output
#
# cost: each line is program, what it was recorded with, round, operations per second, bytes written, separated by tabs.
# names: each line is program, tool, whether its output has the function or lock that is the fault, and what was sought.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-3} out=${OUT:-target/peers}
mkdir -p "$out"
have() { command -v "$1" >/dev/null; }

# Runs "$@" under tool $1, whose files go to $out/$2-$1*; its operations a second to standard output.
under() { # TOOL NAME COMMAND…
    local tool=$1 to=$out/$2-$1 beside=
    shift 2
    rm -rf "$to" "$to".*
    case $tool in
    none) "$@" >"$to.log" 2>&1 ;;
    twinscope) "$twinscope" record -q --force -o "$to.twin" --throughput '^done ([0-9]+)' -- "$@" >"$to.log" 2>&1 ;;
    perf) perf record -q -F 99 -g -o "$to.data" -- "$@" >"$to.log" 2>&1 ;;
    strace) strace -f -c -o "$to.calls" "$@" >"$to.log" 2>&1 ;;
    sar) sar -A -o "$to.sa" 1 >/dev/null 2>&1 & beside=$! ;;
    atop) atop -w "$to.atop" 1 >/dev/null 2>&1 & beside=$! ;;
    bpftrace) bpftrace -o "$to.stacks" -e 'profile:hz:99 { @[comm, ustack, kstack] = count(); }' -c "$*" >"$to.log" 2>&1 ;;
    esac
    if [[ -n $beside ]]; then
        "$@" >"$to.log" 2>&1
        kill -TERM "$beside" 2>/dev/null
        wait "$beside" 2>/dev/null
    fi
    awk '/^operations: / { n = $2 } /^truth: wall seconds / { s = $4 } END { if (s > 0) printf "%.0f", n / s }' "$to.log"
}
bytes() { find "$out" -name "$2-$1.*" ! -name '*.log' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }

tools=(none twinscope)
for tool in perf strace sar atop bpftrace; do have "$tool" && tools+=("$tool"); done

# program, what the output has to name: the function or lock in which the time is lost
pairs=('munmap-storm munmap|page_fault' 'contended-counter mutex|futex|lock shared' 'chatty-log write'
    'fsync-per-record fsync|fdatasync' 'serial-end serial.phase|one thread')

cost() {
    local round tool name
    for ((round = 1; round <= rounds; round++)); do
        for name in munmap-storm chatty-log; do
            for tool in $(printf '%s\n' "${tools[@]}" | shuf); do
                printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$tool" "$round" \
                    "$(under "$tool" "$name" workloads/bin/"$name" slow --seconds "$seconds")" "$(bytes "$tool" "$name")"
            done
        done
    done
}

# What a person reads of tool $1 for program $2: the first thirty lines of its usual report.
read_as() {
    local from=$out/$2-$1
    case $1 in
    twinscope) "$twinscope" explain "$from.twin" ;;
    perf) perf report -i "$from.data" --stdio --no-children -g none 2>/dev/null | grep -v '^#' ;;
    strace) cat "$from.calls" ;;
    sar) sar -f "$from.sa" -u -w -B -d ;;
    atop) atop -r "$from.atop" 2>/dev/null | tail -n 60 ;;
    bpftrace) tail -n 30 "$from.stacks" ;;
    esac | head -n 30
}
names() {
    local pair name sought tool said
    for pair in "${pairs[@]}"; do
        name=${pair%% *} sought=${pair#* }
        for tool in "${tools[@]}"; do
            [[ $tool != none ]] || continue
            under "$tool" "$name" workloads/bin/"$name" slow --seconds "$seconds" >/dev/null
            # the program's own name does not count
            read_as "$tool" "$name" 2>&1 | sed "s/$name//g" >"$out/$name-$tool.read"
            said=no
            ! grep -qE "$sought" "$out/$name-$tool.read" || said=yes
            printf '%s\t%s\t%s\t%s\n' "$name" "$tool" "$said" "$sought"
        done
    done
}

case ${1:-} in
cost | names) "$1" ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
