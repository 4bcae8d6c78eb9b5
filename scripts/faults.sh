#!/usr/bin/env bash
# The fault bench: records every pair under workloads/faults/, asks `twinscope explain` for the cause, and prints how often and
# how exactly it is right.
#
# usage: scripts/faults.sh [OPTION…] [NAME…]        names of folders under workloads/faults/; default: all
#   --out DIR        where recordings and tables go (default target/faults); what is there is kept and used again
#   --seconds N      length of a run (default 8)
#   --repeats N      runs of each variant, slow and fast by turns (default 1)
#   --again          record again what is there
#   --explain-only   record nothing
#   --record-only    explain nothing
#   --patience N     wait up to N seconds before each run for a machine that does nothing else (default 60)
#   --aa             pairs of identical runs instead: explain must find nothing. A neighbour loads the machine in half of them
#   --aa-pairs N     how many (default 20)
#
# TWINSCOPE is the program to use (default target/release/twinscope). The exit status says whether the bench ran, not whether
# explain did well: that the table says, also in DIR/faults.md. Recordings: DIR/NAME/{slow,fast}.twin (slow-2.twin …), the
# programs' output beside them as .out, explain's answer as explain.json.
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."
# shellcheck source=workloads/faults/lib.sh
. workloads/faults/lib.sh

out=target/faults seconds=8 repeats=1 again= patience=60 record=1 explain=1 aa= aa_pairs=20 names=()
# What runs as an A/A pair: faults of which one variant is run twice. Many kinds of program, not many pairs of one. The second
# half of the pairs has a neighbour.
AA=(small-pool:fast chatty-log:fast lock-striping:slow fsync-per-record:slow byte-reader:fast go-sequential:fast
    java-interpreted:fast python-polling:fast nginx-gzip:slow postgres-commit:slow)

while [[ $# -gt 0 ]]; do
    case $1 in
    --out) out=$2 && shift ;;
    --seconds) seconds=$2 && shift ;;
    --repeats) repeats=$2 && shift ;;
    --patience) patience=$2 && shift ;;
    --aa-pairs) aa_pairs=$2 && shift ;;
    --again) again=1 ;;
    --explain-only) record= ;;
    --record-only) explain= ;;
    --aa) aa=1 ;;
    *) names+=("$1") ;;
    esac
    shift
