# shellcheck shell=bash
# To be sourced by the tests of this folder: counts what passed, failed and was skipped, and says so in the closing line that scripts/test.sh reads.

passed=0 failed=0 skipped=0
ok() {
    echo "ok: $1"
    passed=$((passed + 1))
}
bad() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}
skip() {
    echo "SKIPPED: $1"
    skipped=$((skipped + 1))
}
# Ends the test.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [[ $failed -eq 0 ]]
    exit
}
