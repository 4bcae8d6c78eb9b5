#!/usr/bin/env bash
# How many samples of real programs are followed to the start of their thread: nginx under wrk, PostgreSQL under pgbench, Python, Go, Rust (this
# recorder), two compilers, whose stacks are deep, and a JVM with and without -XX:+PreserveFramePointer. What is not installed here is left out, and said.
#
# usage: scripts/bench/unwind.sh [NAME…]     TWINSCOPE=path of the program, SECONDS_EACH=number
#
# Names: nginx postgres python go rust clang rustc java java-fp. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
each=${SECONDS_EACH:-5}
names=("$@")
[[ $# -gt 0 ]] || names=(nginx postgres python go rust clang rustc java java-fp)
# shellcheck source=scripts/bench/servers.sh
source scripts/bench/servers.sh

# From the samples of processes whose names are like $2 in the recording $1: the share that was followed to the start, and the mean depth.
measure() {
    "$twinscope" sql "$1" --format csv "with recursive chain(stack, at, depth) as (
        select distinct stack, stack, 1 from sample where comm like '$2' and stack is not null
        union all
        select c.stack, s.parent, c.depth + 1 from chain c join stack s on s.number = c.at where s.parent is not null),
        root as (select c.stack, max(c.depth) as depth,
                max(case when s.parent is null and f.function = '[truncated]' then 1 else 0 end) as cut
            from chain c join stack s on s.number = c.at join frame f on f.number = s.frame group by c.stack)
        select count(*), sum(case when r.cut = 0 then 1 else 0 end), avg(r.depth)
        from sample w left join root r on r.stack = w.stack where w.comm like '$2'" | tail -n 1 |
        awk -F, -v what="$name" '{
            printf "%s\tsamples\t\t%d\n", what, $1
            if ($1 > 0) {
                printf "%s\tfollowed to the start of the thread\t%%\t%.1f\n", what, 100 * $2 / $1
                printf "%s\tframes of a stack, mean\t\t%.1f\n", what, $3
            }
        }'
}
record() { "$twinscope" record -q -f -o "$work/$name.twin" --only stacks "$@" >"$work/output" 2>"$work/errors" || tail -n 2 "$work/errors" >&2; }

bench_nginx() {
    set_up_nginx 18951 'gzip on; gzip_types *; gzip_min_length 100;' || return 0
    cat >"$work/run" <<RUN
nginx -c $work/nginx.conf & server=\$!
sleep 0.5; wrk -t1 -c16 -d${each}s -H 'Accept-Encoding: gzip' http://127.0.0.1:18951/ ; kill \$server; wait
RUN
    record -- bash "$work/run"
    measure "$work/nginx.twin" nginx
}

bench_postgres() {
    local bin as
    set_up_postgres || return 0
    cat >"$work/run" <<RUN
cd $work/pg
${as[*]} $bin/postgres -D data -k $work/pg -h '' & server=\$!
for i in \$(seq 50); do $bin/pg_isready -q && break; sleep 0.1; done
${as[*]} $bin/pgbench -i -q -s 1 postgres; ${as[*]} $bin/pgbench -S -n -c 2 -T $each postgres; kill -INT \$server; wait
RUN
    record -- bash "$work/run"
    measure "$work/postgres.twin" 'postgres%'
}

bench_python() {
    missing python3 && return
    cat >"$work/run.py" <<PY
import json, re, time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def texts(): return len(re.findall(r'[a-z]+\d', json.dumps([{'key%d' % i: list(range(20))} for i in range(200)])))
end = time.time() + $each
while time.time() < end:
    fib(18); texts(); sorted(range(50000), key=lambda i: -i)
PY
    record -- python3 "$work/run.py"
    measure "$work/python.twin" 'python3%'
    # What it takes to follow the list of Python functions at each sample; what it takes to name them is in the cost of the sampler.
    "$twinscope" sql "$work/python.twin" --format csv "select s.events, p.events, p.cost_ns
        from (select max(events) as events from stacks_collector where collector = 'sampler') s,
        (select max(events) as events, max(cost_ns) as cost_ns from stacks_collector where collector = 'python') p" |
        tail -n 1 | awk -F, -v what="$name" -v seconds="$each" '$2 > 0 {
            printf "%s\tsamples with functions of Python\t%%\t%.1f\n", what, 100 * $2 / $1
            printf "%s\tfollowing them, a sample\tµs\t%.1f\n", what, $3 / $2 / 1000
            printf "%s\tfollowing them, share of a CPU\t%%\t%.3f\n", what, $3 / seconds / 1e7
        }'
}

