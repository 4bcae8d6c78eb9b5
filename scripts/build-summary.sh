#!/usr/bin/env bash
# Builds the program that reduces recordings on the machines of a cluster, as a static program that runs on any Linux host:
# target/dist/twinscope-summary-MACHINE. It is twinscope without eBPF: it reads recordings and records none by eBPF.
#
# usage: scripts/build-summary.sh [MACHINE…]     default: that of this host; x86_64 or aarch64
#
# Spark carries it to its executors (docs/engines.md), whose C libraries are older than that of a build.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

machines=("$@")
[[ ${#machines[@]} -gt 0 ]] || machines=("$(uname -m)")
mkdir -p target/dist
for machine in "${machines[@]}"; do
    # A target folder of its own: without eBPF nearly everything is another build, and what `make build` made stays.
    target=(--target "$machine-unknown-linux-gnu")
    began=$SECONDS
    cargo rustc --release --target-dir target/summary "${target[@]}" -p twinscope-cli --bin twinscope --no-default-features -- \
        -C target-feature=+crt-static -C strip=symbols
    into=target/dist/twinscope-summary-$machine
    cp "target/summary/$machine-unknown-linux-gnu/release/twinscope" "$into"
    echo "$into: $(($(stat -c %s "$into") / 1000000)) MB, built in $((SECONDS - began)) s"
done
