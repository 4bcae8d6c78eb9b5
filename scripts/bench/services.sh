#!/usr/bin/env bash
# What a recording costs services near their limit: nginx under wrk and PostgreSQL under pgbench on loopback, with and without a recording of the whole
# service (--pid: ledger, waits with stacks, locks, system calls, samples; all other sources too), in turn, as ratios of their throughput.
#
# usage: scripts/bench/services.sh [NAME…]     TWINSCOPE=path of the program, ROUNDS=number, SECONDS_EACH=number
#
# Names: nginx postgres. What is not installed here is left out, and said. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
cd "$(dirname "$0")/../.."
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
rounds=${ROUNDS:-8} each=${SECONDS_EACH:-5}
names=("$@")
[[ $# -gt 0 ]] || names=(nginx postgres)
work=$(mktemp -d "${TMPDIR:-/tmp}/twinscope-services.XXXXXX")
# PostgreSQL runs as another user.
chmod 755 "$work"
started=()
clean() {
    # Only what was started here, each by its number.
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
    wait 2>/dev/null
    rm -rf "$work"
}
trap clean EXIT
missing() {
    for tool in "$@"; do command -v "$tool" >/dev/null || { echo "SKIPPED: $name: no $tool" >&2; return 0; }; done
    return 1
}
# The throughput of the load $2…, while the service $1 is recorded.
recorded() {
    local service=$1 recorder
    shift
    "$twinscope" record -q -f -o "$work/run.twin" --pid "$service" 2>>"$work/errors" &
    recorder=$!
    # Its programs are loaded and the service's code is read before the load begins: a service is recorded while it runs.
    sleep 2
    "$@"
    kill -INT $recorder
    wait $recorder
}
# Lines of ratios, recorded to not, of the throughput that the load $3… of the service $2 prints.
in_turn() {
    local what=$1 service=$2 with without round
    shift 2
    "$@" >/dev/null
    for ((round = 0; round < rounds; round++)); do
        # Each order in turn: what warms up or slows down over time is on both sides.
        if ((round % 2)); then with=$(recorded "$service" "$@") without=$("$@"); else without=$("$@") with=$(recorded "$service" "$@"); fi
        awk -v what="$what" -v a="$with" -v b="$without" 'BEGIN { if (b > 0) {
            printf "%s\tthroughput without\t/s\t%.0f\n%s\tloss\t%%\t%.2f\n", what, b, what, 100 * (1 - a / b) } }'
    done
}

requests() { wrk -t1 -c16 "-d${each}s" http://127.0.0.1:18952/ | awk '/^Requests\/sec/ { print $2 }'; }
bench_nginx() {
    missing nginx wrk && return
    mkdir -p "$work/www"
    head -c 2000 /dev/zero >"$work/www/index.html"
    cat >"$work/nginx.conf" <<CONF
daemon off; pid $work/nginx.pid; error_log /dev/null; worker_processes 1;
events { worker_connections 256; }
http { access_log off; server { listen 127.0.0.1:18952; root $work/www; } }
CONF
    nginx -c "$work/nginx.conf" &
    local server=$!
    started+=($server)
    sleep 0.5
    in_turn "nginx under wrk" $server requests
    kill $server
}

transactions() { "${as[@]}" "$bin/pgbench" -S -n -c 4 -T "$each" postgres 2>/dev/null | awk '/^tps/ { print $3 }'; }
bench_postgres() {
    local as=()
    bin=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
    bin=${bin%/initdb}
    [[ -n $bin ]] || { echo "SKIPPED: $name: no PostgreSQL" >&2; return; }
    missing setpriv && return
    # It refuses to run as root.
    mkdir -p "$work/pg"
    if [[ $(id -u) -eq 0 ]]; then chown nobody "$work/pg" && as=(setpriv --reuid=nobody --clear-groups); fi
    (cd "$work/pg" && "${as[@]}" "$bin/initdb" -D "$work/pg/data" -U test -A trust) >/dev/null 2>&1 || { echo "SKIPPED: $name: initdb failed" >&2; return; }
    export PGHOST=$work/pg PGUSER=test
    (cd "$work/pg" && exec "${as[@]}" "$bin/postgres" -D data -k "$work/pg" -h '' >/dev/null 2>&1) &
    local server=$!
    started+=($server)
    for _ in $(seq 50); do "$bin/pg_isready" -q && break; sleep 0.1; done
    "${as[@]}" "$bin/pgbench" -i -q -s 1 postgres >/dev/null 2>&1
    in_turn "PostgreSQL under pgbench -S" $server transactions
    kill -INT $server
}

for name in "${names[@]}"; do
    declare -F "bench_$name" >/dev/null || { sed -n '5,7p' "$0" >&2; exit 2; }
    "bench_$name"
done
[[ ! -s $work/errors ]] || cat "$work/errors" >&2
