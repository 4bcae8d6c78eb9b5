#!/usr/bin/env bash
# Builds Twinscope, records a fast and a slow run of one workload, prints why the slow one is slower, and writes the report. What the
# build and the workload print goes to target/demo.log.
#
# usage: scripts/demo.sh [WORKLOAD]     default: munmap-storm; their list: workloads/README.md
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/lib/usage.sh"
cd "$(dirname "$0")/.."

workload=${1:-munmap-storm}
twinscope=target/release/twinscope
log=target/demo.log
if [[ ! -e workloads/$workload/main.c ]]; then
    echo "demo: $workload: no such workload; there are: $(cd workloads && grep -l workload_begin */main.c | sed 's|/.*||' | paste -sd ' ')" >&2
    exit 2
fi
mkdir -p target
: >"$log"
trap 'echo >&2; exit 130' INT

time_since() { # SECONDS
    local took=$((SECONDS - $1))
    [[ $took -lt 60 ]] || printf '%d min ' $((took / 60))
    echo "$((took % 60)) s"
}
# phase WHAT DONE COMMAND…: says that it begins and how long it took. What the command prints goes to the log; sudo asks for a password on the
# terminal all the same.
phase() {
    local from=$SECONDS status=0
    printf '%s … ' "$1"
    echo "== $1" >>"$log"
    "${@:3}" >>"$log" 2>&1 || status=$?
    if [[ $status -ne 0 ]]; then
        { echo && tail -n 40 "$log" && echo "demo: ${1%% (*} failed; the lines above are the last of $log"; } >&2
        exit 1
    fi
    echo "$2 in $(time_since "$from")"
}

phase "building (about 5 minutes on 2 cores the first time; output in $log)" built make --no-print-directory build workloads
rm -rf demo
mkdir demo
for variant in fast slow; do
    phase "recording $workload, $variant (up to half a minute)" recorded \
        "$twinscope" record -q -o "demo/$variant.twin" --throughput '^done ([0-9]+)' -- "workloads/bin/$workload" "$variant"
done
phase "writing the report" written "$twinscope" report demo/fast.twin demo/slow.twin -o demo/report.html
echo
"$twinscope" explain demo/slow.twin --against demo/fast.twin

page=$PWD/demo/report.html
open=file://${page// /%20}
[[ -z ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] || ! command -v xdg-open >/dev/null || open="xdg-open '$page'"
sudo=
[[ $(id -u) -eq 0 ]] || sudo='sudo '
cat <<TEXT

Open the report: $open
  Look first at the headline, then at 'Where the time went' below it: the bars show what the slow run spends more on.
  'Why' names the causes. Click on one for its evidence; the pages at the left have all that was recorded.
All that differs: $twinscope compare demo/fast.twin demo/slow.twin

Record a good run of your own program and a slow one, then ask:
  $sudo$twinscope record -o good.twin -- ./server --bench
  $sudo$twinscope record -o slow.twin -- ./server --bench --new
  $twinscope explain slow.twin --against good.twin
What limits a program that runs already, by its process id:
  $sudo$twinscope record --pid PID -d 30s -o now.twin
  $twinscope explain now.twin
All commands: $twinscope --help   What this machine lets record: $twinscope sources
TEXT
