#!/usr/bin/env bash
# Makes the outputs that docs/stories.md shows anew, so that they can be kept true: records each pair of bundled
# programs, asks explain, and proves the change with tune. About six minutes, on a machine that does nothing else.
#
# usage: scripts/docs/stories.sh [STORY…]     locks line clock pages heap; default: all
#   OUT=target/stories      where recordings, sessions and STORY.txt go
#   SECONDS_EACH=6          length of a recorded run
#   TWINSCOPE=…             the program (default target/release/twinscope)
set -euo pipefail
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
heap() {
    java_fault java-small-heap
    local jar=workloads/faults/bin/java-small-heap.jar
    recorded heap-slow java -Xmx22m -jar "$jar" slow --seconds "$seconds"
    recorded heap-good java -Xmx512m -jar "$jar" fast --seconds "$seconds"
    shown "$twinscope" explain "$out/heap-slow.twin" --against "$out/heap-good.twin"
    proved "java -Xmx22m -jar $jar slow --seconds 2" "java -Xmx512m -jar $jar fast --seconds 2"
}

[[ $# -gt 0 ]] || set -- locks line clock pages heap
for story in "$@"; do
    "$story" >"$out/$story.txt"
    echo "$out/$story.txt"
done
