# shellcheck shell=bash
# To be sourced by the journeys, after count.sh: an experiment of examples/ is run as a reader would run it, and what came of it is asked.

twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")

# needs WHAT COMMAND…: skips the journey where one of them is not here.
needs() {
    local what=$1 needed
    shift
    for needed in "$@"; do
        if ! command -v "$needed" >/dev/null; then
            skip "$what: no $needed"
            finish
        fi
    done
}

# work_in NAME: the session is NAME.tune in a folder of its own; KEEP names one that is kept.
work_in() {
    if [[ -n ${KEEP:-} ]]; then
        mkdir -p "$KEEP"
        work=$(realpath "$KEEP")
    else
        work=$(mktemp -d)
        trap 'rm -rf "$work"' EXIT
    fi
    session=$work/$1.tune
}

# run_example FOLDER: its quick.toml. The exit code is the program's; what it said is in $work/said.txt.
run_example() {
    (cd "examples/$1" && "$twinscope" tune -q quick.toml -o "$session") >"$work/said.txt" 2>&1
}

# The session as JSON, for `is`.
show_session() {
    if "$twinscope" tune show "$session" --json >"$work/session.json" 2>"$work/errors.txt"; then
        ok "the session is shown"
    else
        bad "show: $(cat "$work/errors.txt")"
        finish
    fi
}

# is WHAT FILTER: a filter of jq that must be true
is() {
    local said
    if said=$(jq -r "$2" "$work/session.json") && [[ $said == true ]]; then ok "$1"; else bad "$1: $2: $said"; fi
}

# Its page.
report_session() {
    if "$twinscope" report "$session" -o "$work/page.html" >"$work/said.txt" 2>&1; then
        ok "the page is written"
    else
        bad "report: $(tail -n 3 "$work/said.txt")"
    fi
}
