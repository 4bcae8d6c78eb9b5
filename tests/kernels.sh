#!/usr/bin/env bash
# The recorder on the kernels that people run: Debian's, on both machines, booted in QEMU's software emulation with the static recorder. Each
# records a program whose ledger is known (tests/kernels/known.c); here it is checked what was read and what it says.
#
# usage: tests/kernels.sh [--all | KERNEL…] [--write-readme] [--no-boot] [--fetch]     KERNEL: MACHINE-VERSION, such as aarch64-6.1
#
# Default: one kernel a machine, the oldest on one and the newest on the other, by turns: the number of commits says whose turn it
# is. --all boots all six and checks the table in the README by them. --no-boot looks at what the last run left. --fetch only downloads
# the kernels.
#
# TWINSCOPE is the program that reads the recordings. They stay in target/kernels/KERNEL/results.
#
# step: quiet recorder,kernels-fetched
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.." || exit
# shellcheck source=tests/kernels/check.sh
. tests/kernels/check.sh
# shellcheck source=tests/kernels/table.sh
. tests/kernels/table.sh

# An aarch64 host builds for itself alone.
machines=(x86_64 aarch64)
[[ $(uname -m) != aarch64 ]] || machines=(aarch64)
mapfile -t KERNELS < <(for machine in "${machines[@]}"; do printf '%s\n' "$machine"-{6.1,6.12,5.10}; done)
twinscope=$(realpath -m "${TWINSCOPE:-target/release/twinscope}")
folder=$PWD/target/kernels
# A guest that hangs, seconds.
LONGEST=600

readme=check boot=1 fetch_only='' chosen=()
[[ -z ${TWINSCOPE_TEST_ALL:-} ]] || chosen=("${KERNELS[@]}")
for word in "$@"; do
    case $word in
    --all) chosen=("${KERNELS[@]}") ;;
    --write-readme) readme=write chosen=("${KERNELS[@]}") ;;
    --fetch) fetch_only=1 ;;
    --no-boot) boot= ;;
    *)
        [[ " ${KERNELS[*]} " == *" $word "* ]] || { echo "kernels: $word: not one of ${KERNELS[*]}" >&2 && exit 2; }
        chosen+=("$word")
        ;;
    esac
