#!/usr/bin/env bash
# Checks the programs of bottlenecks/ and sharing/ against what programs.toml says of them: the declarations are complete, each
# program is declared, does operations and says so, has the function (and the instruction) it is said to have, and its threads use
# words of the same line, or of different ones, as declared. It records nothing, and no time decides it.
#
# usage: workloads/check-cases.sh [NAME…]     builds first; default: all
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in bottlenecks sharing; do
    if ! make --no-print-directory -s -j2 -C $folder >"$work/build" 2>&1; then
        cat "$work/build"
        echo "FAILED: build of $folder"
        echo '0 passed, 1 failed, 0 skipped'
        exit 1
    fi
    grep '^SKIPPED: ' "$work/build"
done

# Lines `name key value` of a declaration file: tables of strings, numbers and lists on one line each.
awk_toml='
    /^\[.*\]$/ { name = substr($0, 2, length($0) - 2); print folder, name, "is", folder; next }
    /^ *(#|$)/ { next }
    match($0, /^[a-z_]+ = /) {
        value = substr($0, RLENGTH + 1)
        if (value ~ /^"[^"]*"$/ || value ~ /^\x27[^\x27]*\x27$/) value = substr(value, 2, length(value) - 2)
        print folder, name, substr($0, 1, RLENGTH - 3), value
        next
    }
    { print folder, name ? name : "-", "?", $0 }'
declare -A says=()
names=()
while read -r folder name key value; do
    [[ $key != is ]] || names+=("$folder/$name")
    [[ -z ${says[$folder/$name $key]+set} ]] || says["$folder/$name ?"]="$key is given twice"
    says["$folder/$name $key"]=$value
done < <(for folder in bottlenecks sharing; do awk -v folder=$folder "$awk_toml" $folder/programs.toml; done)

declare -A needed=(
    [bottlenecks]='command size quick language function operation class detail round counter'
    [sharing]='command language kind threads where data name fields access'
) known=(
    [bottlenecks]='callees instruction accepts accepts_detail why operations_per_round calls'
    [sharing]='mended more offsets accepts why speedup alone'
)
declare -A one_of=(
    [language]='C|C\+\+|Rust|Go|Java'
    [class]='load|store|atomic|long|fetch-or-branch|serialising|spin|core|none'
    [counter]='yes|no|short|jit'
    [kind]='false|true|adjacent|none'
    [data]='global|heap|stack|metadata'
    [access]='atomic|plain|mixed'
    [threads]='[0-9]+'
)

# What is wrong with a declaration, one line each.
declaration_errors() {
    local folder=${1%/*} key
    for key in ${needed[$folder]}; do [[ -n ${says[$1 $key]:-} ]] || echo "$key is missing"; done
    for key in "${!says[@]}"; do
        [[ $key == "$1 "* ]] || continue
        key=${key#* }
        [[ $key == is || " ${needed[$folder]} ${known[$folder]} " == *" $key "* ]] || echo "not understood: $key ${says[$1 $key]}"
        [[ -z ${one_of[$key]:-} || ${says[$1 $key]} =~ ^(${one_of[$key]})$ ]] || echo "$key: not ${one_of[$key]}"
    done
    [[ -z ${says[$1 accepts]:-} || -n ${says[$1 why]:-} ]] || echo 'accepts, but not why'
    if [[ $folder == sharing ]]; then
        if [[ ${says[$1 kind]} == none ]]; then
            [[ -z ${says[$1 mended]:-} ]] || echo 'an innocent needs no mended twin'
        else
            [[ -n ${says[$1 mended]:-} ]] || echo 'mended is missing'
        fi
    fi
}

# What its program is built to: the file, or the class of Java.
built() {
    case $1 in
    java\ *) echo "${1##*-cp }" | sed 's|\(.*\) \(.*\)|\1/\2.class|' ;;
    *) echo "$1" ;;
    esac
}

# run LOG COMMAND…: its output, or why it failed
run() {
    timeout 60 "${@:2}" >"$1" 2>"$1.err" || { echo "${*:2}: status $?: $(tail -n 1 "$1.err")" && return; }
    [[ $(sed -n 's/^done //p' "$1" | tail -n 1) =~ ^[1-9][0-9]*$ ]] || echo "${*:2}: does no operations"
    grep -q '^operations: ' "$1" || echo "${*:2}: no total"
}

# has PROGRAM FUNCTION: whether a symbol of that name is in it
has() { nm -C "$1" 2>/dev/null | grep -E ' [TtWw] ' | sed 's/^[0-9a-f]* . //; s/(.*//' | grep -xF -- "$2" >/dev/null; }

# How the words that threads use lie to each other: same (word), line, pair, or apart; the nearest two of different threads of which
# one writes.
nearest() {
    awk '
        function number(hex, i, n) { # 48 bits are exact in a double
            n = 0
            for (i = 3; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return n
        }
        /^truth: (reads|writes) / { thread[++count] = $3; place[count] = number($4); reads[count] = $2 == "reads" }
        END {
            best = 0
            for (i = 1; i <= count; i++) for (j = 1; j < i; j++) if (thread[i] != thread[j] && !(reads[i] && reads[j])) {
                how = place[i] == place[j] ? 3 : int(place[i] / 64) == int(place[j] / 64) ? 2 : int(place[i] / 128) == int(place[j] / 128)
                if (how > best) best = how
            }
            print best == 3 ? "same" : best == 2 ? "line" : best == 1 ? "pair" : "apart"
        }' "$1"
}

# The places in their lines of the words of each thread, as declared in `offsets`.
offsets() {
    awk '/^truth: (reads|writes) / {
        digits = substr($4, length($4) - 1)
        place = ((index("0123456789abcdef", substr(digits, 1, 1)) - 1) * 16 + index("0123456789abcdef", substr(digits, 2)) - 1) % 64
        of[$3] = of[$3] (of[$3] == "" ? "" : ", ") place
        if ($3 > last) last = $3
    }
    END { for (i = 0; i <= last + 0; i++) printf "%s[%s]", i ? ", " : "[", of[i]; print "]" }' "$1"
}

check_bottleneck() { # NAME
    local program function=${says[$1 function]} instruction=${says[$1 instruction]:-}
    read -ra program <<<"${says[$1 command]}"
    run "$work/${1//\//.}" "${program[@]}" 0.2 "${says[$1 quick]}"
    [[ ${says[$1 language]} != Java ]] || return
    has "${program[0]}" "$function" || echo "no function $function"
    [[ -n $instruction && $(uname -m) == x86_64 ]] || return
    objdump -d -C --no-show-raw-insn --disassemble="$function" "${program[0]}" |
        grep -E -- "$instruction" >/dev/null ||
        echo "no instruction like $instruction in $function"
}

check_sharing() { # NAME
    local program mended log=$work/${1//\//.} kind=${says[$1 kind]} how one file function
    read -ra program <<<"${says[$1 command]}"
    # shellcheck disable=SC2086  # `more` is words, or nothing
    run "$log" "${program[@]}" 0.2 "${says[$1 threads]}" ${says[$1 more]:-}
    how=$(nearest "$log")
    case $kind:$how in
    false:line | true:same | adjacent:pair | none:apart) ;;
    *) echo "kind is $kind, but the nearest words of two threads are: $how" ;;
    esac
    if [[ -n ${says[$1 offsets]:-} ]]; then
        [[ $(offsets "$log") == "${says[$1 offsets]}" ]] || echo "offsets are $(offsets "$log"), not ${says[$1 offsets]}"
    fi
    if [[ -n ${says[$1 mended]:-} ]]; then
        read -ra mended <<<"${says[$1 mended]}"
        # shellcheck disable=SC2086
        run "$log.mended" "${mended[@]}" 0.2 "${says[$1 threads]}" ${says[$1 more]:-}
        how=$(nearest "$log.mended")
        [[ $how == apart ]] || echo "the nearest words of two threads of the mended twin are: $how"
    fi
    for one in $(tr -d '[]"' <<<"${says[$1 where]}" | tr ',' ' '); do
        file=${one%%:*} function=${one#*:}
        [[ $file != libc ]] || continue
        [[ -e $file ]] || echo "where: no file $file"
        [[ $file == *.java ]] || has "${program[0]}" "$function" || echo "no function $function"
    done
}

check() { # FOLDER/NAME: one line that begins with ok, FAILED or SKIPPED
    local errors
    errors=$(declaration_errors "$1")
    if [[ -z $errors ]]; then
        cd "${1%/*}" || exit
        if [[ ! -e $(built "${says[$1 command]}") ]]; then
            echo "SKIPPED: $1: its program is not built here"
            return
        fi
        if [[ $1 == bottlenecks/* ]]; then errors=$(check_bottleneck "$1"); else errors=$(check_sharing "$1"); fi
    fi
    if [[ -n $errors ]]; then echo "FAILED: $1: ${errors//$'\n'/; }"; else echo "ok: $1"; fi
}

[[ $# -eq 0 ]] || mapfile -t names < <(for name in "${names[@]}"; do for one in "$@"; do [[ ${name#*/} != "$one" ]] || echo "$name"; done; done)
for name in "${names[@]}"; do
    while [[ $(jobs -rp | wc -l) -ge 6 ]]; do wait -n; done
    check "$name" >"$work/${name//\//.}.result" &
done
wait

# Every program stands in a declaration.
if [[ $# -eq 0 ]]; then
    for source in {bottlenecks,sharing}/*.{c,cpp,rs,go,java}; do
        program=$(basename "${source%.*}")
        case $program in bench | share | share_* | Bench | Share | Supers | '*') continue ;; esac
        if printf '%s\n' "${says[@]}" | grep -E -- "^(bin/|java .*)$program$" >/dev/null; then echo "ok: $source"; else echo "FAILED: $source: not declared"; fi
    done >"$work/all.result"
fi
cat "$work"/*.result
count() { cat "$work"/*.result | grep -c "^$1: "; }
echo "$(count ok) passed, $(count FAILED) failed, $(count SKIPPED) skipped"
[[ $(count FAILED) -eq 0 ]]
