#!/usr/bin/env bash
# Measures what README.md says: each workload's seconds, slow against fast, and what changed with them per operation.
#
# usage: workloads/measure.sh [NAME…]     prints a table in Markdown; use a machine that does nothing else
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")"

names=("$@")
[[ ${#names[@]} -gt 0 ]] || names=($(cd bin && echo *))

# Prints "name|value" for each line of truth of one run, with the operations first.
truths() { "bin/$1" "$2" | sed -n 's/^operations: /operations|/p; s/^truth: \(.*\) \([0-9.a-f-]*\)$/\1|\2/p'; }

echo "| workload | | slow | fast | slow : fast |"
echo "|---|---|---|---|---|"
for name in "${names[@]}"; do
    paste -d'|' <(truths "$name" slow) <(truths "$name" fast) | awk -F'|' -v name="$name" '
        $1 == "hash" { next }
        {
            ratio = $4 > 0 ? sprintf("%.3g", $2 / $4) : $2 > 0 ? "only slow" : "none"
            printf "| %s | %s | %s | %s | %s |\n", name, $1, $2, $4, ratio
            name = ""
        }'
done
