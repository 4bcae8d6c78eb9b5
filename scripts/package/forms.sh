# shellcheck shell=bash
# To be sourced by scripts/package.sh: makes a Debian package or an RPM of a tree of files.
# Both read $version, $level, $work and $out, and call fail.
# shellcheck disable=SC2154

# The one-line summary and the text of a package.
summary() {
    case $1 in
    twinscope) echo "comparison microscope for Linux performance" ;;
    twinscope-recorder) echo "recorder of Twinscope, static, with a flight recorder as a service" ;;
    esac
}
description() {
    case $1 in
    twinscope)
        cat <<'TEXT'
Records a whole system into one file, compares a slow run with a good one
and names the most likely cause first, with the share of the slowdown that
it accounts for and 95 % confidence intervals. Needs no server, no agent and
no restart of what is looked at.
TEXT
        ;;
    twinscope-recorder)
        cat <<'TEXT'
The program that records, alone: static, for hosts whose recordings are read
elsewhere with twinscope. With it comes the service twinscope, a flight
recorder that holds what the host did lately and saves it when a trigger
fires. It is not started by itself: systemctl enable --now twinscope.
TEXT
        ;;
    esac
}

# The newest version of the GNU C library that a program asks for, such as 2.35; nothing of a static one.
libc_of() { readelf --version-info --wide "$1" 2>/dev/null | sed -n 's/.*Name: GLIBC_\([0-9.]*\) .*/\1/p' | sort -uV | tail -n 1; }

# make_deb PACKAGE MACHINE TREE
make_deb() {
    local package=$1 machine=$2 tree=$work/deb-$1-$2 architecture=amd64 libc script
    [[ $machine != aarch64 ]] || architecture=arm64
    cp -a "$3" "$tree"
    mkdir "$tree/DEBIAN"
    # Debian's zsh looks elsewhere than others do.
    if [[ -d $tree/usr/share/zsh/site-functions ]]; then
        mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
    fi
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        echo "Source: https://github.com/twinscope/twinscope"
        echo "Comment: LICENSE, NOTICE and THIRD-PARTY beside this file have the texts, also of what is linked into the program."
        echo
        echo "Files: *"
        echo "Copyright: The authors of Twinscope"
        echo "License: Apache-2.0"
        echo " On Debian systems the text is in /usr/share/common-licenses/Apache-2.0."
    } >"$tree/usr/share/doc/$package/copyright"
    {
        echo "Package: $package"
        echo "Version: $version"
        echo "Architecture: $architecture"
        echo "Maintainer: The authors of Twinscope <https://github.com/twinscope/twinscope>"
        echo "Installed-Size: $(du -sk "$3" | cut -f1)"
        libc=$(libc_of "$tree/usr/bin/$package")
        [[ -z $libc ]] || echo "Depends: libc6 (>= $libc), libgcc-s1"
        echo "Section: utils"
        echo "Priority: optional"
        echo "Homepage: https://github.com/twinscope/twinscope"
        echo "Description: $(summary "$package")"
        description "$package" | sed 's/^/ /'
    } >"$tree/DEBIAN/control"
    [[ ! -d $tree/etc ]] || (cd "$tree" && find etc -type f -printf '/%p\n' | sort) >"$tree/DEBIAN/conffiles"
    for script in deploy/deb/"$package".*; do
        [[ ! -e $script ]] || install -m 755 "$script" "$tree/DEBIAN/${script##*.}"
    done
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
    dpkg-deb --root-owner-group -Zxz -z"$level" --build "$tree" "$out/${package}_${version}_$architecture.deb" >"$work/log" ||
        fail "dpkg-deb: $(cat "$work/log")"
    rm -r "$tree"
}

# make_rpm PACKAGE MACHINE TREE
make_rpm() {
    local package=$1 machine=$2 tree=$3 top=$work/rpm-$1-$2 section
    mkdir -p "$top"
    {
        echo "Name: $package"
        echo "Version: $version"
        echo "Release: 1"
        echo "Summary: $(summary "$package")"
        echo "License: Apache-2.0"
        echo "URL: https://github.com/twinscope/twinscope"
        echo "%description"
        description "$package"
        echo "%install"
        echo "mkdir -p '%{buildroot}' && cp -a '$tree/.' '%{buildroot}'"
        # Scripts of the recorder's service, for systemd only where it runs.
        if [[ -d $tree/usr/lib/systemd ]]; then
            for section in post preun postun; do
                echo "%$section"
                cat "deploy/rpm/$package.$section"
            done
        fi
        echo "%files"
        (cd "$tree" && find . \( -type f -o -type d -name "$package" -path '*/doc/*' \) -printf '%y /%P\n' | sort -k2) |
            while read -r kind path; do
                case $kind$path in
                d*) echo "%dir $path" ;;
                f/etc/*) echo "%config(noreplace) $path" ;;
                f/usr/share/man/*) echo "%doc $path" ;;
                f*/LICENSE | f*/NOTICE | f*/THIRD-PARTY) echo "%license $path" ;;
                *) echo "$path" ;;
                esac
            done
    } >"$top/$package.spec"
    # Nothing is compiled, stripped or compressed anew: the tree is taken as it is.
    rpmbuild -bb --quiet --target "$machine-linux" --buildroot "$top/root" \
        --define "_topdir $top" --define "_rpmdir $top/out" --define "_binary_payload w$level.xzdio" \
        --define "__os_install_post %{nil}" --define "debug_package %{nil}" --define "_build_id_links none" \
        --define "_buildhost twinscope" --define "use_source_date_epoch_as_buildtime 1" \
        "$top/$package.spec" >"$work/log" 2>&1 || fail "rpmbuild: $(cat "$work/log")"
    mv "$top/out/$machine/$package-$version-1.$machine.rpm" "$out/"
    rm -r "$top"
}
