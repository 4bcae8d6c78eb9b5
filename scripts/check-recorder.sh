#!/usr/bin/env bash
# The recorder alone: static, for both machines, and both read a recorded host alike. aarch64 runs under qemu-user.
#
# usage: scripts/check-recorder.sh     `make recorder` installs what it needs
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

passed=0
ok() {
    echo "ok: $*"
    passed=$((passed + 1))
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# After `make build`, nothing but the program itself may be left to compile.
cargo build --release --quiet -p twinscope-cli
scripts/build-recorder.sh "$(uname -m)" 2>&1 | tee "$work/built"
again=$(sed -n 's/^ *Compiling \([^ ]*\) .*/\1/p' "$work/built" | grep -vx twinscope-recorder || true)
if [[ -n $again ]]; then
    echo "compiled a second time, with other features than in twinscope: $(tr '\n' ' ' <<<"$again")" >&2
    echo "crates/recorder/Cargo.toml lists the features that both need; 'cargo tree -e features -i CRATE' says who needs what" >&2
    exit 1
fi
ok "nothing that twinscope contains is compiled a second time"
[[ $(uname -m) == aarch64 ]] || scripts/build-recorder.sh aarch64
fixture=fixtures/hosts/vm-2cpu/frame-0
QUERY='select distinct irq, cpu, count from interrupts order by 1, 2'

for program in target/dist/twinscope-recorder-*; do
    machine=${program##*-}
    run=("$program")
    [[ $machine == "$(uname -m)" ]] || run=("qemu-$machine" "$program")
    if readelf --program-headers --wide "$program" | grep -q INTERP; then
        echo "$program: is not static: it asks for a dynamic loader" >&2
        exit 1
    fi
    ok "$machine: static, $(stat -c %s "$program") bytes"
    "${run[@]}" --version
    "${run[@]}" sources --json --root "$fixture" >"$work/sources.json"
    # The rows of each source; not of those that also ask the kernel they run on (eBPF, ethtool), which qemu-user lacks.
    awk '/^    "rows":/ { rows = $2 } /^    "source":/ { print $2, rows }' "$work/sources.json" |
        grep -vE '"(ethtool|facts|processes)"' >"$work/rows-$machine"
    [[ $(grep -vc ' 0,$' "$work/rows-$machine") -ge 10 ]]
    ok "$machine: lists what it can read of $fixture"
    "${run[@]}" record --root "$fixture" --only cpu,interrupts -d 2s -o "$work/$machine.twin"
    target/release/twinscope sql --format csv "$work/$machine.twin" "$QUERY" >"$work/values-$machine"
    [[ $(wc -l <"$work/values-$machine") -ge 10 ]]
    ok "$machine: records $fixture, and the recording opens"
done
for file in "$work"/rows-* "$work"/values-*; do
    kind=${file##*/}
    diff -u "$work/${kind%-*}-$(uname -m)" "$file"
done
ok "every machine reads the same rows and values"
echo "$passed passed, 0 failed, 0 skipped"
