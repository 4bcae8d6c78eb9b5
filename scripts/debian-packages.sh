# shellcheck shell=bash
# To be sourced: Debian's packages of any suite and machine, unpacked into a folder, not installed.
#
# apt checks them against the distribution's keys and keeps its lists in a folder of its own, so neither root nor a foreign architecture
# in dpkg is needed, and nothing on the host changes version.

# debian_mirror: where this host gets Debian from
debian_mirror() {
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's/^Debian \(.*\/debian\/\{0,1\}\)$/\1/p' | head -n 1
}

# debian_begin STATE SUITE ARCHITECTURE…: reads the lists of SUITE into the folder STATE; SUITE `-` is what this host itself uses.
# Sets DEBIAN_APT, the options of apt that go with it.
debian_begin() {
    local state=$1 suite=$2 architectures mirror
    shift 2
    architectures=$(IFS=, && echo "$*")
    mkdir -p "$state"/{lists/partial,cache/archives/partial,etc}
    : >"$state/status"
    DEBIAN_APT=(
        -q -o "APT::Architectures=$architectures" -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3
        -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache"
    )
    if [[ $suite != - ]]; then
        mirror=$(debian_mirror)
        [[ -n $mirror ]] || { echo "no source of this host's apt is Debian's" && return 1; }
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$state/etc/sources.list"
        DEBIAN_APT+=(-o "Dir::Etc::sourcelist=$state/etc/sources.list" -o Dir::Etc::sourceparts=-)
    fi
    apt-get "${DEBIAN_APT[@]}" update
}

# debian_unpack FOLDER PACKAGE…: downloads and unpacks, after debian_begin
debian_unpack() {
    local folder=$1 debs deb
    shift
    debs=$(mktemp -d)
    mkdir -p "$folder"
    (cd "$debs" && apt-get "${DEBIAN_APT[@]}" download "$@") || return 1
    for deb in "$debs"/*.deb; do
        dpkg-deb -x "$deb" "$folder" || return 1
    done
    rm -rf "$debs"
}

# debian_newest PACKAGE: what the package PACKAGE, which only names the newest of a kind, depends on; without a machine
debian_newest() {
    apt-cache "${DEBIAN_APT[@]}" depends --no-recommends --no-suggests "$1" | sed -n 's/^ *Depends: \([^:]*\).*/\1/p' | head -n 1
}
