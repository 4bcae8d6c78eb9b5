#!/usr/bin/env bash
# Measures what Twinscope costs, beside peers where there are some, and writes docs/benchmarks.md.
#
# usage: scripts/bench.sh [quick] [all|NAME…]     default: all
#
# Names: recorder processes host192 fast short size syscalls threads stacks services turns bottlenecks sharing load tune unwind jvm fleet remote flight own mcp agreement import imports report builds hour day sql, and build, which deletes target/ and is only run when named.
# `quick` measures for a shorter time and once, and leaves out `day` unless that is named. A run of some names keeps the figures of the others: those of
# target/bench, or else the page's. Timings fail nothing: the page says which budget is met.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

NAMES=(recorder processes host192 fast short size syscalls threads stacks services turns bottlenecks sharing load tune unwind jvm fleet remote flight own mcp agreement import imports report builds hour day sql build)
out=target/bench
twinscope=${TWINSCOPE:-target/release/twinscope}
helper=target/release/examples/bench
# Seconds of each measurement of a recorder, and how often each is made.
seconds=60 rounds=3 short=60 long=300
# How often a report is made and opened.
times=3

say() { echo "bench: $*" >&2; }

chosen=() quick=
for word in "$@"; do
    case $word in
        quick)
            seconds=20 rounds=1 short=20 long=60
            quick=1
            ;;
        all) ;;
        *)
            [[ " ${NAMES[*]} " == *" $word "* ]] || wrong_usage "$word: no such measurement"
            chosen+=("$word")
            ;;
    esac
