# shellcheck shell=bash
# To be sourced by tests/kernels.sh: the table of README.md that says what works on which kernel, made of the recordings.

# Words, and what must have been read for a "yes": a source, and items of it with commas between them.
TABLE_ROWS='
everything Linux exposes in `/proc` and `/sys`|cpu|
every process and its exit, even short-lived ones|processes|bpf
CPU samples with stacks|stacks|sample
thread ledger: states, waits with stacks, locks and their holders|threads|thread_time
system calls|syscalls|
page faults by code location|faults|
block I/O by process|block|
which process requested a disk flush|block|who asks
time in interrupts and timers|irqs|
IPIs by sender|ipis|
TCP by process: retransmits, connection time|tcp|
stalls caused by delayed ACKs|tcp|delayed_ack_stalls
full listen queues by process|tcp|listen_overflows
requests that servers answered, and how long they took|turns|
how long requests lay there before they were read|turns|turn.queue_time
'

# cell FILE SOURCE ITEM
cell() {
    local found items
    items=$(sed "s/[^,]*/'&'/g" <<<"$3")
    found=$(rows "$1" "select status, coalesce(remedy, '') from coverage where source = '$2' and item in ('', $items) and status <> 'read' and not ($SLOW) order by item limit 1")
    case $found in
    '') echo yes ;;
    *'Linux '*' or newer'*) sed 's/.*Linux \([0-9.]*\) or newer.*/from \1/' <<<"$found" ;;
    *) echo no ;;
    esac
}

make_table() {
    local words source item kernel line cell cells newest
    line='| |' && for kernel in "${TABLE_KERNELS[@]}"; do line+=" ${kernel/-/ } |"; done && echo "$line"
    line='|---|' && for kernel in "${TABLE_KERNELS[@]}"; do line+='---|'; done && echo "$line"
    while IFS='|' read -r words source item; do
        [[ -n $words ]] || continue
        cells=()
        for kernel in "${TABLE_KERNELS[@]}"; do
            cells+=("$(cell "$folder/$kernel/results/known.twin" "$source" "$item")")
        done
        # Where a whole source is missing, its version is that of the source; what an item of it needs, a newer kernel has told.
        newest=$(printf '%s\n' "${cells[@]}" | sed -n 's/^from //p' | sort -V | tail -n 1)
        line="| $words |"
        for cell in "${cells[@]}"; do
            line+=" $([[ $cell == from* ]] && echo "from $newest" || echo "$cell") |"
        done
        echo "$line"
    done <<<"$TABLE_ROWS"
}

TABLE_KERNELS=({x86_64,aarch64}-{5.10,6.1,6.12})

# check_readme check|write: the table between its marks
check_readme() {
    local begin='<!-- kernels: begin -->' end='<!-- kernels: end -->' made=$folder/table.md
    make_table >"$made"
    if [[ $1 == write ]]; then
        awk -v begin="$begin" -v end="$end" -v file="$made" '
            $0 == end { skip = 0 }
            !skip
            $0 == begin { while ((getline line < file) > 0) print line; skip = 1 }' README.md >"$folder/README.md" && cp "$folder/README.md" README.md
        echo "wrote the table of README.md"
    elif diff <(sed -n "/^$begin\$/,/^$end\$/p" README.md | sed '1d;$d') "$made"; then
        ok "README.md says what works on which kernel"
    else
        bad "README.md says otherwise of what works on which kernel (above): tests/kernels.sh --write-readme writes its table"
    fi
}
