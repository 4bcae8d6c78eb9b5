#!/usr/bin/env bash
# Looks for what does not belong in the repository, among the files that git tracks:
#
#   names    a file or folder whose name begins with `-`, which is an option that some program took for its output
#   built    what compilers, package managers, editors and patch leave behind
#   paths    a path of a developer's machine; made-up people are in PEOPLE
#   large    a file of more than 200,000 bytes that no ORIGIN.md names, in its folder or one above, and no line of scripts/large-files.txt
#   help     an executable script that does not answer --help; an example of a crate that does not parse its command line with clap
#
# usage: scripts/check-tree.sh                 both of the following
#        scripts/check-tree.sh --tree          this repository
#        scripts/check-tree.sh --self-test     that each of these is found, in a repository made for it
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.." || exit

LARGE=200000
RULES=(names built paths large help)
# People whose homes documentation and tests name.
PEOPLE='me|user|deploy|firefox'
# Executable files that have no --help of their own.
declare -A NO_HELP=(
    [scripts/aarch64-cc]="the options are those of the C compiler"
    [tests/kernels/init]="the first process of a virtual machine"
    [tests/remote/kubectl]="stands in for the program of this name"
    [tests/remote/recorder]="stands in for the program of this name"
    [tests/remote/ssh]="stands in for the program of this name"
)

# Each rule prints a line for each file it finds: the path and why.

names() { git ls-files -z | tr '\0\n' '\n?' | sed -nE 's/^(-|.*\/-).*/&: begins with -/p'; }

built() {
    git ls-files | sed -nE 's/^(.*\/)?(__pycache__|node_modules|\.venv|target|\.idea|\.vscode)\/.*/&: is in a folder of generated files/p
        s/^.*(\.(pyc|pyo|o|a|so|dylib|exe|class|jar|war|whl|orig|rej|swp|tmp)|~|\.DS_Store|Thumbs\.db|\/core)$/&: is compiled or left behind/p'
    # ELF, and the classes of Java.
    LC_ALL=C git grep -laE $'^(\x7fELF|\xca\xfe\xba\xbe)' | sed 's/$/: is a compiled program/'
}

paths() {
    local line own places='(home|Users)/[A-Za-z0-9._-]+|(work|workspace|builds)/[A-Za-z0-9._-]+'
    # This checkout and the home of the user. A path as short as /src may stand anywhere.
    for own in "$PWD" "$HOME"; do
        [[ $own != */*/* ]] || places+="|$(sed 's/^.//; s/[][\.*^$+?(){}|]/\\&/g' <<<"$own")"
    done
    git grep -InoE "(^|[^A-Za-z0-9_.~})>*-])/($places)" | while read -r line; do
        [[ $line =~ /home/($PEOPLE)$ ]] || echo "$line: is a path of one machine"
    done
}

# origin FILE: whether it is said where a file is from
origin() {
    local folder=$1
    grep -qF -- "$1: " scripts/large-files.txt 2>/dev/null && return
    while [[ $folder == */* ]]; do
        folder=${folder%/*}
        grep -qwF -- "${1##*/}" "$folder/ORIGIN.md" 2>/dev/null && return
    done
    return 1
}
large() {
    local size file
    git ls-files -z | xargs -0 stat -c '%s %n' -- | while read -r size file; do
        [[ $size -le $LARGE ]] || origin "$file" || echo "$file: has $size bytes, and nothing says how it was made"
    done
    # A file that is gone needs no line.
    [[ ! -e scripts/large-files.txt ]] || sed -n 's/: .*//p' scripts/large-files.txt | while read -r file; do
        [[ -e $file ]] || echo "$file: is in scripts/large-files.txt, but not here"
    done
}

