#!/usr/bin/env bash
# How many samples of real programs are followed to the start of their thread: nginx under wrk, PostgreSQL under pgbench, Python, Go, Rust (this
# recorder), two compilers, whose stacks are deep, and JVMs. What is not installed here is left out, and said.
#
# usage: scripts/bench/unwind.sh [NAME…]     TWINSCOPE=path of the program, SECONDS_EACH=number, JDKS='path…' of more JVMs
#
# Names: nginx postgres python go rust clang rustc java. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
each=${SECONDS_EACH:-5}
names=("$@")
[[ $# -gt 0 ]] || names=(nginx postgres python go rust clang rustc java)
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

# A program with calls of all kinds, and a recursion of known depth, on a JVM $1 with the options after it.
java_with() {
    local java=$1
    shift
    "$java" "$@" -version >"$work/output" 2>&1 || return 0
    record -- "$java" "$@" -Xmx256m -cp "$work" Live "$each"
    # How the stacks with Java end, how many of their frames have names, and the depth of the recursion wherever its leaf is on the stack.
    "$twinscope" sql "$work/$name.twin" --format csv "with recursive chain(stack, at, java, named, leaf, deep, cut) as (
        select distinct stack, stack, 0, 0, 0, 0, 0 from sample where comm = 'java' and stack is not null
        union all
        select c.stack, s.parent, c.java + (coalesce(f.module, '') = '[jit]'),
            c.named + (coalesce(f.module, '') = '[jit]' and coalesce(f.function, 'Interpreter') <> 'Interpreter'),
            c.leaf or coalesce(f.function, '') = 'Live.leaf', c.deep + (coalesce(f.function, '') = 'Live.deep'),
            c.cut or coalesce(f.function, '') = '[truncated]'
        from chain c join stack s on s.number = c.at join frame f on f.number = s.frame where c.at is not null),
        told as (select stack, max(java) as java, max(named) as named, max(leaf) as leaf, max(deep) as deep, max(cut) as cut from chain group by stack)
        select count(*), sum(not t.cut), sum(t.java), sum(t.named), sum(t.leaf), sum(t.leaf and t.deep = 400)
        from sample w join told t on t.stack = w.stack where w.comm = 'java' and t.java > 0" | tail -n 1 |
        awk -F, -v what="$name" '$1 > 0 {
            printf "%s\tsamples with Java\t\t%d\n", what, $1
            printf "%s\tfollowed to the start of the thread\t%%\t%.1f\n", what, 100 * $2 / $1
            printf "%s\tframes of Java of a stack, mean\t\t%.1f\n", what, $3 / $1
            printf "%s\tof these with a name\t%%\t%.1f\n", what, 100 * $4 / $3
            if ($5 > 0) printf "%s\trecursions told with their depth\t%%\t%.1f\n", what, 100 * $6 / $5
        }'
    # What it costs to drain and follow a sample, native code and copies included.
    "$twinscope" sql "$work/$name.twin" --format csv "select max(events), max(cost_ns) from stacks_collector where collector = 'sampler'" |
        tail -n 1 | awk -F, -v what="$name" '$1 > 0 { printf "%s\ta sample, with draining it\tµs\t%.1f\n", what, $2 / $1 / 1000 }'
}
# Each JVM found (JDKS: paths of more, one to a word) with three collectors.
bench_java() {
    local jdk version collector before=$name
    missing javac && return
    javac --release 11 -nowarn -d "$work" crates/sources/src/hotspot/code/Live.java || return
    for jdk in $(realpath /usr/lib/jvm/* ${JDKS:-} | sort -u); do
        [[ -x $jdk/bin/java && ! -L $jdk ]] || continue
        version=$("$jdk/bin/java" -version 2>&1 | sed -n '1s/.*"\([0-9]*\).*/\1/p')
        for collector in G1 Parallel Z; do
            name=java-$version-$collector
            java_with "$jdk/bin/java" "-XX:+Use${collector}GC"
        done
    done
    name=$before
}

run_named "${names[@]}"
