#!/usr/bin/env bash
# Whether turns of connections, as the source `turns` counts them, are the requests that clients say they made, and whether the time that they took at the
# server is below the client's and what the server's own log says: real servers on loopback, each recorded by --pid with this source alone, while a real client
# asks for some seconds. `finagle` and `pauses` record pairs with all sources and print what `explain` says of them: they are to be read. What the source costs is
# `overhead`: stretches with and without, as in services.sh, and nanoseconds a turn as the kernel measures them.
#
# A client that is stopped leaves requests open, one a connection at most, which it does not count and the server may have answered ("open at the end").
#
# usage: scripts/bench/turns.sh [NAME…]     TWINSCOPE=path of the program, HELPER=path of the example `bench`, ROUNDS=number, SECONDS_EACH=number
#
# Names: nginx proxy postgres redis memcached java netty go node python gunicorn uvicorn datagrams command thinned hostile logs overhead finagle pauses.
# What is not installed here is left out, and said. Netty and Finagle come by Maven, gunicorn and uvicorn by pip, into target/turns. Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.." || exit
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
helper=$(realpath "${HELPER:-target/release/examples/bench}")
rounds=${ROUNDS:-8} each=${SECONDS_EACH:-5}
names=("$@")
[[ $# -gt 0 ]] || names=(nginx proxy postgres redis memcached java netty go node python gunicorn uvicorn datagrams command thinned hostile logs overhead finagle pauses)
# shellcheck disable=SC2034  # Of stretches.sh: nothing else is measured beside it.
peers=()
# Everything counts: what a collector that thins itself out makes of it is in `thinned`.
options=(--exact)
folder=$PWD/scripts/bench/turns cache=$PWD/target/turns port=18960 cpus=$(nproc)
# shellcheck source=scripts/bench/servers.sh
source scripts/bench/servers.sh
# shellcheck source=scripts/bench/stretches.sh
source scripts/bench/stretches.sh

# Starts a server, the command $@, as `server`, and waits until something listens at $port. What it says is kept for when it does not.
start() {
    : >"$work/server"
    "$@" >>"$work/server" 2>&1 </dev/null &
    server=$!
    started+=("$server")
    for _ in $(seq 300); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    echo "SKIPPED: ${name:?}: nothing listens at port $port: $(tail -n 1 "$work/server")" >&2
    return 1
}
stop() {
    kill -"${1:-TERM}" "$server" 2>/dev/null
    wait "$server" 2>/dev/null
}

# Runs the client $@ while `server` is recorded, into $work/run.twin, and sets `asked`, `p50` and `p99` to what it says: requests, microseconds; `rss` and `maps`
# to MiB of the recorder: its largest RSS, and the maps of its eBPF programs.
while_recorded() {
    local recorder said
    rm -f "$work/run.twin"
    "$twinscope" record -q -f -o "$work/run.twin" --only turns "${options[@]}" --pid "$server" 2>>"$work/errors" &
    recorder=$!
    for _ in $(seq 100); do
        [[ -s $work/run.twin ]] && break
        sleep 0.1
    done
    sleep 1.5
    said=$("$@")
    sleep 0.5
    rss=$(awk '/^VmHWM/ { print $2 / 1024 }' "/proc/$recorder/status")
    maps=$(cat "/proc/$recorder/fdinfo"/* 2>/dev/null | awk '/^map_type/ { map = 1 } /^pos/ { map = 0 } map && /^memlock/ { sum += $2 } END { print sum / 1048576 }')
    kill -INT $recorder
    wait $recorder
    read -r asked p50 p99 <<<"$said"
    [[ ${asked:-} =~ ^[0-9]+$ ]] || { echo "SKIPPED: ${name:?}: the client said: $said" >&2; return 1; }
}
query() { "$twinscope" sql "$work/run.twin" --format csv "$1" | tail -n +2; }
# A total of the table `turn` for the services that $2 selects.
total() { query "select coalesce(sum(n), 0) from (select max($1) as n from turn where $2 group by comm, pid, role, protocol, port, peer)"; }
# Microseconds below which the share $1 of the times $3 lies (service, queue or answer) of the services that $2 selects; within a range as if all were alike.
quantile() {
    query "select low, high, sum(count) from turn_time where what = '$3' and $2 group by low, high order by low" |
        awk -F, -v share="$1" '{ low[NR] = $1; high[NR] = $2; n[NR] = $3; all += $3 }
            END { for (i = 1; i <= NR; i++) { before = sum; sum += n[i]; if (sum >= share * all) break }
                if (NR) printf "%.1f", (low[i] + (high[i] - low[i]) * (share * all - before) / n[i]) / 1000 }'
}

value() { printf '%s\t%s\t%s\t%s\n' "$@"; }
# Prints for $1 what the client said beside what was counted for the services that $2 selects. There should be $3 turns more than requests, which the client
# makes to begin with and does not count, and up to $4 more for requests that were open at its end.
compare() {
    local what=$1 services=$2 more=${3:-0} open=${4:-0} turns
    turns=$(total turns "$services")
    value "$what" "requests, by the client" "" "$asked"
    [[ $more -eq 0 ]] || value "$what" "turns before these" "" "$more"
    [[ $open -eq 0 ]] || value "$what" "open at the end, at most" "" "$open"
    value "$what" turns "" "$turns"
    value "$what" difference % "$(awk -v n="$turns" -v least="$((asked + more))" -v open="$open" \
        'BEGIN { off = n < least ? least - n : n > least + open ? n - least - open : 0; printf "%.3f", 100 * off / least }')"
    value "$what" "p50 of the client" µs "$p50"
    value "$what" "p50 of service time" µs "$(quantile 0.5 "$services" service)"
    value "$what" "p99 of the client" µs "$p99"
    value "$what" "p99 of service time" µs "$(quantile 0.99 "$services" service)"
}

# wrk for $each seconds over $1 connections with what else it takes, ${@:2}: "requests p50 p99".
ask_by_wrk() {
    local said
    said=$(wrk "-t$cpus" "-c$1" "-d${each}s" -s "$folder/wrk.lua" "${@:2}" 2>&1 >/dev/null)
    # The last word: connections that failed, and answers that were late or said so.
    [[ ${said##* } == 0 ]] || echo "${name:?}: wrk had ${said##* } errors" >&2
    echo "${said% *}"
}
# A server of HTTP, the command ${@:3}, called $1, under wrk with $2 connections.
under_wrk() {
    start "${@:3}" || return 0
    while_recorded ask_by_wrk "$2" "http://127.0.0.1:$port/" && compare "$1" "role = 'server' and port = $port" 0 "$2"
    stop
}
served="role = 'server' and port = $port"

bench_nginx() {
    local many=$((cpus * 16))
    set_up_nginx $port 'sendfile on; tcp_nopush on;' || return 0
    under_wrk "nginx, keep-alive" $many nginx -c "$work/nginx.conf"
    start nginx -c "$work/nginx.conf" || return 0
    while_recorded ask_by_wrk $many -H 'Connection: close' "http://127.0.0.1:$port/" && compare "nginx, a connection a request" "$served" 0 $many
    stop
    missing openssl && return
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout "$work/key" -out "$work/certificate" 2>/dev/null
    set_up_nginx "$port ssl" "ssl_certificate $work/certificate; ssl_certificate_key $work/key; keepalive_requests 1000000;"
    start nginx -c "$work/nginx.conf" || return 0
    # Each connection begins with two turns: keys, and what may be used to go on with them later.
    while_recorded ask_by_wrk $many "https://127.0.0.1:$port/" && compare "nginx, TLS" "$served" $((2 * many)) $many
    stop
}

# Two nginx at the ports after $port, started before the one that asks them.
start_backs() {
    local at
    for at in 1 2; do
        set_up_nginx $((port + at)) || return 1
        sed "s/nginx\.pid/nginx-$at.pid/" "$work/nginx.conf" >"$work/back-$at.conf"
        nginx -c "$work/back-$at.conf" &
        backs+=($!)
        started+=($!)
    done
}
bench_proxy() {
    local backs=() asks="location / { proxy_pass http://backs; proxy_http_version 1.1; proxy_set_header Connection ''; }" many=$((cpus * 8))
    local servers="server 127.0.0.1:$((port + 1)); server 127.0.0.1:$((port + 2));"
    start_backs || return 0
    set_up_nginx $port "upstream backs { $servers keepalive 64; }" "$asks"
    start nginx -c "$work/nginx.conf" || return 0
    if while_recorded ask_by_wrk $many "http://127.0.0.1:$port/"; then
        compare "nginx as a proxy" "$served" 0 $many
        compare "nginx as a proxy, asking two" "role = 'client'" 0 $many
    fi
    stop
    set_up_nginx $port "upstream backs { $servers }" "$asks"
    start nginx -c "$work/nginx.conf" || return 0
    while_recorded ask_by_wrk $many "http://127.0.0.1:$port/" && compare "nginx as a proxy, asking two, a connection a request" "role = 'client'" 0 $many
    stop
    kill "${backs[@]}"
    wait "${backs[@]}" 2>/dev/null
}

# pgbench for $each seconds over $1 connections with what else it takes, ${@:2}. It writes down what each transaction took.
ask_by_pgbench() {
    rm -f "$work/pg"/transactions.*
    (cd "$work/pg" && "${as[@]}" "$bin/pgbench" -n -c "$1" -j "$cpus" -T "$each" -l --log-prefix=transactions "${@:2}" postgres) >/dev/null 2>"$work/pgbench"
    sort -n -k3,3 "$work/pg"/transactions.* | awk '{ took[NR] = $3 } END { print NR, took[int(NR * 0.5) + 1], took[int(NR * 0.99) + 1] }'
}
bench_postgres() {
    local bin as many=$((cpus * 4)) tcp
    set_up_postgres || return 0
    start_postgres || return 0
    tcp="-h 127.0.0.1 -p $port"
    export PGSSLMODE=disable
    # Each connection begins with a turn, and pgbench asks twice on one of its own how large the tables are.
    # shellcheck disable=SC2086
    while_recorded ask_by_pgbench $many -S -M simple $tcp && compare "PostgreSQL, pgbench -S -M simple" "$served" $((many + 3))
    # The statement is prepared in a turn of each connection.
    # shellcheck disable=SC2086
    while_recorded ask_by_pgbench $many -S -M prepared $tcp && compare "PostgreSQL, pgbench -S -M prepared" "$served" $((2 * many + 3))
    while_recorded ask_by_pgbench $many -S -p $port && compare "PostgreSQL, a Unix socket" "role = 'server' and protocol = 'unix'" $((many + 3))
    stop INT
}
# PostgreSQL at $port and a Unix socket, with the settings $@, each a `-c`, and the tables of pgbench.
start_postgres() {
    start env -C "$work/pg" "${as[@]}" "$bin/postgres" -D data -k "$work/pg" -h 127.0.0.1 -p $port "$@" || return 1
    for _ in $(seq 100); do
        "$bin/pg_isready" -q -p $port && break
        sleep 0.1
    done
    "${as[@]}" "$bin/pgbench" -i -q -s 1 -p $port postgres >/dev/null 2>&1
}

# redis-benchmark of $1 commands with what else it takes, ${@:2}, which it times in milliseconds.
ask_by_redis() {
    redis-benchmark -p $port -c $((cpus * 16)) -n "$1" --csv "${@:2}" 2>/dev/null |
        awk -F'","' -v n="$1" 'NR == 2 { printf "%d %.0f %.0f\n", n, 1000 * $5, 1000 * $7 }'
}
bench_redis() {
    missing redis-server redis-benchmark && return
    start redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no || return 0
    # It asks for the server's settings first.
    while_recorded ask_by_redis $((each * 40000)) -t get && compare "Redis, single commands" "$served" 1
    # Ten commands are read at once and answered at once.
    if while_recorded ask_by_redis $((each * 200000)) -P 10 -t get; then
        asked=$((asked / 10))
        compare "Redis, pipelines of ten" "$served" 1
    fi
    published
    stop
}

# Who subscribed is sent each message unasked: that is no turn, but a send.
published() {
    local what="Redis, published to a subscriber" subscriber
    redis-cli -p $port subscribe news >/dev/null &
    subscriber=$!
    started+=("$subscriber")
    sleep 0.5
    while_recorded ask_by_publisher $((each * 10000)) || return 0
    compare "$what" "$served" 1
    value "$what" "sends for each turn" "" "$(awk -v n="$(total sends "$served")" -v turns="$(total turns "$served")" 'BEGIN { printf "%.4f", n / turns }')"
}
# What went over a connection that only sends is added up five times a second, and at its end.
ask_by_publisher() {
    ask_by_redis "$1" -c 1 publish news hello
    kill "$subscriber"
}

ask_by_client() { python3 "$folder/client.py" "$@"; }
bench_memcached() {
    local user=()
    missing memcached python3 && return
    [[ $(id -u) -ne 0 ]] || user=(-u nobody)
    start memcached -l 127.0.0.1 -p $port -U 0 -t "$cpus" "${user[@]}" || return 0
    while_recorded ask_by_client ask memcached $port 50 $((each * 300)) && compare memcached "$served"
    stop
}

bench_java() {
    missing java && return
    # It sends an answer in two parts, and by itself waits 40 ms with the second for the client to acknowledge the first.
    under_wrk "JDK HttpServer" $((cpus * 4)) java -Dsun.net.httpserver.nodelay=true "$folder/Hello.java" $port $((cpus * 4))
}
bench_netty() {
    missing java mvn && return
    [[ -n $(ls "$cache/netty" 2>/dev/null) ]] || mvn -q -B -f "$folder/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$cache/netty" >"$work/mvn" 2>&1 ||
        { echo "SKIPPED: $name: Maven: $(grep -m 1 ERROR "$work/mvn")" >&2; return; }
    under_wrk Netty $((cpus * 8)) java -cp "$cache/netty/*" "$folder/NettyHello.java" $port "$cpus"
}
# Records a server of HTTP, the command ${@:3}, into $work/$1.twin under wrk with $2 connections, after half a minute in which its code is compiled.
recorded() {
    local load
    start "${@:3}" || return 1
    wrk "-t$cpus" "-c$2" -d30s "http://127.0.0.1:$port/" >/dev/null
    wrk "-t$cpus" "-c$2" -d9999s "http://127.0.0.1:$port/" >/dev/null &
    load=$!
    started+=("$load")
    "$twinscope" record -q -f -o "$work/$1.twin" -d 8 --pid "$server" 2>>"$work/errors"
    kill $load
    wait $load 2>/dev/null
    stop
    return 0
}
# Prints what `explain` says of $1 with the options ${@:2}.
explained() {
    printf '\n== explain %s\n' "$*"
    "$twinscope" explain "$work/$1.twin" "${@:2}"
}
# Finagle with other collectors, compilers and pages: a handler that allocates much and keeps some of it, and one that only answers.
bench_finagle() {
    local classes=$work/classes many=$((cpus * 8)) pair what kib mib slow good heap=(-Xmx256m -Xmn64m)
    missing javac mvn wrk && return
    [[ -n $(ls "$cache/finagle" 2>/dev/null) ]] || mvn -q -B -f "$folder/finagle/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$cache/finagle" >"$work/mvn" 2>&1 ||
        { echo "SKIPPED: $name: Maven: $(grep -m 1 ERROR "$work/mvn")" >&2; return; }
    javac -cp "$cache/finagle/*" -d "$classes" "$folder/FinagleHello.java" 2>"$work/javac" || { echo "SKIPPED: $name: $(tail -n 1 "$work/javac")" >&2; return; }
    # What it does; KiB that a request allocates, MiB that are kept; options of the slower run, and of the other.
    for pair in \
        "allocates;64;80;-XX:+UseSerialGC;-XX:+UseParallelGC" \
        "answers;0;0;-XX:+UseSerialGC;-XX:+UseParallelGC" \
        "short-pauses;64;0;-XX:+UseG1GC -XX:MaxGCPauseMillis=1;-XX:+UseParallelGC" \
        "first-compiler;0;0;-XX:TieredStopAtLevel=1;-XX:TieredStopAtLevel=4" \
        "interpreted;0;0;-Xint;-XX:TieredStopAtLevel=4" \
        "small-pages;64;80;-XX:-UseTransparentHugePages;-XX:+UseTransparentHugePages"; do
        IFS=';' read -r what kib mib slow good <<<"$pair"
        # Options are words.
        # shellcheck disable=SC2086
        {
            [[ $what != short-pauses ]] || heap=(-Xmx1g)
            recorded "$what-slow" $many java "${heap[@]}" $slow -cp "$classes:$cache/finagle/*" FinagleHello $port "$kib" "$mib" || return 0
            recorded "$what-good" $many java "${heap[@]}" $good -cp "$classes:$cache/finagle/*" FinagleHello $port "$kib" "$mib" || return 0
            heap=(-Xmx256m -Xmn64m)
        }
        explained "$what-slow" --against "$work/$what-good.twin"
        explained "$what-slow" --against "$work/$what-good.twin" --tail
    done
}
# A server that is as fast as ever but for pauses of its collector, which one request in fifty meets.
bench_pauses() {
    local classes=$work/classes pause
    missing javac wrk && return
    javac -d "$classes" "$folder/Pauses.java" || return 0
    for pause in 0 300; do
        recorded "pauses-$pause" 64 java -Xmx512m -XX:+UseSerialGC -Dsun.net.httpserver.nodelay=true -cp "$classes" Pauses $port 64 40 $pause 10 || return 0
    done
    explained pauses-300 --against "$work/pauses-0.twin"
    explained pauses-300 --against "$work/pauses-0.twin" --tail
    explained pauses-300 --tail
}
bench_go() {
    missing go && return
    go build -o "$work/hello" "$folder/hello.go" || return 0
    under_wrk "Go net/http" $((cpus * 8)) "$work/hello" $port
}
bench_node() {
    missing node && return
    under_wrk "Node.js http" $((cpus * 8)) node "$folder/hello.js" $port
}
bench_python() {
    missing python3 && return
    under_wrk "Python http.server" $((cpus * 2)) python3 "$folder/hello.py" $port
}
# Whether the servers of Python are not there, nor come by pip: said.
no_python_servers() {
    missing python3 && return
    [[ -x $cache/python/bin/uvicorn ]] && return 1
    { python3 -m venv "$cache/python" && "$cache/python/bin/pip" install -q gunicorn uvicorn httptools uvloop; } >"$work/pip" 2>&1 && return 1
    echo "SKIPPED: ${name:?}: pip: $(tail -n 1 "$work/pip")" >&2
}
bench_gunicorn() {
    no_python_servers && return
    local gunicorn=("$cache/python/bin/gunicorn" -w "$cpus" -b "127.0.0.1:$port" --chdir "$folder")
    under_wrk "gunicorn, sync: a connection a request" $((cpus * 2)) "${gunicorn[@]}" hello:wsgi
    under_wrk "gunicorn, threads" $((cpus * 2)) "${gunicorn[@]}" -k gthread --threads 4 --keep-alive 5 hello:wsgi
}
bench_uvicorn() {
    no_python_servers && return
    under_wrk uvicorn $((cpus * 4)) "$cache/python/bin/uvicorn" --app-dir "$folder" --port $port --log-level warning --no-access-log hello:asgi
}

# Each datagram that is answered.
bench_datagrams() {
    missing python3 && return
    start python3 "$folder/hello.py" udp $port || return 0
    while_recorded ask_by_client datagrams $port $((each * 10000)) && compare "datagrams of UDP" "role = 'server' and protocol = 'udp'"
    stop
}

# Server and client in one command that is recorded.
bench_command() {
    local many=$((cpus * 16))
    set_up_nginx $port || return 0
    cat >"$work/run" <<RUN
nginx -c $work/nginx.conf & server=\$!
sleep 1; wrk -t$cpus -c$many -d${each}s -s $folder/wrk.lua http://127.0.0.1:$port/ 2>$work/said >/dev/null; kill \$server; wait
RUN
    rm -f "$work/run.twin"
    "$twinscope" record -q -f -o "$work/run.twin" --only turns "${options[@]}" -- bash "$work/run" >/dev/null 2>>"$work/errors"
    read -r asked p50 p99 _ <"$work/said"
    compare "a command: nginx" "$served" 0 $many
    compare "a command: wrk" "role = 'client' and comm = 'wrk'" 0 $many
}

# As recordings are by default, for long enough that times are thinned out.
bench_thinned() {
    local options=() each=$((each * 4)) many=$((cpus * 16))
    set_up_nginx $port || return 0
    under_wrk "nginx, by default" $many nginx -c "$work/nginx.conf"
    was_thinned "nginx, by default"
    missing redis-server redis-benchmark && return
    start redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no || return 0
    while_recorded ask_by_redis $((each * 40000)) -t get && compare "Redis, by default" "$served" 1 && was_thinned "Redis, by default"
    stop
}
# Prints for $1 in which part of the time the times of turns were taken, where it was the least: one in so many.
was_thinned() { value "$1" "times taken in one part of the time in" "" "$(query "select max(sampled_1_in) from turns_collector")"; }

# The client with the words $@, beside one that asks as it should, and whose requests are those that count.
beside_others() {
    ask_by_client "$@" >/dev/null &
    ask_by_client ask http $port 20 $((each * 100))
    wait $!
}
# Prints for $1 what the recorder takes, and the connections that it saw opened beside the $2 that were.
bounds() {
    local opened
    opened=$(total opened "$served")
    value "$1" "connections opened, by the client" "" "$2"
    value "$1" "connections opened" "" "$opened"
    value "$1" "connections, difference" % "$(awk -v n="$opened" -v all="$2" 'BEGIN { printf "%.3f", 100 * (n > all ? n - all : all - n) / all }')"
    value "$1" "largest RSS of the recorder" MiB "$(printf %.1f "$rss")"
    value "$1" "maps of eBPF programs" MiB "$(printf %.1f "$maps")"
}
bench_hostile() {
    missing python3 && return
    ulimit -n 15000 2>/dev/null || { echo "SKIPPED: $name: no more than $(ulimit -n) files may be open" >&2; return; }
    # What it did is in its log, by how many bytes went out.
    set_up_nginx $port "log_format sent '\$bytes_sent'; access_log $work/access sent; keepalive_requests 1000000;" "access_log $work/access sent;" 12000 || return 0
    head -c 4000000 /dev/zero >"$work/www/large"
    start nginx -c "$work/nginx.conf" || return 0
    while_recorded ask_by_client ask http $port 100 $((each * 100)) && compare "ordinary requests" "$served" && bounds "ordinary requests" 100
    while_recorded ask_by_client ask http $port 10000 "$each" && compare "10,000 connections" "$served" && bounds "10,000 connections" 10000
    while_recorded ask_by_client bytes $port 50 $((each * 4)) && compare "requests in pieces of a byte" "$served" && bounds "requests in pieces of a byte" 50
    while_recorded beside_others half $port 2000 && compare "half-open connections beside others" "$served" && bounds "half-open connections beside others" 2020
    : >"$work/access"
    if while_recorded ask_by_client resets $port $((each * 2000)); then
        asked=$(awk '$1 > 0 { n++ } END { print n + 0 }' "$work/access")
        compare "resets" "$served" && bounds "resets" $((each * 2000))
    fi
    stop
}

# Prints for $1 the quantiles of the service time at $port beside those of the milliseconds in the file $2, which the server wrote down.
beside_log() {
    local share logged counted
    for share in 0.5 0.99; do
        logged=$(sort -n "$2" | awk -v share=$share '{ took[NR] = $1 } END { printf "%.1f", 1000 * took[int(NR * share) + 1] }')
        counted=$(quantile $share "$served" service)
        value "$1" "p${share#0.} of its log" µs "$logged"
        value "$1" "p${share#0.} of service time" µs "$counted"
        value "$1" "p${share#0.}, service time less the log" µs "$(awk -v a="$counted" -v b="$logged" 'BEGIN { printf "%.1f", a - b }')"
        value "$1" "p${share#0.}, the same as a part of the log's" % "$(awk -v a="$counted" -v b="$logged" 'BEGIN { printf "%.1f", 100 * (a - b) / b }')"
    done | sed 's/p5\b/p50/'
}
bench_logs() {
    logs_of_nginx
    logs_of_postgres
}
# It writes down milliseconds: those who are asked take 20 to 60.
logs_of_nginx() {
    local back many=$((cpus * 8))
    missing python3 && return
    set_up_nginx $port "log_format took '\$request_time'; upstream back { server 127.0.0.1:$((port + 1)); keepalive 64; }" \
        "access_log $work/access took; location / { proxy_pass http://back; proxy_http_version 1.1; proxy_set_header Connection ''; }" || return 0
    python3 "$folder/hello.py" slow $((port + 1)) >/dev/null 2>&1 &
    back=$!
    started+=("$back")
    sleep 1
    rm -f "$work/access"
    start nginx -c "$work/nginx.conf" || return 0
    while_recorded ask_by_wrk $many "http://127.0.0.1:$port/" && awk '{ print 1000 * $1 }' "$work/access" >"$work/took" &&
        beside_log "nginx, \$request_time" "$work/took"
    stop
    kill $back
}
logs_of_postgres() {
    local bin as tcp="-h 127.0.0.1 -p $port"
    set_up_postgres || return 0
    echo "select pg_sleep(random() * 0.008), abalance from pgbench_accounts where aid = 1;" >"$work/pg/statement"
    # Short ones one in twenty: to write a line down takes microseconds itself, after the duration that it tells and before the answer.
    log_of_postgres 1 "PostgreSQL, pgbench -S" "-S $tcp" -c log_min_duration_sample=0 -c log_statement_sample_rate=0.05
    log_of_postgres 4 "PostgreSQL, up to 8 ms of sleep" "-f statement $tcp" -c log_duration=on
}
# PostgreSQL with the settings ${@:4}, under pgbench with $1 connections and the options $3: what it wrote down, for $2.
log_of_postgres() {
    start_postgres "${@:4}" || return 0
    : >"$work/server"
    # shellcheck disable=SC2086
    if while_recorded ask_by_pgbench "$1" $3; then
        sed -n 's/.*duration: \([0-9.]*\) ms.*/\1/p' "$work/server" >"$work/took"
        beside_log "$2" "$work/took"
    fi
    stop INT
}

# nginx at its limit, with recordings as they are by default and with those in which everything counts.
bench_overhead() {
    set_up_nginx $port "" 'location /served { stub_status; keepalive_requests 1000000; }' || return 0
    start nginx -c "$work/nginx.conf" || return 0
    loss_with "nginx under wrk"
    loss_with "nginx under wrk, --exact" --exact
    a_turn "nginx under wrk"
    a_turn "nginx under wrk, --exact" --exact
    stop
}
# What recordings of `server` with the options ${@:2} take, for $1.
loss_with() {
    local load counter
    wrk "-t$cpus" "-c$((cpus * 32))" -d9999s "http://127.0.0.1:$port/" >/dev/null &
    load=$!
    "$helper" served "127.0.0.1:$port" >"$work/counts" &
    counter=$!
    started+=("$load" "$counter")
    each=10 in_turn --only turns "${@:2}" --pid "$server"
    kill $load $counter
    wait $load $counter 2>/dev/null
    lost "$1" <"$work/counts"
}
# Prints for $1 what a turn costs with the options ${@:2}, as the kernel measures eBPF programs.
a_turn() {
    local options=("${@:2}")
    [[ -w $stats ]] || { echo "SKIPPED: ${name:?}: what eBPF programs cost: $stats cannot be written" >&2; return; }
    were=$(<"$stats")
    echo 1 >"$stats"
    while_recorded ask_by_wrk $((cpus * 32)) "http://127.0.0.1:$port/" >/dev/null
    restore_stats
    value "$1" "a turn" ns "$(awk -v ns="$(query "select max(cost_ns) from turns_collector")" -v turns="$(total turns "$served")" \
        'BEGIN { if (turns) printf "%.0f", ns / turns }')"
}

run_named "${names[@]}"
[[ ! -s $work/errors ]] || cat "$work/errors" >&2
