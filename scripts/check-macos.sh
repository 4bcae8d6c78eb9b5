#!/usr/bin/env bash
# Checks that what reads recordings compiles for macOS: `cargo check` of the program without eBPF, for both kinds of Mac. Nothing is
# linked, so no SDK is needed: of the C libraries (zstd, SQLite) the objects are made for this machine, and nobody uses them.
#
# usage: scripts/check-macos.sh [TARGET…]     default: aarch64-apple-darwin x86_64-apple-darwin
#
# Not a step of `make test`: it compiles all dependencies once more, some 100 s of CPU time a target.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/cc" <<'EOF'
#!/usr/bin/env bash
# The C compiler of this machine without the options that are macOS' own.
arguments=()
while [[ $# -gt 0 ]]; do
    case $1 in
    -arch | -isysroot) shift ;;
    -mmacosx-version-min=*) ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
exec cc "${arguments[@]}"
EOF
chmod +x "$work/cc"

[[ $# -gt 0 ]] || set -- aarch64-apple-darwin x86_64-apple-darwin
for target in "$@"; do
    if ! rustup target list --installed 2>/dev/null | grep -qx "$target"; then
        echo "SKIPPED: macOS: rustup has no target $target here (rustup target add $target)"
        continue
    fi
    export "CC_${target//-/_}=$work/cc" "AR_${target//-/_}=ar"
    cargo check --quiet -p twinscope-cli --no-default-features --target "$target"
    echo "$target: compiles"
done
