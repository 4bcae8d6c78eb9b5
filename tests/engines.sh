#!/usr/bin/env bash
# Fleets on other engines: DuckDB and Spark answer about 2,000 hosts as the built-in engine does, integers exactly and other numbers to 1e-9; Spark
# reduces recordings to the summaries that `fleet add` makes.
#
# usage: tests/engines.sh [--fetch]     --fetch only installs them; TWINSCOPE=path of the program, HOSTS=2000
#
# step: busy build,rust-built,engines-fetched long
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

PACKAGES=(duckdb==2.0.1 pyspark==4.3.0 pyarrow==26.0.1 pandas==2.3.3)
venv=target/engines/venv
python=$PWD/$venv/bin/python
twinscope=$(realpath -m "${TWINSCOPE:-target/release/twinscope}")

passed=0 failed=0 skipped=0
skip() {
    echo "SKIPPED: engines: $1: $2"
    skipped=$((skipped + 1))
}
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [[ $failed -eq 0 ]]
    exit
}

# Installs the packages, once. Says why it cannot.
fetch() {
    [[ $(cat "$venv/packages" 2>/dev/null) != "${PACKAGES[*]}" ]] || return 0
    mkdir -p target/engines
    python3 -m venv "$venv" >target/engines/log 2>&1 &&
        "$python" -m pip install -q --disable-pip-version-check "${PACKAGES[@]}" >>target/engines/log 2>&1 &&
        echo "${PACKAGES[*]}" >"$venv/packages"
}
if ! fetch; then
    skip "pip install ${PACKAGES[*]}" "$(tail -n 1 target/engines/log)"
    finish
fi
if [[ ${1:-} == --fetch ]]; then
    passed=1
    finish
fi
if [[ ! -x $twinscope ]]; then
    echo "engines: $twinscope: not built: make build" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPARK_LOCAL_DIRS=$work SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=$python

# differ A B: what differs between two answers, if anything
differ() {
    "$python" - "$1" "$2" <<'PY'
import json, math, sys

def walk(a, b, at):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next((d for key in a if (d := walk(a[key], b[key], f"{at}.{key}"))), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next((d for i, (x, y) in enumerate(zip(a, b)) if (d := walk(x, y, f"{at}[{i}]"))), None)
    if isinstance(a, float) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-300):
        return None
    return None if type(a) is type(b) and a == b else f"{at}: {str(a)[:80]} there, {str(b)[:80]} here"

said = walk(*(json.load(open(path)) for path in (sys.argv[2], sys.argv[1])), "")
print(said or "", end="")
PY
}

# check WHAT BUILT-IN OTHER
check() {
    local said
    said=$(differ "$2" "$3" 2>&1)
    if [[ -z $said ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1: $said"
    fi
}

# ask FLEET NAME ENGINE [OPTION…]: whether the engine answers as the built-in one
ask() {
    local fleet=$1 name=$2 engine=$3
    shift 3
    [[ -e $work/here-$name.json ]] || "$twinscope" fleet bands "$fleet" --json "$@" >"$work/here-$name.json"
    if ! "$twinscope" fleet bands "$fleet" --json "$@" --engine "$engine" >"$work/there.json" 2>"$work/error"; then
        failed=$((failed + 1))
        echo "FAILED: $name: $engine: $(cat "$work/error")"
        return
    fi
    check "$name: $engine" "$work/here-$name.json" "$work/there.json"
}

# All of the workspace, or it would be compiled with other features than all else.
cargo build --release --quiet --workspace --example synthetic || exit 1
"${SYNTHETIC:-target/release/examples/synthetic}" "$work/fleet" --hosts "${HOSTS:-2000}" --metrics 200 || exit 1
engines=("$python engines/duckdb.py")
if command -v java >/dev/null && java -version 2>&1 | grep -qE '"(1[7-9]|2[0-9])'; then
    engines+=("$python engines/spark.py --master 'local[2]' --conf spark.ui.enabled=false --conf spark.driver.memory=1g")
else
    skip "spark" "no Java 17 or newer"
fi
for engine in "${engines[@]}"; do
    ask "$work/fleet" bands "$engine"
done
ask "$work/fleet" named "${engines[0]}" --by work.done --by table0.metric0000
ask "$work/fleet" within "${engines[0]}" --within sysctl.name001
grep -q '"bandings": \[\]' "$work/here-bands.json" && failed=$((failed + 1)) && echo "FAILED: no bands in what was made"

# Recordings of real runs: added here, and reduced on Spark.
if [[ ${#engines[@]} -gt 1 ]]; then
    mkdir "$work/recordings"
    for i in 1 2 3; do
        "$twinscope" record -q -o "$work/recordings/r$i.twin" --name "r$i" -i 100ms -- sleep 1 >/dev/null 2>&1
    done
    "$twinscope" fleet add "$work/here" "$work/recordings" >/dev/null
    # As a cluster gets it: the program travels with the job. The static one where it has been built.
    program=target/dist/twinscope-summary-$(uname -m)
    [[ -x $program ]] || program=$twinscope
    eval "${engines[1]}" --conf "spark.files=$(realpath "$program")" --summarise "'$work/recordings/*.twin'" --fleet "$work/there" \
        --program "$(basename "$program")" 2>"$work/error"
    status=$?
    if [[ $status -ne 0 ]]; then
        failed=$((failed + 1))
        echo "FAILED: --summarise exits with $status: $(grep -v WARN "$work/error" | tail -n 3)"
    else
        for dataset in recording metric declared fact place slice process; do
            columns=$([[ $dataset == recording ]] && echo 'host, id, run, start, seconds, work' || echo '*')
            order=$([[ $dataset == declared ]] && echo 'group by metric' || echo '')
            for side in here there; do
                "$twinscope" fleet sql "$work/$side" "select $columns from $dataset $order" --json | jq -S -c '.[]' | sort >"$work/$side-rows"
            done
            if cmp -s "$work/here-rows" "$work/there-rows"; then
                passed=$((passed + 1))
            else
                failed=$((failed + 1))
                echo "FAILED: --summarise: $dataset: $(diff "$work/here-rows" "$work/there-rows" | head -n 4)"
            fi
        done
    fi
fi
finish
