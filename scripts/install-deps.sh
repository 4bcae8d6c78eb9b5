#!/usr/bin/env bash
# Installs what is missing to build and test Twinscope on Debian 12 (or a relative of it with apt).
#
# usage: scripts/install-deps.sh GROUP…     groups: build, test, cross, kernels, package, bench, faults, fuzz
#
# Each package is looked for by what it brings, so on another distribution this says what to install and why it looked.
# Rust and Node.js are never installed, only checked: Debian's are too old, and people have their own way to get them.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

# group, Debian package, how to see that it is there
PACKAGES='
build gcc                   command -v cc
build make                  command -v make
build pkg-config            command -v pkg-config
build clang                 command -v clang
build libelf-dev            cc -xc -E - <<<"#include <libelf.h>" && [[ -e $(cc -print-file-name=libelf.a) ]]
build zlib1g-dev            cc -xc -E - <<<"#include <zlib.h>" && [[ -e $(cc -print-file-name=libz.a) ]]
test  chromium              command -v chromium || command -v chromium-browser || command -v google-chrome
test  procps                command -v ps
test  jq                    command -v jq
test  openssh-server        command -v sshd || [[ -x /usr/sbin/sshd ]]
test  openssh-client        command -v ssh
cross gcc-aarch64-linux-gnu [[ $(uname -m) == aarch64 ]] || command -v aarch64-linux-gnu-gcc
cross libc6-dev-arm64-cross [[ $(uname -m) == aarch64 || -e /usr/aarch64-linux-gnu/lib/libc.a ]]
cross qemu-user             [[ $(uname -m) == aarch64 ]] || command -v qemu-aarch64
kernels qemu-system-x86     command -v qemu-system-x86_64
kernels qemu-system-arm     command -v qemu-system-aarch64
kernels cpio                command -v cpio
package dpkg                command -v dpkg-deb
package rpm                 command -v rpmbuild
package xz-utils            command -v xz
package python3             command -v python3
package python3-venv        python3 -c "import venv, ensurepip"
package python3-yaml        python3 -c "import yaml"
package jq                  command -v jq
package shellcheck          command -v shellcheck
bench sysstat               command -v pidstat
bench atop                  command -v atop
bench strace                command -v strace
bench bpftrace              command -v bpftrace
bench wrk                   command -v wrk
bench nginx                 command -v nginx
bench jq                    command -v jq
bench openssh-server        command -v sshd || [[ -x /usr/sbin/sshd ]]
bench hyperfine             command -v hyperfine
bench memcached             command -v memcached
bench redis-server          command -v redis-server
bench redis-tools           command -v redis-benchmark
bench postgresql            ls /usr/lib/postgresql/*/bin/initdb
bench postgresql-contrib    command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench
fuzz  g++                   command -v c++
faults g++                  command -v g++
faults jq                   command -v jq
faults python3              command -v python3
faults golang-go            command -v go
faults default-jdk-headless command -v javac
faults iproute2             command -v ip
faults nftables             command -v nft
faults nginx                command -v nginx
faults xz-utils             command -v xz
faults redis-server         command -v redis-server
faults redis-tools          command -v redis-cli
faults postgresql           ls /usr/lib/postgresql/*/bin/initdb
faults postgresql-contrib   command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench
'

say() { echo "install-deps: $*" >&2; }
fail() {
    say "$@"
    exit 1
}
wanted() { [[ " ${GROUPS_WANTED[*]} " == *" $1 "* ]]; }
# Whether version $1 is at least $2.
at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

check_rust() {
    local need have
    need=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    command -v cargo >/dev/null && command -v rustc >/dev/null ||
        fail "Rust $need or newer is missing: install it from https://rustup.rs"
    have=$(rustc --version | cut -d' ' -f2)
    at_least "${have%%-*}" "$need" || fail "Rust $need or newer is needed, this is $have: run 'rustup update stable'"
}

check_node() {
    local need=20.19.0 have
    command -v node >/dev/null && command -v npm >/dev/null ||
        fail "Node.js $need or newer with npm is missing: install it from https://nodejs.org/en/download"
    have=$(node --version)
    at_least "${have#v}" "$need" || fail "Node.js $need or newer is needed, this is ${have#v}: see https://nodejs.org/en/download"
}

check_rust_targets() {
    local target=aarch64-unknown-linux-gnu
    [[ -d $(rustc --print target-libdir --target $target) ]] && return
    command -v rustup >/dev/null || fail "the Rust standard library for $target is missing: add it the way this Rust was installed"
    rustup target add $target
}

install_packages() {
    local group package probe missing=() as_root=()
    while read -r group package probe; do
        [[ -n $group ]] && wanted "$group" || continue
        (eval "$probe") >/dev/null 2>&1 || missing+=("$package")
    done <<<"$PACKAGES"
    [[ ${#missing[@]} -gt 0 ]] || return 0
    command -v apt-get >/dev/null ||
        fail "missing, by their Debian names: ${missing[*]}. There is no apt here: install them by hand"
    if [[ $(id -u) -ne 0 ]]; then
        if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
            as_root=(sudo)
        else
            fail "missing: ${missing[*]}. Neither root nor sudo here; as root run: apt-get install -y ${missing[*]}"
        fi
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" apt-get -q -o Acquire::Retries=3 update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o Acquire::Retries=3 install -y --no-install-recommends "${missing[@]}"
}

GROUPS_WANTED=("$@")
[[ $# -gt 0 ]] || wrong_usage "a group is missing"
for group in "$@"; do
    [[ $group =~ ^(build|test|cross|kernels|package|bench|faults|fuzz)$ ]] || wrong_usage "$group: not a group"
done

install_packages
if wanted build; then
    check_rust
    check_node
fi
if wanted cross; then
    check_rust_targets
    [[ $(uname -m) == aarch64 ]] || scripts/cross-sysroot.sh target/cross/aarch64
fi
if wanted fuzz && ! cargo fuzz --version >/dev/null 2>&1; then
    check_rust
    say "installing cargo-fuzz"
    cargo install --locked cargo-fuzz
fi
