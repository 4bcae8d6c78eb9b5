#!/usr/bin/env bash
# Builds and runs the Rust tests, with the profile and the features of `make build`, so that what it compiled is not compiled
# again.
#
# usage: scripts/rust-tests.sh build     build them all
#        scripts/rust-tests.sh units     run the unit tests of all crates, and the examples in comments
#        scripts/rust-tests.sh whole     run the tests of the whole program, crates/cli/tests/whole
#        scripts/rust-tests.sh long      run what is marked #[ignore = "make test-all: …"], of all crates
#        scripts/rust-tests.sh checked   build the unit tests with checks for overflow and other debug assertions, and run them
#
# A failed test counts as failed. Only tests that tests/live.txt marks `again` run a second time, once and alone: they record
# this machine, whose neighbours come and go.
#
# The time of each test goes to target/test/times-WHAT.tsv: seconds, target, test.
#
# Why this is not cargo-nextest: docs/journal/2026-11-24-test-time.md.
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.." || exit

what=${1:-}
[[ $what =~ ^(build|units|whole|long|checked)$ ]] || wrong_usage "${what:-nothing}: not one of build, units, whole, long and checked"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Examples are not built here: clippy checks them. One line a target that has tests: its name, its package's folder, its program.
profile=(--release)
[[ $what != checked ]] || profile=()
if ! cargo test "${profile[@]}" --workspace --lib --bins --tests --no-run --message-format json-render-diagnostics >"$work/built"; then
    echo "FAILED: the tests do not build"
    exit 1
fi
[[ $what != build ]] || exit 0
jq -r 'select(.profile.test == true and .executable != null)
    | [.target.name, (.manifest_path | rtrimstr("/Cargo.toml")), .executable] | @tsv' "$work/built" | sort -u >"$work/targets"
export TWINSCOPE=${TWINSCOPE:-$PWD/target/release/twinscope}

mkdir -p target/test
times=$PWD/target/test/times-$what.tsv
: >"$times"
passed=0 failed=0 left=0 again=() for_good=()

# Runs tests of a target: all, or those named. libtest tells the time of a test only where unstable options are let in, which
# this variable does; the tests are compiled without it.
run_tests() { # FOLDER PROGRAM [ARGUMENT…]
    (cd "$1" && CARGO_MANIFEST_DIR=$1 RUSTC_BOOTSTRAP=1 "$2" -Z unstable-options --report-time "${@:3}") 2>&1 </dev/null
}
failures() { sed -n 's/^test \(.*\) \.\.\. FAILED.*/\1/p' "$1" | sed 's/ - should panic$//'; }
# The sum of what a log says of one kind: passed, failed or ignored.
counted() { awk -v kind="$2" '/^test result: / { for (i = 2; i <= NF; i++) if ($i ~ "^" kind) n += $(i - 1) } END { print n + 0 }' "$1"; }
may_run_again() { awk -v test="$1" '$1 == "again" && $2 == test { found = 1 } END { exit !found }' tests/live.txt; }

arguments=()
[[ $what != long ]] || arguments=(--ignored)
while IFS=$'\t' read -r name folder program; do
    case $what-$name in
    units-whole | checked-whole) continue ;;
    whole-whole | units-* | checked-* | long-*) ;;
    *) continue ;;
    esac
    echo
    echo "$name (${folder#"$PWD/"}):"
    log=$work/log
    run_tests "$folder" "$program" "${arguments[@]}" >"$log"
    status=$?
    cat "$log"
    sed -n 's/^test \(.*\) \.\.\. .* <\([0-9.]*\)s>$/\2\t'"$name"'\t\1/p' "$log" >>"$times"
    passed=$((passed + $(counted "$log" passed)))
    left=$((left + $(counted "$log" ignored)))
    mapfile -t tests < <(failures "$log")
    if [[ $status -ne 0 && (${#tests[@]} -eq 0 || $(counted "$log" failed) -ne ${#tests[@]}) ]]; then
        # It died. Which tests would have come after is unknown.
        echo "FAILED: $name ended with status $status"
        failed=$((failed + 1))
        for_good+=("$name")
        continue
    fi
    for test in "${tests[@]}"; do
        if may_run_again "$name::$test"; then
            echo
            echo "run again: $name::$test"
            again+=("$name::$test")
            if run_tests "$folder" "$program" --include-ignored --exact "$test"; then
                passed=$((passed + 1))
                continue
            fi
        fi
        failed=$((failed + 1))
        for_good+=("$name::$test")
    done
done <"$work/targets"

if [[ $what == units ]]; then
    echo
    if cargo test --release --workspace --doc --quiet >"$work/log" 2>&1; then
        passed=$((passed + $(counted "$work/log" passed)))
    else
        cat "$work/log"
        failed=$((failed + 1))
        for_good+=("examples in comments")
    fi
fi

echo
[[ ${#again[@]} -eq 0 ]] || printf 'AGAIN: %s\n' "${again[@]}"
[[ ${#for_good[@]} -eq 0 ]] || printf 'FAILED: %s\n' "${for_good[@]}"
[[ $left -eq 0 ]] || echo "$left tests are left to make test-all"
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed -eq 0 ]]
