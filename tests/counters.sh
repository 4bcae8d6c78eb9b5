#!/usr/bin/env bash
# Hardware counters end to end, on the PMU that QEMU emulates for arm64. With -icount an instruction takes a nanosecond and a cycle, so that counts are
# known: of a program whose instructions are known (tests/counters/loop.S), of the whole machine, and of more events than there are counters.
#
# usage: tests/counters.sh [--no-boot]     --no-boot looks at what the last run left, in target/counters
#
# TWINSCOPE is the program that reads the recordings.
#
# step: busy recorder,kernels-fetched long
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.."
# shellcheck source=tests/kernels/check.sh
. tests/kernels/check.sh
twinscope=$(realpath -m "${TWINSCOPE:-target/release/twinscope}")
kernel=$PWD/target/kernels/aarch64-6.1 folder=$PWD/target/counters
# A guest that hangs, seconds.
LONGEST=300
# What tests/counters/loop.S has.
INSTRUCTIONS=600000004

boot() {
    local missing='' tool root=$folder/root recorder=target/dist/twinscope-recorder-aarch64
    for tool in qemu-system-aarch64 cpio; do
        command -v $tool >/dev/null || missing+=" $tool"
    done
    if [[ -n $missing ]]; then
        skip "hardware counters: missing:$missing; scripts/install-deps.sh kernels installs it"
        finish
    fi
    if [[ ! -e $kernel/release ]] && ! scripts/fetch-kernels.sh "${kernel%/*}" "${kernel##*/}" >/dev/null 2>&1; then
        skip "hardware counters: the kernel could not be fetched"
        finish
    fi
    if [[ ! -e $recorder ]]; then
        bad "$recorder is missing: scripts/build-recorder.sh builds it"
        finish
    fi
    rm -rf "$folder"
    mkdir -p "$root"/{bin,proc,sys,dev,tmp,counters} "$folder/results"
    cp "${kernel%/*}/busybox-aarch64" "$root/bin/busybox"
    cp "$recorder" "$root/bin/twinscope-recorder"
    cp tests/counters/*.txt "$root/counters/"
    cp tests/kernels/init "$root/init"
    scripts/aarch64-cc -nostdlib -static -o "$root/bin/loop" tests/counters/loop.S &&
        scripts/aarch64-cc -O2 -std=c17 -D_GNU_SOURCE -static -o "$root/bin/privilege" tests/kernels/privilege.c ||
        { bad "the programs for the guest do not build" && finish; }
    (cd "$root" && find . | cpio -o -H newc --quiet) >"$folder/initrd"
    (cd "$kernel" && find modules | cpio -o -H newc --quiet) >>"$folder/initrd"
    truncate -s 2M "$folder/scratch.img"
    truncate -s 32M "$folder/results.tar"
    timeout "$LONGEST" qemu-system-aarch64 -machine virt -cpu max -icount shift=0,sleep=off -smp 1 -m 1024 -display none -monitor none \
        -serial "file:$folder/console.txt" -no-reboot -nic none -kernel "$kernel/vmlinuz" -initrd "$folder/initrd" \
        -drive "file=$folder/scratch.img,format=raw,if=none,id=scratch" -device virtio-blk-pci,drive=scratch \
        -drive "file=$folder/results.tar,format=raw,if=none,id=results" -device virtio-blk-pci,drive=results \
        -append "console=ttyAMA0 quiet panic=-1 twinscope.cases=counters" </dev/null >"$folder/qemu.txt" 2>&1
    tar -xf "$folder/results.tar" -C "$folder/results" 2>/dev/null
    rm -f "$folder"/{initrd,scratch.img,results.tar}
}

# value NAME SQL: the first cell of what a recording says
value() { number "$folder/results/$1.twin" "$2"; }
# has WHAT TEXT PART
has() { if [[ $2 == *"$3"* ]]; then ok "$1"; else bad "$1: $3 is not in: $2"; fi; }

[[ ${1:-} == --no-boot ]] || boot
if [[ ! -s $folder/results/user.twin ]]; then
    bad "the guest left no recording: $(tail -n 3 "$folder/console.txt" "$folder/results"/*.err 2>/dev/null | tr '\n' ' ')"
    finish
fi

# In user space there is nothing but the program, whose instructions are known: ±0.01 %.
who=$(rows "$folder/results/user.twin" "select distinct who from pmu_process")
has "an ordinary user's command is counted in user space" "$who" "command, user space"
between "instructions of a program of $INSTRUCTIONS" "$(value user 'select max(instructions) from pmu_process')" 599940000 600060000
between "its cycles" "$(value user 'select max(cycles) from pmu_process')" 599940000 600060000

# An instruction takes one cycle, on the whole machine.
sum='select 1000.0 * (max(instructions) - min(instructions)) / (max(cycles) - min(cycles)) from pmu where "group" ='
between "instructions in a thousand cycles of the machine" "$(value all "$sum 'core'")" 999 1001
between "instructions of the command and of the kernel for it" "$(value all 'select max(instructions) from pmu_process')" "$INSTRUCTIONS" 620000000
has "what the machine lacks is said" "$(rows "$folder/results/all.twin" "select distinct item, why from coverage where source = 'pmu'")" \
    "this machine does not have it"

# More events than counters: each group in a part of the time.
for group in many-a many-b many-c; do
    share=$(value many "select 100 * avg(share) from pmu_group where \"group\" = '$group'")
    between "$group: per cent of the time with counters" "$share" 20 90
    # A cycle takes a nanosecond while the program runs: instructions a second in the middle of it.
    rate="select 1000.0 * (max(instructions) - min(instructions)) / (max(cycles) - min(cycles)) from pmu where \"group\" = '$group'"
    between "$group: instructions in a thousand cycles, scaled up" "$(value many "$rate")" 990 1010
done
between "the command's instructions beside them" "$(value many 'select max(instructions) from pmu_process')" "$INSTRUCTIONS" 620000000
a=$(value many "select max(instructions) - min(instructions) from pmu where \"group\" = 'many-a'")
for group in many-b many-c; do
    other=$(value many "select max(instructions) - min(instructions) from pmu where \"group\" = '$group'")
    between "$group as a thousandth of many-a" "$(awk -v a="$a" -v b="$other" 'BEGIN { print 1000 * b / a }')" 990 1010
done
between "the ratio of a file of one's own" "$(value many "select 1000 * avg(value) from pmu_metric where metric = 'same_a'")" 999 1001
has "that counts are scaled up is said" "$(rows "$folder/results/many.twin" "select status from coverage where source = 'pmu' and item = 'pmu'")" estimated

# Samples are taken by cycles all the time, whoever takes turns: 999 a second, of 0.6 seconds. So are those by instructions.
between "samples of the program beside groups that take turns" "$(value sampled 'select count(*) from sample')" 400 800
# A cycle takes an instruction, also by samples, of the whole system and of an ordinary user's own program.
for name in sampled own; do
    from="from function_cycles where function = '_start'"
    between "$name: samples of the loop by cycles" "$(value $name "select cycle_samples $from")" 400 800
    between "$name: samples of the loop by instructions" "$(value $name "select instruction_samples $from")" 400 800
    between "$name: cycles of the loop by samples" "$(value $name "select cycles $from")" 540000000 660000000
    between "$name: cycles in a thousand instructions of the loop" "$(value $name "select 1000 * cpi $from")" 900 1100
    interval=$(rows "$folder/results/$name.twin" "select round(cpi_low, 3) || ' to ' || round(cpi_high, 3) $from")
    within=$(value $name "select cpi_low <= 1 and cpi_high >= 1 and cpi_high < 1.4 * cpi_low $from")
    if [[ $within == 1 ]]; then ok "$name: 1 is in the interval, $interval"; else bad "$name: 1 is not in the interval, $interval"; fi
done

# What opens and never counts, and what is refused.
absent=$(rows "$folder/results/mute.twin" "select distinct absent from pmu_group")
has "an event that never counts is absent" "$absent" "silent: opens, but does not count"
has "one that is refused as well" "$absent" "refused: this machine does not have it"
between "and stands nowhere as 0" "$(value mute "select count(*) from pmu_raw where event in ('silent', 'refused')")" 0 0
finish
