#!/usr/bin/env bash
# Prints docs/benchmarks.md from the figures of scripts/bench.sh.
#
# usage: scripts/bench/page.sh FOLDER COMMAND     FOLDER holds one NAME.tsv a measurement; COMMAND is named on the page
set -euo pipefail

folder=$1 command=${2%% }

# name, heading, what was done
SECTIONS="recorder|Recording at defaults|1 s interval, all sources, on this machine filled up to 150 processes where it had fewer. sadc, pidstat and atop ran in turn with it, at 1 s too: sadc with all its activities (-S XALL), pidstat with CPU, memory, I/O and switches of all tasks, atop writing its raw file. CPU time is that of the whole process with all its threads, from its start to its end, sealing included; for Twinscope also without start (loading eBPF programs, reading the facts of the host) and end, which a longer recording has once all the same.
processes|The same with 2,000 more processes|2,000 times \`sleep\`.
host192|The same on a simulated large host|192 CPUs, 500 interrupt lines and 150 processes as files in memory that a helper rewrites each second, read with \`--root\`. The time that a kernel takes to make the text of such files is not in it: only the recorder's own. Processes are read from \`/proc\`, without eBPF.
fast|10 ms interval|\`-i 10ms --only cpu,kernel,schedstat,pressure,softirqs\`
short|Short recordings|Little more than start and end, ten times in turn: \`record -d 1s\`, and \`record -- true\`, which follows threads, so that all eBPF programs are loaded. CPU time is that of the whole process with the command.
size|Size of a recording|All sources at 1 s, on this machine as it was. What a longer recording adds tells the cost of each second from the fixed part (declarations of tables, facts of the host).
syscalls|System calls|What the table of system calls adds to one \`getppid\`, in CPU time of the program that calls it in a loop; for \`strace -c\`, in elapsed time. The loop ran without, with \`--only syscalls --exact\`, where all its calls were counted, with \`--only syscalls\`, which thins itself out, under \`strace -c\`, and under bpftrace with a script that keeps number, time and histogram of each call as the table does, and with one that does nothing, in turn.
report|Report of two recordings of 60 s|Of this machine.
builds|Thousands of short processes|A C compiler started again and again for five minutes (one by \`quick\`) with \`record --all\`, so that every thread is followed; what the recorder took by its own account, and what explaining the recording takes.
hour|A large host for an hour|192 CPUs, 500 interrupt lines, 100 processes, 3,600 reads of every source. The simulated host was read for a minute by the real sources; what moved, how often and how far was then carried on through the real writer for an hour.
day|The same for a day|86,400 reads.
threads|Following every thread|What those who are followed pay: two threads that pass a byte to and fro on one CPU, and four that contend for a mutex. Rounds with and without the source \`threads\` (with stacks, read five times a second) alternate, each first by turns; of the ratios the median, the least and the greatest. Of a round the tenth counts that others who use the machine disturbed least: of the ping-pong in parts of some milliseconds, of the runs below in parts of 50 ms. Then the same recorded, as \`scripts/bench/ledger.sh\` does it: by \`record --only threads\` (the ledger) and by \`record\` with all sources, a mutex that is held for some microseconds, and 100,000 switches a second on one CPU; alone, with the one and with the other in turn.
sql|Questions|Each with the start of the program.
stacks|Sampling what runs|One busy thread with stacks of up to 40 frames, recorded with \`--only stacks\` at 99 samples a second and without samples, in turn; the ratio of the command's CPU times of each pair, less 1.
services|Services near their limit, and thousands of processes|nginx under wrk and PostgreSQL under pgbench on loopback, all on this machine's CPUs and under load all the time by as many threads as there are CPUs, so that these are never idle, with a recording of the whole service by \`--pid\` (ledger, waits with stacks, locks, system calls, samples, and all other sources) in stretches of ten seconds, in turn with stretches without and with stretches of what perf offers for a part of it: samples with stacks (\`perf record --call-graph dwarf\`; no waits, locks or calls) and each switch (\`perf sched record\`; no stacks, locks or calls). And shells that start one program after another, some thousand a second, with all threads recorded (\`--all\`). Other users of the machine slow it by tens of per cent, for tenths of a second to seconds. So of the throughput in tenths of a second the 95th percentile with the recording is compared to that without, which others disturbed least. And of the CPU time (without what was idle or stolen), the part that is the service's and its client's own code: a host that is slower for a while is so for all code, so that this is much steadier; it counts whatever the kernel does for the recording as loss, and the recorder itself, but not what the service's code loses to colder caches. *nothing* is half of the stretches without anything, compared in the same way to the others: what it shows is noise. Three figures are the lower end of a 95 % interval (whole stretches resampled), **the value**, and the upper end. Then what the kernel measures of the recorder alone, after half a minute under that load: its eBPF programs, without what it takes to call them and what they push out of caches, and its own CPU time, most of which it spends once a second, and which the percentile does not see.
agreement|Agreement with the kernel and other tools|Time on a CPU and waits for one of six threads, as the kernel accounts them in \`/proc/PID/schedstat\` at their end; shares of functions in samples that perf and Twinscope took of one run at the same time; counts of \`strace -c\` of the same command.
import|From perf.data to a flame graph|A perf.data of 100 MB (30 MB by \`quick\`) with stacks of 10 to 60 frames: \`twinscope import\` and \`twinscope flame\`, and perf with the FlameGraph scripts where \`FLAMEGRAPH\` names a clone of them. The aim is ten times as fast.
unwind|Stacks of real programs|How many samples were followed to the start of their thread (the goal is 95 %): nginx under wrk, PostgreSQL under pgbench, Python, Go, this recorder, clang and rustc (a frame of half a megabyte ends most of what rustc's front end leaves), and a JVM with and without \`-XX:+PreserveFramePointer\`; of the JVM's also how many of twenty compiled callers were found, with and without.
build|Build|\`make build\` after \`make clean\`, packages downloaded before."

# name, program, metric, the most that is allowed
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
report|report|time|1
report|report|page|3
report|report|first screen|1000
report|report|first page of charts, from the click|1000
hour|recording|size|30
hour|report|time|10
hour|report|largest RSS|1024
hour|report|page|25
hour|report|first screen|2000
hour|report|first page of charts, from the click|2000
build|make build|time|480"

cpu_model() { sed -n 's/^model name[[:space:]]*: //p; s/^Model[[:space:]]*: //p' /proc/cpuinfo | head -n 1; }
memory() { awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo; }

cat <<END
# Benchmarks

Written by \`$command\`: change the script, not this page. Figures are smallest – median – greatest of the measurements; one figure where there was one.
"× Twinscope" is the median divided by Twinscope's. Budgets are those of the design; nothing fails when one is missed.

Machine of the last run: $(cpu_model), $(nproc) CPUs, $(memory), Linux $(uname -r), load average $(cut -d' ' -f1-3 /proc/loadavg) at its end.
Peers: $( (sar -V 2>/dev/null | head -n 1; atop -V 2>/dev/null | head -n 1 | cut -d- -f1) | paste -sd, | sed 's/,/, /g; s/ *$//').
END

while IFS='|' read -r name heading text; do
    file=$folder/$name.tsv
    [[ -s $file ]] || continue
    IFS=$'\t' read -r _ date commit <"$file"
    printf '\n## %s\n\n%s Measured %s at commit %s.\n\n' "$heading" "$text" "$date" "$commit"
    awk -F'\t' -v name="$name" -v budgets="$BUDGETS" '
        function range(key, n, i, j, t) {
            n = split(values[key], v, " ")
            for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            least = v[1]; most = v[n]
            return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
        }
        BEGIN {
            n = split(budgets, lines, "\n")
            for (i = 1; i <= n; i++) { split(lines[i], b, "|"); if (b[1] == name) budget[b[2] "\t" b[3]] = b[4] }
            print "| program | metric | figure | budget | × Twinscope |"
            print "|---|---|---|---|---|"
        }
        /^#/ { next }
        { key = $1 "\t" $2; if (!(key in values)) order[++count] = key; unit[key] = $3; values[key] = values[key] " " $4 }
        END {
            for (i = 1; i <= count; i++) {
                key = order[i]; split(key, part, "\t"); median = range(key)
                figure = least == most ? median : least " – **" median "** – " most
                allowed = ""
                if (key in budget) allowed = "≤ " budget[key] " " unit[key] (median <= budget[key] + 0 ? ", met" : ", **not met**")
                ratio = ""
                own = "twinscope\t" part[2]
                if (part[1] != "twinscope" && own in values) { mine = range(own); if (mine > 0) ratio = sprintf("%.1f", median / mine) }
                printf "| %s | %s | %s %s | %s | %s |\n", part[1], part[2], figure, unit[key], allowed, ratio
            }
        }' "$file"
done <<<"$SECTIONS"