bench_go() {
    missing go && return
    cat >"$work/gowork.go" <<GO
package main
import ("encoding/json"; "sort"; "sync"; "time")
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func main() {
	end := time.Now().Add($each * time.Second)
	var all sync.WaitGroup
	for i := 0; i < 4; i++ { all.Add(1); go func() { defer all.Done(); for time.Now().Before(end) {
		fib(20); m := map[string][]int{}; for i := 0; i < 100; i++ { m[string(rune(65+i))] = make([]int, 50) }
		b, _ := json.Marshal(m); _ = json.Unmarshal(b, &m); s := make([]int, 5000+len(b)%3); for i := range s { s[i] = -i }; sort.Ints(s)
	} }() }
	all.Wait()
}
GO
    (cd "$work" && HOME=${HOME:-$work} GOCACHE=$work/cache GO111MODULE=off GOFLAGS="" go build -o gowork gowork.go) || return
    record -- "$work/gowork"
    measure "$work/go.twin" gowork
}

bench_rust() {
    record -- "$twinscope" record -q -f -o "$work/inner.twin" --only processes,interrupts,vmstat,softirqs --interval 10ms -- sleep "$each"
    measure "$work/rust.twin" "$(basename "$twinscope" | cut -c1-15)%"
}

# Runs a command again and again.
again() {
    cat >"$work/run" <<RUN
end=\$((\$(date +%s) + $each))
while [ \$(date +%s) -lt \$end ]; do $*; done
RUN
    record -- sh "$work/run"
}

bench_clang() {
    missing clang++ && return
    cat >"$work/large.cpp" <<CPP
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
int main(int, char **words) {
    std::map<std::string, std::unordered_map<int, std::vector<std::string>>> all;
    all[words[0]][1].push_back(words[0]);
    std::cout << std::regex_match(words[0], std::regex("a(b|c)*d")) << all.size();
}
CPP
    again clang++ -O2 -c -o "$work/large.o" "$work/large.cpp"
    measure "$work/clang.twin" 'clang%'
}

bench_rustc() {
    missing rustc && return
    for i in $(seq 60); do
        echo "pub fn f$i(words: &[String]) -> std::collections::BTreeMap<String, Vec<(usize, u8)>> {
            let mut all = std::collections::BTreeMap::<_, Vec<_>>::new();
            for (k, v) in words.iter().enumerate().flat_map(|(i, w)| w.bytes().filter(|b| b % $((i + 1)) == 0).map(move |b| (format!(\"{w}{i}\"), (i, b)))) {
                all.entry(k).or_default().push(v);
            }
            all
        }"
    done >"$work/large.rs"
    again rustc --edition 2021 --crate-type lib -O --out-dir "$work" "$work/large.rs"
    measure "$work/rustc.twin" 'rustc%'
}

java_with() {
    missing java javac && return
    cat >"$work/Work.java" <<J
import java.util.*;
public class Work {
    static int leaf(int[] a) { int s = 0; for (int k = 0; k < 400; k++) for (int x : a) s = s * 31 + x; return s; }
    static int depth(int n, int[] a) { return n == 1 ? leaf(a) : depth(n - 1, a) + 1; }
    static double sums(int n) { double s = 0; for (int i = 1; i < n; i++) s += Math.sqrt(i) / i; return s; }
    static int maps() { Map<String, Integer> m = new TreeMap<>(); for (int i = 0; i < 500; i++) m.merge("k" + i % 97, i, Integer::sum); return m.size(); }
    public static void main(String[] a) {
        int[] data = new Random(1).ints(300).toArray(); double s = 0;
        long end = System.nanoTime() + ${each}_000_000_000L;
        while (System.nanoTime() < end) { s += sums(5000); s += maps(); s += depth(20, data); }
        System.out.println(s);
    }
}
J
    javac -d "$work" "$work/Work.java" && record -- java -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Work.depth -XX:CompileCommand=dontinline,Work.leaf "$@" -cp "$work" Work
    measure "$work/$name.twin" java
    # Work.leaf runs below twenty calls of Work.depth.
    "$twinscope" sql "$work/$name.twin" --format csv "with recursive chain(stack, at, leaf, depth) as (
        select distinct stack, stack, 0, 0 from sample where comm = 'java' and stack is not null
        union all
        select c.stack, s.parent, c.leaf or coalesce(f.function, '') like '%Work.leaf%', c.depth + (coalesce(f.function, '') like '%Work.depth%')
        from chain c join stack s on s.number = c.at join frame f on f.number = s.frame where c.at is not null),
        told as (select stack, max(leaf) as leaf, max(depth) as depth from chain group by stack)
        select count(*), avg(t.depth), sum(t.depth = 20) from sample w join told t on t.stack = w.stack where t.leaf and w.comm = 'java'" | tail -n 1 |
        awk -F, -v what="$name" '$1 > 0 {
            printf "%s\tcompiled callers found of 20, mean\t\t%.1f\n", what, $2
            printf "%s\tstacks with all 20\t%%\t%.1f\n", what, 100 * $3 / $1
        }'
}
bench_java() { java_with; }
bench_java-fp() { java_with -XX:+PreserveFramePointer; }

run_named "${names[@]}"
