# What scripts/faults.sh and check.sh share: the declarations of faults, what they need, and how they are run. To be sourced.
#
# A fault is a folder NAME/ with a file `fault` of lines `key: value`:
#   title        one line: what is wrong
#   language     of the program that has the fault
#   cause        the identifier that `twinscope explain` should name; `a | b` where two name the same thing; `nothing` for an innocent pair, whose
#                difference costs nothing: explain must stay silent
#   why          needed with `|`: why either is right
#   also         a second cause that the program mixes in; its truth is `lost share of CAUSE`, and the greater of the two has to be named first
#   slow, fast   commands; words are expanded by bash: $SECONDS_EACH, $SCRATCH (a folder of this fault's run), $HERE
#   throughput   regular expression of the running total of work in the output (default ^done ([0-9]+)); - where the recording
#                is not told: the work of a service is to be found out from its sockets
#   each         the same where each match adds (then without throughput)
#   unit         what the work is counted in (default operations)
#   record       more options for `twinscope record`
#   setup        command before a run, with $VARIANT slow or fast; teardown: after it, also when the run failed
#   needs        programs, and abilities: root, netns, cpu-quota, memory-limit, io-limit, swap, loop
#   share        the true part of the slow-down that the cause makes, where the programs do not print `truth: lost share X`;
#                - where it is not known
#   origin       where the case is from: a post-mortem, an issue, an article (address, and what it says in a few words)
#   set          tuned: rules of diagnosis may be changed by what it shows; held-out: it only judges them (default tuned)
# A comment that begins with `# tail` says that only the slowest requests are slower: requests come at a constant rate, so both
# variants do as much, and the pair is judged by its `truth: p99 ms`.
# Programs are found in workloads/bin, workloads/faults/bin and workloads/faults/common.

FAULTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH="$FAULTS/bin:$FAULTS/../bin:$FAULTS/common:$PATH"
FAULT_KEYS=' title language cause why also slow fast throughput each unit record setup teardown needs share origin set '

# All faults, by name.
fault_names() { (cd "$FAULTS" && for file in */fault; do echo "${file%/fault}"; done); }

# declared NAME KEY: the value, or nothing
declared() { sed -n "s/^$2: *//p" "$FAULTS/$1/fault"; }

# Whether fault NAME is one of the tail.
of_tail() { grep -qs '^# tail' "$FAULTS/$1/fault"; }

# said FILE WHAT: the last number after WHAT in a program's output
said() { sed -n "s/^$2:\{0,1\} \([0-9][0-9.]*\)$/\1/p" "$1" 2>/dev/null | tail -n 1; }

# How much longer an operation takes in slow.out than in fast.out of folder DIR/NAME, by the programs' own words; - where they do not say. For a fault of the
# tail: how much longer its slowest 1 % take.
slowdown() {
    local side values=()
    if of_tail "${1##*/}"; then
        awk -v a="$(said "$1/slow.out" 'truth: p99 ms')" -v b="$(said "$1/fast.out" 'truth: p99 ms')" \
            'BEGIN { if (a > 0 && b > 0) printf "%.2f", a / b; else printf "-" }'
        return
    fi
    for side in slow fast; do
        values+=("$(said "$1/$side.out" operations)" "$(said "$1/$side.out" 'truth: wall seconds')")
    done
    awk -v a="${values[0]}" -v b="${values[1]}" -v c="${values[2]}" -v d="${values[3]}" \
        'BEGIN { if (a > 0 && b > 0 && c > 0 && d > 0) printf "%.2f", (c / d) / (a / b); else printf "-" }'
}

# What is wrong with a declaration, one line each.
declaration_errors() {
    local file=$FAULTS/$1/fault key
    while IFS= read -r line; do
        [[ -z $line || $line == '#'* ]] && continue
        key=${line%%:*}
        [[ $line == *:* && $FAULT_KEYS == *" $key "* ]] || echo "$1: not a key: $line"
    done <"$file"
    for key in title language cause slow fast; do
        [[ -n $(declared "$1" "$key") ]] || echo "$1: $key is missing"
    done
    for key in ${FAULT_KEYS}; do
        [[ $(grep -c "^$key:" "$file") -le 1 ]] || echo "$1: $key is given twice"
    done
    [[ $(declared "$1" set) =~ ^(|tuned|held-out)$ ]] || echo "$1: set: expected tuned or held-out"
    [[ -z $(declared "$1" set) || -n $(declared "$1" origin) ]] || echo "$1: set is given, but no origin"
    [[ $(declared "$1" cause) != *'|'* || -n $(declared "$1" why) ]] || echo "$1: several causes, but no why"
    [[ $(declared "$1" cause) =~ ^[a-z-]+(\ \|\ [a-z-]+)*$ ]] || echo "$1: cause: not an identifier"
}

# ops RATE: operations for a run of $SECONDS_EACH, for programs that a time limit would cut short of what they show
ops() { awk -v rate="$1" -v seconds="$SECONDS_EACH" 'BEGIN { printf "%d", rate * seconds }'; }

# Whether this machine has an ability or a program.
able() {
    case $1 in
    root) [[ $(id -u) -eq 0 ]] ;;
    netns) [[ $(id -u) -eq 0 ]] && command -v ip >/dev/null && ip netns list >/dev/null 2>&1 ;;
    cpu-quota) in-cgroup cpu=100 -- true >/dev/null 2>&1 ;;
    memory-limit) in-cgroup memory=64M -- true >/dev/null 2>&1 ;;
    io-limit) in-cgroup read-iops=100000 -- true >/dev/null 2>&1 ;;
    swap) [[ $(id -u) -eq 0 ]] && command -v swapon >/dev/null && command -v mkswap >/dev/null ;;
    loop) [[ $(id -u) -eq 0 && -e /dev/loop-control ]] && command -v losetup >/dev/null && command -v mkfs.ext4 >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# The first thing that a fault needs and this machine lacks. To be asked after build.sh.
lacks() {
    local need source
    for need in $(declared "$1" needs); do
        able "$need" || { echo "$need is missing here" && return; }
    done
    for source in "$FAULTS/$1"/main.{c,cpp,rs,go}; do
        [[ ! -e $source || -x $FAULTS/bin/$1 ]] || echo "its program is not built, for want of a compiler"
    done
}

# with_fault NAME VARIANT FUNCTION ARGUMENT…: sets up, calls FUNCTION with the command's words appended, tears down.
# Runs in a shell of its own, so that a signal or a failure tears down too. Status: 125 where the set-up failed.
with_fault() (
    set -u
    local name=$1 setup teardown
    export VARIANT=$2 HERE=$FAULTS/$1
    shift 2
    SCRATCH=$(mktemp -d "${TMPDIR:-/var/tmp}/fault-$name-XXXXXX")
    export SCRATCH
    setup=$(declared "$name" setup) teardown=$(declared "$name" teardown)
    down() {
        trap - EXIT INT TERM
        # shellcheck disable=SC2294  # a declaration's words are bash's
        [[ -z $teardown ]] || eval "$teardown" >>"$SCRATCH/teardown" 2>&1 || cat "$SCRATCH/teardown" >&2
        rm -rf "$SCRATCH"
    }
    trap down EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    if [[ -n $setup ]] && ! eval "$setup" >"$SCRATCH/setup" 2>&1; then
        cat "$SCRATCH/setup" >&2
        exit 125
    fi
    eval "command=($(declared "$name" "$VARIANT"))"
    eval "options=($(declared "$name" record))"
    # shellcheck disable=SC2154
    "$@" "${command[@]}"
)