done
if [[ ${#chosen[@]} -eq 0 ]]; then
    versions=(5.10 6.12)
    turn=$(($(git rev-list --count HEAD 2>/dev/null || echo 0) % 2))
    for machine in "${machines[@]}"; do
        chosen+=("$machine-${versions[turn]}")
        turn=$((1 - turn))
    done
fi
[[ ${#chosen[@]} -eq ${#TABLE_KERNELS[@]} ]] || readme=

cases_of() {
    case $1 in
    x86_64-6.1) echo sources,known,defaults,pairs,granted,user,paranoid,container,untyped,integrity,confidentiality ;;
    *) echo sources,known ;;
    esac
}

compiler_of() {
    case $1 in
    aarch64) echo scripts/aarch64-cc ;;
    *) echo cc ;;
    esac
}

# What a guest of this machine starts from, without kernel modules.
build_root() {
    local machine=$1 root=$2 compiler flags=(-O2 -g -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -pthread -static)
    compiler=$(compiler_of "$machine")
    mkdir -p "$root"/{bin,proc,sys,dev,tmp}
    cp "$folder/busybox-$machine" "$root/bin/busybox"
    cp "target/dist/twinscope-recorder-$machine" "$root/bin/twinscope-recorder"
    cp tests/kernels/init "$root/init"
    # Without frame pointers, as programs of distributions are.
    "$compiler" "${flags[@]}" -fomit-frame-pointer -fno-optimize-sibling-calls -o "$root/bin/known" tests/kernels/known.c
    "$compiler" "${flags[@]}" -o "$root/bin/privilege" tests/kernels/privilege.c
    for pair in "${PAIRS[@]}"; do
        "$compiler" "${flags[@]}" -Iworkloads/common -o "$root/bin/$pair" "workloads/$pair/main.c" workloads/common/*.c
    done
}

# Both CPUs of a guest share a thread: with one each (thread=multi), QEMU 7.2 now and then lets a guest hang while its kernel changes code that the
# other CPU runs, as it does where hooks are attached.
#
# boot KERNEL: its results are in target/kernels/KERNEL/results
boot() {
    local kernel=$1 machine=${1%-*} here=$folder/$1 console qemu
    rm -rf "$here"/{results,results.tar,initrd,console.txt}
    # Not compressed: to unpack takes the emulated machine longer than to read.
    (cd "$folder/root-$machine" && find . | cpio -o -H newc --quiet) >"$here/initrd"
    (cd "$here" && find modules | cpio -o -H newc --quiet) >>"$here/initrd"
    truncate -s 2M "$here/scratch.img"
    truncate -s 128M "$here/results.tar"
    case $machine in
    x86_64) console=ttyS0 qemu=(qemu-system-x86_64 -machine q35 -cpu max) ;;
    aarch64) console=ttyAMA0 qemu=(qemu-system-aarch64 -machine virt -cpu cortex-a72) ;;
    esac
    timeout "$LONGEST" "${qemu[@]}" -accel tcg,thread=single -smp 2 -m 1536 -display none -monitor none -serial "file:$here/console.txt" \
        -no-reboot -nic none -kernel "$here/vmlinuz" -initrd "$here/initrd" \
        -drive "file=$here/scratch.img,format=raw,if=none,id=scratch" -device virtio-blk-pci,drive=scratch \
        -drive "file=$here/results.tar,format=raw,if=none,id=results" -device virtio-blk-pci,drive=results \
        -append "console=$console quiet panic=-1 twinscope.cases=$(cases_of "$kernel")" </dev/null >"$here/qemu.txt" 2>&1
    echo $? >"$here/status"
    rm -f "$here/initrd" "$here/scratch.img"
    mkdir -p "$here/results"
    tar -xf "$here/results.tar" -C "$here/results" 2>/dev/null
    rm -f "$here/results.tar"
}

fetch() {
    local why
    if ! why=$(scripts/fetch-kernels.sh "$folder" "${chosen[@]}" 2>&1); then
        skip "other kernels: they could not be fetched: $(tail -n 1 <<<"$why")"
        finish
    fi
}

# Builds what the guests start from and boots them.
boot_all() {
    local missing='' tool machine kernel
    for tool in qemu-system-x86_64 qemu-system-aarch64 cpio; do
        command -v $tool >/dev/null || missing+=" $tool"
    done
    if [[ -n $missing ]]; then
        skip "other kernels: missing:$missing; scripts/install-deps.sh kernels installs it"
        finish
    fi
    fetch
    for machine in "${machines[@]}"; do
        [[ " ${chosen[*]}" == *" $machine-"* ]] || continue
        if [[ ! -e target/dist/twinscope-recorder-$machine ]]; then
            bad "target/dist/twinscope-recorder-$machine is missing: scripts/build-recorder.sh builds it"
            finish
        fi
        rm -rf "$folder/root-$machine"
        build_root "$machine" "$folder/root-$machine" || { bad "$machine: the programs for the guest do not build" && finish; }
    done

    # Two at a time, for each has little to do while its disk and its clock are waited for.
    for kernel in "${chosen[@]}"; do
        while [[ $(jobs -rp | wc -l) -ge 2 ]]; do wait -n; done
        boot "$kernel" &
    done
    wait
}

if [[ -n $fetch_only ]]; then
    fetch
    ok "the kernels are there"
    finish
fi
[[ -z $boot ]] || boot_all
# A guest whose check fails is booted again, once and alone, as tests/live.txt allows: how fast it is emulated changes with what
# else the host does.
for kernel in "${chosen[@]}"; do
    before=("$passed" "$failed" "$skipped")
    check_kernel "$kernel" "$folder/$kernel" >"$folder/$kernel/checked.txt"
    if [[ $failed -gt ${before[1]} && -n $boot ]] && grep -q "^again kernels::$kernel " tests/live.txt; then
        grep '^FAILED: ' "$folder/$kernel/checked.txt" | sed 's/^FAILED: /failed at first: /'
        echo "AGAIN: kernels::$kernel"
        passed=${before[0]} failed=${before[1]} skipped=${before[2]}
        boot "$kernel"
        check_kernel "$kernel" "$folder/$kernel" >"$folder/$kernel/checked.txt"
    fi
    cat "$folder/$kernel/checked.txt"
done
[[ -z $readme ]] || check_readme "$readme"
finish
