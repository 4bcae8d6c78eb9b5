#!/usr/bin/env bash
# Everything that must hold before a change is merged, step by step: `make test`.
#
# usage: scripts/test.sh [--all] [STEP…]     default: all steps of `make test`; --all adds those of `make test-all`
#
# Each step's output goes to target/test/STEP.log and is shown when the step fails. Tests that cannot run here say so:
# they print a line `SKIPPED: what: why` or append it to the file $TWINSCOPE_SKIPS. The last line is the sum of what the
# runners counted; a step whose runner counts nothing is one test. The line before it tells the time that all took, and how
# many tests ran again.
#
# What fails has failed. Only tests that tests/live.txt marks `again` run a second time, once: they record this machine. Their
# runner says so by a line `AGAIN: test`.
#
# Steps run in parallel as their kind allows:
#   busy    computes, and how fast does not matter: two at once
#   quiet   records what this machine does, or compares times: nothing but idle steps in parallel
#   idle    waits most of the time, for the network say: in parallel with any other
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.." || exit

# Name, kind, the steps that must be over before (joined by commas, or -), command. The first one that can start is started: those
# that others wait for are at the top. Two cargo commands wait for each other whatever is said here.
STEPS=(
    "kernels-fetched idle -             tests/kernels.sh --fetch"
    "tree        busy   -               scripts/check-tree.sh"
    "format      busy   -               cargo fmt --all --check"
    "build       busy   -               make --no-print-directory build"
    "page        busy   -               npm --prefix ui test"
    "workloads   busy   -               workloads/check.sh"
    "rust-built  busy   build           scripts/rust-tests.sh build"
    "lint        busy   rust-built      cargo clippy --release --workspace --all-targets --quiet -- -D warnings"
    "recorder    busy   rust-built      scripts/check-recorder.sh"
    "browser     busy   build           npm --prefix ui run test:page -- --built"
    "a-report    busy   build,rust-built scripts/check-report.sh"
    "units       busy   rust-built,jvms-fetched scripts/rust-tests.sh units"
    "reference   busy   build           scripts/check-reference.sh"
    "whole       quiet  rust-built,build scripts/rust-tests.sh whole"
)
# What takes long and seldom breaks: `make test-all`. docs/testing.md says what each would notice.
LONG_STEPS=(
    "jvms-fetched idle  -               scripts/fetch-jvms.sh"
    "faults      busy   -               workloads/faults/check.sh"
    "cases       busy   -               workloads/check-cases.sh"
    "engines-fetched idle -             tests/engines.sh --fetch"
    "no-bpf      busy   lint            cargo clippy --release -p twinscope-sources --no-default-features --quiet -- -D warnings"
    "checked     busy   rust-built      scripts/rust-tests.sh checked"
    "long        quiet  rust-built,build scripts/rust-tests.sh long"
)

all=
if [[ ${1:-} == --all ]]; then
    all=yes
    shift
