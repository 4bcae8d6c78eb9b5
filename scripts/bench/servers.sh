# shellcheck shell=bash
# What the benchmarks of servers share: a folder for their files, servers that end with the script, nginx and PostgreSQL as they are set up. Sourced from
# scripts/bench/services.sh, scripts/bench/turns.sh and scripts/bench/unwind.sh, which set `name` to what they measure.

work=$(mktemp -d "${TMPDIR:-/tmp}/twinscope-bench.XXXXXX")
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

# Whether one of these tools is not installed, which is said.
missing() {
    for tool in "$@"; do command -v "$tool" >/dev/null || { echo "SKIPPED: ${name:?}: no $tool" >&2; return 0; }; done
    return 1
}

# Writes $work/nginx.conf: a worker for each CPU, with up to $4 connections each, that serve a page of 2,000 bytes at port $1 (and what else `listen`
# takes), with the settings $2, and $3 of that server.
set_up_nginx() {
    missing nginx wrk && return 1
    mkdir -p "$work/www"
    head -c 2000 /dev/zero >"$work/www/index.html"
    cat >"$work/nginx.conf" <<CONF
daemon off; pid $work/nginx.pid; error_log /dev/null; worker_processes auto; worker_rlimit_nofile $((${4:-1024} + 1000));
events { worker_connections ${4:-1024}; }
http { access_log off; ${2:-} server { listen 127.0.0.1:$1; root $work/www; ${3:-} } }
CONF
}

# Makes a database in $work/pg. Sets `bin`, where its programs are, and `as`, the words that run them as a user that it accepts: it refuses root.
set_up_postgres() {
    bin=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
    bin=${bin%/initdb} as=()
    [[ -n $bin ]] || { echo "SKIPPED: ${name:?}: no PostgreSQL" >&2; return 1; }
    missing setpriv && return 1
    rm -rf "$work/pg"
    mkdir -p "$work/pg"
    if [[ $(id -u) -eq 0 ]]; then chown nobody "$work/pg" && as=(setpriv --reuid=nobody --clear-groups); fi
    (cd "$work/pg" && "${as[@]}" "$bin/initdb" -D "$work/pg/data" -U test -A trust) >/dev/null 2>&1 || {
        echo "SKIPPED: ${name:?}: initdb failed" >&2
        return 1
    }
    export PGHOST=$work/pg PGUSER=test
}

# Runs bench_NAME for each of these names; where there is none, prints how the script is used, which its first comment says from "usage" on.
run_named() {
    for name in "$@"; do
        declare -F "bench_$name" >/dev/null || { sed -n '/^# usage/,/^[^#]/s/^# \{0,1\}//p' "scripts/bench/${0##*/}" >&2; exit 2; }
        "bench_$name"
    done
}
