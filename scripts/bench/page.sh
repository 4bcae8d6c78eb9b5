#!/usr/bin/env bash
# Prints docs/benchmarks.md from the figures of scripts/bench.sh.
#
# usage: scripts/bench/page.sh FOLDER COMMAND PAGE     FOLDER holds one NAME.tsv a measurement; COMMAND is named on the page; PAGE is the page as it was, whose
# sections are kept where FOLDER has no figures for them
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"

folder=$1 command=${2%% } page=$3

# name, heading, what was done; lines that begin with spaces continue the one before
SECTIONS="recorder|Recording at defaults|1 s interval, all sources, on this machine, filled up to 150 processes if it had fewer.
  sadc, pidstat and atop ran in turn with it, at 1 s too: sadc with all its activities (-S XALL), pidstat with CPU,
  memory, I/O and switches of all tasks, atop writing its raw file. CPU time is that of the whole process with all its
  threads, from start to end, sealing included; for Twinscope also without start (loading eBPF programs, reading host
  facts) and end, which a longer recording has only once too.
processes|The same with 2,000 more processes|2,000 times \`sleep\`.
host192|The same on a simulated large host|192 CPUs, 500 interrupt lines and 150 processes as files in memory that a
  helper rewrites every second, read with \`--root\`. The time that a kernel takes to generate such files is not
  included: only the recorder's own. Processes are read from \`/proc\`, without eBPF.
fast|10 ms interval|\`-i 10ms --only cpu,kernel,schedstat,pressure,softirqs\`
short|Short recordings|Little more than start and end, ten times in turn: \`record -d 1s\`, and \`record -- true\`,
  which traces threads, so that all eBPF programs are loaded. CPU time is that of the whole process with the command.
size|Size of a recording|All sources at 1 s, on this machine as it was. The growth of a longer recording separates the
  cost per second from the fixed part (table declarations, host facts).
syscalls|System calls|What the table of system calls adds to one \`getppid\`, in CPU time of the program that calls it
  in a loop; for \`strace -c\`, in elapsed time. The loop ran, in turn, untraced; with \`--only syscalls --exact\`,
  which counts all its calls; with \`--only syscalls\`, which uses a duty cycle; under \`strace -c\`; and under
  bpftrace, once with a script that keeps count, time and histogram of each call as the table does, and once with one
  that does nothing.
report|Report of two recordings of 60 s|Of this machine.
builds|Thousands of short processes|A C compiler started again and again for five minutes (one with \`quick\`) with
  \`record --all\`, so that all threads are traced; what the recorder took by its own account, and the cost of
  explaining the recording.
hour|A large host for an hour|192 CPUs, 500 interrupt lines, 100 processes, 3,600 reads of every source. The simulated
  host was read for a minute by the real sources; what changed, how often and how far was then extrapolated through the
  real writer for an hour.
day|The same for a day|86,400 reads.
threads|Tracing every thread|What traced threads pay: two threads that pass a byte back and forth on one CPU, and four
  that contend for a mutex. Rounds with and without the source \`threads\` (with stacks, read five times a second)
  alternate, each first by turns; of the ratios the median, the least and the greatest. Of each round only the least
  disturbed tenth counts: for the ping-pong in parts of some milliseconds, for the runs below in parts of 50 ms. Then
  the same while recording, by \`scripts/bench/ledger.sh\`: with \`record --only threads\` (the thread ledger) and with
  \`record\` and all sources, a mutex that is held for some microseconds, and 100,000 switches a second on one CPU;
  untraced and with each of the two in turn.
sql|Questions|Each including the start of the program.
stacks|CPU sampling|One busy thread with stacks of up to 40 frames, recorded with \`--only stacks\` at 99 samples a
  second and without samples, in turn; the ratio of the command's CPU times of each pair, less 1.
services|Services near their limit, and thousands of processes|nginx under wrk and PostgreSQL under pgbench on loopback,
  all on this machine's CPUs and loaded all the time by as many threads as there are CPUs, so that the CPUs are never
  idle. The whole service is recorded by \`--pid\` (thread ledger, waits with stacks, locks, system calls, samples, and
  all other sources) in stretches of ten seconds, in turn with stretches without recording and with stretches of what
  perf offers for a part of it: samples with stacks (\`perf record --call-graph dwarf\`; no waits, locks or system
  calls) and each switch (\`perf sched record\`; no stacks, locks or system calls). In addition, shells that start one
  program after another, some thousand a second, with all threads recorded (\`--all\`). Other users of the machine slow
  it by tens of per cent, for tenths of a second to seconds. Therefore the 95th percentile of the throughput in tenths
  of a second, which is least disturbed, is compared with that without recording. And of the CPU time (without idle and
  steal), the part that is the service's and its client's own code: a host that is slower for a while is so for all
  code, so this is much steadier; it counts all kernel work for the recording, and the recorder itself, as loss, but not
  what the service's code loses to colder caches. *nothing* is half of the stretches without recording, compared in the
  same way with the other half: what it shows is noise. Three figures are the lower end of a 95 % confidence interval
  (whole stretches resampled), **the value**, and the upper end. Finally, what the kernel measures of the recorder
  alone, after half a minute under that load: its eBPF programs, without the cost of calling them and of what they evict
  from caches, and its own CPU time, most of which it spends once a second, and which the percentile does not see.
turns|Turns: what servers did, counted from outside|Servers on loopback, each recorded by \`--pid\` with the source
  \`turns\` alone, and all of it (\`--exact\`), while a client asks for five seconds; two as it is by default.
  *Requests* are what the client says it did; a turn is something received and something sent after it. The *difference*
  is what is left beyond the turns that the client does not count (the handshake of TLS, the start of a session of
  PostgreSQL) and the requests that were open when it was stopped, of which the server may have answered any. Latencies
  of the client include the way there and back, and its own queue; service time is from the first byte that the server
  read to the first that it sent. A pipeline of Redis is one turn. Then hostile clients, for which nginx's log says what
  it did, with the recorder's memory; service time beside what nginx (\`\$request_time\`, milliseconds) and PostgreSQL
  (\`log_duration\`) wrote down themselves; and what it costs nginx at its limit, as in the section on services near
  their limit, with the time of the eBPF programs a turn, as the kernel measures it.
agreement|Agreement with the kernel and other tools|On-CPU time and run-queue wait of six threads, compared with
  \`/proc/PID/schedstat\` at their end; shares of functions in samples that perf and Twinscope took of one run at the
  same time; counts of \`strace -c\` of the same command.
import|From perf.data to a flame graph|A perf.data of 100 MB (30 MB with \`quick\`) with stacks of 10 to 60 frames:
  \`twinscope import\` and \`twinscope flame\`, and perf with the FlameGraph scripts if \`FLAMEGRAPH\` names a clone of
  them. The aim is ten times as fast. Then an hour of a machine of 16 busy CPUs at 99 Hz (a minute with \`quick\`), of
  5.7 million samples, exported to the Firefox Profiler.
imports|Imports|What monitoring systems wrote, as recordings: 20 answers of Prometheus with an hour of 500 instances at
  15 s, a day of sar at 10 minutes, a run of APerf of 60 s where \`APERF\` names the program; and how far its figures are
  from those of a recording of the same time (the goal is 1 %).
unwind|Stacks of real programs|Share of samples that were unwound to the start of their thread (the goal is 95 %): nginx
  under wrk, PostgreSQL under pgbench, Python, Go, this recorder, clang and rustc (a frame of half a megabyte ends most
  of the remaining stacks of rustc's front end), and JVMs, each found one with three collectors: what reaches the
  JVM's entry (the goal is 98 %), what has names (99 %), and whether a recursion of 400 calls is told as such (99 %).
jvm|Pauses of JVMs|A program that allocates (\`crates/sources/src/jvm/Pauses.java\`) with each JDK and collector here, recorded with
  \`--only jvm\`: which of the pauses of 1 ms and more in the log of the JVM (\`-Xlog:gc\` with CLOCK_MONOTONIC) were told one
  by one, how far off begin and length were, and the sum of all. Then what looking at JVMs costs a recording of the
  whole machine (the goal is 0.05 % of a CPU for each); the JVM that collects has a heap of 64 MiB, and some 110 pauses
  a second.
fleet|Fleets|64 starts of \`workloads/bands\`, of which one in eight is fast by chance, each recorded for 2 s, all on one host:
  what \`fleet add\` and \`fleet bands\` take, and whether each start is found in the band that its own output says. Then
  fleets that never were (\`crates/fleet/examples/synthetic\`): bands, with what separates them (goals: 500 hosts of
  1,200 metrics in 1 s, 5,000 in 10 s and 1 GB, 10,000 in 25 s), the page of 5,000 (goals: 5 MB, first screen 2 s), and
  the same questions answered by DuckDB (20 s) and Spark with two executor processes (150 s). Of 40 starts of a program
  of two threads, ten may use one CPU only: that is to be the first line.
remote|Recording many hosts|200 names of one sshd on loopback, so both sides of each connection are on this machine, recorded for
  10 s with a recorder that copies a small recording: CPU time and memory of \`twinscope fleet record\` and of the ssh that it
  starts. Then five of them refuse, three hang, two have a full disk and one dies while it is fetched. Then eight real
  recorders, all on this machine.
own|Recording a whole machine|\`record --all\` beside 200 idle processes and PostgreSQL under pgbench with 4 clients, on
  loopback, with and without samples. CPU time is that of the recorder's process: while it records, by its own table
  \`recorder\`, and in all, by wait4(2). Not included is what its eBPF programs take of those whom they look at.
flight|A flight recorder with triggers|200 triggers on one metric that never fire, beside none, in turn, three times each: the median of the
  differences by trigger. Then a load that begins at a known time: when the trigger fires, when its snapshot is whole, and
  when the close look begins (goals: 0.02 % of a CPU a trigger, at the first reading at which it holds, 2 s, 1 s, memory back to 2 MB).
mcp|Recordings for agents|A scripted client of \`twinscope mcp\` and the kept pairs of the fault bench with different causes, ten of them: it lists
  the recordings, asks \`explain\`, reads the first cause and runs its query (goals: the right cause in 6 calls and 60 KB, the
  description of the tools included). Then the time until a client knows the server (goal: 100 ms), and \`explain\` as a
  tool and as a command, in turn; and every tool by the official SDK for Python, where that is there.
bottlenecks|Waits of instructions, rounds of loops, calls|The programs of \`workloads/bottlenecks\`, of which it is known what
  they wait for and which count what they do, each recorded for 6 s, some with \`--count-calls\`: whether \`twinscope asm\`
  says the class of wait that its function has, and the time of a round of its loop or between its calls, as it counts.
sharing|Shared cache lines|The programs of \`workloads/sharing\`, of which it is known which threads share what, each recorded for
  some seconds with \`--sharing\`; kind, function, data and fields of the first finding of \`twinscope sharing\`, and the
  speed-up that it predicts beside the CPU time of an operation in the program by that in its mended twin, which ran
  right after it. Programs whose access another one of the twin does not have (true sharing) save that too.
load|The client: twinscope load|20,000 requests a second to nginx over 32 connections, each program on a CPU of its own, on
  loopback, in turn with wrk: how late requests were sent, and CPU time of the client for each request. wrk has no rate.
  Over 32 connections it asks as often as nginx answers, so that neither ever sleeps; over one connection each has to be
  woken for each request, as at a constant rate below the server's limit. Only the wake-ups cost more than that: the same
  client without a rate (\`--rate max\`) takes what wrk takes.
tune|Experiments with equal commands|A command held against itself by \`twinscope tune\`, at most 15 blocks, each session new: alone, and
  beside one busy process that comes and goes every few seconds. Then tune and hyperfine beside that process, the same
  time each, in random order; hyperfine calls nothing itself, so its times are judged by Welch's t at 5 % as its script
  \`welch_ttest.py\` does. Whatever is called a difference is wrong.
build|Build|\`make build\` after \`make clean\`, packages downloaded before."

# What is a table with a row for each program: name, and the metrics that are its columns, in their order
WIDE="turns|requests, by the client|turns before these|open at the end, at most|turns|difference|p50 of the client|p50 of service time|p99 of the client|p99 of service time"

# name, program (*: each), metric, the most that is allowed
BUDGETS="recorder|twinscope|CPU|0.3
recorder|twinscope|CPU after the start|0.3
recorder|twinscope|largest RSS|30
processes|twinscope|CPU|1.5
processes|twinscope|CPU after the start|1.5
host192|twinscope|CPU|2
host192|twinscope|CPU after the start|2
stacks|99 Hz|CPU time of the command, median|1
fast|twinscope|CPU|2
fast|twinscope|CPU after the start|2
short|record -d 1s|CPU|120
short|record -d 1s|file|96
short|record -- true|CPU|120
size|twinscope|each second|1024
syscalls|twinscope|added to a getppid|150
threads|pipe ping-pong|cost|300
threads|contended mutex|loss with the ledger|5
threads|contended mutex|loss with all sources|5
threads|100k switches/s|loss with the ledger|5
services|nginx under wrk|loss where others disturb least|2
services|PostgreSQL under pgbench -S|loss where others disturb least|2
services|nginx under wrk|loss by CPU time|2
services|PostgreSQL under pgbench -S|loss by CPU time|2
turns|*|difference|0.1
turns|*|connections, difference|1
turns|nginx under wrk|loss by CPU time|1.5
turns|nginx under wrk, --exact|a turn|120
import|60 minutes of 16 CPUs at 99 Hz, flame -o x.firefox.json|time|20
import|60 minutes of 16 CPUs at 99 Hz, flame -o x.firefox.json|largest RSS of a process|1024
imports|Prometheus, 500 instances × 20 queries × 1 h at 15 s|time|10
imports|sar, 24 h at 10 min|time|0.2
imports|APerf, 60 s|time|1
fleet|starts|fleet add, a recording|60
fleet|starts|summary of a recording|60
fleet|1000 recordings|fleet add|60
fleet|1000 recordings|memory at most|300
fleet|500 hosts of 1,200 metrics|fleet bands with what separates them|1
fleet|5000 hosts of 1,200 metrics|fleet bands with what separates them|10
fleet|5000 hosts of 1,200 metrics|memory at most|1024
fleet|10000 hosts of 1,200 metrics|fleet bands with what separates them|25
fleet|5000 hosts of 1,200 metrics|fleet bands on duckdb, with its start|20
fleet|5000 hosts of 1,200 metrics|fleet bands on spark, with its start|150
fleet|page of 5000 hosts|page|5
fleet|page of 5000 hosts|first screen|2000
remote|200 hosts|in all|90
remote|200 hosts|CPU on our side, a host|150
remote|200 hosts|memory on our side at most|300
remote|8 recorders|begun within|0.5
flight|a trigger on cpu.busy, at 1 s|CPU|0.02
flight|a trigger on process.user, at 1 s|CPU|0.02
flight|a load that begins|the snapshot is whole so long after it was due|2
flight|a close look|begun so long after the trigger|1
mcp|the cause of 10 pairs|calls, at most|6
mcp|the cause of 10 pairs|sent, at most|60
mcp|start|until the client knows the server|100
report|report|time|1
report|report|page|3
report|report|first screen|1000
report|report|first page of charts, from the click|1000
load|load --rate 20000 -c 32|late, median|60
load|load --rate 20000 -c 32|late, p99|1000
load|load --rate 20000 -c 32|by that of wrk -c 1|1.5
load|load --rate 20000 -c 32|by that of wrk -c 32|1.5
load|load --rate max -c 32|by that of wrk -c 32|1.5
hour|recording|size|30
hour|report|time|10
hour|report|largest RSS|1024
hour|report|page|25
hour|report|first screen|2000
hour|report|first page of charts, from the click|2000
build|make build|time|480"

# Lines of at most 120 bytes, as those of all docs
wrap() { fold -s -w 120 | sed 's/ *$//'; }

cpu_model() { sed -n 's/^model name[[:space:]]*: //p; s/^Model[[:space:]]*: //p' /proc/cpuinfo | head -n 1; }
memory() { awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo; }

cat <<END
# Benchmarks

Written by \`$command\`: change the script, not this page.
Figures are minimum – median – maximum of the measurements; one figure if there was one. "× Twinscope" is the median
divided by Twinscope's. Budgets are those of the design; nothing fails if one is missed.

Machine of the last run: $(cpu_model), $(nproc) CPUs, $(memory),
Linux $(uname -r), load average $(cut -d' ' -f1-3 /proc/loadavg) at its end.
Peers: $( (sar -V 2>/dev/null | head -n 1; atop -V 2>/dev/null | head -n 1 | cut -d- -f1) | paste -sd, | sed 's/,/, /g; s/ *$//; s/^$/none of sar and atop is here/').
END

while IFS='|' read -r name heading text; do
    file=$folder/$name.tsv
    if [[ ! -s $file ]]; then
        # Up to the next heading, whose line before is empty.
        awk -v of="## $heading" '/^## / { on = $0 == of; if (on) print "" } on && !/^$/ { for (; empty; empty--) print ""; print } on && /^$/ { empty++ }' "$page"
        continue
    fi
    IFS=$'\t' read -r _ date commit <"$file"
    printf '\n## %s\n\n' "$heading"
    printf '%s Measured %s at commit %s.\n' "$text" "$date" "$commit" | wrap
    echo
    awk -F'\t' -v name="$name" -v budgets="$BUDGETS" -v wide="$(grep "^$name|" <<<"$WIDE")" '
        function range(key, n, i, j, t) {
            n = split(values[key], v, " ")
            for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            least = v[1]; most = v[n]
            return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
        }
        BEGIN {
            n = split(budgets, lines, "\n")
            for (i = 1; i <= n; i++) { split(lines[i], b, "|"); if (b[1] == name) budget[b[2] "\t" b[3]] = b[4] }
            columns = split(wide, column, "|")
            for (i = 2; i <= columns; i++) in_wide[column[i]] = 1
        }
        # The budget of a program, or that of each.
        function allowed_for(program, metric) {
            return (program "\t" metric) in budget ? budget[program "\t" metric] : budget["*\t" metric]
        }
        # The programs that have the first of the columns, one a row.
        function table_of_programs(i, j, key, row, line) {
            row = "| program |"; line = "|---|"
            for (i = 2; i <= columns; i++) {
                allowed = allowed_for("*", column[i])
                row = row " " column[i] (allowed == "" ? "" : " (≤ " allowed " %)") " |"; line = line "---|"
            }
            print row; print line
            for (i = 1; i <= count; i++) {
                split(order[i], part, "\t")
                if (part[2] != column[2]) continue
                row = "| " part[1] " |"
                for (j = 2; j <= columns; j++) {
                    key = part[1] "\t" column[j]
                    if (!(key in values)) { row = row " |"; continue }
                    median = range(key); allowed = allowed_for(part[1], column[j])
                    figure = median (unit[key] == "" ? "" : " " unit[key])
                    row = row " " (allowed != "" && median > allowed + 0 ? "**" figure "**" : figure) " |"
                }
                print row
            }
            print ""
        }
        /^#/ { next }
        {
            key = $1 "\t" $2
            if (!(key in values)) order[++count] = key
            unit[key] = $3
            # An answer in words is no row of figures.
            if ($4 ~ / /) words[key] = $4
            values[key] = values[key] " " $4
        }
        END {
            if (columns) table_of_programs()
            print "| program | metric | figure | budget | × Twinscope |"
            print "|---|---|---|---|---|"
            for (i = 1; i <= count; i++) {
                key = order[i]; split(key, part, "\t")
                if (part[2] in in_wide) continue
                if (key in words) { printf "| %s | %s | %s |  |  |\n", part[1], part[2], words[key]; continue }
                median = range(key)
                figure = least == most ? median : least " – **" median "** – " most
                allowed = ""
                most_allowed = allowed_for(part[1], part[2])
                if (most_allowed != "") allowed = "≤ " most_allowed " " unit[key] (median <= most_allowed + 0 ? ", met" : ", **not met**")
                ratio = ""
                own = "twinscope\t" part[2]
                if (part[1] != "twinscope" && own in values) { mine = range(own); if (mine > 0) ratio = sprintf("%.1f", median / mine) }
                printf "| %s | %s | %s %s | %s | %s |\n", part[1], part[2], figure, unit[key], allowed, ratio
            }
        }' "$file"
done < <(sed -e ':join' -e '$!N; s/\n  */ /; t join' -e 'P; D' <<<"$SECTIONS")
