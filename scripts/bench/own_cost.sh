#!/usr/bin/env bash
# What recording a whole machine costs the machine: `record --all` beside idle processes and PostgreSQL under pgbench, on loopback.
#
# usage: scripts/bench/own_cost.sh     TWINSCOPE=path of the program, SECONDS_EACH=length of each recording, IDLE=processes that do nothing
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/bench/servers.sh
source scripts/bench/servers.sh
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
seconds=${SECONDS_EACH:-10} idle=${IDLE:-200} clients=4
name="the recorder's own cost"

put() { printf '%s\t%s\t%s\t%s\n' "$@"; }

set_up_postgres || exit 0
missing "$bin/pgbench" && exit 0
"${as[@]}" "$bin/postgres" -D "$work/pg/data" -k "$work/pg" -c listen_addresses= >/dev/null 2>&1 &
started+=($!)
until "${as[@]}" "$bin/pg_isready" -q; do sleep 0.1; done
"${as[@]}" "$bin/createdb" bench
"${as[@]}" "$bin/pgbench" -i -q -s 10 bench >/dev/null 2>&1
for ((n = 0; n < idle; n++)); do
    sleep infinity &
    started+=($!)
done

# recording FILE OPTIONS…: beside pgbench; puts "seconds of CPU, seconds from call to end, seconds recorded, CPUs in use meanwhile" into $work/cost.
recording() {
    local file=$work/$1 load
    shift
    "${as[@]}" "$bin/pgbench" -n -c $clients -T $((seconds + 30)) bench >/dev/null 2>&1 &
    load=$!
    sleep 2
    python3 - "$twinscope" "$file" "$seconds" "$@" <<'PY' >"$work/cost"
import json, os, subprocess, sys, time
program, file, seconds, *options = sys.argv[1:]
begun = time.time()
started = subprocess.Popen([program, "record", "-q", "-f", "-d", seconds + "s", "-o", file, *options])
_, status, used = os.wait4(started.pid, 0)
ended = time.time()
if status:
    sys.exit(f"record ended with {status}")
info = json.loads(subprocess.run([program, "info", "--json", file], capture_output=True, check=True).stdout)
info = info[0] if isinstance(info, list) else info
manifest = info["manifest"]
start, recorded = manifest["start_unix"] / 1e9, manifest["duration"] / 1e9
asked = "select (max(cpu) - min(cpu)) * 1.0 / (max(t) - min(t)) as cpus, max(rss) as rss from recorder"
rows = json.loads(subprocess.run([program, "sql", "--json", file, asked], capture_output=True, check=True).stdout)
cpu = used.ru_utime + used.ru_stime
print(cpu, start - begun, recorded, ended - start - recorded, rows[0]["cpus"], used.ru_maxrss / 1024)
PY
    kill $load 2>/dev/null || true
    wait $load 2>/dev/null || true
}

# peer NAME OPTIONS…: the same load beside perf, which writes samples down and reads nothing else.
peer() {
    local what=$1 load
    shift
    "${as[@]}" "$bin/pgbench" -n -c $clients -T $((seconds + 30)) bench >/dev/null 2>&1 &
    load=$!
    sleep 2
    python3 - "$work/peer.data" "$seconds" "$@" <<'PY' >"$work/cost"
import os, subprocess, sys
file, seconds, *options = sys.argv[1:]
# perf waits for the command's end and counts its time as its own: sleep takes none.
started = subprocess.Popen(["perf", "record", "-q", "-a", "-o", file, *options, "--", "sleep", seconds], stderr=subprocess.DEVNULL)
_, status, used = os.wait4(started.pid, 0)
if status:
    sys.exit(f"perf ended with {status}")
cpu = used.ru_utime + used.ru_stime
print(cpu, cpu / float(seconds), os.path.getsize(file) / 1e6)
PY
    kill $load 2>/dev/null || true
    wait $load 2>/dev/null || true
    read -r cpu window size <"$work/cost"
    put "$what" "CPUs while it records" CPUs "$window"
    put "$what" "CPU time in all" s "$cpu"
    put "$what" "size of the file" MB "$size"
}

for options in "--all" "--all --stacks=0"; do
    # shellcheck disable=SC2086
    recording own.twin $options
    read -r cpu before recorded after window rss <"$work/cost"
    what="record $options, $idle idle processes, pgbench with $clients clients"
    put "$what" "CPUs while it records" CPUs "$window"
    put "$what" "CPU time in all" s "$cpu"
    put "$what" "recorded, of $seconds s" s "$recorded"
    put "$what" "set up before" s "$before"
    put "$what" "names and file after" s "$after"
    put "$what" "largest memory" MiB "$rss"
    put "$what" "size of the file" MB "$(stat -c %s "$work/own.twin" | awk '{ print $1 / 1e6 }')"
done
if command -v perf >/dev/null; then
    peer "perf record -a -g, 49 samples a second" -e cpu-clock -F 49 -g
    peer "perf record -a -g, each switch" -e sched:sched_switch -g
fi
