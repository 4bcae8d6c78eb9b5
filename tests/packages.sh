#!/usr/bin/env bash
# The packages: what is in them, that they install and go again without a trace, and that their programs run. The GitHub
# Action's steps in a faked runner.
# step: busy build,recorder long
#
# usage: tests/packages.sh [FOLDER]     FOLDER of packages that are made already; else they are made, from what is built
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/count.sh
. tests/count.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
machine=$(uname -m)
case $machine in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; *) debian=$machine ;; esac

# try WHAT COMMAND…: is it so?
try() {
    local what=$1
    shift
    if "$@" >"$work/log" 2>&1; then ok "$what"; else bad "$what: $(tail -n 20 "$work/log")"; fi
}
has() { command -v "$1" >/dev/null; }
# What is wanted in a list of files (standard input) and misses, and what is there and not wanted.
expect() { diff <(sort) <(printf '%s\n' "$@" | sort); }

# The action's steps first: they need no packages.
action() {
    if ! python3 -c 'import yaml' 2>/dev/null; then
        skip "the action's steps: Python's yaml is missing (python3-yaml)"
    elif [[ ! -x target/release/twinscope ]]; then
        skip "the action's steps: target/release/twinscope is not built"
    else
        python3 tests/action.py target/release/twinscope >"$work/action" 2>&1
        # One line for each of its checks.
        while read -r line; do
            case $line in
            "ok: "*) ok "action: ${line#ok: }" ;;
            "SKIPPED: "*) skip "action: ${line#SKIPPED: }" ;;
            "FAILED: "*) bad "action: ${line#FAILED: }" ;;
            esac
        done <"$work/action"
        grep -q '^end$' "$work/action" || bad "action: $(tail -n 20 "$work/action")"
    fi
}
action
if has shellcheck; then
    try "scripts of packages and the action: shellcheck" shellcheck -x scripts/package.sh scripts/package/forms.sh scripts/action.sh deploy/deb/*
else
    skip "scripts of packages and the action: shellcheck is missing"
fi

out=${1:-}
if [[ -z $out ]]; then
    out=$work/out
    for tool in dpkg-deb rpmbuild xz python3; do
        if ! has $tool; then
            skip "packages: $tool is missing: scripts/install-deps.sh package"
            finish
        fi
    done
    if ! LEVEL=1 scripts/package.sh "$out" >"$work/package.log" 2>&1; then
        bad "packages: $(tail -n 20 "$work/package.log")"
        finish
    fi
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
try "sums agree" sh -c "cd '$out' && sha256sum --check --strict --quiet SHA256SUMS && [ \"\$(ls | grep -vc SHA256SUMS)\" = \"\$(wc -l <SHA256SUMS)\" ]"

# The files of the packages, below /; of manual pages the folder.
licences() { printf "usr/share/doc/$1/%s\n" LICENSE NOTICE THIRD-PARTY; }
mapfile -t of_program < <(licences twinscope && printf '%s\n' usr/bin/twinscope usr/share/man/man1/ usr/share/bash-completion/completions/twinscope \
    usr/share/fish/vendor_completions.d/twinscope.fish)
mapfile -t of_recorder < <(licences twinscope-recorder && printf '%s\n' usr/bin/twinscope-recorder usr/share/man/man1/ \
    etc/default/twinscope usr/lib/systemd/system/twinscope.service)
pages() { sed 's#\(usr/share/man/man1/\)twinscope.*\.1\.gz#\1#' | sort -u; }

deb_files() { dpkg-deb --fsys-tarfile "$1" | tar -t | sed 's#^\./##' | grep -v '/$' | grep . | pages; }
deb_lists() {
    local package=$1
    shift
    deb_files "$out/${package}_${version}_$debian.deb" | expect "usr/share/doc/$package/copyright" "$@"
}
try "deb: the program's files" deb_lists twinscope "${of_program[@]}" usr/share/zsh/vendor-completions/_twinscope
rpm_files() { rpm -qlp "$1" | sed 's#^/##' | grep -v '/doc/[^/]*$' | pages; }
rpm_lists() {
    local package=$1
    shift
    rpm_files "$out/$package-$version-1.$machine.rpm" | expect "$@"
}
if has rpm; then
    try "rpm: the program's files" rpm_lists twinscope "${of_program[@]}" usr/share/zsh/site-functions/_twinscope
else
    skip "rpm: rpm is missing"
fi

# What a package's program does: twinscope or twinscope-recorder, below a root or alone.
runs() {
    local program=$1
    [[ $("$program" --version) == "${program##*/} $version" ]] && "$program" sources >/dev/null
}

