#!/usr/bin/env bash
# Samples lead from the code that ran to the start of its thread, and name what ran: without frame pointers, inlined, stripped, from signal
# handlers, in the vDSO, in Rust and in a JVM.
#
# usage: tests/stacks.sh     TWINSCOPE=path of the program
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
# shellcheck source=tests/count.sh
. tests/count.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! command -v cc >/dev/null; then
    skip "stacks: no C compiler"
    finish
fi

cat >"$work/program.c" <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned long sum;
static volatile sig_atomic_t stop;
static inline __attribute__((always_inline)) void put_inside(void) { for (int i = 0; i < 1000; i++) sum += i; }
__attribute__((noinline)) void leaf(void) { put_inside(); __asm__ volatile(""); }
#define STEP(name, next) __attribute__((noinline)) void name(void) { next(); sum++; }
STEP(deep9, leaf) STEP(deep8, deep9) STEP(deep7, deep8) STEP(deep6, deep7) STEP(deep5, deep6)
STEP(deep4, deep5) STEP(deep3, deep4) STEP(deep2, deep3) STEP(deep1, deep2)
static double now(clockid_t clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) void ask_time(void) { struct timespec t; for (int i = 0; i < 1000; i++) clock_gettime(CLOCK_MONOTONIC, &t); sum += t.tv_nsec; }
static double until;
__attribute__((noinline)) void handler_works(void) { while (now(CLOCK_THREAD_CPUTIME_ID) < until) for (int i = 0; i < 100000; i++) sum += i; }
static void on_signal(int s) { (void)s; handler_works(); stop = 1; }
__attribute__((noinline)) void interrupted(void) { raise(SIGUSR1); while (!stop) sum++; }
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "deep";
    until = now(CLOCK_THREAD_CPUTIME_ID) + 2;
    if (!strcmp(what, "signal")) { signal(SIGUSR1, on_signal); interrupted(); return 0; }
    while (now(CLOCK_THREAD_CPUTIME_ID) < until) {
        if (!strcmp(what, "time")) for (int i = 0; i < 100; i++) ask_time();
        else for (int i = 0; i < 1000; i++) deep1();
    }
    return 0;
}
C
cc -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -o "$work/program" "$work/program.c" || bad "the C program does not compile"
strip -o "$work/stripped" "$work/program"

# Stacks of a recording as lines "weight root;…;leaf"; of one process name.
folded() {
    "$twinscope" sql "$1" --format csv "with recursive chain(stack, at, names) as (
        select distinct stack, stack, '' from sample where comm = '$2'
        union all
        select c.stack, s.parent, coalesce(f.function, '?') || ';' || c.names
        from chain c join stack s on s.number = c.at join frame f on f.number = s.frame)
        select sum(w.weight), c.names from chain c join sample w on w.stack = c.stack and w.comm = '$2'
        where c.at is null group by c.names" | tail -n +2 | tr -d '"' | tr , ' '
}
# Share of the weight whose stack matches a pattern.
share() { awk -v p="$1" '{ all += $1; names = substr($0, length($1) + 2); if (names ~ p) hit += $1 } END { printf "%.3f", all ? hit / all : 0 }' "$work/folded"; }
record() {
    local name=$1
    shift
    "$twinscope" record -q -f -o "$work/$name.twin" --only stacks -- "$@" >"$work/output" 2>"$work/errors" || bad "$name: $(tail -n 1 "$work/errors")"
}
# expect NAME PATTERN LEAST
expect() {
    local found
    found=$(share "$2")
    if awk -v f="$found" -v l="$3" 'BEGIN { exit !(f >= l) }'; then ok "$1: $found"; else
        bad "$1: $found of the CPU time, not $3; most: $(sort -rn "$work/folded" | head -n 3)"
    fi
}

record deep "$work/program" deep
if ! "$twinscope" sql "$work/deep.twin" --format csv 'select count(*) from sample' 2>/dev/null | tail -n 1 | grep -q '[1-9]'; then
    skip "stacks: no samples here: $("$twinscope" info "$work/deep.twin" 2>/dev/null | grep -i perf | head -n 1)"
    finish
