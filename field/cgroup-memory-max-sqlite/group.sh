# A control group for one job, of version 2 where it has the controller, otherwise of version 1. It is removed when the script ends.
group_create() {
    local root
    root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    if [[ -n $root && " $(cat "$root/cgroup.controllers") " == *" $1 "* ]]; then
        echo "+$1" >"$root/cgroup.subtree_control"
        group=$root/job.$$ group_version=2
    else
        root=$(awk -v name="$1" '$3 == "cgroup" && "," $4 "," ~ "," name "," { print $2; exit }' /proc/mounts)
        group=$root/job.$$ group_version=1
    fi
    mkdir "$group"
    trap 'rmdir "$group"' EXIT
}
group_cpu_max() {
    if [[ $group_version = 2 ]]; then
        echo "$1 $2" >"$group/cpu.max"
    else
        echo "$2" >"$group/cpu.cfs_period_us"
        echo "$1" >"$group/cpu.cfs_quota_us"
    fi
}
group_memory_max() {
    if [[ $group_version = 2 ]]; then echo "$1" >"$group/memory.max"; else echo "$1" >"$group/memory.limit_in_bytes"; fi
}
group_run() { (echo "$BASHPID" >"$group/cgroup.procs" && exec "$@"); }
