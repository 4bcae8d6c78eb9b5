#!/usr/bin/env bash
# The reference in docs/reference is what the program says of itself now.
#
# usage: scripts/check-reference.sh     after `make build`
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

now=$(mktemp -d)
trap 'rm -rf "$now"' EXIT
target/release/twinscope reference "$now"
if ! diff -ru docs/reference "$now"; then
    echo "docs/reference is not current: run 'make reference' and commit the result" >&2
    exit 1
fi