done
if [[ ${#chosen[@]} -eq 0 ]]; then
    chosen=(recorder processes host192 fast short size syscalls threads stacks services turns bottlenecks sharing load tune unwind jvm fleet remote flight own mcp agreement import imports report builds hour sql)
    [[ -n $quick ]] || chosen+=(day)
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/twinscope-bench.XXXXXX")
started=()
clean() {
    # Only what was started here, each by its number.
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$work"
    [[ -z ${memory:-} ]] || rm -rf "$memory"
}
trap clean EXIT
mkdir -p $out

# A measured value: what was measured with which program, the metric, its unit, the value.
value() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>"$out/$section.tsv"; }
begin() {
    section=$1
    say "$section: $2"
    printf '#\t%s\t%s\n' "$(date -u +%F)" "$(git rev-parse --short=12 HEAD)$(git diff --quiet HEAD -- || echo ' with changes')" >"$out/$section.tsv"
}
size_of() { stat -c %s "$1"; }

# Runs a command and notes what it used: cost WHAT COMMAND…. Sets cpu, wall and rss. Its output goes to $work/output.
cost() {
    local what=$1 code
    shift
    : >"$work/cost"
    "$helper" run "$work/cost" "$@" >"$work/output" 2>"$work/errors" </dev/null
    IFS=$'\t' read -r cpu wall rss code <"$work/cost"
    # 3 says that a source which was asked for by name is not here (schedstat, on some kernels).
    [[ $code -eq 0 || $code -eq 3 ]] || say "$what ended with $code: $(tail -n 1 "$work/errors")"
}
# The same for a recorder: its CPU time as a share of one CPU.
recorder_cost() {
    cost "$@"
    value "$1" "CPU" % "$(awk -v c="$cpu" -v w="$wall" 'BEGIN { printf "%.3f", 100 * c / w }')"
    value "$1" "largest RSS" MiB "$(awk -v r="$rss" 'BEGIN { printf "%.1f", r / 1024 }')"
}

# Records with Twinscope for $seconds; the share without start and end comes from the recording itself.
record() {
    local file=$work/recorder.twin
    recorder_cost twinscope "$twinscope" record -q -f -o "$file" -d "${seconds}s" "$@"
    [[ -e $file ]] || return 0
    local steady total=$cpu spent=$wall
    steady=$("$twinscope" sql "$file" --format csv \
        'select (max(cpu) - min(cpu)) * 1.0 / (max(t) - min(t)) from recorder where t between 4.5e9 and (select max(t) from recorder) - 1e9' |
        tail -n 1) || steady=
    [[ $steady =~ ^[0-9.e-]+$ ]] || return 0
    value twinscope "CPU after the start" % "$(awk -v s="$steady" 'BEGIN { printf "%.3f", 100 * s }')"
    value twinscope "CPU of start and end" ms \
        "$(awk -v s="$steady" -v c="$total" -v w="$spent" 'BEGIN { printf "%.0f", 1000 * (c - s * w) }')"
}

sadc() { ls /usr/lib/sysstat/sadc /usr/lib64/sa/sadc /usr/lib/sa/sadc 2>/dev/null | head -n 1; }
peer() {
    local name=$1
    shift
    command -v "$1" >/dev/null && recorder_cost "$name" "$@" || say "$name is not here: scripts/install-deps.sh bench"
}

# As many processes as a small host has, at least.
fill_up() {
    local have
    have=$(find /proc -maxdepth 1 -name '[0-9]*' | wc -l)
    for ((have; have < $1; have++)); do
        sleep infinity &
        started+=($!)
    done
}

bench_recorder() {
    begin recorder "defaults, 1 s, $rounds rounds of $seconds s"
    fill_up 150
    for ((round = 0; round < rounds; round++)); do
        record
        peer sadc "$(sadc)" -S XALL 1 "$seconds" "$work/sadc"
        peer pidstat pidstat -hurdw 1 "$seconds"
        peer atop atop -w "$work/atop" 1 "$seconds"
        rm -f "$work"/{sadc,atop}
    done
}

bench_processes() {
    begin processes "2,000 more processes"
    for ((n = 0; n < 2000; n++)); do
        sleep infinity &
        started+=($!)
    done
    for ((round = 0; round < rounds; round++)); do
        record
        peer pidstat pidstat -hurdw 1 "$seconds"
        peer atop atop -w "$work/atop" 1 "$seconds"
        rm -f "$work/atop"
    done
    for pid in "${started[@]: -2000}"; do kill "$pid"; done
    wait "${started[@]: -2000}" 2>/dev/null || true
    started=("${started[@]::${#started[@]}-2000}")
}

# A folder in memory: files of a simulated host must cost no disk.
in_memory() {
    memory=${memory:-$(mktemp -d /dev/shm/twinscope-bench.XXXXXX 2>/dev/null || mktemp -d "$work/host.XXXXXX")}
}

bench_host192() {
    begin host192 "192 CPUs, 500 interrupt lines, 150 processes, simulated"
    in_memory
    "$helper" host "$memory/host" 192 500 150 >"$work/ready" &
    local host=$!
    started+=($host)
    until grep -q ready "$work/ready"; do sleep 0.2; done
    for ((round = 0; round < rounds; round++)); do record --root "$memory/host"; done
    kill $host
    rm -rf "$memory/host"
}

bench_fast() {
    begin fast "10 ms"
    for ((round = 0; round < rounds; round++)); do
        record -i 10ms --only cpu,kernel,schedstat,pressure,softirqs
        value twinscope "ticks skipped" "" "$("$twinscope" sql "$work/recorder.twin" --format csv 'select max(skipped) from recorder' | tail -n 1)"
    done
}

# CPU time and file of recordings that are hardly more than their start and end.
bench_short() {
    begin short "ten recordings of a second, ten of a command that ends at once"
    local round what file=$work/short.twin
    for ((round = 0; round < 10; round++)); do
        for what in "-d 1s" "-- true"; do
            # shellcheck disable=SC2086  # Two words each.
            cost twinscope "$twinscope" record -q -f -o "$file" $what
            value "record $what" CPU ms "$(awk -v c="$cpu" 'BEGIN { printf "%.0f", 1000 * c }')"
            value "record $what" file KiB "$(awk -v b="$(size_of "$file")" 'BEGIN { printf "%.1f", b / 1024 }')"
        done
    done
}

bench_size() {
    begin size "$short s and $long s"
    local pids=() s
    for s in $short $long; do
        "$twinscope" record -q -f -o "$work/size-$s.twin" -d "${s}s" &
        pids+=($!)
        if [[ -n $(sadc) ]]; then
            "$(sadc)" -S XALL 1 "$s" "$work/size-$s.sa" &
            pids+=($!)
        fi
    done
    started+=("${pids[@]}")
    wait "${pids[@]}"
    local of
    for of in twin sa; do
        [[ -e $work/size-$short.$of && -e $work/size-$long.$of ]] || continue
        local a b tool=twinscope
        [[ $of == twin ]] || tool=sadc
        a=$(size_of "$work/size-$short.$of") b=$(size_of "$work/size-$long.$of")
        value $tool "$short s" KiB "$(awk -v a="$a" 'BEGIN { printf "%.1f", a / 1024 }')"
        value $tool "$long s" KiB "$(awk -v a="$b" 'BEGIN { printf "%.1f", a / 1024 }')"
        value $tool "each second" B "$(awk -v a="$a" -v b="$b" -v s="$short" -v l="$long" 'BEGIN { printf "%.0f", (b - a) / (l - s) }')"
        value $tool "fixed part" KiB "$(awk -v a="$a" -v b="$b" -v s="$short" -v l="$long" 'BEGIN { printf "%.1f", (a - s * (b - a) / (l - s)) / 1024 }')"
    done
}

# Milliseconds until a report shows its first screen, and until its first page of charts is drawn.
interactive() {
    local browser
    browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
    if [[ -z $browser || ! -d ui/node_modules/playwright-core ]]; then
        say "no Chromium or no ui/node_modules: not measured how soon the page is interactive"
        return 0
    fi
    local round first charts
    for ((round = 0; round < times; round++)); do
        read -r first charts < <(CHROMIUM=$browser node scripts/bench/interactive.js "$1") || return 0
        value "$2" "first screen" ms "$first"
        value "$2" "first page of charts, from the click" ms "$charts"
    done
}
# What a report of these recordings takes.
report_of() {
    local round page=$work/report.html
    for ((round = 0; round < times; round++)); do
        cost report "$twinscope" report "$@" -o "$page"
        value "report" "time" s "$(printf %.2f "$wall")"
        value "report" "CPU" s "$(printf %.2f "$cpu")"
        value "report" "largest RSS" MiB "$((rss / 1024))"
    done
    value "report" "page" MiB "$(awk -v s="$(size_of "$page")" 'BEGIN { printf "%.2f", s / 1048576 }')"
    interactive "$page" report
}

# Two recordings of a minute, made once a run.
pair() {
    [[ -e $work/a.twin && -e $work/b.twin ]] && return 0
    say "recording two of 60 s"
    "$twinscope" record -q -o "$work/a.twin" -d 60s &
    "$twinscope" record -q -o "$work/b.twin" -d 60s &
    wait %% %-
}

bench_syscalls() {
    begin syscalls "the table of system calls"
    TWINSCOPE=$twinscope ROUNDS=$((rounds * 3)) scripts/bench/syscalls.sh >>"$out/$section.tsv" || say "syscalls: could not be measured"
}

bench_report() {
    begin report "two recordings of 60 s"
    pair
    report_of "$work/a.twin" "$work/b.twin"
}

# What a recording of all threads, and explaining it, takes where processes come and go by the thousand.
bench_builds() {
    begin builds "a compiler started again and again for $long s, every thread followed"
    local file=$work/builds.twin round
    printf 'int main(void) { return 0; }\n' >"$work/small.c"
    cost recording "$twinscope" record -q -f --all -o "$file" -- \
        sh -c "end=\$((\$(date +%s) + $long)); while [ \$(date +%s) -lt \$end ]; do cc -O1 -o '$work/small' '$work/small.c' && '$work/small'; done"
    # The command's own CPU time is not the recorder's: what that took it says itself.
    value recorder CPU % "$("$twinscope" sql "$file" --format csv 'select round(100.0 * max(cpu) / max(t), 2) from recorder' | tail -n 1)"
    value recorder "largest RSS" MiB "$("$twinscope" sql "$file" --format csv 'select max(rss) / 1048576 from recorder' | tail -n 1)"
    value recording "processes that ended" "" "$("$twinscope" sql "$file" --format csv 'select sum(n) from (select max(ended) as n from process_exit group by comm, parent)' | tail -n 1)"
    value recording size MiB "$(awk -v s="$(size_of "$file")" 'BEGIN { printf "%.1f", s / 1048576 }')"
    for ((round = 0; round < times; round++)); do
        cost explain "$twinscope" explain "$file"
        value explain time s "$(printf %.2f "$wall")"
        value explain "largest RSS" MiB "$((rss / 1024))"
    done
    report_of "$file"
}

# A recording of the simulated host of 192 CPUs and 100 processes over $1 seconds.
large() {
    [[ -e $work/$1.twin ]] && return 0
    in_memory
    say "making a recording of $1 s of 192 CPUs"
    "$helper" recording "$work/$1.twin" "$memory/made" 192 500 100 "$1" >&2
    rm -rf "$memory/made"
}

bench_hour() {
    begin hour "192 CPUs, an hour"
    large 3600
    value recording size MiB "$(awk -v s="$(size_of "$work/3600.twin")" 'BEGIN { printf "%.1f", s / 1048576 }')"
    report_of "$work/3600.twin"
}

bench_day() {
    begin day "192 CPUs, a day"
    large 86400
    value recording size MiB "$(awk -v s="$(size_of "$work/86400.twin")" 'BEGIN { printf "%.1f", s / 1048576 }')"
    local times=1
    report_of "$work/86400.twin"
}

bench_threads() {
    begin threads "switches and contended locks, with and without the ledger"
    local program=target/release/examples/ledger_cost what metric unit figure
    cargo build --release -q -p twinscope-sources --example ledger_cost
    while IFS=$'\t' read -r what metric unit figure; do
        value "$what" "$metric" "$unit" "$figure"
    done < <("$program" $((rounds == 1 ? 9 : rounds * 5)) && TWINSCOPE=$twinscope scripts/bench/ledger.sh $((rounds == 1 ? 10 : rounds * 5)))
}

bench_sql() {
    begin sql "queries"
    large 3600
    pair
    local round
    for ((round = 0; round < rounds; round++)); do
        cost sql "$twinscope" sql "$work/3600.twin" 'select 1'
        value "open, an hour of 192 CPUs" time ms "$(awk -v w="$wall" 'BEGIN { printf "%.0f", 1000 * w }')"
        cost sql "$twinscope" sql "$work/3600.twin" 'select cpu, avg(user), max(softirq) from cpu group by cpu'
        value "mean over the cpu table, 192 × 3600" time ms "$(awk -v w="$wall" 'BEGIN { printf "%.0f", 1000 * w }')"
        value "mean over the cpu table, 192 × 3600" "largest RSS" MiB "$((rss / 1024))"
        cost compare "$twinscope" compare "$work/a.twin" "$work/b.twin"
        value "compare two recordings of 60 s" time ms "$(awk -v w="$wall" 'BEGIN { printf "%.0f", 1000 * w }')"
        value "compare two recordings of 60 s" "largest RSS" MiB "$((rss / 1024))"
    done
}

bench_stacks() {
    begin stacks "99 samples a second, $((rounds * 4)) pairs"
    TWINSCOPE=$twinscope scripts/bench/stacks.sh $((rounds * 4)) >>"$out/$section.tsv"
}

bench_unwind() {
    begin unwind "stacks of real programs at 99 samples a second, $short s each"
    TWINSCOPE=$twinscope SECONDS_EACH=$short scripts/bench/unwind.sh >>"$out/$section.tsv"
}

bench_jvm() {
    begin jvm "pauses held against the JVM's own log, and what looking at JVMs costs"
    scripts/bench/jvm.py --twinscope "$twinscope" --seconds "$short" >>"$out/$section.tsv"
}

bench_fleet() {
    begin fleet "64 starts of a program whose speed is drawn at each, and fleets that never were"
    make -s -C workloads bands/bin/bands
    cargo build --release -q -p twinscope-fleet --example synthetic
    TWINSCOPE=$twinscope scripts/bench/fleet.sh >>"$out/$section.tsv"
}

bench_remote() {
    begin remote "200 names of an sshd on loopback, some that fail, and eight real recorders"
    [[ -x target/dist/twinscope-recorder-$(uname -m) ]] || scripts/build-recorder.sh "$(uname -m)" >&2
    TWINSCOPE=$twinscope scripts/bench/remote.sh >>"$out/$section.tsv"
}

bench_mcp() {
    begin mcp "what agents get of recordings"
    scripts/bench/agents.py --twinscope "$twinscope" >>"$out/$section.tsv"
}

bench_own() {
    begin own "what recording a whole machine costs, beside PostgreSQL"
    TWINSCOPE=$twinscope SECONDS_EACH=$([[ -n $quick ]] && echo 10 || echo 30) scripts/bench/own_cost.sh >>"$out/$section.tsv"
}

bench_flight() {
    begin flight "a flight recorder with triggers"
    TWINSCOPE=$twinscope scripts/bench/flight.sh >>"$out/$section.tsv"
}

bench_services() {
    begin services "services near their limit, $((rounds * 8)) stretches with and without"
    TWINSCOPE=$twinscope HELPER=$helper ROUNDS=$((rounds * 8)) scripts/bench/services.sh >>"$out/$section.tsv"
}

bench_bottlenecks() {
    begin bottlenecks "programs of which it is known what their instructions wait for"
    make -s -C workloads/bottlenecks
    TWINSCOPE=$twinscope TSV=1 scripts/bench/bottlenecks.py >>"$out/$section.tsv"
}

bench_sharing() {
    begin sharing "programs of which it is known what they share"
    make -s -C workloads/sharing
    scripts/bench/sharing.py --twinscope "$twinscope" --tsv >>"$out/$section.tsv"
}

bench_load() {
    begin load "20,000 requests a second to nginx, $((rounds == 1 ? 3 : 7)) rounds"
    TWINSCOPE=$twinscope HELPER=$helper ROUNDS=$((rounds == 1 ? 3 : 7)) scripts/bench/load.sh >>"$out/$section.tsv"
}

bench_tune() {
    begin tune "equal commands, alone and beside a program that comes and goes"
    command -v hyperfine >/dev/null || { say "hyperfine is not here"; return 0; }
    scripts/bench/tune.py --twinscope "$twinscope" --blocks 15 --loops 50000 --tsv >>"$out/$section.tsv"
}

bench_turns() {
    begin turns "servers under their clients, and what counting their turns takes"
    TWINSCOPE=$twinscope HELPER=$helper ROUNDS=$((rounds * 8)) scripts/bench/turns.sh >>"$out/$section.tsv"
}

bench_agreement() {
    begin agreement "figures beside those of schedstat, perf and strace"
    TWINSCOPE=$twinscope ROUNDS=$rounds scripts/bench/agreement.sh >>"$out/$section.tsv"
}

bench_import() {
    local megabytes=100 hour=3600
    [[ -z $quick ]] || megabytes=30 hour=60
    begin import "perf.data of $megabytes MB to a flame graph"
    command -v perf >/dev/null || { say "perf is not here"; return 0; }
    TWINSCOPE=$twinscope scripts/bench/import.sh $megabytes $hour >>"$out/$section.tsv"
}

bench_imports() {
    begin imports "500 instances of Prometheus, a day of sar, and 60 s of APerf where APERF names it"
    TWINSCOPE=$twinscope SECONDS_OF=$short scripts/bench/imports.sh >>"$out/$section.tsv"
}

bench_build() {
    begin build "the whole product from nothing"
    cost build make clean
    cost build make build
    value "make build" time s "$(printf %.0f "$wall")"
}

for tool in "$twinscope" "$helper"; do
    if [[ ! -x $tool && ${chosen[*]} != build ]]; then
        cargo build --release -p twinscope-cli --bins --examples
        break
    fi
done
for name in "${chosen[@]}"; do "bench_$name"; done
cp docs/benchmarks.md "$work/before.md"
scripts/bench/page.sh "$out" "scripts/bench.sh $*" "$work/before.md" >"$work/page.md"
cp "$work/page.md" docs/benchmarks.md
say "wrote docs/benchmarks.md"
