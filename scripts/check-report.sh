#!/usr/bin/env bash
# The page draws what the report crate writes: the report of a pair of the corpus, page by page in Chromium.
#
# usage: scripts/check-report.sh [PAIR]     default: contended-counter
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --quiet --workspace --bin corpus
target/release/corpus unpack "${1:-contended-counter}" "$work"
target/release/twinscope report "$work/fast.twin" "$work/slow.twin" -o "$work/report.html"
npm --prefix ui run test:page -- --report "$work/report.html"
