#!/usr/bin/env bash
# A quarter of an hour of programs that come and go, each with a file and a name of its own, JVMs and interpreters among them, in front of
# a flight recorder of everything: its memory, its open files and its recording reach a plateau. What it has in the last third is what it had in
# the middle one.
#
# usage: tests/plateau.sh     TWINSCOPE=path of the program, TIME=seconds, BUDGET=as for record, SAMPLES=file to keep the samples in
# step: quiet build long
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."

twinscope=${TWINSCOPE:-target/release/twinscope}
time=${TIME:-900}
work=$(mktemp -d)
recorder='' churn=''
# shellcheck disable=SC2329  # called by the trap
end() {
    for pid in $churn $recorder; do kill -9 "$pid" 2>/dev/null; done
    rm -rf "$work"
}
trap end EXIT

cat >"$work/churn" <<'CHURN'
cd "$1" || exit 1
cat >Work.java <<'JAVA'
public class Work {
    public static void main(String[] arguments) throws Exception {
        long sum = 0;
        for (int i = 0; i < 2000000; i++) sum += new int[10].length + i;
        Thread.sleep(300);
        System.out.println(sum);
    }
}
JAVA
javac Work.java 2>/dev/null
for ((i = 0; ; i++)); do
    # A file that has never run, and never will again.
    cp "$(command -v dd)" "p$i"
    "./p$i" if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null
    rm -f "p$i"
    python3 -c 'sum(i * i for i in range(100000))' 2>/dev/null
    (exec -a "n$i" sleep 0.3) &
    if ((i % 5 == 0)) && [[ -f Work.class ]]; then java -Xmx32m -cp . Work >/dev/null & fi
    sleep 0.2
done
CHURN
mkdir "$work/programs"
bash "$work/churn" "$work/programs" &
churn=$!
"$twinscope" record -f --keep 30s --all ${BUDGET:+--budget "$BUDGET"} -d "$time" -o "$work/flight.twin" 2>"$work/said" &
recorder=$!

samples=${SAMPLES:-$work/samples}
: >"$samples"
for ((second = 0; second < time - 5; second += 5)); do
    sleep 5
    rss=$(awk '/^VmRSS:/ { print $2 }' "/proc/$recorder/status" 2>/dev/null)
    [[ -n $rss ]] || break
    files=("/proc/$recorder/fd/"*)
    size=$(stat -c %s "$work/flight.twin" "$work/flight.twin-wal" 2>/dev/null | awk '{ sum += $1 } END { print int(sum / 1024) }')
    cpu=$(awk '{ print $14 + $15 }' "/proc/$recorder/stat" 2>/dev/null)
    echo "$((second * 3 / time)) $rss ${#files[@]} $size $cpu" >>"$samples"
done
kill "$churn" 2>/dev/null
wait "$recorder"
status=$?
recorder=''
cat "$work/said"
if [[ $status -ne 0 ]]; then
    echo "FAILED: the recorder ended with $status"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
if ! grep -q '"scope":' <("$twinscope" info --json "$work/flight.twin") ||
    [[ $("$twinscope" sql --format csv "$work/flight.twin" "select count(*) > 0 from thread_time" 2>/dev/null | tail -n 1) != 1 ]]; then
    echo "SKIPPED: a plateau under churn: threads cannot be traced here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
# The middle one of a third: what sealing and naming need comes and goes.
middle() { awk -v third="$1" -v column="$2" '$1 == third { print $column }' "$samples" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
passed=0 failed=0
check() { # what, column, what may come on top
    local thirds=("$(middle 0 "$2")" "$(middle 1 "$2")" "$(middle 2 "$2")")
    echo "$1, median of each third: ${thirds[*]}"
    if ((thirds[2] > thirds[1] + thirds[1] / 10 + $3)); then
        echo "FAILED: $1 grew from ${thirds[1]} to ${thirds[2]}"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}
check "resident memory, kB" 2 4096
check "open files" 3 16
check "recording with its log, KiB" 4 512
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed -eq 0 ]]