fi
# Every executable tests/*.sh is a step, quiet and after `build`, unless a line `# step: KIND AFTER [long]` in it says otherwise.
for script in tests/*.sh; do
    [[ -x $script ]] || continue
    read -r its_kind its_after its_length <<<"$(sed -n 's/^# step: //p' "$script")"
    step="$(basename "$script" .sh) ${its_kind:-quiet} ${its_after:-build} $script"
    if [[ -z $its_length ]]; then STEPS+=("$step"); else LONG_STEPS+=("$step"); fi
done
# tests/kernels.sh boots more kernels where this is set.
export TWINSCOPE_TEST_ALL=$all

log_dir=target/test
mkdir -p $log_dir
passed=0 failed=0 skipped=0 failed_steps=() total_cpu=0

# Reads a log, prints "passed failed skipped": its last line where that is the closing line of our own scripts, else what its runners counted
# (cargo test, vitest, node --test); nothing when nothing was counted.
count() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
        function take(words, n, i) {
            n = split(words, part, /[ ,;|]+/)
            for (i = 1; i < n; i++) if (part[i] ~ /^[0-9]+$/) {
                if (part[i + 1] == "passed") p += part[i]
                else if (part[i + 1] == "failed") f += part[i]
                else if (part[i + 1] ~ /^(skipped|ignored|todo)$/) s += part[i]
            }
            seen = 1
        }
        /^test result: / { take($0) }
        /^ *Tests  +[0-9]/ { take($0) }
        /^(#|ℹ) pass [0-9]+$/ { p += $3; seen = 1 }
        /^(#|ℹ) fail [0-9]+$/ { f += $3; seen = 1 }
        /^(#|ℹ) skipped [0-9]+$/ { s += $3; seen = 1 }
        { last = $0 }
        END {
            if (last ~ /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) { p = f = s = 0; take(last) }
            if (seen) print p + 0, f + 0, s + 0
        }'
}

# Runs the command of a step, its output into its log. Writes to STEP.result: ok or FAILED; passed; failed; skipped; seconds;
# seconds of CPU time.
run_step() {
    local name=$1 log=$log_dir/$1.log status=0 result=ok started=$EPOCHREALTIME p f s lines TIMEFORMAT='%U %S'
    shift
    export TWINSCOPE_SKIPS=$PWD/$log_dir/$name.skips
    : >"$TWINSCOPE_SKIPS"
    { time "$@" >"$log" 2>&1 </dev/null; } 2>"$log_dir/$name.cpu" || status=$?
    read -r p f s <<<"$(count "$log")"
    if [[ -z $p ]]; then
        p=0 f=0 s=0
        [[ $status -ne 0 ]] || p=1
    fi
    # A runner that dies before it counts a failure has still failed; one that counts a failure must not end well.
    [[ $status -eq 0 || $f -gt 0 ]] || f=1
    [[ $f -eq 0 ]] || result=FAILED
    # Runners that know of skipped tests count them; others (cargo test) only leave lines.
    grep -a '^SKIPPED: ' "$log" >>"$TWINSCOPE_SKIPS"
    sort -u -o "$TWINSCOPE_SKIPS" "$TWINSCOPE_SKIPS"
    lines=$(wc -l <"$TWINSCOPE_SKIPS")
    [[ $lines -le $s ]] || s=$lines
    echo "$result $p $f $s $(awk -v from="$started" -v to="$EPOCHREALTIME" '{ cpu += $1 + $2 } END { printf "%.1f %.1f", to - from, cpu }' \
        "$log_dir/$name.cpu")" >"$log_dir/$name.result"
}

# Adds what a step that is over came to, and says so.
finish_step() {
    local name=$1 log=$log_dir/$1.log result p f s seconds cpu
    # Without a result it was killed.
    read -r result p f s seconds cpu <<<"$(cat "$log_dir/$name.result" 2>/dev/null || echo FAILED 0 1 0 0 0)"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [[ $result == FAILED ]]; then
        failed_steps+=("$name")
        sed "s/^/    /" "$log"
    fi
    total_cpu=$(awk -v a="$total_cpu" -v b="$cpu" 'BEGIN { print a + b }')
    printf '%-15s %-8s %7.1f s %7.1f s CPU   %d passed, %d failed, %d skipped\n' "$name" "$result" "$seconds" "$cpu" "$p" "$f" "$s"
}

declare -A kind=() after=() command=() over=() name_of=()
asked_for=yes
waiting=() known=''
for step in "${STEPS[@]}" -- "${LONG_STEPS[@]}"; do
    if [[ $step == -- ]]; then
        asked_for=$all
        continue
    fi
    read -r name its_kind its_after its_command <<<"$step"
    known+=" $name"
    if [[ $# -eq 0 ]]; then [[ -n $asked_for ]] || continue; else [[ " $* " == *" $name "* ]] || continue; fi
    kind[$name]=$its_kind after[$name]=${its_after//,/ } command[$name]=$its_command
    waiting+=("$name")
    if [[ ! $its_kind =~ ^(busy|quiet|idle)$ || -z $its_command ]]; then
        echo "test: $name: not a step: $step" >&2
        exit 2
    fi
done
for name in "$@"; do
    if [[ "$known " != *" $name "* ]]; then
        echo "test: $name: no such step; they are:$known" >&2
        exit 2
    fi
done

# Whether a step can start now, beside those that run.
can_start() {
    local earlier pid busy=0
    for earlier in ${after[$1]}; do
        # What was not asked for is taken to be done.
        [[ -z ${kind[$earlier]:-} || -n ${over[$earlier]:-} ]] || return
    done
    [[ ${kind[$1]} != idle ]] || return 0
    for pid in "${!name_of[@]}"; do
        case ${kind[${name_of[$pid]}]} in
        quiet) return 1 ;;
        busy) busy=$((busy + 1)) ;;
        esac
    done
    [[ $busy -lt $([[ ${kind[$1]} == busy ]] && echo 2 || echo 1) ]]
}

# Every step leads a process group of its own, so that Ctrl-C ends all of it.
set -m
trap 'trap - INT TERM; for pid in "${!name_of[@]}"; do kill -TERM -- "-$pid"; done; exit 130' INT TERM
while [[ ${#waiting[@]} -gt 0 || ${#name_of[@]} -gt 0 ]]; do
    still=()
    for name in "${waiting[@]}"; do
        if can_start "$name"; then
            rm -f "$log_dir/$name.result"
            # shellcheck disable=SC2086  # a command is words
            run_step "$name" ${command[$name]} &
            name_of[$!]=$name
        else
            still+=("$name")
        fi
    done
    waiting=("${still[@]}")
    if [[ ${#name_of[@]} -eq 0 ]]; then
        echo "test: each of these waits for another: ${waiting[*]}" >&2
        exit 2
    fi
    wait -n -p pid "${!name_of[@]}"
    name=${name_of[$pid]}
    unset "name_of[$pid]"
    over[$name]=yes
    finish_step "$name"
done

skips=$(for name in "${!over[@]}"; do cat "$log_dir/$name.skips"; done | sort -u)
[[ -z $skips ]] || printf '\n%s\n' "$skips"
# A long output is folded where it is shown: what failed is named once more where it is not.
for name in "${failed_steps[@]}"; do
    grep -aE '^FAILED: |^not ok |^ +(FAIL|✖) ' "$log_dir/$name.log" | head -n 20 | sed "s/^/$name: /"
    sed -n "/^thread '.*panicked at/{N;s/\n/ /p}" "$log_dir/$name.log" | cut -c1-400 | tail -n 12
done
[[ ${#failed_steps[@]} -eq 0 ]] || echo "failed: ${failed_steps[*]} (output above and in $log_dir/)"
again=$(for name in "${!over[@]}"; do grep -ah '^AGAIN: ' "$log_dir/$name.log"; done)
[[ -z $again ]] || printf '%s\n' "$again"
{
    printf '%d min %d s, %d s of CPU time; %d of the %d tests that may run again did so\n' $((SECONDS / 60)) $((SECONDS % 60)) \
        "${total_cpu%.*}" "$(grep -c . <<<"$again")" "$(grep -c '^again ' tests/live.txt)"
    echo "$passed passed, $failed failed, $skipped skipped"
} | tee $log_dir/summary
[[ $failed -eq 0 && $passed -gt 0 ]]
