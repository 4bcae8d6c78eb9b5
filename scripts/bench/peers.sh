#!/usr/bin/env bash
# What recording with other tools costs beside Twinscope, and what their usual command names of bundled slow programs whose
# fault is known: the figures of docs/comparison.md. Runs of all tools are interleaved. Tools that are missing are left out.
#
# usage: scripts/bench/peers.sh cost|names     TWINSCOPE=path, ROUNDS=3, SECONDS_EACH=3, OUT=target/peers for their output
#
# cost: each line is program, what it was recorded with, round, operations per second, bytes written, separated by tabs.
# names: each line is program, tool, whether its output has the function or lock that is the fault, and what was sought.
# ONLY='py-spy hyperfine' and PROGRAMS='python-gil' choose some. What does not come with Debian 12:
#   py-spy           pip install py-spy, in PATH; the programs in Python run with PYTHON=/usr/bin/python3
#   async-profiler   ASYNC_PROFILER=libasyncProfiler.so: linux-x64/ of the jar tools.profiler:async-profiler of Maven Central
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-3} out=${OUT:-target/peers} python=${PYTHON:-/usr/bin/python3}
agent=${ASYNC_PROFILER:+$(realpath "$ASYNC_PROFILER")}
agent=${agent:-missing}
mkdir -p "$out"

# tool, the program that it needs, and the languages of the programs that it is for
table="none            true        c python java
twinscope              true        c python java
perf                   perf        c python java
strace                 strace      c python java
sar                    sar         c python java
atop                   atop        c python java
bpftrace               bpftrace    c python java
py-spy                 py-spy      python
async-profiler         $agent      java
async-profiler-lock    $agent      java
hyperfine              hyperfine   c"

# language, program, operations of a run of a second or two, what the output has to name: where the time is lost
programs='c munmap-storm      10000    munmap|page_fault
c contended-counter           15000000 mutex|futex|lock shared
c chatty-log                  900000   _write|write\(\)|write$
c fsync-per-record            300      fsync|fdatasync
c serial-end                  220000   serial.phase|one thread
python comments-trim          -        trim
python python-gil             -        GIL|_gil|futex|for the lock
python python-sqlite          -        fsync|fdatasync|commit|insert \(main
java java-boxing              -        countInMap|Integer
java java-synchronized        -        SessionStore
java java-small-heap          -        garbage|G1|GC Thread|Collect'

# The command that runs program $2 of language $1 in variant $3.
command_of() {
    case $1 in
    c) command=(workloads/bin/"$2" "$3") ;;
    python) command=("$python" workloads/faults/"$2"/main.py "$3") ;;
    java) command=("$(command -v java)" -Xmx256m -jar workloads/faults/bin/"$2".jar "$3") ;;
    esac
    # its fault is the heap
    [[ $2 != java-small-heap ]] || command[1]=-Xmx22m
}

# Runs "$@" under tool $1, whose files go to $out/$2-$1*; its operations a second to standard output.
under() { # TOOL NAME COMMAND…
    local tool=$1 to=$out/$2-$1 beside='' event=cpu
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
    py-spy) py-spy record -f raw -o "$to.folded" -- "$@" >"$to.log" 2>&1 ;;
    async-profiler*)
        [[ $tool != *-lock ]] || event=lock
        "$1" -agentpath:"$agent=start,event=$event,flat=30,traces=0,file=$to.flat" "${@:2}" >"$to.log" 2>&1 ;;
    esac
    if [[ -n $beside ]]; then
        "$@" >"$to.log" 2>&1
        kill -TERM "$beside" 2>/dev/null
        wait "$beside" 2>/dev/null
    fi
    awk '/^operations: / { n = $2 } /^truth: wall seconds / { s = $4 } END { if (s > 0) printf "%.0f", n / s }' "$to.log"
}
bytes() { find "$out" -name "$2-$1.*" ! -name '*.log' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }

# The tools that are there and are for programs in language $1, but for those that are not asked for.
tools_for() {
    local tool needs languages
    while read -r tool needs languages; do
        [[ " $languages " == *" $1 "* && " none ${ONLY:-$tool} " == *" $tool "* ]] || continue
        ! [[ -e $needs ]] && ! command -v "$needs" >/dev/null || echo "$tool"
    done <<<"$table"
}
asked_for() { [[ -z ${PROGRAMS:-} || " $PROGRAMS " == *" $1 "* ]]; }

cost() {
    local round tool language name command=()
    for ((round = 1; round <= rounds; round++)); do
        for name in 'c munmap-storm' 'c chatty-log' 'python comments-trim' 'java java-boxing'; do
            read -r language name <<<"$name"
            asked_for "$name" || continue
            command_of "$language" "$name" slow
            for tool in $(tools_for "$language" | grep -vx 'hyperfine\|.*-lock' | shuf); do
                printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$tool" "$round" \
                    "$(under "$tool" "$name" "${command[@]}" --seconds "$seconds")" "$(bytes "$tool" "$name")"
            done
        done
    done
}

# What a person reads of tool $1 for program $2: the first thirty lines of its usual report.
read_as() {
    local from=$out/$2-$1
    case $1 in
    twinscope) "$twinscope" explain "$from.twin" | grep -vE '^ +(→|check:)' ;; # what to try names nothing
    perf) perf report -i "$from.data" --stdio --no-children -g none 2>/dev/null | grep -v '^#' ;;
    strace) cat "$from.calls" ;;
    sar) sar -f "$from.sa" -u -w -B -d ;;
    atop) atop -r "$from.atop" 2>/dev/null | tail -n 60 ;;
    bpftrace) tail -n 30 "$from.stacks" ;;
    py-spy) awk '{ n = $NF; sub(/ [0-9]+$/, ""); print n, $0 }' "$from.folded" | sort -rn ;;
    async-profiler*) cat "$from.flat" ;;
    esac | head -n 30
}
names() {
    local language name ops sought tool said command=()
    while read -r -u 3 language name ops sought; do
        asked_for "$name" || continue
        for tool in $(tools_for "$language" | grep -vx none); do
            if [[ $tool == hyperfine ]]; then # it names nothing: how much faster the mended program is
                hyperfine --style basic --runs 3 "workloads/bin/$name fast --ops $ops" "workloads/bin/$name slow --ops $ops" \
                    >"$out/$name-$tool.read" 2>&1
                said=$(grep -oE '[0-9.]+ ± [0-9.]+ times faster' "$out/$name-$tool.read" || echo no)
            else
                command_of "$language" "$name" slow
                under "$tool" "$name" "${command[@]}" --seconds "$seconds" >/dev/null
                # the program's own name does not count, nor the 15 letters of it that the kernel keeps
                read_as "$tool" "$name" 2>&1 | sed "s/$name//g; s/${name:0:14}[a-z]*//g" >"$out/$name-$tool.read"
                said=no
                ! grep -qE "$sought" "$out/$name-$tool.read" || said=yes
            fi
            printf '%s\t%s\t%s\t%s\n' "$name" "$tool" "$said" "$sought"
        done
    done 3<<<"$programs"
}

case ${1:-} in
cost | names) "$1" ;;
*) wrong_usage "${1:-nothing}: neither cost nor names" ;;
esac