in_root=(env)
[[ $(id -u) -eq 0 ]] || in_root=(fakeroot)
debian_root=$work/debian
dpkg_in_root() {
    PATH=$PATH:/usr/sbin:/sbin "${in_root[@]}" dpkg --root="$debian_root" --force-not-root --force-script-chrootless --force-depends \
        --log="$work/dpkg.log" "$@"
}
# What lies in a root beside the package manager's own lists.
left_in() { (cd "$1" && find . -type f -not -path './var/lib/dpkg/*' -not -path './usr/lib/sysimage/rpm/*' -not -path './var/lib/rpm/*'); }
debs_install_and_go() {
    mkdir -p "$debian_root"/var/lib/dpkg/{info,updates,triggers} || return
    : >"$debian_root/var/lib/dpkg/status"
    dpkg_in_root --install "$@" || return
    for deb in "$@"; do
        runs "$debian_root/usr/bin/$(dpkg-deb --field "$deb" Package)" || return
        names+=("$(dpkg-deb --field "$deb" Package)")
    done
    dpkg_in_root --verify "${names[@]}" || return
    # Settings stay until the package is purged.
    dpkg_in_root --remove "${names[@]}" || return
    [[ " ${names[*]} " != *-recorder* || $(left_in "$debian_root") == ./etc/default/twinscope ]] || return
    dpkg_in_root --purge "${names[@]}" && [[ -z $(left_in "$debian_root") ]]
}
names=()
if [[ $(id -u) -ne 0 ]] && ! has fakeroot; then
    skip "deb: installed into an empty root: neither root nor fakeroot"
