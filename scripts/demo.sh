#!/usr/bin/env bash
# Records a slow and a fast run of one workload, prints why the slow one is slower, and writes the report.
#
# usage: scripts/demo.sh [WORKLOAD]     default: munmap-storm; their list: workloads/README.md
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

workload=${1:-munmap-storm}
twinscope=target/release/twinscope
program=workloads/bin/$workload
if [[ ! -x $program ]]; then
    echo "demo: $workload: no such workload; there are: $(cd workloads/bin && echo *)" >&2
    exit 2
fi

rm -rf demo
mkdir -p demo
for variant in fast slow; do
    echo "== recording $workload, $variant"
    "$twinscope" record -o "demo/$variant.twin" --throughput '^done ([0-9]+)' -- "$program" "$variant"
done
echo "== why: $workload, slow against fast"
"$twinscope" explain demo/slow.twin --against demo/fast.twin
"$twinscope" report demo/fast.twin demo/slow.twin -o demo/report.html
echo
echo "All that differs: target/release/twinscope compare demo/fast.twin demo/slow.twin"
echo "Report: $PWD/demo/report.html"
