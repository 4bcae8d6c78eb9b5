#!/usr/bin/env bash
# An ordinary user records what an ordinary user can read; what is denied is said, with the remedy.
# step: busy build
#
# usage: tests/non-root.sh     TWINSCOPE=path of the program
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

twinscope=${TWINSCOPE:-target/release/twinscope}
# shellcheck source=tests/count.sh
. tests/count.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The program may lie where another user cannot go.
cp "$twinscope" "$work/twinscope"
chmod 755 "$work"
mkdir "$work/home"
user=()
if [[ $(id -u) -eq 0 ]]; then
    if ! command -v setpriv >/dev/null; then
        skip "recording as an ordinary user: setpriv is missing"
        finish
    fi
    chown 65534:65534 "$work/home"
    user=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
fi
cd "$work/home" || exit 1
as_user() { env -u XDG_RUNTIME_DIR HOME="$work/home" "${user[@]}" "$work/twinscope" "$@"; }
number() { as_user sql --format csv a.twin "$1" | tail -n 1; }

if as_user sources >sources.txt 2>errors.txt && ! grep -q panicked errors.txt; then ok "sources are listed"; else bad "sources: $(cat errors.txt)"; fi
# shellcheck disable=SC2016  # the recorded shell shall expand it
as_user record -i 200ms -o a.twin -- sh -c 'echo here > "$TWINSCOPE_MARK"; sleep 1; exit 3' 2>errors.txt
status=$?
if [[ $status -eq 3 ]] && ! grep -q panicked errors.txt; then ok "a command is recorded"; else bad "record: $status: $(cat errors.txt)"; fi
if as_user info a.twin >info.txt 2>errors.txt; then ok "info"; else bad "info: $(cat errors.txt)"; fi
for table in cpu kernel meminfo vmstat interrupts disks network; do
    rows=$(number "select count(*) from $table")
    if [[ ${rows:-0} -gt 0 ]]; then ok "$table: read"; else bad "$table: no rows: $(grep "  $table" info.txt)"; fi
done
marks=$(number "select count(*) from mark where text = 'here'")
if [[ $marks == 1 ]]; then ok "marks"; else bad "marks: $marks"; fi
denied=$(number "select count(*) from coverage where status = 'denied'")
bare=$(as_user sql --format csv a.twin "select source, item from coverage where status = 'denied' and (why = '' or remedy is null)" | tail -n +2)
if [[ ${denied:-0} -eq 0 ]]; then
    bad "nothing is said to be denied"
elif [[ -n $bare ]]; then
    bad "denied without a reason or a remedy: $bare"
else
    ok "$denied items are denied, each with a reason and a remedy"
fi
# What was asked for by name and cannot be had is said, and so does the exit code.
as_user record -q -d 200ms --all --stacks -o all.twin 2>errors.txt
status=$?
missing=$(as_user sql --format csv all.twin "select count(*) from coverage where status in ('denied', 'absent')
    and (source in ('threads', 'stacks') and item = '' or item in ('thread_time', 'sample'))" | tail -n 1)
if [[ $status -eq $((missing > 0 ? 3 : 0)) ]]; then ok "--all --stacks: exit code $status, $missing are missing"; else bad "--all --stacks: $status, $missing are missing: $(cat errors.txt)"; fi
files=$(ls -A)
if as_user doctor --quick --dir . --json >doctor.json 2>errors.txt && ! grep -q panicked errors.txt && [[ ! -s errors.txt ]]; then
    ok "doctor"
else
    bad "doctor: $(cat errors.txt)"
fi
rm -f doctor.json
[[ $(ls -A) == "$files" ]] && ok "doctor leaves nothing behind" || bad "doctor left: $(ls -A)"
as_user doctor --apply perf-event-paranoid --yes >/dev/null 2>errors.txt
status=$?
level=$(cat /proc/sys/kernel/perf_event_paranoid)
if [[ $status -eq 1 ]] && grep -q "needs root" errors.txt || [[ $level -le 1 ]]; then ok "doctor changes nothing without privileges"; else bad "doctor --apply: $status: $(cat errors.txt)"; fi
if as_user report a.twin a.twin -o r.html >/dev/null 2>errors.txt; then ok "report"; else bad "report: $(cat errors.txt)"; fi

# A recording that was killed, in a folder that the reader may not write: what was committed is there, or it is said that it is not.
if [[ $(id -u) -eq 0 ]]; then
    "$work/twinscope" record -q -i 20ms --only cpu -o "$work/killed.twin" &
    pid=$!
    sleep 3
    kill -9 $pid
    wait $pid 2>/dev/null
    rm -f "$work/killed.twin-shm"
    seen=$(as_user sql --format csv "$work/killed.twin" 'select count(*) from cpu' 2>errors.txt | tail -n 1)
    rows=$("$work/twinscope" sql --format csv "$work/killed.twin" 'select count(*) from cpu' | tail -n 1)
    if [[ ${rows:-0} -gt 0 && $seen == "$rows" ]] || [[ -s errors.txt ]]; then
        ok "a killed recording in a folder of others: ${seen:-no} of $rows rows; $(cat errors.txt)"
    else
        bad "a killed recording in a folder of others: $seen of $rows rows, and nothing is said"
    fi
    if as_user record -q -d 100ms -o "$work/b.twin" 2>errors.txt; then bad "a folder of others could be written"; else ok "$(cat errors.txt)"; fi
else
    skip "a killed recording in a folder of others: needs root to make one"
fi
finish
