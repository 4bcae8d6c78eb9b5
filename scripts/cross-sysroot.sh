#!/usr/bin/env bash
# Puts the two foreign libraries that the static recorder for aarch64 links (libelf, zlib) into a folder of their own.
#
# usage: scripts/cross-sysroot.sh FOLDER        makes FOLDER/include and FOLDER/lib
#
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
# shellcheck source=scripts/debian-packages.sh
. "$(dirname "$0")/debian-packages.sh"

sysroot=${1:?usage: cross-sysroot.sh FOLDER}
packages=(libelf-dev:arm64 zlib1g-dev:arm64)

if [[ -e $sysroot/lib/libelf.a && -e $sysroot/lib/libz.a && -e $sysroot/include/libelf.h ]]; then
    exit 0
fi
command -v apt-get >/dev/null || {
    echo "cross-sysroot: apt-get is missing: put libelf.a, libz.a (aarch64) into $sysroot/lib and their headers into $sysroot/include" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! { debian_begin "$work/state" - arm64 && debian_unpack "$work/tree" "${packages[@]}"; } >"$work/log" 2>&1; then
    echo "cross-sysroot: could not fetch ${packages[*]}:" >&2
    cat "$work/log" >&2
    exit 1
fi
rm -rf "$sysroot"
mkdir -p "$sysroot/lib" "$sysroot/include"
cp -r "$work"/tree/usr/include/. "$sysroot/include/"
# Debian keeps headers that depend on the machine one folder down; here there is one machine only.
if [[ -d $sysroot/include/aarch64-linux-gnu ]]; then
    cp -r "$sysroot"/include/aarch64-linux-gnu/. "$sysroot/include/"
    rm -r "$sysroot/include/aarch64-linux-gnu"
fi
cp "$work"/tree/usr/lib/aarch64-linux-gnu/*.a "$sysroot/lib/"
