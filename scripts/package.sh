#!/usr/bin/env bash
# Makes the packages of what is built: archives, Debian packages, RPMs, an OCI image of the recorder and wheels.
#
# usage: scripts/package.sh [FOLDER]      default: target/package
#
# Builds nothing: `make package` builds before it. What is not built for a machine is left out, and a line says so:
#   target/release/twinscope, target/aarch64-unknown-linux-gnu/release/twinscope      the program
#   target/dist/twinscope-recorder-{x86_64,aarch64}                                   the static recorder
# LEVEL=1 compresses less and faster, for tests. The same sources and programs make the same bytes, but for RPMs.
#
# All forms are made from one tree of files for each package and machine, by dpkg-deb, rpmbuild and two short scripts:
# that is less to keep than a list of files for each of cargo-deb, cargo-generate-rpm and maturin, needs none of the
# several hundred crates that these three are built of, and takes programs that are built already.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

out=${1:-target/package}
level=${LEVEL:-9}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)}
export SOURCE_DATE_EPOCH LC_ALL=C
umask 022
# shellcheck source=scripts/package/forms.sh
. scripts/package/forms.sh

say() { echo "package: $*" >&2; }
fail() {
    say "$@"
    exit 1
}
for tool in dpkg-deb rpmbuild xz python3; do
    command -v $tool >/dev/null || fail "$tool is missing: run 'scripts/install-deps.sh package'"
done

# Where the program of a machine lies, wherever it was built.
program_of() {
    if [[ $1 == "$(uname -m)" ]]; then echo target/release/twinscope; else echo "target/$1-unknown-linux-gnu/release/twinscope"; fi
}
recorder_of() { echo "target/dist/twinscope-recorder-$1"; }

# The program of this machine writes the manual pages and completions of all.
here=$(program_of "$(uname -m)")
[[ -x $here ]] || fail "$here is not built: run 'make package'"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here" man "$work/man"
for shell in bash zsh fish; do "$here" completions $shell >"$work/$shell"; done
# The recorder stays small and writes no manual page of itself: its page has what --help says.
recorder_page() {
    local program=$1 command
    echo ".TH twinscope-recorder 1 \"\" \"twinscope-recorder $version\""
    printf '.SH NAME\ntwinscope\\-recorder \\- %s\n' "$(summary twinscope-recorder)"
    "$program" --help | verbatim DESCRIPTION
    for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | grep -vx help); do
        "$program" "$command" --help | verbatim "twinscope-recorder $command"
    done
    printf '.SH SEE ALSO\ntwinscope(1), twinscope-record(1)\n'
}
# Standard input as a section $1 of a manual page, as it is.
verbatim() {
    printf '.SH "%s"\n.nf\n' "$1"
    sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/'
    echo ".fi"
}
if [[ -x $(recorder_of "$(uname -m)") ]]; then
    # Under the name that it is installed as, which its help repeats.
    install -D "$(recorder_of "$(uname -m)")" "$work/bin/twinscope-recorder"
    recorder_page "$work/bin/twinscope-recorder" >"$work/twinscope-recorder.1"
fi
python3 scripts/package/licences.py twinscope-cli >"$work/third-party-twinscope"
python3 scripts/package/licences.py twinscope-recorder >"$work/third-party-twinscope-recorder"

# The licences of package $1 into the tree $2.
put_licences() {
    local doc=$2/share/doc/$1
    install -D -m 644 LICENSE "$doc/LICENSE"
    install -m 644 NOTICE "$doc/NOTICE"
    install -m 644 "$work/third-party-$1" "$doc/THIRD-PARTY"
}

# The files of package twinscope for machine $1, below the prefix (/usr or another) $2.
put_program() {
    local page
    install -D -m 755 "$(program_of "$1")" "$2/bin/twinscope"
    for page in "$work"/man/*.1; do
        install -D -m 644 "$page" "$2/share/man/man1/${page##*/}"
    done
    gzip -9n "$2"/share/man/man1/*.1
    install -D -m 644 "$work/bash" "$2/share/bash-completion/completions/twinscope"
    install -D -m 644 "$work/zsh" "$2/share/zsh/site-functions/_twinscope"
    install -D -m 644 "$work/fish" "$2/share/fish/vendor_completions.d/twinscope.fish"
    put_licences twinscope "$2"
}

# The files of package twinscope-recorder for machine $1, below the root $2.
put_recorder() {
    install -D -m 755 "$(recorder_of "$1")" "$2/usr/bin/twinscope-recorder"
    install -D -m 644 deploy/systemd/twinscope.service "$2/usr/lib/systemd/system/twinscope.service"
    install -D -m 644 deploy/systemd/twinscope.default "$2/etc/default/twinscope"
    if [[ -e $work/twinscope-recorder.1 ]]; then
        install -D -m 644 "$work/twinscope-recorder.1" "$2/usr/share/man/man1/twinscope-recorder.1"
        gzip -9n "$2"/usr/share/man/man1/*.1
    fi
    put_licences twinscope-recorder "$2/usr"
}

# Sets the times of all files of a tree to that of the sources.
settle() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

mkdir -p "$out"
rm -f "$out"/twinscope* "$out/SHA256SUMS"
images=()
for machine in x86_64 aarch64; do
    tree=$work/$machine
    archive=twinscope-$version-linux-$machine
    mkdir -p "$tree/$archive/bin"
    if [[ -x $(program_of $machine) ]]; then
        put_program $machine "$tree/program/usr"
        put_program $machine "$tree/$archive"
        settle "$tree/program"
        make_deb twinscope $machine "$tree/program"
        make_rpm twinscope $machine "$tree/program"
        python3 scripts/package/wheel.py "$version" $machine "$tree/program/usr" "$out" "$level"
    else
        say "$(program_of $machine) is not built: no packages of the program for $machine, only of the recorder"
    fi
    if [[ -x $(recorder_of $machine) ]]; then
        put_recorder $machine "$tree/recorder"
        settle "$tree/recorder"
        make_deb twinscope-recorder $machine "$tree/recorder"
        make_rpm twinscope-recorder $machine "$tree/recorder"
        images+=("$machine=$tree/recorder")
        install -m 755 "$(recorder_of $machine)" "$tree/$archive/bin/twinscope-recorder"
        put_licences twinscope-recorder "$tree/$archive"
        [[ ! -d $tree/recorder/usr/share/man ]] || cp -r "$tree/recorder/usr/share/man" "$tree/$archive/share/"
        install -m 644 deploy/systemd/* "$tree/$archive/share/doc/twinscope-recorder/"
    else
        say "$(recorder_of $machine) is not built: no packages of the recorder for $machine"
    fi
    [[ -n $(ls "$tree/$archive/bin") ]] || continue
    settle "$tree/$archive"
    tar -C "$tree" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$archive" | xz -"$level" -T1 >"$out/$archive.tar.xz"
done
[[ ${#images[@]} -eq 0 ]] || python3 scripts/package/oci.py "$version" "$out/twinscope-recorder-$version-oci.tar" "$level" "${images[@]}"
(cd "$out" && sha256sum twinscope* >SHA256SUMS)
ls -l "$out" >&2