# answers FILE: runs a script with --help, unless nothing in it can know that option: it would do its work
answers() {
    local said
    grep -qE 'lib/usage\.sh|argparse|--help' "$1" || { echo "$1: does not know --help" && return; }
    said=$(timeout 5 "$1" --help 2>&1 </dev/null) && [[ $said == *usage* ]] || echo "$1: --help fails, or says no usage"
}
help() {
    local file
    export -f answers
    git ls-files -s | sed -n 's/^100755 [^\t]*\t//p' | while read -r file; do
        [[ -n ${NO_HELP[$file]:-} ]] || echo "$file"
    done | xargs -P 2 -I{} bash -c 'answers ./{}' | sed 's/^\.\///'
    git ls-files 'crates/*/examples/*.rs' | grep -E '/examples/([^/]*|[^/]*/main)\.rs$' | while read -r file; do
        grep -q '::parse()' "$file" || echo "$file: does not parse its command line"
    done
}

passed=0 failed=0
count() { # STATUS WHAT
    if [[ $1 -eq 0 ]]; then passed=$((passed + 1)) && echo "ok: $2"; else failed=$((failed + 1)) && echo "FAILED: $2"; fi
}

tree() {
    local rule found
    for rule in "${RULES[@]}"; do
        found=$($rule)
        [[ -z $found ]]
        count $? "$rule${found:+: $found}"
    done
}

# What each rule must find, and what all must leave alone.
self_test() {
    local work rule path found offenders=(
        "names --help/page.html" "names docs/-o"
        "built a/__pycache__/x.py" "built a/x.pyc" "built a/lib.so" "built a/x.rs.orig" "built a/program" "built ui/node_modules/x.js"
        "paths a/log.txt" "paths a/home.txt"
        "large docs/picture.bin"
        "help tool.sh" "help silent.sh" "help crates/x/examples/long.rs"
    ) innocent=(a/target.rs a/made-up.txt docs/named.bin docs/listed.bin deep/below/file.bin fine.sh)
    work=$(mktemp -d)
    (
        cd "$work" || exit
        git init -q .
        mkdir -p ./--help docs a/__pycache__ ui/node_modules crates/x/examples scripts deep/below
        touch ./--help/page.html docs/-o a/__pycache__/x.py a/x.pyc a/lib.so a/x.rs.orig ui/node_modules/x.js a/target.rs
        printf '\x7fELF' >a/program
        echo "read $work/file" >a/log.txt
        echo "open('/home""/erika/run.twin')" >a/home.txt
        echo "see /home/me/run.twin and workloads/work/x" >a/made-up.txt
        truncate -s 200001 docs/{picture,named,listed}.bin deep/below/file.bin
        echo '`named.bin`: by hand' >docs/ORIGIN.md
        echo 'below/file.bin: by hand' >deep/ORIGIN.md
        echo 'docs/listed.bin: by hand' >scripts/large-files.txt
        printf '#!/bin/sh\nrm -rf /nowhere\n' >tool.sh
        printf '#!/bin/sh\n# Does not know --help.\n' >silent.sh
        printf '#!/bin/sh\n[ "$1" = --help ] && echo usage: fine.sh\n' >fine.sh
        echo 'fn main() {}' >crates/x/examples/long.rs
        chmod +x ./*.sh
        git add -f .
        for rule in "${RULES[@]}"; do $rule >"found-$rule"; done
    )
    for path in "${offenders[@]}"; do
        rule=${path%% *} path=${path#* }
        grep -qE "^$path:" -- "$work/found-$rule"
        count $? "self-test: $rule: $path"
    done
    for path in "${innocent[@]}"; do
        ! grep -qh "^$path:" "$work"/found-*
        count $? "self-test: $path is left alone"
    done
    found=$(cat "$work"/found-* | wc -l)
    [[ $found -eq ${#offenders[@]} ]]
    count $? "self-test: nothing else is found: $found of ${#offenders[@]}"
    rm -rf "$work"
}

[[ ${1:-} == --tree ]] || self_test
[[ ${1:-} == --self-test ]] || tree
echo "$passed passed, $failed failed, 0 skipped"
[[ $failed -eq 0 ]]
