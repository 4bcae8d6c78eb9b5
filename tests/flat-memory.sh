#!/usr/bin/env bash
# The memory of a recorder is flat: an hour at the default interval, time-scaled to 10 ms, while processes with names that never
# come again start and end. What it holds after half of the time is what it holds at the end.
#
# usage: tests/flat-memory.sh     TWINSCOPE=path of the program, TIME=seconds
# step: quiet build long
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

twinscope=${TWINSCOPE:-target/release/twinscope}
time=${TIME:-60}
work=$(mktemp -d)
pid=''
# shellcheck disable=SC2329  # called by the trap
end() {
    [[ -z $pid ]] || kill -9 "$pid" 2>/dev/null
    rm -rf "$work"
}
trap end EXIT

# Each process has a name and a command line of 2 KB of its own.
cat >"$work/storm" <<'STORM'
padding=$(printf 'x%.0s' {1..2000})
cd "$1" || exit 1
for ((i = 0; ; i++)); do
    printf -v name 'n%07d-storm' "$i"
    (
        ln -sf /bin/sleep "$name"
        PATH=. exec "$name" "0.05${padding//x/0}"
    )
    rm -f "$name"
done
STORM
mkdir "$work/names"

"$twinscope" record -q -i 10ms --skip sysctl,kernel_config,pagetypeinfo -d "$time" -o "$work/a.twin" -- bash "$work/storm" "$work/names" &
pid=$!
rss() { awk '/^VmRSS:/ { print $2 }' "/proc/$pid/status" 2>/dev/null; }
# By quarters: the first two are for growing up, which takes longer on a busy machine.
for ((second = 0; second < time - 1; second++)); do
    sleep 1
    now=$(rss)
    [[ -n $now ]] || break
    echo "$now" >>"$work/quarter-$((second * 4 / time))"
done
wait "$pid"
status=$?
pid=''
# The storm never ends by itself: it is ended by SIGTERM when the time is over.
if [[ $status -ne 143 ]]; then
    echo "FAILED: the recorder ended with $status"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
names=$("$twinscope" sql --format csv "$work/a.twin" "select count(distinct comm) from process where comm like 'n%-storm'" | tail -n 1)
# The middle one of each: what finding names and sealing need comes and goes.
usual=()
for quarter in 0 1 2 3; do usual+=("$(sort -n "$work/quarter-$quarter" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')"); done
echo "RSS of the recorder, median of each quarter, kB: ${usual[*]}; $names names seen; recording of $(stat -c %s "$work/a.twin") bytes"
if [[ ${names:-0} -lt 100 ]]; then
    echo "SKIPPED: flat memory under a storm of names: processes cannot be read here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
# A tenth, and 2 MB.
if ((usual[3] > usual[2] + usual[2] / 10 + 2048)); then
    echo "FAILED: it grew from ${usual[2]} to ${usual[3]} kB"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
echo "1 passed, 0 failed, 0 skipped"
