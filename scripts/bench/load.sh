#!/usr/bin/env bash
# What `twinscope load` does at 20,000 requests a second to nginx, each on a CPU of its own: how late it was itself, and its CPU time for each
# request, beside that of wrk. All run in turn, so that others' load falls on each.
#
# wrk has no rate. With 32 connections it asks as often as nginx answers: it never sleeps, and never has to wake nginx. With one connection it
# waits for each answer, and nginx for each request, as both do at a constant rate below their limit.
#
# usage: scripts/bench/load.sh     TWINSCOPE=path of the program, HELPER=path of the example `bench`, ROUNDS=number, SECONDS_EACH=number
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
helper=$(realpath "${HELPER:-target/release/examples/bench}")
rounds=${ROUNDS:-5} each=${SECONDS_EACH:-5} port=18970 name=load
# shellcheck source=scripts/bench/servers.sh
source scripts/bench/servers.sh

value() { printf '%s\t%s\t%s\t%s\n' "$@"; }
missing taskset jq && exit 0
set_up_nginx $port '' 'keepalive_requests 1000000000;' || exit 0
# The server's CPU and the client's.
cpus=$(taskset -cp $$ | sed 's/.*: //')
read -r of_server of_client < <(tr ',' '\n' <<<"$cpus" | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | paste -sd ' ') || true
of_client=${of_client%% *}
[[ -n $of_client ]] || { echo "SKIPPED: $name: one CPU only ($cpus)" >&2; exit 0; }
sed -i 's/worker_processes auto/worker_processes 1/' "$work/nginx.conf"
taskset -c "$of_server" nginx -c "$work/nginx.conf" 2>"$work/nginx" &
started+=($!)
for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done

# twinscope load over $2 connections at the rate $3, as $1. Sets `cpu` to microseconds of CPU time a request. Fails where it was void.
by_load() {
    json() { jq -r "$1" "$work/load.json"; }
    "$twinscope" load --rate "$3" -c "$2" -d "${each}s" --warm-up 500ms --cpus "$of_client" --strict --json "http://127.0.0.1:$port/" >"$work/load.json" || {
        echo "$name: left out: $1: $(json .void)" >&2
        return 1
    }
    cpu=$(json '.own.cpu_per_request * 1e6')
    value "$1" "CPU time of a request" µs "$(printf %.2f "$cpu")"
    value "$1" "requests a second" 1/s "$(json '.reached_rate | round')"
    [[ $3 != max ]] || return 0
    value "$1" "late, median" µs "$(printf %.1f "$(json '.own.late.p50 * 1e6')")"
    value "$1" "late, p99" µs "$(printf %.1f "$(json '.own.late.p99 * 1e6')")"
    value "$1" "latency, median" µs "$(printf %.1f "$(json '.latency.p50 * 1e6')")"
    value "$1" "latency, p99" µs "$(printf %.1f "$(json '.latency.p99 * 1e6')")"
}
# wrk over $2 connections, as $1.
by_wrk() {
    local count wall rss code
    : >"$work/cost"
    "$helper" run "$work/cost" taskset -c "$of_client" wrk -t1 "-c$2" "-d${each}s" "http://127.0.0.1:$port/" >"$work/wrk" 2>&1
    # shellcheck disable=SC2034  # only the first is used
    IFS=$'\t' read -r cpu wall rss code <"$work/cost"
    count=$(awk '/requests in/ { print $1 }' "$work/wrk")
    cpu=$(awk -v cpu="$cpu" -v n="${count:-0}" 'BEGIN { if (n) print cpu * 1e6 / n }')
    [[ -n $cpu ]] || return 1
    value "$1" "CPU time of a request" µs "$(printf %.2f "$cpu")"
    value "$1" "requests a second" 1/s $((count / each))
}
times() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# A round in which the client was void, for something else ran on its CPU, is made again, but not for ever.
done=0
for ((round = 0; done < rounds && round < 3 * rounds; round++)); do
    by_load "load --rate 20000 -c 32" 32 20000 || continue
    open=$cpu
    by_wrk "wrk -c 32" 32 || continue
    full=$cpu
    by_load "load --rate max -c 32" 32 max || continue
    closed=$cpu
    by_wrk "wrk -c 1" 1 || continue
    value "load --rate max -c 32" "by that of wrk -c 32" × "$(times "$closed" "$full")"
    value "load --rate 20000 -c 32" "by that of wrk -c 1" × "$(times "$open" "$cpu")"
    value "load --rate 20000 -c 32" "by that of wrk -c 32" × "$(times "$open" "$full")"
    done=$((done + 1))
done
value "load --rate 20000 -c 32" "rounds that were void" "" $((round - done))
