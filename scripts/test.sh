#!/usr/bin/env bash
# Everything that must hold before a change is merged, step by step: `make test`.
#
# usage: scripts/test.sh [STEP…]     default: all of them
#
# Each step's output goes to target/test/STEP.log and is shown when the step fails. Tests that cannot run here say so:
# they print a line `SKIPPED: what: why` or append it to the file $TWINSCOPE_SKIPS. The last line is the sum of what the
# runners counted; a step whose runner counts nothing is one test.
#
# Some tests record what this machine does just then, and its neighbours take part. So a step that fails runs once more; if it
# passes then, it is called UNSTABLE and its first output is shown all the same.
set -uo pipefail
cd "$(dirname "$0")/.."

# Name and command of each step, in order. A new test of the whole program needs no line here: every executable
# tests/*.sh is a step of its own, and runs last.
STEPS=(
    "format     cargo fmt --all --check"
    "page       npm --prefix ui test"
    "lint       cargo clippy --workspace --all-targets --quiet -- -D warnings"
    "no-bpf     cargo clippy -p twinscope-sources --no-default-features --quiet -- -D warnings"
    "rust       cargo test --workspace --no-fail-fast"
    "build      make build"
    "reference  scripts/check-reference.sh"
    "browser    npm --prefix ui run test:page"
    "workloads  workloads/check.sh"
    "faults     workloads/faults/check.sh"
    "recorder   scripts/check-recorder.sh"
)
for script in tests/*.sh; do
    [[ -x $script ]] && STEPS+=("$(basename "$script" .sh) $script")
done

log_dir=target/test
mkdir -p $log_dir
all_skips=$log_dir/skips step_skips=$PWD/$log_dir/step-skips
export TWINSCOPE_SKIPS=$step_skips
: >"$all_skips"
passed=0 failed=0 skipped=0 failed_steps=() unstable_steps=()

# Reads a log, prints "passed failed skipped" as its runner counted (cargo test, vitest, node --test, or the closing line
# of our own scripts); nothing when it counted nothing.
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
        /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { take($0) }
        /^(#|ℹ) pass [0-9]+$/ { p += $3; seen = 1 }
        /^(#|ℹ) fail [0-9]+$/ { f += $3; seen = 1 }
        /^(#|ℹ) skipped [0-9]+$/ { s += $3; seen = 1 }
        END { if (seen) print p + 0, f + 0, s + 0 }'
}

run_step() {
    local name=$1 log=$log_dir/$1.log status=0 started=$EPOCHREALTIME p f s
    shift
    : >"$step_skips"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [[ $status -ne 0 ]]; then
        mv "$log" "$log.first"
        status=0
        : >"$step_skips"
        "$@" >"$log" 2>&1 </dev/null || status=$?
        [[ $status -ne 0 ]] || unstable_steps+=("$name")
    fi
    read -r p f s <<<"$(count "$log")"
    if [[ -z $p ]]; then
        p=0 f=0 s=0
        [[ $status -ne 0 ]] || p=1
    fi
    # A runner that dies before it counts a failure has still failed; one that counts a failure must not end well.
    [[ $status -eq 0 || $f -gt 0 ]] || f=1
    # Runners that know of skipped tests count them; others (cargo test) only leave lines.
    grep '^SKIPPED: ' "$log" >>"$step_skips"
    sort -u "$step_skips" >>"$all_skips"
    local lines
    lines=$(sort -u "$step_skips" | wc -l)
    [[ $lines -le $s ]] || s=$lines
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    local result=ok
    if [[ $f -gt 0 ]]; then
        result=FAILED
        failed_steps+=("$name")
        sed "s/^/    /" "$log"
    elif [[ " ${unstable_steps[*]} " == *" $name "* ]]; then
        result=UNSTABLE
        sed "s/^/    /" "$log.first"
    fi
    awk -v name="$name" -v result="$result" -v p="$p" -v f="$f" -v s="$s" -v from="$started" -v to="$EPOCHREALTIME" \
        'BEGIN { printf "%-12s %-8s %7.1f s   %d passed, %d failed, %d skipped\n", name, result, to - from, p, f, s }'
}

known=" "
for step in "${STEPS[@]}"; do
    read -r name command <<<"$step"
    known+="$name "
    [[ $# -eq 0 || " $* " == *" $name "* ]] || continue
    # shellcheck disable=SC2086  # a step is words
    run_step "$name" $command
done
for name in "$@"; do
    if [[ $known != *" $name "* ]]; then
        echo "test: $name: no such step; they are:$known" >&2
        exit 2
    fi
done

if [[ -s $all_skips ]]; then
    echo
    cat "$all_skips"
fi
[[ ${#unstable_steps[@]} -eq 0 ]] || echo "unstable, passed when run again: ${unstable_steps[*]}"
[[ ${#failed_steps[@]} -eq 0 ]] || echo "failed: ${failed_steps[*]} (output above and in $log_dir/)"
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 && $passed -gt 0 ]]
