#!/usr/bin/env bash
# Fleets: 64 starts of a program whose speed is drawn at each start, held against what the program says of itself; 40 starts of which a quarter may
# use one CPU; and how long fleets of 500, 5,000 and 10,000 hosts take that never were, and the page of 5,000 of them; and 5,000 on DuckDB and
# Spark, which tests/engines.sh --fetch installs.
#
# usage: scripts/bench/fleet.sh [starts] [facts] [scale] [page] [engines]     TWINSCOPE=path of the program, STARTS=number, CHROMIUM=browser
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
synthetic=$(realpath -m "${SYNTHETIC:-target/release/examples/synthetic}")
parts=("$@")
[[ $# -gt 0 ]] || parts=(starts facts scale page engines)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

put() { printf '%s\t%s\t%s\t%s\n' "$@"; }

# timed FILE COMMAND…: seconds on the wall, seconds of CPU and MiB at most of a command
timed() {
    local into=$1
    shift
    /usr/bin/env time -f '%e %U %S %M' -o "$work/time" "$@" >"$into"
    awk '{ print $1, $2 + $3, int($4 / 1024) }' "$work/time"
}

starts() {
    local count=${STARTS:-64} i wall many cpu memory truth found
    mkdir "$work/starts"
    for i in $(seq "$count"); do
        "$twinscope" record -q -o "$work/starts/s$i.twin" --name "s$i" --throughput '^done ([0-9]+)' -i 200ms -- \
            workloads/bands/bin/bands --seconds 2 >"$work/starts/s$i.txt"
        sed -n "s/^truth: offset //p" "$work/starts/s$i.txt" | awk -v name="s$i" '{ print name, $1 == 56 }' >>"$work/truth"
    done
    read -r wall cpu memory <<<"$(timed /dev/null "$twinscope" fleet add "$work/fleet" "$work/starts")"
    put "starts" "fleet add, a recording" "ms CPU" "$(awk -v s="$cpu" -v n="$count" 'BEGIN { print 1000 * s / n }')"
    put "starts" "summary of a recording" "KB" "$(($(du -sb "$work/fleet" | cut -f1) / count / 1000))"
    read -r wall cpu memory <<<"$(timed "$work/bands.json" "$twinscope" fleet bands "$work/fleet" --by work.done --json)"
    put "starts" "fleet bands" "s" "$wall"
    # As many recordings as hosts of a large fleet have: the same ones under other names.
    rm -rf "$work/many"
    python3 - "$work" "$count" <<'PY'
import os, shutil, sqlite3, sys
work, count = sys.argv[1], int(sys.argv[2])
os.mkdir(work + "/many")
for i in range(1000):
    copy = f"{work}/many/h{i}.twin"
    shutil.copy(f"{work}/starts/s{i % count + 1}.twin", copy)
    with sqlite3.connect(copy) as db:
        db.execute("update manifest set value = ? where key = 'host'", (f'"host{i:04}"',))
    db.close()
PY
    read -r many cpu memory <<<"$(timed /dev/null "$twinscope" fleet add "$work/manyfleet" "$work/many")"
    put "1000 recordings" "fleet add" "s" "$many"
    put "1000 recordings" "memory at most" "MiB" "$memory"
    rm -rf "$work/many" "$work/manyfleet"
    truth=$(awk '{ n += $2 } END { print n }' "$work/truth")
    put "starts" "starts at the eighth place" "of $count" "$truth"
    found=$(python3 - "$work" <<'PY'
import json, sys
group = json.load(open(sys.argv[1] + "/bands.json"))["groups"][0]
truth = dict(line.split() for line in open(sys.argv[1] + "/truth"))
bandings = group["bandings"]
if not bandings:
    print("0 0 nothing -")
else:
    of = dict(zip((r["run"] for r in group["recordings"]), bandings[0]["of"]))
    right = sum((of[name] == 0) == (fast == "1") for name, fast in truth.items() if of[name] is not None)
    most = bandings[0]["separated"][0]["functions_at_most"]
    print(len(bandings[0]["bands"]), right, bandings[0]["since"]["decides"], round(100 * most["by"], 2) if most else "-")
PY
)
    read -r bands right decides most <<<"$found"
    put "starts" "bands found" "" "$bands"
    put "starts" "starts in the band that the program's own place says" "of $count" "$right"
    put "starts" "what decides the band" "" "$decides"
    put "starts" "no function differs by more than" "points" "$most"
}

facts() {
    local i pin
    mkdir "$work/facts"
    for i in $(seq 40); do
        pin=()
        [[ $((i % 4)) -ne 0 ]] || pin=(taskset -c 0)
        "$twinscope" record -q -o "$work/facts/s$i.twin" --name "s$i" --throughput '^done ([0-9]+)' -i 200ms -- \
            "${pin[@]}" workloads/bands/bin/bands --seconds 3 --offset 56 >/dev/null
    done
    "$twinscope" fleet add "$work/factfleet" "$work/facts" >/dev/null
    "$twinscope" fleet explain "$work/factfleet" --json >"$work/facts.json"
    put "40 starts, a quarter on one CPU" "first line" "" "$("$twinscope" fleet bands "$work/factfleet" | head -n 1)"
    put "40 starts, a quarter on one CPU" "first cause" "" "$(python3 - "$work" <<'PY'
import json, sys
of = json.load(open(sys.argv[1] + "/facts.json"))["explanations"][0]
findings = of["findings"] if of else []
print(findings[0]["cause"] if findings else "none")
PY
)"
}

scale() {
    local hosts wall cpu memory
    for hosts in 500 5000 10000; do
        rm -rf "$work/many"
        "$synthetic" "$work/many" --hosts "$hosts" --metrics 1200
        read -r wall cpu memory <<<"$(timed /dev/null "$twinscope" fleet bands "$work/many" --json)"
        put "$hosts hosts of 1,200 metrics" "fleet bands with what separates them" "s" "$wall"
        put "$hosts hosts of 1,200 metrics" "the same" "s CPU" "$cpu"
        put "$hosts hosts of 1,200 metrics" "memory at most" "MiB" "$memory"
    done
}

engines() {
    local name wall cpu memory python=$PWD/target/engines/venv/bin/python
    if [[ ! -x $python ]]; then
        echo "SKIPPED: engines: not installed: tests/engines.sh --fetch" >&2
        return
    fi
    export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$work PYSPARK_PYTHON=$python
    local -A command=(
        [duckdb]="$python engines/duckdb.py"
        [spark]="$python engines/spark.py --master 'local-cluster[2,1,1536]' --conf spark.ui.enabled=false --conf spark.executor.memory=1536m"
    )
    rm -rf "$work/many"
    "$synthetic" "$work/many" --hosts 5000 --metrics 1200
    "$twinscope" fleet bands "$work/many" --json >"$work/here.json"
    for name in duckdb spark; do
        read -r wall cpu memory <<<"$(timed "$work/there.json" "$twinscope" fleet bands "$work/many" --json --engine "${command[$name]}")"
        put "5000 hosts of 1,200 metrics" "fleet bands on $name, with its start" "s" "$wall"
        put "5000 hosts of 1,200 metrics" "answers of $name and of the built-in engine" "" "$(
            cmp -s "$work/here.json" "$work/there.json" && echo "equal to the byte" || echo "not equal to the byte"
        )"
    done
}

page() {
    local browser wall cpu memory round name="page of 5000 hosts"
    rm -rf "$work/many"
    "$synthetic" "$work/many" --hosts 5000 --metrics 1200
    read -r wall cpu memory <<<"$(timed /dev/null "$twinscope" fleet report "$work/many" -o "$work/fleet.html" 2>/dev/null)"
    put "$name" "fleet report" "s" "$wall"
    put "$name" "memory at most" "MiB" "$memory"
    put "$name" "page" "MB" "$(awk -v b="$(stat -c %s "$work/fleet.html")" 'BEGIN { printf "%.2f", b / 1e6 }')"
    browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
    if [[ -z $browser || ! -d ui/node_modules/playwright-core ]]; then
        echo "no Chromium or no ui/node_modules: not measured how soon the page is there" >&2
        return 0
    fi
    for round in 1 2 3 4 5; do
        put "$name" "first screen" "ms" "$(CHROMIUM=$browser node scripts/bench/interactive.js "$work/fleet.html")"
    done
}

for part in "${parts[@]}"; do
    case $part in
        starts | facts | scale | page | engines) "$part" ;;
        *) wrong_usage "$part: no such part" ;;
    esac
done
