# shellcheck shell=bash
# To be sourced by tests/kernels.sh, which sets $twinscope and $folder: what recordings from other kernels must say.

# Folders of workloads/ and workloads/faults/.
PAIRS=(contended-counter chatty-log munmap-storm)
# shellcheck source=tests/count.sh
. tests/count.sh

# rows FILE SQL; number FILE SQL: the first cell, 0 where there is no such table
rows() { "$twinscope" sql --format csv "$1" "$2" 2>/dev/null | tail -n +2; }
number() {
    local found
    found=$("$twinscope" sql --json "$1" "$2" 2>/dev/null | jq -r '.[0] | to_entries[0].value // 0' 2>/dev/null)
    echo "${found:-0}"
}
truth() { sed -n "s/^truth: $2 //p" "$1"; }

# between WHAT VALUE LEAST MOST
between() {
    if awk -v v="$2" -v l="$3" -v m="$4" 'BEGIN { exit !(v != "" && v >= l && v <= m) }'; then
        ok "$1: $2"
    else
        bad "$1: $2, not from $3 to $4"
    fi
}

# What an emulated machine is too slow for is no matter of its kernel.
SLOW="why like '%found no room%'"
EBPF="'threads', 'processes', 'syscalls', 'ipis', 'faults', 'block', 'irqs', 'tcp', 'turns', 'stacks'"

# What every recording of a guest must hold, whatever its kernel and its privileges.
check_recording() {
    local name=$1 file=$2 said
    if [[ ! -s $file ]]; then
        bad "$name: no recording"
        return 1
    fi
    if [[ $(cat "${file%.twin}.status") == 0 && ! -s ${file%.twin}.err ]]; then ok "$name: recorded"; else
        bad "$name: status $(cat "${file%.twin}.status"): $(cat "${file%.twin}.err")"
    fi
    said=$(rows "$file" "select source, item, why from coverage where status = 'failed' and not ($SLOW)")
    if [[ -z $said ]]; then ok "$name: nothing failed"; else bad "$name: failed: $said"; fi
    said=$(rows "$file" "select source, item, why from coverage where why like '%libbpf%' or why like '%insns%' or why like '%PROG LOAD%' or why like '%eBPF%os error%'")
    if [[ -z $said ]]; then ok "$name: nothing is told in the words of a loader"; else bad "$name: $said"; fi
    said=$(rows "$file" "select source, item, why from coverage where source in ($EBPF) and status in ('absent', 'denied') and coalesce(remedy, '') = ''")
    if [[ -z $said ]]; then ok "$name: what is missing has a remedy"; else bad "$name: no remedy: $said"; fi
    between "$name: CPU times" "$(number "$file" 'select count(*) from cpu')" 2 1000000
    if "$twinscope" explain "$file" >"${file%.twin}.explained" 2>&1; then ok "$name: explain reads it"; else
        bad "$name: explain: $(tail -n 3 "${file%.twin}.explained")"
    fi
}

# Whether a table of the recording is there as a whole.
has() { [[ $(number "$1" "select count(*) from coverage where source = '$2' and item in ('', '${3:-}') and status <> 'read'") == 0 ]]; }

# check_turns NAME FILE: the requests of known.c, as one thread of it answered them and as another made them
check_turns() {
    local name=$1 file=$2 out=${2%.twin}.out protocol side
    t() { truth "$out" "$1"; }
    turn() { number "$file" "select sum(m) from (select max($1) as m from turn where comm = 'known' and protocol = '$2' and role = '$3' group by pid, port, peer)"; }
    for protocol in tcp unix; do
        for side in server client; do
            between "$name: requests, $protocol $side" "$(turn turns $protocol $side)" "$(t requests)" "$(t requests)"
            between "$name: time that they took, $protocol $side" "$(turn service_time $protocol $side)" "$(t ${protocol}_served)" "$(t ${protocol}_asked)"
        done
        between "$name: bytes of the questions, $protocol" "$(turn received $protocol server)" "$((100 * $(t requests)))" "$((100 * $(t requests)))"
    done
    for side in server client; do
        between "$name: connections made, $side" "$(turn opened tcp $side)" "$(t connections)" "$(t connections)"
    done
    if has "$file" turns turn.queue_time; then
        between "$name: requests that lay there" "$(turn queued tcp server)" "$(($(t requests) - 4))" "$(t requests)"
    fi
}

