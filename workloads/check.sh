#!/usr/bin/env bash
# Checks that every workload keeps its contract and that its mechanism is real: both variants do the same operations, the
# ground truth differs where it must, and strace counts the same system calls as the program says. Needs no quiet machine:
# counts are compared, not times.
#
# usage: workloads/check.sh     (bin/ must be built)
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")"

passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ok() {
    echo "ok: $1"
    passed=$((passed + 1))
}
bad() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}
# check WHAT EXPRESSION: an awk expression that must be true
check() { if awk "BEGIN { exit !($2) }"; then ok "$1"; else bad "$1: $2"; fi; }

# The last number of the line that begins with $3, in the output of variant $2 of workload $1.
value() { sed -n "s/^$3 \([0-9.]*\)\$/\1/p" "$work/$1.$2"; }

for program in bin/* bands/bin/*; do
    if said=$("$program" --help) && [[ $said == usage:* ]]; then ok "${program##*/} --help"; else bad "${program##*/} --help: $said"; fi
done

# run NAME OPS: both variants, with the contract of their output
run() {
    local name=$1 ops=$2 variant
    for variant in slow fast; do
        if ! "bin/$name" "$variant" --ops "$ops" >"$work/$name.$variant"; then
            bad "$name $variant: exit status"
            continue
        fi
        check "$name $variant: does what was asked" "$(value "$name" "$variant" operations:) == $ops"
        check "$name $variant: last progress line is the total" "$(grep '^done ' "$work/$name.$variant" | tail -n 1 | cut -d' ' -f2) == $ops"
    done
}

# more NAME TRUTH FACTOR: slow shows more than FACTOR times what fast shows
more() { check "$1: $2" "$(value "$1" slow "truth: $2") > $3 * $(value "$1" fast "truth: $2")"; }

run contended-counter 20000000
more contended-counter 'lock acquisitions' 1000
run lock-striping 2000000
check 'lock-striping: takes a lock as often in both' \
    "$(value lock-striping slow 'truth: lock acquisitions') == $(value lock-striping fast 'truth: lock acquisitions')"
run chatty-log 300000
more chatty-log 'write calls' 500
check 'chatty-log: same bytes in both' \
    "$(value chatty-log slow 'truth: bytes written') == $(value chatty-log fast 'truth: bytes written')"
run small-pool 300
more small-pool 'mean time queued ms' 1.5
run munmap-storm 2000
more munmap-storm 'minor faults' 20
more munmap-storm 'mmap calls' 100
run serial-end 60000
more serial-end 'single-threaded share of the time' 1
for offset in 8 56; do
    bands/bin/bands --seconds 0.3 --offset $offset >"$work/bands.$offset"
    check "bands $offset: last progress line is the total" \
        "$(grep '^done ' "$work/bands.$offset" | tail -n 1 | cut -d' ' -f2) == $(value bands $offset operations:)"
    check "bands $offset: does what was asked" "$(value bands $offset 'truth: offset') == $offset"
done
run batch-queue 2000000
more batch-queue 'lock acquisitions' 4
run spin-lock 100000
more spin-lock 'spins' 100
run pipe-ping-pong 50000
more pipe-ping-pong 'round trips' 30
run one-byte-reads 5000
more one-byte-reads 'read calls' 1000
run fsync-per-record 80
more fsync-per-record 'fdatasync calls' 7

# A time limit ends a run that has no end of its own, and a signal ends it with all its last lines.
for name in $(cd bin && echo *); do
    bin/"$name" slow --seconds 0.3 >"$work/limit"
    check "$name: ends after --seconds" "$(sed -n 's/^truth: wall seconds //p' "$work/limit") < 3"
    bin/"$name" fast --seconds 20 >"$work/signal" &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [[ $(grep -c progress /proc/$pid/task/*/comm 2>/dev/null) == *:1* ]] && break
        sleep 0.05
    done
    kill -TERM "$pid"
    if wait "$pid" && grep -q '^operations: ' "$work/signal" && grep -q '^truth: stopped by SIGTERM' "$work/signal"; then
        ok "$name: ends cleanly on SIGTERM"
    else
        bad "$name: SIGTERM: $(tr '\n' ';' <"$work/signal")"
    fi
done

# What a program says of its system calls is what the kernel saw.
syscalls() { # NAME VARIANT OPS CALL: how often strace saw CALL
    strace -f -qq -c -e trace="$4" -o "$work/strace" "bin/$1" "$2" --ops "$3" >"$work/$1.$2" 2>"$work/errors" || return
    awk -v call="$4" '$NF == call { n += $4 } END { print n + 0 }' "$work/strace"
}
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null; then
    while read -r name call ops what; do
        for variant in slow fast; do
            seen=$(syscalls "$name" "$variant" "$ops" "$call")
            # A few more are the C library's: loading, threads, progress lines.
            check "$name $variant: strace sees its $call calls" \
                "$seen >= $(value "$name" "$variant" "truth: $what") && $seen <= $(value "$name" "$variant" "truth: $what") + 60"
        done
    done <<<'chatty-log write 3000 write calls
one-byte-reads pread64 100 read calls
munmap-storm mmap 2000 mmap calls
fsync-per-record fdatasync 40 fdatasync calls'
else
    echo 'SKIPPED: workloads against strace: strace is missing or may not trace'
    skipped=$((skipped + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