done
twinscope=$(realpath -m "${TWINSCOPE:-target/release/twinscope}")
[[ -x $twinscope ]] || { echo "faults: $twinscope is missing: make build, or set TWINSCOPE" >&2 && exit 2; }
[[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(fault_names)
for name in "${names[@]}"; do
    [[ -e $FAULTS/$name/fault ]] || { echo "faults: $name: no such fault" >&2 && exit 2; }
done
mkdir -p "$out"
out=$(realpath "$out")
export SECONDS_EACH=$seconds
broken=0 unfinished=
# What was being recorded when someone stops the bench is not a run.
trap '[[ -z $unfinished ]] || rm -f "$unfinished"; exit 130' INT
trap '[[ -z $unfinished ]] || rm -f "$unfinished"; exit 143' TERM

# Waits, for a time, until others use less than a tenth of the machine: a fault is to be the only difference of its pair.
wait_for_quiet() {
    local until=$((SECONDS + patience)) before now
    read -ra before </proc/stat
    while sleep 1; do
        read -ra now </proc/stat
        # user, nice, system, idle, iowait, irq, softirq, steal
        local all=0 idle=$((now[4] + now[5] - before[4] - before[5])) i
        for i in 1 2 3 4 5 6 7 8; do all=$((all + now[i] - before[i])); done
        [[ $((idle * 10)) -lt $((all * 9)) ]] || return 0
        [[ $SECONDS -lt $until ]] || break
        before=("${now[@]}")
    done
    [[ $patience -eq 0 ]] || echo "the machine is busy with something else; recording all the same" >&2
}

# record_one FILE COMMAND…: called by with_fault, which has set $options.
record_one() {
    local file=$1
    shift
    # shellcheck disable=SC2154
    (cd "$HERE" && exec "$twinscope" record --quiet --force -o "$file" "${progress[@]}" --unit "$unit" "${options[@]}" -- "$@") \
        >"${file%.twin}.out" 2>"${file%.twin}.err" </dev/null
}

# record_run NAME VARIANT FILE: one recording; a line for people; false when it failed
record_run() {
    local each status=0
    each=$(declared "$1" each)
    if [[ -n $each ]]; then
        progress=(--throughput-each "$each")
    else
        progress=(--throughput "$(declared "$1" throughput)")
        [[ -n ${progress[1]} ]] || progress[1]='^done ([0-9]+)'
        [[ ${progress[1]} != - ]] || progress=()
    fi
    unit=$(declared "$1" unit)
    unit=${unit:-operations}
    mkdir -p "$(dirname "$3")"
    wait_for_quiet
    echo "== $1 $2" >&2
    unfinished=$3
    with_fault "$1" "$2" record_one "$3" || status=$?
    unfinished=
    [[ $status -lt 128 ]] || { rm -f "$3" && exit "$status"; }
    if [[ $status -ne 0 || ! -s $3 ]]; then
        echo "FAILED: $1 $2: status $status: $(tail -n 3 "${3%.twin}.err" 2>/dev/null | tr '\n' ' ')" >&2
        rm -f "$3"
        broken=$((broken + 1))
        return 1
    fi
}

# Recordings of one variant of a pair: slow.twin, slow-2.twin …
files() { find "$1" -maxdepth 1 -name "$2.twin" -o -maxdepth 1 -name "$2-[0-9]*.twin" | sort -V; }

# explain_pair DIR A B: into DIR/explain.json; prints the seconds it took; false when it failed
explain_pair() {
    local slow fast from=$EPOCHREALTIME status=0 options=(--json)
    of_tail "${1##*/}" && options+=(--tail)
    mapfile -t slow < <(files "$1" "$2")
    mapfile -t fast < <(files "$1" "$3")
    "$twinscope" explain "${slow[@]}" --against "${fast[@]}" "${options[@]}" >"$1/explain.json" 2>"$1/explain.err" || status=$?
    [[ -s $1/explain.json ]] && jq -e .findings "$1/explain.json" >/dev/null 2>&1 || return 1
    awk -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'
}

# What limits the slow side DIR alone, without the fast one: the cause that comes first.
alone() {
    local slow
    mapfile -t slow < <(files "$1" slow)
    "$twinscope" explain "${slow[0]}" --json 2>/dev/null | jq -r '.findings[0].cause // "nothing"' 2>/dev/null || echo -
}

# Whether a pair is innocent: what differs costs nothing, and explain must find nothing.
innocent() { [[ $(declared "$1" cause) == nothing ]]; }

# Whether a pair shows its fault at all: by the programs' own words slow must be slower.
shows() {
    local ratio
    ! innocent "${1##*/}" || return 0
    ratio=$(slowdown "$1")
    [[ $ratio == - ]] || awk -v r="$ratio" 'BEGIN { exit !(r >= 1.25) }'
}

# row NAME CAUSES TRUTH first|second: a line of the table, and its numbers into $out/scores
row() {
    local dir=$out/$1 causes=$2 truth=$3 took first rank=- share=- off=- found=no
    first=-
    if took=$(explain_pair "$dir" slow fast); then
        first=$(jq -r '.findings[0].cause // "nothing"' "$dir/explain.json")
        rank=$(jq -r --arg causes "$causes" '($causes / " | ") as $c | [.findings[].cause] | map(IN($c[])) | index(true) // -1 | . + 1' \
            "$dir/explain.json")
        if [[ $rank -ge 1 ]]; then
            share=$(jq -r --argjson at $((rank - 1)) '.findings[$at].share' "$dir/explain.json")
            [[ -z $truth ]] || off=$(awk -v a="$share" -v b="$truth" 'BEGIN { printf "%+.0f", (a - b) * 100 }')
            share=$(awk -v a="$share" 'BEGIN { printf "%.0f %%", a * 100 }')
            found=rank\ $rank
        fi
        [[ $rank -ge 1 ]] || rank=99
        if innocent "$1"; then
            [[ $first == nothing ]] && rank=1 found=silent
            echo "innocent $rank - $took" >>"$out/scores"
        else
            echo "$4 $rank $off $took" >>"$out/scores"
        fi
    else
        took=- found=-
        echo "$4 - - -" >>"$out/scores"
    fi
    local percent=-
    [[ -z $truth ]] || percent=$(awk -v t="$truth" 'BEGIN { printf "%.0f %%", t * 100 }')
    echo "| $1 | $(declared "$1" language) | ${causes// | / or } | $(slowdown "$dir") | $found | $first | $share | $percent | $off | $took | $(alone "$dir") |"
}

# record_pair NAME: all runs of a pair that are not there yet. A pair in which slow is not slower, because something else loaded
# the machine, is recorded once more.
record_pair() {
    local n side file try
    for try in first second; do
        for ((n = 1; n <= repeats; n++)); do
            for side in slow fast; do
                file=$out/$1/$side$([[ $n -eq 1 ]] || echo "-$n").twin
                [[ -s $file && -z $again && $try == first ]] || record_run "$1" "$side" "$file" || return
            done
        done
        shows "$out/$1" && return
        echo "$1: slow is not slower: $(slowdown "$out/$1")" >&2
    done
}

faults_table() {
    local name missing truth also more order errors
    : >"$out/scores"
    {
        echo "| fault | language | cause | slow : fast | found | first finding | share | truth | points off | seconds | slow alone |"
        echo "|---|---|---|--:|---|---|--:|--:|--:|--:|---|"
    } >"$out/faults.md"
    for name in "${names[@]}"; do
        mapfile -t errors < <(declaration_errors "$name")
        if [[ ${#errors[@]} -gt 0 ]]; then
            printf 'FAILED: %s\n' "${errors[@]}" >&2
            broken=$((broken + 1))
            continue
        fi
        missing=$(lacks "$name")
        if [[ -n $record && -n $missing ]]; then
            echo "SKIPPED: $name: $missing" | tee -a "$out/skipped" >&2
        elif [[ -n $record ]]; then
            record_pair "$name"
        fi
        [[ -n $explain && -s $out/$name/slow.twin && -s $out/$name/fast.twin ]] || continue
        truth=$(declared "$name" share)
        truth=${truth:-$(said "$out/$name/slow.out" 'truth: lost share')}
        truth=${truth#-}
        also=$(declared "$name" also) more=
        [[ -z $also ]] || more=$(said "$out/$name/slow.out" "truth: lost share of $also")
        # Which of two faults is the greater depends on the machine: that one has to come first.
        order=(first second)
        if [[ -n $more ]] && awk -v a="$truth" -v b="$more" 'BEGIN { exit !(b > a) }'; then order=(second first); fi
        row "$name" "$(declared "$name" cause)" "$truth" "${order[0]}" | tee -a "$out/faults.md"
        [[ -z $also ]] || row "$name" "$also" "$more" "${order[1]}" | tee -a "$out/faults.md"
    done
    [[ -n $explain ]] && awk '
        function goal(what, part, whole, least) {
            met = (whole && 100 * part >= least * whole) ? "met" : "not met"
            printf "%s: %d of %d (%.0f %%), the goal is %d %%: %s\n", what, part, whole, whole ? 100 * part / whole : 0, least, met
        }
        $1 == "innocent" { innocents++; if ($2 == 1) silent++; next }
        $2 == "-" { failed++; all++; pairs += $1 == "first"; next }
        $1 == "first" { pairs++; if ($2 == 1) best++ }
        { all++; if ($2 <= 3) third++ }
        $3 != "-" { known++; if ($3 >= -15 && $3 <= 15) close_by++ }
        { if ($4 > longest) longest = $4 }
        END {
            print ""
            if (failed) printf "explain gave no answer: %d\n", failed
            goal("cause at rank 1", best, pairs, 90)
            goal("cause in the top 3", third, all, 98)
            if (innocents) goal("innocent pairs without a finding", silent, innocents, 100)
            goal("share within 15 points, where found", close_by, known, 100)
            printf "longest explain: %.2f s\n", longest
        }' "$out/scores" | tee -a "$out/faults.md"
}

# A neighbour for A/A pairs: burns one CPU in bursts, so that it is in both runs alike.
neighbour_start() {
    neighbour --seconds 600 --percent 60 >/dev/null 2>&1 &
    neighbour_pid=$!
}
neighbour_stop() {
    [[ -z ${neighbour_pid:-} ]] || kill "$neighbour_pid" 2>/dev/null
    [[ -z ${neighbour_pid:-} ]] || wait "$neighbour_pid" 2>/dev/null
    neighbour_pid=
}

aa_table() {
    local i entry name variant dir loaded silent=0 total=0 took said
    trap neighbour_stop EXIT
    {
        echo "| pair | variant | neighbour | findings | seconds |"
        echo "|---|---|---|---|--:|"
    } | tee "$out/aa.md"
    for ((i = 0; i < aa_pairs; i++)); do
        entry=${AA[i % ${#AA[@]}]} name=${entry%:*} variant=${entry#*:}
        dir=$out/aa/$name-$i loaded=no
        ((i / ${#AA[@]} % 2)) && loaded=yes
        local missing
        missing=$(lacks "$name")
        if [[ -n $record && -n $missing ]]; then
            echo "SKIPPED: A/A of $name: $missing" >&2
            continue
        fi
        if [[ -n $record ]]; then
            mkdir -p "$dir"
            [[ $loaded == no ]] || { touch "$dir/neighbour" && neighbour_start; }
            for side in a b; do
                [[ -s $dir/$side.twin && -z $again ]] || record_run "$name" "$variant" "$dir/$side.twin"
            done
            neighbour_stop
        fi
        [[ -n $explain && -s $dir/a.twin && -s $dir/b.twin ]] || continue
        if took=$(explain_pair "$dir" a b); then
            total=$((total + 1))
            said=$(jq -r '[.findings[] | "\(.cause) \(.share * 100 | round) %"] | join(", ")' "$dir/explain.json")
            [[ -n $said ]] || silent=$((silent + 1))
            echo "| $name-$i | $variant | $loaded | ${said:-none} | $took |" | tee -a "$out/aa.md"
        else
            echo "| $name-$i | $variant | $loaded | - | - |" | tee -a "$out/aa.md"
        fi
    done
    [[ -z $explain ]] || awk -v silent=$silent -v total=$total 'BEGIN {
        met = (total && 100 * silent >= 95 * total) ? "met" : "not met"
        printf "\nno finding in %d of %d pairs of identical runs (%.0f %%), the goal is 95 %%: %s\n", silent, total,
            total ? 100 * silent / total : 0, met }' | tee -a "$out/aa.md"
}

if [[ -n $record ]]; then
    make --no-print-directory -s -C workloads && workloads/faults/build.sh >&2 || exit 1
fi
if [[ -n $aa ]]; then aa_table; else faults_table; fi
if [[ $broken -gt 0 ]]; then
    echo "faults: $broken could not be run" >&2
    exit 1
fi
