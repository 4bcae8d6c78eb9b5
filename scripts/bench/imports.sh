#!/usr/bin/env bash
# How long imports of monitoring systems take, and whether a run of APerf and a recording of the same minute agree: a fleet as Prometheus tells it (500 instances,
# 20 queries, an hour at 15 s), a day of sar, 60 s of APerf.
#
# usage: scripts/bench/imports.sh [prometheus] [sar] [aperf]     TWINSCOPE=path of the program, SECONDS_OF=length of the run of APerf
#
# APERF: the program aperf (github.com/aws/aperf), which the last needs; without it that is left out. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
parts=("$@")
[[ $# -gt 0 ]] || parts=(prometheus sar aperf)
seconds=${SECONDS_OF:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# timed WHAT COMMAND…: seconds of the wall clock and of CPU, the greatest memory
timed() {
    local what=$1 wall cpu memory
    shift
    env time -f '%e %U %S %M' -o "$work/time" "$@" >"$work/said" 2>&1
    read -r wall cpu memory < <(awk '{ print $1, $2 + $3, int($4 / 1024) }' "$work/time")
    printf '%s\t%s\t%s\t%s\n' "$what" time s "$wall" "$what" CPU s "$cpu" "$what" "largest RSS" MiB "$memory"
}

prometheus() {
    python3 - "$work" <<'PY'
# An answer for each of 20 queries, as query_range writes it.
import json, os, sys
work = sys.argv[1]
os.mkdir(work + "/answers")
for query in range(20):
    name = f"metric_{query}_seconds_total" if query % 2 else f"metric_{query}_bytes"
    items = []
    for host in range(500):
        grown = 10 + host % 7
        values = [[1790000000 + 15 * t, f"{t * grown + (t * 7919 + host * query) % 13 / 10:.3f}"] for t in range(241)]
        items.append({"metric": {"__name__": name, "instance": f"10.0.{host // 250}.{host % 250}:9100", "job": "node"}, "values": values})
    with open(f"{work}/answers/{query}.json", "w") as file:
        json.dump({"status": "success", "data": {"resultType": "matrix", "result": items}}, file, separators=(",", ":"))
PY
    printf '%s\t%s\t%s\t%s\n' "Prometheus, 500 instances × 20 queries × 1 h at 15 s" "size of the answers" MB "$(($(du -sb "$work/answers" | cut -f1) / 1000000))"
    timed "Prometheus, 500 instances × 20 queries × 1 h at 15 s" "$twinscope" import "$work"/answers/*.json -o "$work/hosts"
    printf '%s\t%s\t%s\t%s\n' "Prometheus, 500 instances × 20 queries × 1 h at 15 s" "recordings" "" "$(find "$work/hosts" -name '*.twin' | wc -l)"
}

sar() {
    python3 - "$work" <<'PY'
# A day at 10 minutes: one reading of all activities of a machine of two CPUs, again and again.
import gzip, json, sys
day = json.load(gzip.open("fixtures/imports/sar/12.6.1.json.gz"))
host = day["sysstat"]["hosts"][0]
reads = host["statistics"]
host["statistics"] = []
for n in range(144):
    read = json.loads(json.dumps(reads[n % len(reads)]))
    read["timestamp"].update({"date": "2026-11-25", "time": f"{n // 6:02}:{n % 6}0:01", "interval": 600})
    host["statistics"].append(read)
json.dump(day, open(sys.argv[1] + "/day.json", "w"), indent="\t")
PY
    printf '%s\t%s\t%s\t%s\n' "sar, 24 h at 10 min" "size of the JSON" KB "$(($(stat -c %s "$work/day.json") / 1000))"
    timed "sar, 24 h at 10 min" "$twinscope" import "$work/day.json" -o "$work/day.twin"
}

aperf() {
    if [[ -z ${APERF:-} ]]; then
        echo "imports: APERF names no program: its run and the agreement are left out" >&2
        return
    fi
    mkdir "$work/tmp"
    # On a machine that does nothing there is little to agree on: one CPU computes, and files are written and read past the cache.
    (
        cd "$work"
        timeout $((seconds + 8)) sh -c 'yes | gzip -1 >/dev/null' &
        exec timeout $((seconds + 8)) sh -c 'while :; do
            dd if=/dev/zero of=load bs=64k count=400 oflag=direct
            dd if=load of=/dev/null bs=64k iflag=direct
            sleep 0.2
        done'
    ) 2>/dev/null &
    local load=$!
    "$twinscope" record -q -o "$work/own.twin" -i 1s -d "$((seconds + 4))s" >"$work/said" 2>&1 &
    local recorder=$!
    sleep 1
    (cd "$work" && "$APERF" record -r run -i 1 -p "$seconds" -t "$work/tmp" >"$work/said-aperf" 2>&1)
    wait "$recorder"
    kill "$load" 2>/dev/null || true
    timed "APerf, $seconds s" "$twinscope" import "$work/run.tar.gz" -o "$work/run.twin"
    for file in own run; do
        for table in cpu disks interrupts; do
            "$twinscope" sql --json "$work/$file.twin" "select * from $table" >"$work/$file.$table.json"
        done
    done
    python3 - "$work" <<'PY'
# What grew between the same two moments, by both: counters between two reads are taken to grow evenly.
import json, sqlite3, sys
work = sys.argv[1]
columns = {
    "cpu": ["user", "nice", "system", "idle", "iowait", "softirq"],
    "disks": ["reads", "read", "writes", "written", "io_time"],
    "interrupts": ["count"],
}
def start(name):
    with sqlite3.connect(f"{work}/{name}.twin") as db:
        return int(db.execute("select value from manifest where key = 'start_unix'").fetchone()[0])
starts = {name: start(name) for name in ("own", "run")}
def sums(name, table):
    rows, series = json.load(open(f"{work}/{name}.{table}.json")), {}
    for row in rows:
        key = tuple(str(row.get(label)) for label in ("cpu", "device", "irq"))
        for column in columns[table]:
            if row.get(column) is not None:
                series.setdefault(column, {}).setdefault(key, []).append((row["t"] + starts[name], row[column]))
    return series
def at(points, t):
    points = sorted(points)
    for (t0, v0), (t1, v1) in zip(points, points[1:]):
        if t0 <= t <= t1:
            return v0 + (v1 - v0) * (t - t0) / max(t1 - t0, 1)
for table in columns:
    own, run = sums("own", table), sums("run", table)
    worst, what = 0.0, "-"
    for column in sorted(set(own) & set(run)):
        total = {"own": 0.0, "run": 0.0}
        keys = set(own[column]) & set(run[column])
        times = [t for key in keys for t, _ in run[column][key]]
        begin, end = min(times), max(times)
        for name, series in (("own", own), ("run", run)):
            for key in keys:
                a, b = at(series[column][key], begin), at(series[column][key], end)
                if a is not None and b is not None:
                    total[name] += b - a
        # What hardly happened says nothing.
        if total["own"] > 0 and total["own"] >= 100:
            difference = abs(total["run"] / total["own"] - 1)
            if difference >= worst:
                worst, what = difference, column
    print(f"APerf beside a recording of the same time", f"{table}: greatest difference ({what})", "%", round(100 * worst, 2), sep="\t")
PY
}

for part in "${parts[@]}"; do "$part"; done
