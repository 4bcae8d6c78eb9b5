#!/usr/bin/env bash
# Fetches the kernels of Debian that tests/kernels.sh boots, and a shell for each machine.
#
# usage: scripts/fetch-kernels.sh FOLDER KERNEL…        KERNEL: MACHINE-VERSION, such as aarch64-6.12
#
# Makes FOLDER/KERNEL/{vmlinuz,release,modules/*.ko} and FOLDER/busybox-MACHINE. What is there already is left alone.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."
# shellcheck source=scripts/debian-packages.sh
. scripts/debian-packages.sh

folder=$(realpath -m "${1:?usage: fetch-kernels.sh FOLDER KERNEL…}")
shift
# Disks of the guest; in their order of loading. What is built into a kernel has no file.
MODULES=(virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_mmio virtio_blk)

suite_of() {
    case $1 in
    5.10) echo bullseye ;;
    6.1) echo bookworm ;;
    6.12) echo trixie ;;
    *) echo "fetch-kernels: $1: no Debian has this kernel; they are 5.10, 6.1 and 6.12" >&2 && return 1 ;;
    esac
}
architecture_of() { [[ $1 == aarch64 ]] && echo arm64 || echo amd64; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" >>"$work/log" 2>&1 || { cat "$work/log" >&2 && return 1; }; }

for kernel in "$@"; do
    machine=${kernel%-*} version=${kernel##*-} to=$folder/$kernel
    suite=$(suite_of "$version")
    architecture=$(architecture_of "$machine")
    [[ ! -e $to/release || ! -x $folder/busybox-$machine ]] || continue
    state=$work/$suite-$architecture tree=$work/tree-$kernel
    quietly debian_begin "$state" "$suite" "$architecture"
    if [[ ! -e $to/release ]]; then
        quietly debian_unpack "$tree" "$(debian_newest "linux-image-cloud-$architecture:$architecture"):$architecture"
        rm -rf "$to"
        mkdir -p "$to/modules"
        mv "$tree"/boot/vmlinuz-* "$to/vmlinuz"
        release=$(cd "$tree" && echo {,usr/}lib/modules/*/kernel | tr ' ' '\n' | sed -n 's|.*modules/\([^*]*\)/kernel$|\1|p')
        number=10
        for module in "${MODULES[@]}"; do
            file=$(find "$tree" -name "$module.ko*" | head -n 1)
            number=$((number + 1))
            case $file in
            *.ko) cp "$file" "$to/modules/$number-$module.ko" ;;
            *.ko.xz) xz -dc "$file" >"$to/modules/$number-$module.ko" ;;
            esac
        done
        # Last, for it says that all else is there.
        echo "$release" >"$to/release"
    fi
    if [[ ! -x $folder/busybox-$machine ]]; then
        quietly debian_unpack "$tree" "busybox-static:$architecture"
        install -m 755 "$(find "$tree" -path '*/bin/busybox')" "$folder/busybox-$machine"
    fi
    rm -rf "$tree"
done