fi
folded "$work/deep.twin" program >"$work/folded"
expect "a deep chain without frame pointers, with its inlined function" 'main;deep1;deep2;deep3;deep4;deep5;deep6;deep7;deep8;deep9;leaf;put_inside;$' 0.9
expect "stacks that reach the start of the program" '^(_start|__libc_start)' 0.95
# Two seconds of CPU time, whatever the machine does beside; a sample more or less at each end.
total=$(awk '{ s += $1 } END { printf "%.2f", s / 1e9 }' "$work/folded")
if awk -v t="$total" 'BEGIN { exit !(t > 1.8 && t < 2.3) }'; then ok "samples stand for $total s of 2 s"; else bad "samples stand for $total s of 2 s"; fi

cp "$work/stripped" "$work/bare"
record stripped "$work/bare" deep
folded "$work/stripped.twin" bare >"$work/folded"
expect "a stripped program reaches its start" '^(_start|__libc_start|\?;__libc_start)' 0.95

record signal "$work/program" signal
folded "$work/signal.twin" program >"$work/folded"
expect "from a signal handler to what it interrupted" 'main;interrupted;.*handler_works' 0.9

record time "$work/program" time
folded "$work/time.twin" program >"$work/folded"
expect "out of the vDSO" 'main;ask_time;.*clock_gettime' 0.8

if command -v rustc >/dev/null; then
    cat >"$work/rusty.rs" <<'R'
use std::hint::black_box;
struct Worker(u64);
impl Worker {
    #[inline(never)]
    fn churn(&mut self) { for i in 0..1000u64 { self.0 = black_box(self.0.wrapping_mul(31).wrapping_add(i)); } }
}
fn main() {
    let begin = std::time::Instant::now();
    let mut w = Worker(1);
    while begin.elapsed().as_millis() < 2000 { for _ in 0..1000 { w.churn(); } }
}
R
    rustc -O -g -o "$work/rusty" "$work/rusty.rs" && record rusty "$work/rusty"
    folded "$work/rusty.twin" rusty >"$work/folded"
    expect "Rust's names" 'rusty::main;.*rusty::Worker::churn' 0.9
else
    skip "stacks of Rust: no rustc"
fi

if command -v java >/dev/null && command -v javac >/dev/null; then
    cat >"$work/Busy.java" <<'J'
public class Busy {
    static double churn(int n) { double s = 0; for (int i = 1; i < n; i++) s += Math.sqrt(i) / i; return s; }
    public static void main(String[] a) { long end = System.nanoTime() + 5_000_000_000L; double s = 0; while (System.nanoTime() < end) s += churn(10_000); System.out.println(s); }
}
J
    javac -d "$work" "$work/Busy.java" && record java java -cp "$work" Busy
    folded "$work/java.twin" java >"$work/folded"
    expect "a JVM's methods" 'Busy.churn' 0.6
else
    skip "stacks of a JVM: no java or javac"
fi

if command -v perf >/dev/null && perf record -q -F 99 -g --call-graph dwarf -o "$work/perf.data" "$work/program" deep >/dev/null 2>&1; then
    theirs=$(perf report -i "$work/perf.data" --no-children -g none --stdio -F overhead,sym 2>/dev/null | awk '/leaf|put_inside/ { sub("%", "", $1); s += $1 } END { printf "%.3f", s / 100 }')
    folded "$work/deep.twin" program >"$work/folded"
    ours=$(share '(leaf|put_inside);$')
    if awk -v a="$ours" -v b="$theirs" 'BEGIN { d = a - b; exit !(d < 0.1 && d > -0.1) }'; then ok "leaf: $ours, perf says $theirs"; else bad "leaf: $ours, perf says $theirs"; fi
else
    skip "comparison with perf: perf is missing or may not record"
fi
finish
