#!/usr/bin/env bash
# Recording on many hosts: 200 names of one sshd on loopback with a recorder that copies a small recording, some of them failing; and how far apart eight
# real recorders begin.
#
# usage: scripts/bench/remote.sh [many] [failing] [together]     TWINSCOPE=path of the program, RECORDER=path of the static recorder, HOSTS=number
#
# Prints lines "what<TAB>metric<TAB>unit<TAB>value".
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
recorder=$(realpath -m "${RECORDER:-target/dist/twinscope-recorder-$(uname -m)}")
hosts=${HOSTS:-200}
parts=("$@")
[[ $# -gt 0 ]] || parts=(many failing together)
# shellcheck source=tests/sshd.sh
. tests/sshd.sh
work=$(mktemp -d)
trap 'stop_sshd; rm -rf "$work"' EXIT

put() { printf '%s\t%s\t%s\t%s\n' "$@"; }

if ! start_sshd "$work/sshd" "$hosts" >"$work/why"; then
    echo "SKIPPED: remote: $(cat "$work/why")" >&2
    exit 0
fi
"$twinscope" record -q -d 1s -o "$work/small.twin"
sed "s|@SMALL@|$work/small.twin|; s|@CALLS@|/dev/null|" tests/remote/recorder >"$work/recorder"
ssh="ssh -F $work/sshd/config"

# The most memory that the program and the ssh on our side have at once, MiB: proportional, for many of one program share most of theirs.
watch_memory() {
    local pid=$1 most=0 sum
    while kill -0 "$pid" 2>/dev/null; do
        # The client's processes have the configuration in their words; masters say where their socket is.
        sum=$({ echo "$pid" && pgrep -f "$work/sshd/config|^ssh: /tmp/twinscope-" || true; } | sed 's|.*|/proc/&/smaps_rollup|' |
            xargs awk '/^Pss:/ { kb += $2 } END { print int(kb / 1024) }' 2>/dev/null || echo 0)
        sum=${sum##*$'\n'}
        [[ $sum -le $most ]] || most=$sum
        sleep 2
    done
    echo "$most" >"$work/memory"
}

# run WHAT CODE WORDS…: a run, timed. CPU time is that of the program and of every ssh that it started, control masters too.
run() {
    local what=$1 code=$2 begun=$EPOCHREALTIME got=0 pid watcher
    shift 2
    : >"$work/cpu"
    "$work/counted" "$twinscope" fleet record "$@" >"$work/out" 2>&1 &
    pid=$!
    watch_memory $pid &
    watcher=$!
    wait $pid || got=$?
    wait $watcher
    [[ $got -eq $code ]] || { echo "remote: $what: exit code $got: $(tail -n 3 "$work/out")" >&2 && exit 1; }
    put "$what" "in all" "s" "$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')"
    put "$what" "CPU on our side, a host" "ms CPU" "$(awk -v n="$hosts" '{ s += $1 } END { printf "%.0f", 1000 * s / n }' "$work/cpu")"
    put "$what" "memory on our side at most" "MiB" "$(cat "$work/memory")"
}

# A subreaper: whatever the program leaves is its child, so that the CPU time of control masters is counted when they have ended.
cat >"$work/counted" <<PY
#!/usr/bin/env python3
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
code = subprocess.call(sys.argv[1:])
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open("$work/cpu", "w").write(f"{used.ru_utime + used.ru_stime}\n")
sys.exit(code)
PY
chmod +x "$work/counted"

many() {
    run "$hosts hosts" 0 -o "$work/many" -d 10s --ssh "$ssh" --recorder "$work/recorder" --hosts "@$work/sshd/names"
    put "$hosts hosts" "recordings" "of $hosts" "$(find "$work/many" -name '*.twin' | wc -l)"
}

# An ssh before the real one, by which some hosts refuse, hang, have a full disk or die.
failing() {
    cat >"$work/ssh" <<SSH
#!/bin/bash
for word; do
    case \$word in
    h1 | h2 | h3 | h4 | h5) echo "ssh: connect to host \$word port 22: Connection refused" >&2 && exit 255 ;;
    h6 | h7 | h8) exec sleep 600 ;;
    h9 | h10 | h11) host=\$word ;;
    esac
done
if [[ -n \${host:-} && \${!#} == sh && " \$* " != *' -O '* ]]; then
    line=\$(timeout 0.3 cat)
    case \$host:\$line in
    h9:*' record '* | h10:*' record '*) echo 'twinscope-recorder: x.twin: No space left on device (os error 28)' >&2 && exit 1 ;;
    h11:*' send '*) printf 'twinscope-recording 1000000\nSQLite' && exit 255 ;;
    *'say clock'*) exec $ssh "\$@" < <(echo "\$line" && for _ in 1 2 3; do sleep 0.5; echo; done) ;;
    *) exec $ssh "\$@" <<<"\$line" ;;
    esac
fi
exec $ssh "\$@"
SSH
    chmod +x "$work/ssh"
    local words=(-o "$work/failing" -d 10s --ssh "$work/ssh" --recorder "$work/recorder" --hosts "@$work/sshd/names")
    run "$hosts hosts, 11 of which fail" 3 "${words[@]}"
    put "$hosts hosts, 11 of which fail" "recordings" "of $((hosts - 11))" "$(find "$work/failing" -name '*.twin' | wc -l)"
    put "$hosts hosts, 11 of which fail" "lines that say why" "" "$(grep -cE '^h[0-9]+ ' "$work/out")"
    run "the same again" 3 "${words[@]}"
    put "the same again" "hosts that are asked" "" "$(grep -oE '; [0-9]+ host' "$work/out" | tr -dc 0-9)"
}

together() {
    if [[ ! -x $recorder ]]; then
        echo "SKIPPED: remote: $recorder is missing: make recorder" >&2
        return
    fi
    "$twinscope" fleet record -o "$work/eight" -d 5s --limit 2m --ssh "$ssh" --recorder "$recorder" --hosts h1,h2,h3,h4,h5,h6,h7,h8 >"$work/out"
    put "8 recorders" "begun within" "s" "$(sed -n 's/.*begun within \([0-9.]*\) s.*/\1/p' "$work/out")"
    # Each by the first second of its own data, since setting up eight at once takes the CPUs in turn.
    put "8 recorders" "first data of sources within" "s" "$(for file in "$work"/eight/*.twin; do
        "$twinscope" sql --format csv "$file" 'select min(t) / 1e9 from cpu' | tail -n 1
    done | sort -g | awk 'NR == 1 { a = $1 } { b = $1 } END { printf "%.2f", b - a }')"
}

for part in "${parts[@]}"; do
    case $part in
        many | failing | together) "$part" ;;
        *) wrong_usage "$part: no such part" ;;
    esac
done