else
    try "deb: installs into an empty root, runs, is removed and purged" debs_install_and_go "$out"/*_"$debian".deb
fi
rpms_install_and_go() {
    local rpm=(rpm --root "$work/fedora" --dbpath /var/lib/rpm --nodeps --noscripts --nosignature) package names=()
    # Debian's rpm asks for this, and others do not know it.
    ! rpm --force-debian --version >/dev/null 2>&1 || rpm+=(--force-debian)
    mkdir -p "$work/fedora" && rpm --root "$work/fedora" --dbpath /var/lib/rpm --initdb && "${rpm[@]}" --install "$@" || return
    for package in "$@"; do
        names+=("$(rpm -qp --queryformat '%{NAME}' --nosignature "$package")")
        runs "$work/fedora/usr/bin/${names[-1]}" || return
    done
    "${rpm[@]}" --erase "${names[@]}" && [[ -z $(left_in "$work/fedora") ]]
}
if ! has rpm || [[ $(id -u) -ne 0 ]]; then
    skip "rpm: installed into an empty root: needs rpm and root"
else
    try "rpm: installs into an empty root, runs, is erased" rpms_install_and_go "$out"/*."$machine".rpm
fi

wheel() {
    python3 -m venv "$work/venv" || return
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$out"/twinscope-*_"$machine".whl || return
    runs "$work/venv/bin/twinscope" || return
    "$work/venv/bin/pip" --disable-pip-version-check check && "$work/venv/bin/pip" --disable-pip-version-check uninstall --quiet --yes twinscope && [[ ! -e $work/venv/bin/twinscope ]]
}
if ! has python3 || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    skip "wheel: Python's venv is missing"
else
    try "wheel: installs in a fresh environment, runs and goes again" wheel
fi

archive() {
    local folder=$work/archive/twinscope-$version-linux-$1 program
    mkdir -p "$work/archive" && tar -C "$work/archive" -xf "$out/twinscope-$version-linux-$1.tar.xz" || return
    [[ $(ls "$work/archive") == "${folder##*/}" && -s $folder/share/doc/twinscope-recorder/LICENSE ]] || return
    for program in "$folder"/bin/*; do
        [[ $1 != "$machine" ]] || runs "$program" || return
    done
    rm -r "$folder"
}
for of in x86_64 aarch64; do
    if [[ -e $out/twinscope-$version-linux-$of.tar.xz ]]; then
        try "archive for $of: unpacks to one folder" archive $of
    else
        skip "archive for $of: nothing is built for it"
    fi
done

recorder_lists() {
    deb_lists twinscope-recorder "${of_recorder[@]}" && { ! has rpm || rpm_lists twinscope-recorder "${of_recorder[@]}"; }
}
# recorder_size PACKAGE PROGRAM
recorder_size() {
    local level=${LEVEL:-9} most
    [[ $out != "$work/out" ]] || level=1
    most=$(($(xz -"$level" -T1 -c "$2" | wc -c) + 200000))
    echo "$1: $(stat -c %s "$1") bytes, more than $most" && [[ $(stat -c %s "$1") -le $most ]]
}
# The file of a blob of the image, if its size and digest are those of its descriptor $1.
blob() {
    local digest file
    digest=$(jq -r .digest <<<"$1") && file=$work/image/blobs/sha256/${digest#sha256:} || return
    [[ "sha256:$(sha256sum <"$file" | cut -d' ' -f1)" == "$digest" && $(stat -c %s "$file") == $(jq .size <<<"$1") ]] || return
    echo "$file"
}
image() {
    local index manifest config layer entry blobs=1 architecture root
    mkdir "$work/image" && tar -C "$work/image" -xf "$out/twinscope-recorder-$version-oci.tar" || return
    [[ $(jq -r .imageLayoutVersion "$work/image/oci-layout") == 1.0.0 ]] || return
    index=$(blob "$(jq -c '.manifests[0]' "$work/image/index.json")") || return
    while read -r entry; do
        manifest=$(blob "$entry") && config=$(blob "$(jq -c .config "$manifest")") && layer=$(blob "$(jq -c '.layers[0]' "$manifest")") || return
        [[ $(jq -r '.rootfs.diff_ids[0]' "$config") == "sha256:$(gzip -dc "$layer" | sha256sum | cut -d' ' -f1)" ]] || return
        architecture=$(jq -r .architecture "$config")
        [[ $architecture == $(jq -r .platform.architecture <<<"$entry") ]] || return
        root=$work/image-$architecture
        mkdir "$root" && tar -C "$root" -xzf "$layer" || return
        if [[ $architecture == "$debian" ]]; then
            runs "$root$(jq -r '.config.Entrypoint[0]' "$config")" || return
        fi
        blobs=$((blobs + 3))
    done < <(jq -c '.manifests[]' "$index")
    echo "blobs that nothing names" && [[ $blobs -gt 1 && $(ls "$work/image/blobs/sha256" | wc -l) == "$blobs" ]]
}
image_alone() { [[ $(unshare --map-root-user chroot "$work/image-$debian" /twinscope-recorder --version) == "twinscope-recorder $version" ]]; }
if [[ ! -e $out/twinscope-recorder_${version}_$debian.deb ]]; then
    skip "packages of the recorder: target/dist has none for $machine: scripts/build-recorder.sh"
else
    try "deb and rpm: the recorder's files" recorder_lists
    dpkg-deb --fsys-tarfile "$out/twinscope-recorder_${version}_$debian.deb" | tar -xO ./usr/bin/twinscope-recorder >"$work/recorder"
    try "deb: the recorder's is no larger than the compressed program and 200 KB" recorder_size "$out/twinscope-recorder_${version}_$debian.deb" "$work/recorder"
    if has rpm; then
        try "rpm: the recorder's is no larger than that" recorder_size "$out/twinscope-recorder-$version-1.$machine.rpm" "$work/recorder"
    fi
    if has jq; then
        try "image: index, manifests, digests agree, and the program runs" image
        if unshare --map-root-user true 2>/dev/null; then
            try "image: the program runs with nothing else in its root" image_alone
        else
            skip "image: run with nothing else in its root: no user namespaces here"
        fi
    else
        skip "image: jq is missing"
    fi
fi
finish
