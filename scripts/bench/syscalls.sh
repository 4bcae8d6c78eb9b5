#!/usr/bin/env bash
# What the table of system calls costs: nanoseconds of CPU time of one getppid(2), without a recorder, with `twinscope record --only syscalls`
# that counts exactly (--exact) and that thins itself out, and where they are here under `strace -c` and two programs of bpftrace: one that keeps
# number, time and histogram of each call as the recorder does, and one that does nothing, which is what it takes to look at all. They are interleaved.
#
# usage: scripts/bench/syscalls.sh     TWINSCOPE=path of the program, ROUNDS=number, CALLS=number
#
# Each line: what, metric, unit, value, separated by tabs, as scripts/bench.sh keeps them.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."

twinscope=${TWINSCOPE:-target/release/twinscope}
rounds=${ROUNDS:-9} calls=${CALLS:-2000000}
work=$(mktemp -d "${TMPDIR:-/tmp}/twinscope-syscalls.XXXXXX")
trap 'rm -rf "$work"' EXIT

cat >"$work/loop.c" <<'LOOP'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* CPU time of this process alone: what others do on the machine does not count. */
int main(int count, char **words)
{
	long calls = count > 1 ? atol(words[1]) : 1000000;
	struct timespec from, to;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	fprintf(stderr, "%.2f\n", ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / calls);
	return 0;
}
LOOP
"${CC:-cc}" -O2 -o "$work/loop" "$work/loop.c"

# Wall-clock time counts for strace: it stops the program and works meanwhile.
wall() {
    local from=$EPOCHREALTIME to
    "$@" >/dev/null 2>&1
    to=$EPOCHREALTIME
    awk -v a="$from" -v b="$to" 'BEGIN { printf "%.9f", b - a }'
}

# The calls that recording $1 has, as a ratio to the $2 that were made.
counted_of() {
    "$twinscope" sql --format csv "$work/$1.twin" "select max(count) / $2.0 from syscall where call = 'getppid' and comm = 'loop'" | tail -n 1
}

# Adds to file $1 what bpftrace lets a getppid take that runs program $2; nothing where it cannot.
by_bpftrace() {
    timeout 60 bpftrace -e "$2" -c "$work/loop $calls" 2>&1 >/dev/null | grep -xE '[0-9.]+' >>"$work/$1" || true
}
begins=tracepoint:raw_syscalls:sys_enter ends=tracepoint:raw_syscalls:sys_exit
counts="$begins { @since[tid] = nsecs; @call[tid] = args->id; }
    $ends /@since[tid]/ { \$spent = nsecs - @since[tid]; @number[comm, @call[tid]] = count(); @time[comm, @call[tid]] = sum(\$spent);
        @lengths[comm, @call[tid]] = hist(\$spent); delete(@since[tid]); delete(@call[tid]); }"

traced=20000
for ((round = 0; round < rounds; round++)); do
    "$work/loop" "$calls" 2>>"$work/without"
    "$twinscope" record -q -f -o "$work/a.twin" --only syscalls --exact -- "$work/loop" "$calls" 2>>"$work/with"
    # Long enough for most of it to be past the time in which what it costs is found out, and for some stretches.
    "$twinscope" record -q -f -o "$work/b.twin" --only syscalls -- "$work/loop" $((calls * 25)) 2>>"$work/thinned"
    counted_of b "$((calls * 25))" >>"$work/estimated"
    if command -v bpftrace >/dev/null; then
        by_bpftrace bpftrace "$counts"
        by_bpftrace empty "$begins { } $ends { }"
    fi
    if command -v strace >/dev/null && [[ $round -lt 3 ]]; then
        awk -v a="$(wall "$work/loop" $traced)" -v b="$(wall strace -c -o /dev/null "$work/loop" $traced)" -v n=$traced \
            'BEGIN { printf "%.0f\n", (b - a) * 1e9 / n }' >>"$work/strace"
    fi
done
counted=$("$twinscope" sql --format csv "$work/a.twin" "select max(count) from syscall where call = 'getppid' and comm = 'loop'" | tail -n 1)

# One line a round: what prints them finds the median and the spread.
lines() { awk -v what="$1" -v metric="$2" -v unit="$3" '{ printf "%s\t%s\t%s\t%.2f\n", what, metric, unit, $1 }'; }
# Only lines that are one number: the recorder may say something too.
grep -xE '[0-9.]+' "$work/without" >"$work/off"
grep -xE '[0-9.]+' "$work/with" >"$work/on"
grep -xE '[0-9.]+' "$work/thinned" >"$work/part"
lines "no recorder" "a getppid" ns <"$work/off"
paste "$work/off" "$work/on" | awk '{ print $2 - $1 }' | lines twinscope "added to a getppid" ns
paste "$work/off" "$work/on" | awk '{ print $2 / $1 }' | lines twinscope "a getppid, ratio to none" ""
paste "$work/off" "$work/part" | awk '{ print $2 - $1 }' | lines "twinscope, thinned out" "added to a getppid" ns
lines "twinscope, thinned out" "calls estimated, ratio to those made" "" <"$work/estimated"
for what in bpftrace empty; do
    name=bpftrace
    [[ $what == bpftrace ]] || name="bpftrace, programs that do nothing"
    # Where one round failed, rounds would be put beside others.
    [[ $(wc -l <"$work/$what" 2>/dev/null || echo 0) -ne $rounds ]] || paste "$work/off" "$work/$what" | awk '{ print $2 - $1 }' | lines "$name" "added to a getppid" ns
done
[[ ! -s $work/strace ]] || lines "strace -c" "added to a getppid" ns <"$work/strace"
if [[ $counted != "$calls" ]]; then
    echo "syscalls.sh: $calls calls were made, ${counted:-none} were counted" >&2
    exit 1
fi
