# shellcheck shell=bash
# To be sourced: an own sshd on loopback, with keys of its own, that many host names lead to.
#
# start_sshd FOLDER COUNT: names h1 … hCOUNT (in FOLDER/names), `other-key` and `unknown-key`, in FOLDER/config for `ssh -F`; the home there is
# FOLDER/home. Says why where there can be none. stop_sshd ends it.

sshd_pid=

start_sshd() {
    local folder=$1 count=$2 port program
    program=$(command -v sshd || echo /usr/sbin/sshd)
    if [[ ! -x $program ]] || ! command -v ssh >/dev/null; then
        echo "sshd or ssh is missing (Debian: openssh-server)"
        return 1
    fi
    mkdir -p "$folder/home"
    chmod 700 "$folder"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/host-key"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
    cp "$folder/key.pub" "$folder/authorized"
    # sshd separates privileges in this folder, and does not make it.
    [[ $(id -u) -ne 0 ]] || mkdir -p /run/sshd
    for ((port = 22000 + RANDOM % 20000; ; port++)); do
        cat >"$folder/sshd_config" <<CONFIG
Port $port
ListenAddress 127.0.0.1
HostKey $folder/host-key
AuthorizedKeysFile $folder/authorized
PidFile $folder/pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 500
MaxSessions 500
PrintMotd no
SetEnv HOME=$folder/home
UseDNS no
CONFIG
        "$program" -D -e -f "$folder/sshd_config" 2>"$folder/log" &
        sshd_pid=$!
        for _ in {1..50}; do
            grep -q 'Server listening' "$folder/log" && break 2
            kill -0 $sshd_pid 2>/dev/null || break
            sleep 0.1
        done
        if ! grep -q 'Address already in use' "$folder/log"; then
            echo "sshd does not start: $(tail -n 1 "$folder/log")"
            return 1
        fi
    done
    echo "twinscope-test $(cut -d' ' -f1,2 "$folder/host-key.pub")" >"$folder/known"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/former-key"
    echo "other-key $(cut -d' ' -f1,2 "$folder/former-key.pub")" >"$folder/changed"
    cat >"$folder/config" <<CONFIG
Host other-key
    HostKeyAlias other-key
    UserKnownHostsFile $folder/changed
Host unknown-key
    HostKeyAlias nobody-knows
Host *
    HostName 127.0.0.1
    Port $port
    User $(id -un)
    IdentityFile $folder/key
    IdentitiesOnly yes
    HostKeyAlias twinscope-test
    UserKnownHostsFile $folder/known
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
CONFIG
    seq -f 'h%g' "$count" >"$folder/names"
}

stop_sshd() {
    [[ -z $sshd_pid ]] || kill "$sshd_pid" 2>/dev/null || true
    sshd_pid=
}