# check_known NAME FILE: the program of known.c
check_known() {
    local name=$1 file=$2 out=${2%.twin}.out here states
    t() { truth "$out" "$1"; }
    n() { number "$file" "$1"; }
    here="comm = 'known'"
    between "$name: children that ended" "$(n "select max(ended) from process_exit where $here")" "$(t children)" "$(t children)"
    between "$name: CPU time of the process" "$(n "select (select max(user + system) from process where $here) + (select max(user + system) from process_exit where $here)")" \
        "$(awk -v c="$(t cpu)" 'BEGIN { print 0.9 * c }')" "$(awk -v c="$(t cpu)" 'BEGIN { print 1.1 * c + 50e6 }')"
    between "$name: page faults of the process" "$(n "select max(minor_faults) from process where $here and
        pid = (select min(pid) from process where $here)")" "$(t faults)" "$(($(t faults) + 600))"
    between "$name: requests to the disk" "$(n "select sum(m) from (select max(count) as m from block_io where $here and op = 'write' group by device)")" \
        "$(t writes)" "$(t writes)"
    between "$name: bytes written to it" "$(n "select sum(m) from (select max(bytes) as m from block_io where $here and op = 'write' group by device)")" \
        "$(t written)" "$(t written)"
    between "$name: kinds of interrupts" "$(n 'select count(distinct kind) from interrupt_time')" 2 4
    # Of the time in it, some samples fall into interrupts; a stack that ended early would not begin at the start of the program.
    between "$name: samples below all of its callers" "$(n "with recursive chain(stack, at, names) as (
            select distinct stack, stack, '' from sample where $here
            union all
            select c.stack, s.parent, coalesce(f.function, '?') || ';' || c.names
            from chain c join stack s on s.number = c.at join frame f on f.number = s.frame)
        select total(s.weight) filter (where c.names like '%_start%;main;burn;burn_deep;burn_deeper;burn_inside;%')
               / total(s.weight) filter (where c.names like '%burn_inside;%') as share
        from chain c join sample s on s.stack = c.stack and s.$here where c.at is null")" 0.9 1
    # An emulated machine on a busy one has its timers late, and samples are missing then.
    between "$name: samples, of its CPU time" "$(n "select total(weight) / $(t cpu) from sample where $here")" 0.4 1.6
    if has "$file" threads thread_time; then
        states='max(user) + max(kernel) + max(stolen) + max(runnable) + max(throttled) + max(lock) + max(disk) + max(network)
            + max(pipe) + max(fault) + max(sleep) + max(idle) + max(other)'
        between "$name: states of its first thread, of the time that it lived" "$(n "select total / 1e9 / (select wall from run) as share
            from (select $states as total from thread_time where $here and tid = pid)")" 0.9 1.02
        between "$name: voluntary switches" "$(n "select sum(m) from (select max(switches_voluntary) as m from thread_time where $here group by pid, tid)")" \
            "$(t voluntary)" "$(($(t voluntary) + 20))"
        # Upwards it is bounded loosely: the timers of an emulated machine are late.
        between "$name: time asleep, of that asked for" "$(n "select total(m) / ($(t slept) + 120 * 3e6) from (select max(sleep) as m from thread_time where $here group by pid, tid)")" \
            0.95 5
        between "$name: waits for its mutex" "$(n "select sum(count) from lock where $here and name like 'turn%'")" 20 120
        between "$name: time of these waits, of what it measured" "$(n "select total(time) / $(t lock_wait) from lock where $here and name like 'turn%'")" 0.6 1.05
        # Where copying stacks takes an emulated machine longer than it may, some waits have none.
        between "$name: of it with the code that waits" "$(n "with recursive chain(stack, at, names) as (
                select distinct stack, stack, '' from wait where $here and state = 'lock'
                union all
                select c.stack, s.parent, coalesce(f.function, '?') || ';' || c.names
                from chain c join stack s on s.number = c.at join frame f on f.number = s.frame)
            select total(w.time) filter (where c.names like '%take_turns;%') / total(w.time) as share
            from wait w left join chain c on w.stack = c.stack and c.at is null where w.$here and w.state = 'lock'")" 0.5 1
    fi
    if has "$file" syscalls; then
        # Both ends of the pipes read, and one of them once more to see that it is closed.
        between "$name: reads" "$(n "select sum(m) from (select max(count) as m from syscall where $here and call = 'read' group by pid)")" \
            "$(($(t reads) + 2 * $(t round_trips) + 1 + $(t request_reads)))" "$(($(t reads) + 2 * $(t round_trips) + 1 + $(t request_reads)))"
    fi
    if has "$file" faults; then
        between "$name: page faults by place" "$(n "select sum(count) from page_fault where $here and kind = 'user'")" "$(t faults)" "$(($(t faults) + 600))"
    fi
    if has "$file" tcp; then
        between "$name: connections" "$(n "select max(connects) from tcp where $here")" "$(t connections)" "$(t connections)"
    fi
    if has "$file" turns; then
        check_turns "$name" "$file"
    fi
    if has "$file" ipis; then
        between "$name: interrupts between CPUs" "$(n 'select sum(count) from ipi')" 1 1000000
    fi
}

