#!/usr/bin/env bash
# Builds the recorder alone as static programs that run on any Linux host: target/dist/twinscope-recorder-MACHINE.
#
# usage: scripts/build-recorder.sh [MACHINE…]     default: x86_64 and aarch64 (on an aarch64 host, that one only)
#
# The GNU targets are used, with the C library linked in: libbpf does not build for musl.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

machines=("$@")
if [[ ${#machines[@]} -eq 0 ]]; then
    machines=("$(uname -m)")
    [[ ${machines[0]} == aarch64 ]] || machines+=(aarch64)
fi
mkdir -p target/dist
for machine in "${machines[@]}"; do
    # For this machine no target is named, and only the program itself is compiled for static linking: all that `make build`
    # compiled serves here too.
    target=() out=target/release
    if [[ $machine != "$(uname -m)" ]]; then
        target=(--target "$machine-unknown-linux-gnu")
        out=target/$machine-unknown-linux-gnu/release
    fi
    cargo rustc --release "${target[@]}" -p twinscope-recorder --bin twinscope-recorder -- -C target-feature=+crt-static
    cp "$out/twinscope-recorder" "target/dist/twinscope-recorder-$machine"
done
ls -l target/dist
