#!/usr/bin/env bash
# Takes recordings of the fault bench into the corpus (fixtures/explain/), each with what its declaration says of it.
#
# usage: scripts/corpus.sh [--from DIR] [NAME…]     DIR: where scripts/faults.sh put them (default target/faults)
#
# A pair whose slow run is not slower by a quarter, by the programs' own words, does not show its fault: it is left out, and said.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."
# shellcheck source=workloads/faults/lib.sh
. workloads/faults/lib.sh

from=target/faults names=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --from) from=$2 && shift ;;
    *) names+=("$1") ;;
    esac
    shift
done
cargo build --release --quiet -p twinscope-corpus
machine="VM with $(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), Linux $(uname -r | cut -d- -f1)"

# pair NAME SLOW FAST JSON: into the corpus; JSON is added to what all pairs have
pair() {
    local day
    day=$(date -u -r "$2" +%F)
    jq -n --arg recorded "$day, $machine" "$4 + {recorded: \$recorded}" | target/release/corpus keep "$1" "$2" "$3"
}

[[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(fault_names)
for name in "${names[@]}"; do
    dir=$from/$name
    [[ -s $dir/slow.twin && -s $dir/fast.twin ]] || { echo "$name: not recorded" && continue; }
    ratio=$(slowdown "$dir")
    [[ $ratio != - ]] || ratio=
    if [[ -n $ratio ]] && awk -v r="$ratio" 'BEGIN { exit !(r < 1.25) }'; then
        echo "$name: its slow run takes $ratio times as long: it does not show its fault, left out"
        continue
    fi
    share=$(declared "$name" share)
    share=${share:-$(said "$dir/slow.out" 'truth: lost share')}
    [[ $share != - ]] || share=
    also=$(declared "$name" also)
    [[ -z $also ]] || more=$(said "$dir/slow.out" "truth: lost share of $also")
    origin=$(declared "$name" origin)
    tail=$(of_tail "$name" && echo true || echo false)
    json=$(jq -n --arg title "$(declared "$name" title)" --arg language "$(declared "$name" language)" \
        --arg origin "${origin:-our own}" --arg set "$(declared "$name" set)" --arg causes "$(declared "$name" cause)" \
        --arg share "$share" --arg also "$also" --arg more "${more:-}" --arg ratio "$ratio" \
        --argjson tail "$tail" \
        '{title: $title, language: $language, origin: $origin, set: (if $set == "" then "tuned" else $set end),
          causes: ($causes / " | "), share: ($share | tonumber? // null),
          also: (if $also == "" then null else [$also, ($more | tonumber? // null)] end), ratio: ($ratio | tonumber? // null), tail: (if $tail then true else null end)}
         | with_entries(select(.value != null))')
    pair "$name" "$dir/slow.twin" "$dir/fast.twin" "$json"
done
# Equal runs, by the name of the program and its variant.
for dir in "$from"/aa/*/; do
    [[ -s $dir/a.twin && -s $dir/b.twin ]] || continue
    name=$(basename "$dir")
    fault=${name%-*}
    neighbour=$([[ -e $dir/neighbour ]] && echo true || echo false)
    json=$(jq -n --arg title "$(declared "$fault" title)" --arg language "$(declared "$fault" language)" \
        --argjson neighbour "$neighbour" \
        '{title: ("equal runs: " + $title), language: $language, origin: "our own", set: "tuned", causes: [], neighbour: $neighbour}')
    pair "equal-$name" "$dir/a.twin" "$dir/b.twin" "$json"
done
du -sh fixtures/explain
