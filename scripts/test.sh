#!/usr/bin/env bash
# Everything that must hold before a change is merged, step by step: `make test`.
#
# usage: scripts/test.sh [STEP…]     default: all of them
#
# Each step's output goes to target/test/STEP.log and is shown when the step fails. Tests that cannot run here say so:
# they print a line `SKIPPED: what: why` or append it to the file $TWINSCOPE_SKIPS. The last line is the sum of what the
# runners counted; a step whose runner counts nothing is one test.
#
# Some tests record what this machine does just then, and its neighbours take part. So what fails runs once more (Rust tests twice): of the Rust
# tests those that failed (scripts/rust-tests.sh), else the step. What passes then is called UNSTABLE, and its first output is
# shown all the same.
#
# Steps run beside each other as their kind allows:
#   busy    computes, and how fast does not matter: two at once
#   quiet   records what this machine does, or compares times: nothing but idle steps beside it
#   idle    waits most of the time, for the network say: beside any other
set -uo pipefail
cd "$(dirname "$0")/.."

# Name, kind, the steps that must be over before (joined by commas, or -), command. Whichever can start is started, in this order: those
# that others wait for stand at the top, and what waits a lot stands beside what compiles. Two cargo commands of one profile wait for
# each other whatever is said here.
#
# A new test of the whole program needs no line here: every executable tests/*.sh is a step of its own, quiet and after `build`.
# A line `# step: KIND AFTER` in it says otherwise. What it can prepare at any time, such as a download, is best a line here: idle, and
# the script names it as what must be over before.
STEPS=(
    "kernels-fetched  idle  -           tests/kernels.sh --fetch"
    "jvms-fetched idle  -               scripts/fetch-jvms.sh"
    "engines-fetched idle -             tests/engines.sh --fetch"
    "format      busy   -               cargo fmt --all --check"
    "rust-built  busy   -               scripts/rust-tests.sh build"
    "faults      busy   -               workloads/faults/check.sh"
    "page        busy   -               npm --prefix ui test"
    "workloads   busy   -               workloads/check.sh"
    "cases       busy   -               workloads/check-cases.sh"
    "build       busy   -               make build"
    "lint        busy   rust-built      cargo clippy --workspace --all-targets --quiet -- -D warnings"
    "no-bpf      busy   lint            cargo clippy -p twinscope-sources --no-default-features --quiet -- -D warnings"
    "recorder    busy   build           scripts/check-recorder.sh"
    "browser     busy   build           npm --prefix ui run test:page"
    "a-report    busy   build,rust-built scripts/check-report.sh"
    "rust        busy   rust-built,jvms-fetched scripts/rust-tests.sh units"
    "reference   busy   build           scripts/check-reference.sh"
    "program     quiet  rust-built,build scripts/rust-tests.sh whole"
)
for script in tests/*.sh; do
    [[ -x $script ]] || continue
    declared=$(sed -n 's/^# step: //p' "$script")
    STEPS+=("$(basename "$script" .sh) ${declared:-quiet build} $script")
done

log_dir=target/test
mkdir -p $log_dir
passed=0 failed=0 skipped=0 failed_steps=() unstable_steps=()

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

# Runs the command of a step, what it prints in its log. Writes "ok, UNSTABLE or FAILED; passed; failed; skipped; seconds; of these CPU time"
# to STEP.result.
run_step() {
    local name=$1 log=$log_dir/$1.log status=0 result=ok started=$EPOCHREALTIME p f s lines TIMEFORMAT='%U %S'
    shift
    export TWINSCOPE_SKIPS=$PWD/$log_dir/$name.skips
    : >"$TWINSCOPE_SKIPS"
    rm -f "$log.first"
    { time "$@" >"$log" 2>&1 </dev/null; } 2>"$log_dir/$name.cpu" || status=$?
    # A runner that has run its failed tests once more is not run again.
    if [[ $status -ne 0 ]] && ! grep -q '^run once more: ' "$log"; then
        mv "$log" "$log.first"
        status=0 result=UNSTABLE
        : >"$TWINSCOPE_SKIPS"
        { time "$@" >"$log" 2>&1 </dev/null; } 2>>"$log_dir/$name.cpu" || status=$?
    fi
    read -r p f s <<<"$(count "$log")"
    if [[ -z $p ]]; then
        p=0 f=0 s=0
        [[ $status -ne 0 ]] || p=1
    fi
    # A runner that dies before it counts a failure has still failed; one that counts a failure must not end well.
    [[ $status -eq 0 || $f -gt 0 ]] || f=1
    if [[ $f -gt 0 ]]; then
        result=FAILED
    elif grep -q '^UNSTABLE: ' "$log"; then
        result=UNSTABLE
    fi
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
    case $result in
    FAILED)
        failed_steps+=("$name")
        sed "s/^/    /" "$log"
        ;;
    UNSTABLE)
        unstable_steps+=("$name")
        [[ ! -e $log.first ]] || log+=.first
        sed "s/^/    /" "$log"
        ;;
    esac
    printf '%-15s %-8s %7.1f s %7.1f s CPU   %d passed, %d failed, %d skipped\n' "$name" "$result" "$seconds" "$cpu" "$p" "$f" "$s"
}

declare -A kind=() after=() command=() over=() name_of=()
waiting=() known=''
for step in "${STEPS[@]}"; do
    read -r name its_kind its_after its_command <<<"$step"
    known+=" $name"
    [[ $# -eq 0 || " $* " == *" $name "* ]] || continue
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
[[ ${#unstable_steps[@]} -eq 0 ]] || echo "unstable, passed when run again: ${unstable_steps[*]}"
# A long output is folded where it is shown: what failed is named once more where it is not.
for name in "${failed_steps[@]}"; do
    grep -aE '^FAILED: |^not ok |^ +(FAIL|✖) ' "$log_dir/$name.log" | head -n 20 | sed "s/^/$name: /"
    sed -n "/^thread '.*panicked at/{N;s/\n/ /p}" "$log_dir/$name.log" | cut -c1-400 | tail -n 12
done
[[ ${#failed_steps[@]} -eq 0 ]] || echo "failed: ${failed_steps[*]} (output above and in $log_dir/)"
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 && $passed -gt 0 ]]