# says NAME FILE SOURCE ITEM STATUS WORDS: what of a source is missing, and that its reason or remedy has these words
says() {
    local found
    found=$(rows "$2" "select status, why, remedy from coverage where source = '$3' and item = '$4'")
    if [[ $found == "$5,"*"$6"* || $found == "\"$5\","*"$6"* ]]; then ok "$1: $3 $4: $5: $6"; else bad "$1: $3 $4: not $5 with '$6': $found"; fi
}

# Other privileges, on one kernel.
check_privileges() {
    local results=$1 case file
    for case in granted user paranoid container untyped integrity confidentiality; do
        file=$results/$case.twin
        check_recording "$case" "$file" || continue
        # The ledger, or the one that is sampled.
        between "$case: a ledger" "$(number "$file" "select count(*) from thread_time where comm in ('sh', 'busybox')")" 1 1000000
    done
    for case in granted integrity; do
        if has "$results/$case.twin" threads thread_time && has "$results/$case.twin" syscalls; then ok "$case: eBPF"; else bad "$case: no eBPF"; fi
    done
    says user "$results/user.twin" threads thread_time denied 'setcap cap_bpf,cap_perfmon+ep'
    says user "$results/user.twin" syscalls '' denied 'setcap cap_bpf,cap_perfmon+ep'
    says paranoid "$results/paranoid.twin" stacks sample denied perf_event_paranoid
    says container "$results/container.twin" threads thread_time 'not applicable' --pid=host
    says untyped "$results/untyped.twin" threads thread_time absent CONFIG_DEBUG_INFO_BTF=y
    says confidentiality "$results/confidentiality.twin" threads thread_time denied lockdown=integrity
}

# Pairs of the fault bench, recorded in the guest: the same cause comes first as on the host. How fast a guest is emulated changes with what else
# the host does, so that a pair may not have been slower, or all of its code was: then there is nothing to name.
check_pairs() {
    local results=$1 pair causes outcome first verdict
    for pair in "${PAIRS[@]}"; do
        causes=$(sed -n 's/^cause: //p' "workloads/faults/$pair/fault")
        IFS=$'\t' read -r outcome first verdict < <("$twinscope" explain "$results/$pair-slow.twin" --against "$results/$pair-fast.twin" --json 2>/dev/null |
            jq -r '[.outcome, .findings[0].cause // "nothing", .verdict] | @tsv')
        if [[ " | $causes | " == *" | $first | "* ]]; then
            ok "$pair: $first"
        elif [[ $first == nothing && $outcome =~ ^(no|evenly)" slower"$ ]]; then
            skip "pair $pair on another kernel: $verdict"
        else
            bad "$pair: $first comes first, not $causes: $verdict"
        fi
    done
}

check_kernel() {
    local kernel=$1 here=$2 results=$2/results
    echo "== $kernel: $(cat "$results/release" 2>/dev/null)"
    if [[ $(cat "$here/status") != 0 || ! -s $results/known.twin ]]; then
        bad "$kernel: the guest ended with $(cat "$here/status"); the end of its console: $(tail -n 5 "$here/console.txt" 2>/dev/null)"
        return
    fi
    if grep -q panicked "$results"/*.err "$results"/sources.*; then bad "$kernel: panicked"; else ok "$kernel: no panic"; fi
    check_recording "$kernel" "$results/known.twin" && check_known "$kernel" "$results/known.twin"
    if [[ -e $results/defaults.status ]]; then
        check_recording "$kernel defaults" "$results/defaults.twin"
        check_pairs "$results"
        check_privileges "$results"
    fi
}
