#!/usr/bin/env bash
# The steps of the GitHub Action (action.yml), in this order: install, build, record, compare.
#
# usage: scripts/action.sh install|build|record|compare
#
# From the action: TWINSCOPE_PIP, TWINSCOPE_BASE, TWINSCOPE_BUILD, TWINSCOPE_COMMAND, TWINSCOPE_REPEATS, TWINSCOPE_RECORD,
# TWINSCOPE_FAIL_ON. From the runner: GITHUB_WORKSPACE, GITHUB_OUTPUT, GITHUB_PATH, GITHUB_STEP_SUMMARY, RUNNER_TEMP.
# Works in $RUNNER_TEMP/twinscope: base/ is the base checked out, recordings/ what was recorded. The head is the workspace.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"

fail() {
    echo "::error title=Twinscope::$*"
    exit 1
}
# Lines of $1 that are not empty, into the array $2.
lines() {
    local -n into=$2
    # shellcheck disable=SC2034  # it is the caller's
    mapfile -t into < <(sed 's/\r$//; /^[[:space:]]*$/d' <<<"$1")
}
folder=${RUNNER_TEMP:?is set by the runner}/twinscope
head=${GITHUB_WORKSPACE:?is set by the runner}
recordings=$folder/recordings

install() {
    if command -v twinscope >/dev/null; then
        twinscope --version
        return
    fi
    # An environment of its own: the runner's Python may be managed by the distribution.
    python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check -- "${TWINSCOPE_PIP:-twinscope}" ||
        fail "pip could not install '${TWINSCOPE_PIP:-twinscope}': name a version or a wheel with the input 'twinscope'"
    # For eBPF and samples; the command under test stays an ordinary user's. Without sudo, what can be had without is recorded.
    sudo -n setcap cap_bpf,cap_perfmon+ep "$folder/python/bin/twinscope" || echo "recorded without eBPF: sudo or setcap is missing"
    "$folder/python/bin/twinscope" --version
    echo "$folder/python/bin" >>"$GITHUB_PATH"
}

build() {
    local commit=${TWINSCOPE_BASE:-HEAD~1} side
    # A push that makes a branch has a commit before of zeros.
    [[ $commit =~ [^0] ]] || commit=HEAD~1
    # A checkout is shallow by default.
    if ! git -C "$head" rev-parse --verify --quiet --end-of-options "$commit^{commit}" >/dev/null; then
        if [[ $commit == HEAD~1 ]]; then
            git -C "$head" fetch --quiet --deepen=1 || true
        else
            git -C "$head" fetch --quiet --depth=1 origin -- "$commit" || true
        fi
    fi
    commit=$(git -C "$head" rev-parse --verify --quiet --end-of-options "$commit^{commit}") ||
        fail "the base '${TWINSCOPE_BASE:-HEAD~1}' is no commit that can be fetched: name one with the input 'base'," \
            "or check out with fetch-depth: 0"
    mkdir -p "$folder"
    git -C "$head" worktree prune
    git -C "$head" worktree add --quiet --force --detach "$folder/base" "$commit"
    for side in base head; do
        [[ -n ${TWINSCOPE_BUILD:-} ]] || continue
        echo "::group::Build of the $side"
        (cd "$(of "$side")" && bash -euo pipefail -c "$TWINSCOPE_BUILD") || fail "the $side could not be built"
        echo "::endgroup::"
    done
}

# The folder of a side.
of() { if [[ $1 == base ]]; then echo "$folder/base"; else echo "$head"; fi; }

record() {
    local options repeat side status sides=(base head)
    [[ -n ${TWINSCOPE_COMMAND:-} ]] || fail "the input 'command' is empty: name what to record"
    [[ ${TWINSCOPE_REPEATS:-} =~ ^[1-9][0-9]?$ ]] || fail "the input 'repeats' is '${TWINSCOPE_REPEATS:-}': give 1 to 99"
    lines "${TWINSCOPE_RECORD:-}" options
    mkdir -p "$recordings"
    echo "recordings=$recordings" >>"$GITHUB_OUTPUT"
    for ((repeat = 1; repeat <= TWINSCOPE_REPEATS; repeat++)); do
        for side in "${sides[@]}"; do
            echo "::group::$side, $repeat of $TWINSCOPE_REPEATS"
            status=0
            (cd "$(of "$side")" && twinscope record -o "$recordings/$side-$repeat.twin" "${options[@]}" -- \
                bash -c "$TWINSCOPE_COMMAND") || status=$?
            echo "::endgroup::"
            # 3 is also said where not all can be had that was asked for by an option.
            [[ $status -eq 0 || ($status -eq 3 && ${#options[@]} -gt 0) ]] ||
                fail "the command ended with $status in the $side, repeat $repeat"
        done
        # The other side first: what drifts, drifts for both.
        sides=("${sides[1]}" "${sides[0]}")
    done
}

compare() {
    local conditions condition options=() base head status=0
    base=("$recordings"/base-*.twin) head=("$recordings"/head-*.twin)
    [[ -e ${base[0]} && -e ${head[0]} ]] || fail "$recordings: has no recordings of both sides"
    lines "${TWINSCOPE_FAIL_ON:-}" conditions
    for condition in "${conditions[@]}"; do options+=(--fail-on "$condition"); done
    twinscope compare "${base[@]}" "${options[@]}" -- "${head[@]}" | tee "$folder/compare.txt" || status=$?
    [[ $status -ne 3 ]] || fail "what fail-on names could not be compared: above is why; record for longer or more often"
    [[ $status -eq 0 || $status -eq 4 ]] || fail "twinscope compare ended with $status"
    {
        echo "## Twinscope: head against base"
        echo
        if [[ $status -eq 4 ]]; then
            echo "**Failed**: a condition of \`fail-on\` holds."
        elif [[ ${#conditions[@]} -gt 0 ]]; then
            echo "Passed: no condition of \`fail-on\` holds."
        fi
        echo
        twinscope explain "${head[@]}" --against "${base[@]}" --markdown || echo "twinscope explain ended with $?"
        echo
        echo "<details><summary>All that differs</summary>"
        echo
        # Indented, so that nothing in it is read as Markdown or ends the block.
        sed 's/^/    /' "$folder/compare.txt"
        echo
        echo "</details>"
    } >>"$GITHUB_STEP_SUMMARY"
    if [[ $status -eq 4 ]]; then
        echo "failed=yes" >>"$GITHUB_OUTPUT"
        fail "a condition of fail-on holds: see the summary"
    fi
    echo "failed=no" >>"$GITHUB_OUTPUT"
}

case ${1:-} in
install | build | record | compare) "$1" ;;
*) fail "usage: action.sh install|build|record|compare" ;;
esac
