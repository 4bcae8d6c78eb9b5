#!/usr/bin/env bash
# Runs every fuzz target for some time, from the seeds and what earlier runs found (fuzz/corpus). Any crash is a failure; its
# input is kept in fuzz/artifacts.
#
# usage: scripts/fuzz.sh [SECONDS [TARGET…]]     for each target; default 60, and all of them
#
# Coverage needs no nightly compiler, but cargo-fuzz asks for flags that the stable one only takes when it is told so.
# Without an address sanitizer: nearly all of it is safe Rust, and C libraries would have to be built with it too.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
scripts/install-deps.sh fuzz
# In memory where that is possible: the targets write small files all the time.
TMPDIR=$(mktemp -d -p /dev/shm twinscope-fuzz-XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR RUSTC_BOOTSTRAP=1
cargo fuzz build --sanitizer none
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(cargo fuzz list)
failed=()
for target in "${targets[@]}"; do
    echo "== $target"
    mkdir -p "fuzz/corpus/$target"
    seeds=()
    [[ ! -d fuzz/seeds/$target ]] || seeds=("fuzz/seeds/$target")
    cargo fuzz run --sanitizer none "$target" "fuzz/corpus/$target" "${seeds[@]}" -- \
        -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -max_len=4096 -len_control=0 || failed+=("$target")
done
[[ ${#failed[@]} -eq 0 ]] || {
    echo "fuzz: crashed: ${failed[*]}" >&2
    exit 1
}
