#!/usr/bin/env bash
# Builds the programs of workloads/faults/ into bin/: common/NAME.c and the main.* of each folder, under the folder's name.
# A language whose compiler is missing is left out, and said so.
#
# usage: workloads/faults/build.sh
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../../scripts/lib/usage.sh"
cd "$(dirname "$0")"
mkdir -p bin
missing=() failed=0

# stale TARGET SOURCE…: whether TARGET must be built
stale() {
    local target=$1 source
    shift
    for source in "$@" build.sh; do [[ $target -nt $source ]] || return 0; done
    return 1
}
have() {
    command -v "$1" >/dev/null && return 0
    [[ " ${missing[*]} " == *" $1 "* ]] || missing+=("$1")
    return 1
}
build() { # TARGET COMMAND…
    echo "build: $1"
    "${@:2}" || { echo "build: $1 failed" >&2 && failed=1; }
}

C=(-std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -g -fno-omit-frame-pointer -pthread -I../common -Icommon)
CXX=(-std=c++20 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -g -fno-omit-frame-pointer -pthread -Icommon)
for source in common/*.c */main.*; do
    [[ -e $source ]] || continue
    folder=${source%/*} name=${source%/*}
    [[ $folder != common ]] || name=$(basename "$source" .c)
    target=bin/$name
    case $source in
    *.c)
        have gcc && { ! stale "$target" "$source" ../common/* common/pace.h || build "$target" gcc "${C[@]}" -o "$target" "$source" ../common/*.c -lm; } ;;
    *.cpp) have g++ && { ! stale "$target" "$source" common/frame.hpp common/pace.h || build "$target" g++ "${CXX[@]}" -o "$target" "$source"; } ;;
    *.rs) have rustc && { ! stale "$target" "$source" common/frame.rs common/pace.rs || build "$target" rustc --edition 2021 -O -g -C force-frame-pointers=yes -o "$target" "$source"; } ;;
    *.go) have go && { ! stale "$target" "$source" common/frame/frame.go common/pace/pace.go || build "$target" env GOFLAGS= go build -o "$target" "./$folder"; } ;;
    esac || true
done
for source in */Main.java; do
    [[ -e $source ]] || continue
    target=bin/${source%/*}.jar
    have javac && stale "$target" "$source" common/Frame.java || continue
    classes=$(mktemp -d)
    if javac -g -d "$classes" "$source" common/Frame.java && jar --create --file "$target" --main-class Main -C "$classes" .; then
        echo "build: $target"
    else
        echo "build: $target failed" >&2
        failed=1
    fi
    rm -rf "$classes"
done
for compiler in "${missing[@]}"; do echo "build: $compiler is missing: what needs it is left out"; done
exit $failed
