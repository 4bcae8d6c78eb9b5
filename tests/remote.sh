#!/usr/bin/env bash
# Many hosts: by a real sshd on loopback, by stand-ins for ssh and kubectl that fail in each way, and the manifests for Kubernetes.
# step: busy build,recorder
#
# usage: tests/remote.sh [loopback|failures|kubernetes|after…]     TWINSCOPE=path of the program, RECORDER=path of the static recorder
set -uo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../scripts/lib/usage.sh"
cd "$(dirname "$0")/.." || exit

twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")
RECORDER=$(realpath -m "${RECORDER:-target/dist/twinscope-recorder-$(uname -m)}")
export RECORDER
parts=("$@")
[[ $# -gt 0 ]] || parts=(loopback failures kubernetes after)
# shellcheck source=tests/count.sh
. tests/count.sh
# shellcheck source=tests/sshd.sh
. tests/sshd.sh
work=$(mktemp -d)
trap 'stop_sshd; rm -rf "$work"' EXIT
tests=$PWD/tests

# expect CODE WHAT COMMAND…: runs it, its output in $work/out; a failed one is shown.
expect() {
    local code=$1 what=$2 got=0
    shift 2
    timeout 300 "$@" >"$work/out" 2>&1 || got=$?
    if [[ $got -eq $code ]]; then ok "$what"; else bad "$what: exit code $got: $(tail -n 5 "$work/out")"; fi
}
# says WHAT TEXT: whether the output has this text.
says() { if grep -qF -- "$2" "$work/out"; then ok "$1"; else bad "$1: $(cat "$work/out")"; fi; }
# is WHAT GOT WANTED
is() { if [[ $2 == "$3" ]]; then ok "$1"; else bad "$1: $2, not $3"; fi; }
number() { "$twinscope" sql --format csv "$1" "$2" | tail -n 1; }
recordings() { find "$1" -name '*.twin' | wc -l; }

loopback() {
    local ssh hosts
    if ! start_sshd "$work/sshd" 20 >"$work/why"; then
        skip "hosts by ssh: $(cat "$work/why")"
        return
    fi
    ssh="ssh -F $work/sshd/config" hosts="@$work/sshd/names"
    local common=(--ssh "$ssh" --recorder "$RECORDER")
    expect 0 "twenty hosts" "$twinscope" fleet record -o "$work/a" -d 2s --only cpu,kernel "${common[@]}" --hosts "$hosts"
    is "twenty recordings" "$(recordings "$work/a")" 20
    says "they began together" "begun within 0."
    is "the name of the host is a label" "$("$twinscope" info --json "$work/a/h7.twin" | grep -c '"host": "h7"')" 1
    is "nothing is left but the recorder" "$(find "$work/sshd/home" -mindepth 3 | wc -l)" 1
    expect 0 "the same again" "$twinscope" fleet record -o "$work/a" -d 2s --only cpu,kernel "${common[@]}" --hosts "$hosts"
    says "does nothing" "20 recordings in $work/a, 0 of them new"
    expect 2 "other options in the same folder are refused" "$twinscope" fleet record -o "$work/a" -d 3s "${common[@]}" --hosts "$hosts"

    # One that someone else put under our name.
    echo "#!/bin/sh" >"$(find "$work/sshd/home" -name 'twinscope-recorder-*')"
    expect 3 "keys that are wrong or not known" "$twinscope" fleet record -o "$work/b" -d 1s --only cpu "${common[@]}" --hosts h1,other-key,unknown-key
    says "a changed key" "its host key has changed"
    says "an unknown key" "its host key is not known"
    is "the recorder was sent anew, and the others go on" "$(recordings "$work/b")" 1

    # shellcheck disable=SC2016  # what nobody shall expand
    expect 0 "a command with words that shells read" "$twinscope" fleet record -o "$work/c" --only cpu "${common[@]}" --hosts h1 -- \
        sh -c 'printf "%s|" "$@" >"$0"; sleep 0.3' "$work/words" "it's" '$(touch /tmp/no)' 'a b' '*' '' '\n'
    # shellcheck disable=SC2016
    is "reach it as they were" "$(cat "$work/words")" "it's|\$(touch /tmp/no)|a b|*||\n|"

    expect 0 "flight recorders are left" "$twinscope" fleet record -o "$work/flight" --keep 1m --only cpu --detach "${common[@]}" --hosts h1,h2
    sleep 5
    # shellcheck disable=SC2016
    expect 0 "marks" "$twinscope" fleet mark 'deployed; $(x)' --of "$work/flight" "${common[@]}"
    says "are put" "marked on 2 hosts"
    expect 0 "snapshots" "$twinscope" fleet snapshot "$work/flight" -o "$work/shots" "${common[@]}"
    is "are here" "$(recordings "$work/shots")" 2
    # shellcheck disable=SC2016
    is "with the mark" "$(number "$work/shots/h2.twin" 'select text from mark')" 'deployed; $(x)'
    expect 3 "fetched while they record" "$twinscope" fleet fetch "$work/flight" --limit 3s --ssh "$ssh"
    says "is said" "is still recording"
    expect 0 "they are ended, and all is removed" "$twinscope" fleet fetch "$work/flight" --stop --clean --ssh "$ssh"
    is "recordings of flight recorders" "$(recordings "$work/flight")" 2
    is "nothing is left at all" "$(find "$work/sshd/home" -type f | wc -l)" 0

    # Ctrl-C ends the recorders, and what they have is fetched.
    "$twinscope" fleet record -o "$work/int" -d 10m --only cpu "${common[@]}" --hosts h1,h2,h3 >"$work/out" 2>&1 &
    local pid=$!
    for _ in {1..100}; do
        [[ $(jq '[.hosts[]? | select(.step == "recording")] | length' "$work/int/hosts.json" 2>/dev/null) == 3 ]] && break
        sleep 0.2
    done
    sleep 6
    kill -INT $pid
    wait $pid
    is "Ctrl-C fetches what there is" "$(recordings "$work/int")" 3
    is "no recorder goes on" "$(pgrep -cf "record --detach --output=$work/sshd")" 0
    stop_sshd
}

stand_ins() {
    mkdir -p "$work/home"
    "$twinscope" record -q -d 300ms --only cpu -o "$work/small.twin"
    sed "s|@SMALL@|$work/small.twin|; s|@CALLS@|$work/home/calls|" tests/remote/recorder >"$work/recorder"
    export STANDIN_HOME=$work/home
}

failures() {
    stand_ins
    local common=(--ssh "$tests/remote/ssh" --recorder "$work/recorder" --limit 4s) line
    local names=ok1,ok2,banner,busybox,clock,refused,unknown,denied,changed,hangs,endless,nosh,quiet,machine,system,nofolder,sudo,full,dies
    expect 3 "a host of each failure" "$twinscope" fleet record -o "$work/f" -d 1s "${common[@]}" --hosts $names --hosts 'ssh://a@ok3:22'
    cp "$work/out" "$work/table"
    for line in 'refused .*Connection refused' 'unknown .*Name or service not known' 'denied .*Permission denied' 'changed .*host key has changed' \
        'hangs .*no end within 4 s' 'endless .*no end within 4 s' 'nosh .*not available' 'quiet .*runs no sh' 'machine .*riscv64, for which there is no recorder' \
        'system .*Darwin' 'nofolder .*no folder that may execute.*Read-only' 'sudo .*a password is required: .*NOPASSWD: .*/twinscope-recorder-\*' \
        'full .*No space left on device' 'dies .*cut short'; do
        if [[ $(grep -cE "^$line" "$work/table") -eq 1 ]]; then ok "${line%% *} is said"; else bad "${line%% *}: $(cat "$work/table")"; fi
    done
    is "the others are recorded" "$(recordings "$work/f")" 6
    is "files have safe names" "$(find "$work/f" -name 'ssh%3A%2F%2Fa@ok3%3A22.twin' | wc -l)" 1
    is "a clock two hours ahead is taken into account" "$(sed -n 's/.*--output=[^ ]*clock.twin --at=@\([0-9]*\).*/\1/p' "$work/home/calls" |
        awk -v now="$(date +%s)" '{ print int(($1 - now) / 600) }' | tail -n 1)" 11
    : >"$work/home/asked"
    expect 3 "the same again" "$twinscope" fleet record -o "$work/f" -d 1s "${common[@]}" --hosts $names --hosts 'ssh://a@ok3:22'
    is "asks only those that failed" "$(sort -u "$work/home/asked" | grep -cE 'ok|banner|busybox|clock')" 0
    is "and all of them" "$(grep -v clock "$work/home/asked" | sort -u | wc -l)" 14
    expect 0 "without sudo it is recorded" "$twinscope" fleet record -o "$work/f2" -d 1s "${common[@]}" --hosts sudo,nosudo --no-sudo
    expect 2 "a name that would be an option" "$twinscope" fleet record -o "$work/f3" -d 1s "${common[@]}" --hosts=-oProxyCommand=x
    expect 2 "a name that a shell would read" "$twinscope" fleet record -o "$work/f3" -d 1s "${common[@]}" --hosts 'a;b'
    expect 1 "an ssh that is not there" "$twinscope" fleet record -o "$work/f3" -d 1s --ssh /no/such/ssh --recorder "$work/recorder" --hosts a
    expect 1 "a recorder that is not there" "$twinscope" fleet record -o "$work/f4" -d 1s --ssh "$tests/remote/ssh" --recorder /no/such --hosts a
    expect 2 "no end is said" "$twinscope" fleet record -o "$work/f4" "${common[@]}" --hosts a
}

kubernetes() {
    if ! command -v jq >/dev/null; then
        skip "kubernetes: jq is missing"
        return
    fi
    if [[ ! -x $RECORDER ]]; then
        skip "kubernetes: $RECORDER is missing"
        return
    fi
    export STANDIN=$work/k
    mkdir -p "$STANDIN"
    local common=(--kubernetes --kubectl "$tests/remote/kubectl" --image recorder:1 --limit 4s) line
    expect 3 "nodes, one of each failure" "$twinscope" fleet record -o "$work/nodes" -d 1s --only cpu "${common[@]}" --nodes n1,n2,refuse,pull,slow,gone,evicted,exec,old,nosuch
    cp "$work/out" "$work/table"
    for line in 'refuse .*violates PodSecurity' 'pull .*ErrImagePull: manifest unknown' 'slow .*does not run after 4 s' 'gone .*Evicted' \
        'evicted .*completed pod' 'exec .*unable to upgrade connection' 'old .*--privileged' 'nosuch .*no such node'; do
        if grep -qE "^$line" "$work/table"; then ok "${line%% *} is said"; else bad "${line%% *}: $(cat "$work/table")"; fi
    done
    is "the others are recorded" "$(recordings "$work/nodes")" 2
    is "no pod is left" "$(find "$STANDIN/pods" -type f | wc -l)" 0
    expect 0 "pods of a deployment" "$twinscope" fleet record -o "$work/pods" -d 1s --only cpu "${common[@]}" --pods-of deployment/web -n shop
    is "each has a recording" "$(recordings "$work/pods")" 2
    is "of its control group" "$(grep -c -- '--cgroup=pod:[13]' "$STANDIN/calls")" 2
    is "by one pod on their node" "$(find "$STANDIN/data" -name 'web-*' -printf '%h\n' | sort -u | wc -l)" 1
    expect 0 "pods are left" "$twinscope" fleet record -o "$work/later" -d 1s --only cpu --detach "${common[@]}" --nodes n1,n2
    is "while they record" "$(find "$STANDIN/pods" -type f | wc -l)" 2
    expect 0 "fetched later" "$twinscope" fleet fetch "$work/later"
    is "then they are deleted" "$(recordings "$work/later") $(find "$STANDIN/pods" -type f | wc -l)" "2 0"
    "$twinscope" fleet record -o "$work/kint" -d 10m --only cpu "${common[@]}" --nodes n1 >"$work/out" 2>&1 &
    local pid=$!
    sleep 7
    kill -INT $pid
    wait $pid
    is "Ctrl-C fetches and deletes" "$(recordings "$work/kint") $(find "$STANDIN/pods" -type f | wc -l)" "1 0"
    touch "$STANDIN/keeps"
    expect 3 "pods that may not be deleted" "$twinscope" fleet record -o "$work/keeps" -d 1s --only cpu "${common[@]}" --nodes n1
    says "are told" "could not be deleted"
    touch "$STANDIN/down"
    expect 1 "a server that is down" "$twinscope" fleet record -o "$work/down" -d 1s "${common[@]}" --nodes n1
    says "is told" "was refused"
    expect 1 "a deployment that is not there" "$twinscope" fleet record -o "$work/nosuch" -d 1s "${common[@]}" --pods-of deployment/nosuch
    # A flight recorder that runs in a pod.
    mkdir -p "$STANDIN/data/flight-1"
    XDG_RUNTIME_DIR=$STANDIN/data/flight-1 TMPDIR=$STANDIN/data/flight-1 "$RECORDER" record -q --keep 1m --only cpu -o "$STANDIN/data/flight-1/flight.twin" &
    pid=$!
    sleep 3
    expect 0 "a snapshot of a DaemonSet" "$twinscope" fleet snapshot -o "$work/kshot" --kubernetes --kubectl "$tests/remote/kubectl" --pods-of daemonset/flight
    is "is here, and nowhere else" "$(recordings "$work/kshot") $(find "$STANDIN/data/flight-1" -name '*.twin' | wc -l)" "1 1"
    kill -INT $pid
    wait $pid
    manifests
}

# What we would apply, by the schemas of several versions, offline.
manifests() {
    if ! python3 -c 'import kubernetes_validate' 2>/dev/null; then
        skip "manifests: kubernetes-validate is missing (pip install kubernetes-validate)"
        return
    fi
    if python3 tests/remote/validate.py deploy/kubernetes/*.yaml "$STANDIN"/manifest-n1.json; then ok "manifests are valid"; else bad "manifests"; fi
}

# What is run when a recording is complete.
after() {
    mkdir "$work/there"
    expect 0 "a command after it" "$twinscope" record -q -d 200ms --only cpu -o "$work/t.twin" --then "cp {} $work/there/"
    is "has the file" "$(recordings "$work/there")" 1
    expect 3 "one that is missing" "$twinscope" record -q -d 200ms --only cpu -o "$work/t2.twin" --then "/no/such/aws s3 cp {} s3://b/"
    says "is told" "cannot be started"
    is "and the file stays" "$(find "$work" -maxdepth 1 -name t2.twin | wc -l)" 1
    expect 2 "no words" "$twinscope" record -q -d 200ms -o "$work/t3.twin" --then "'"
}

for part in "${parts[@]}"; do
    case $part in
    loopback | failures | kubernetes | after) "$part" ;;
    *) wrong_usage "$part: no such part" ;;
    esac
done
finish
