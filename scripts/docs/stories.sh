#!/usr/bin/env bash
# Makes the outputs of docs/stories.md, and one of docs/how-do-i.md, anew, so that they can be kept true: records each pair
# of bundled programs, asks explain, and proves the change with tune. About twelve minutes, on a machine that does nothing else.
#
# usage: scripts/docs/stories.sh [STORY…]     locks options line clock pages stretches; default: all
#   OUT=target/stories      where recordings, sessions and STORY.txt go
#   SECONDS_EACH=6          length of a recorded run
#   TWINSCOPE=…             the program (default target/release/twinscope)
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
out=${OUT:-target/stories} seconds=${SECONDS_EACH:-6}
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
done_pattern='^done ([0-9]+)'
export COLUMNS=120
mkdir -p "$out"

shown() { # COMMAND…: the command as a person types it, then what it prints
    echo "\$ ${*/#$twinscope/twinscope}"
    "$@" 2>&1 || echo "(exit code $?)"
    echo
}
recorded() { # NAME COMMAND…
    shown "$twinscope" record -q --force -o "$out/$1.twin" --throughput "$done_pattern" -- "${@:2}"
}
c_fault() { # NAME: compiles one program of the fault bench
    mkdir -p workloads/faults/bin
    gcc -std=c17 -D_GNU_SOURCE -O2 -g -fno-omit-frame-pointer -pthread -Iworkloads/common -Iworkloads/faults/common \
        -o "workloads/faults/bin/$1" "workloads/faults/$1/main.c" workloads/common/*.c -lm
}
java_fault() { # NAME
    local classes
    classes=$(mktemp -d)
    mkdir -p workloads/faults/bin
    javac -g -d "$classes" "workloads/faults/$1/Main.java" workloads/faults/common/Frame.java
    jar --create --file "workloads/faults/bin/$1.jar" --main-class Main -C "$classes" .
    rm -rf "$classes"
}
proved() { # BASELINE CANDIDATE
    rm -rf "$out/${FUNCNAME[1]}.tune"
    # shellcheck disable=SC2086  # commands are words
    shown "$twinscope" tune -o "$out/${FUNCNAME[1]}.tune" --quick --explained 0 --throughput "$done_pattern" --against "$1" -- $2
}

locks() {
    make -s -C workloads/explorer
    local java=(java -Xmx1g -cp workloads/explorer/bin Explorer --philosophers 11 --states 177147 --threads 4
        --log-file "$out/explorer.log")
    recorded explorer "${java[@]}"
    shown "$twinscope" explain "$out/explorer.twin"
    recorded explorer-log-off "${java[@]}" --log off
    shown "$twinscope" explain "$out/explorer-log-off.twin"
    recorded explorer-last "${java[@]}" --log off --set stripes-1024 --end parallel
    shown "$twinscope" explain "$out/explorer.twin" --against "$out/explorer-last.twin"
}
line() {
    make -s -C workloads/sharing bin/tally-array bin/tally-array-mended
    recorded line-slow workloads/sharing/bin/tally-array "$seconds" 2
    recorded line-good workloads/sharing/bin/tally-array-mended "$seconds" 2
    shown "$twinscope" explain "$out/line-slow.twin" --against "$out/line-good.twin"
    shown "$twinscope" sharing -- workloads/sharing/bin/tally-array "$seconds" 2
    proved 'workloads/sharing/bin/tally-array 1 2' 'workloads/sharing/bin/tally-array-mended 1 2'
}
clock() {
    c_fault raw-clock
    recorded clock-slow workloads/faults/bin/raw-clock slow --seconds "$seconds"
    recorded clock-good workloads/faults/bin/raw-clock fast --seconds "$seconds"
    shown "$twinscope" explain "$out/clock-slow.twin" --against "$out/clock-good.twin"
    shown "$twinscope" doctor --only clock-source
    proved 'workloads/faults/bin/raw-clock slow --seconds 1' 'workloads/faults/bin/raw-clock fast --seconds 1'
}
pages() {
    java_fault java-small-pages
    local java=(java -Xmx1g -Xms1g -XX:+UseParallelGC) rest=(-jar workloads/faults/bin/java-small-pages.jar)
    recorded pages-slow "${java[@]}" "${rest[@]}" slow --seconds "$seconds"
    recorded pages-good "${java[@]}" -XX:+UseTransparentHugePages "${rest[@]}" fast --seconds "$seconds"
    shown "$twinscope" explain "$out/pages-slow.twin" --against "$out/pages-good.twin"
    proved "${java[*]} ${rest[*]} slow --seconds 2" "${java[*]} -XX:+UseTransparentHugePages ${rest[*]} fast --seconds 2"
}
# Each rung alone, then beside the next, then the steps one by one.
options() {
    java_fault java-small-heap
    local program='-jar workloads/faults/bin/java-small-heap.jar slow' at rungs
    rungs=('-Xint -Xmx22m -XX:TieredStopAtLevel=1 -XX:ActiveProcessorCount=1' '-Xmx22m -XX:TieredStopAtLevel=1 -XX:ActiveProcessorCount=1'
        '-Xmx256m -XX:TieredStopAtLevel=1 -XX:ActiveProcessorCount=1' '-Xmx256m -XX:ActiveProcessorCount=1'
        '-Xmx256m -Xmn192m -XX:ActiveProcessorCount=1' '-Xmx256m -Xmn192m -XX:+UseParallelGC')
    for at in "${!rungs[@]}"; do
        # shellcheck disable=SC2086  # options are words
        recorded "jvm-$at" java ${rungs[at]} $program --seconds "$seconds"
        shown "$twinscope" explain "$out/jvm-$at.twin"
    done
    for at in 0 1 2 3 4; do
        shown "$twinscope" explain "$out/jvm-$at.twin" --against "$out/jvm-$((at + 1)).twin"
        proved "java ${rungs[at]} $program --seconds 4" "java ${rungs[at + 1]} $program --seconds 4"
    done
    proved "java ${rungs[0]} $program --seconds 4" "java ${rungs[5]} $program --seconds 4"
}
# Of docs/how-do-i.md: a Redis that is slower from the middle of a recording on.
stretches() {
    local port=16399 server client monitor at
    redis-server --bind 127.0.0.1 --port $port --save '' --dir "$out" >/dev/null &
    server=$!
    sleep 1
    redis-cli -p $port eval "for i = 1, 400000 do redis.call('set', 'session:' .. i, 'open') end" 0 >/dev/null
    timeout 60 redis-benchmark -p $port -t get -n 100000000 -c 8 -q >/dev/null 2>&1 &
    client=$!
    (
        sleep 21
        for ((at = 0; at < 500; at++)); do redis-cli -p $port keys 'cart:*' >/dev/null 2>&1 && sleep 0.02; done
    ) &
    monitor=$!
    shown "$twinscope" record -q --force --pid $server -d 40s -o "$out/day.twin"
    kill $monitor $client $server
    wait $monitor $client $server || true
    shown "$twinscope" explain "$out/day.twin" --window 23s..38s --against-window 4s..18s
}

[[ $# -gt 0 ]] || set -- locks options line clock pages stretches
for story in "$@"; do
    "$story" >"$out/$story.txt"
    echo "$out/$story.txt"
done
