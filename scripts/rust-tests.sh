#!/usr/bin/env bash
# Builds and runs the Rust tests. Those that fail run once more, each alone, and then a last time; what passes then is called UNSTABLE.
#
# usage: scripts/rust-tests.sh build     builds them all
#        scripts/rust-tests.sh whole     those of the whole program (crates/cli/tests/whole), which record what this machine does:
#                                        of target/release/twinscope, for one that is not optimised takes much of the machine itself
#        scripts/rust-tests.sh units     all others, and the examples in comments
#        scripts/rust-tests.sh           all of them
#
# What cargo-nextest would do: why it is not used is in docs/journal/2026-11-24-test-time.md.
set -uo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
if [[ ! $what =~ ^(build|whole|units|all)$ ]]; then
    sed -n '4,8s/^# //p' "$0" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Name, package's folder and program of each target that has tests.
if ! cargo test --workspace --no-run --message-format json-render-diagnostics >"$work/built"; then
    echo "FAILED: the tests do not build"
    exit 1
fi
[[ $what != build ]] || exit 0
jq -r 'select(.profile.test == true and .executable != null)
    | [.target.name, (.manifest_path | rtrimstr("/Cargo.toml")), .executable] | @tsv' "$work/built" | sort -u >"$work/targets"

if [[ $what == whole && -z ${TWINSCOPE:-} ]]; then
    cargo build --release -p twinscope-cli --quiet || exit 1
    export TWINSCOPE=$PWD/target/release/twinscope
fi

passed=0 failed=0 ignored=0 unstable=() for_good=()

# Runs tests of a target: all, or those named.
run_tests() { # FOLDER PROGRAM [ARGUMENT…]
    (cd "$1" && CARGO_MANIFEST_DIR=$1 "${@:2}") 2>&1 </dev/null
}
# The names of the tests that failed, by the lines of a log.
failures() { sed -n 's/^test \(.*\) \.\.\. FAILED.*/\1/p' "$1" | sed 's/ - should panic$//'; }
# How many a log says of one kind.
counted() { awk -v kind="$2" '/^test result: / { for (i = 2; i <= NF; i++) if ($i ~ "^" kind) n += $(i - 1) } END { print n + 0 }' "$1"; }

while IFS=$'\t' read -r name folder program; do
    case $what-$name in
    whole-whole | all-*) ;;
    whole-* | units-whole) continue ;;
    esac
    echo
    echo "$name (${folder#"$PWD/"}):"
    log=$work/log
    run_tests "$folder" "$program" >"$log"
    status=$?
    cat "$log"
    passed=$((passed + $(counted "$log" passed))) ignored=$((ignored + $(counted "$log" ignored)))
    mapfile -t again < <(failures "$log")
    if [[ $status -ne 0 && (${#again[@]} -eq 0 || $(counted "$log" failed) -ne ${#again[@]}) ]]; then
        # It died, and what would have come after is not known.
        echo "FAILED: $name ended with status $status"
        failed=$((failed + 1))
        for_good+=("$name")
        continue
    fi
    for test in "${again[@]}"; do
        echo
        echo "run once more: $name: $test"
        # Neighbours of a virtual machine come and go: a second time some seconds later, if need be.
        if run_tests "$folder" "$program" --exact "$test" || { sleep 20 && run_tests "$folder" "$program" --exact "$test"; }; then
            passed=$((passed + 1))
            unstable+=("$name: $test")
        else
            failed=$((failed + 1))
            for_good+=("$name: $test")
        fi
    done
done <"$work/targets"

if [[ $what != whole ]]; then
    echo
    if cargo test --workspace --doc --quiet >"$work/log" 2>&1; then
        passed=$((passed + $(counted "$work/log" passed))) ignored=$((ignored + $(counted "$work/log" ignored)))
    else
        cat "$work/log"
        failed=$((failed + 1))
        for_good+=("examples in comments")
    fi
fi

echo
[[ ${#unstable[@]} -eq 0 ]] || printf 'UNSTABLE: %s\n' "${unstable[@]}"
[[ ${#for_good[@]} -eq 0 ]] || printf 'FAILED: %s\n' "${for_good[@]}"
echo "$passed passed, $failed failed, $ignored skipped"
[[ $failed -eq 0 ]]
