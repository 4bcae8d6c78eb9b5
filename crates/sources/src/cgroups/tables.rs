//! The tables of control groups. One set for both versions of the interface, so that a host of the one compares with a host of the other: values
//! of version 1 are converted to the units of version 2, and its names to those of version 2.

use model::{Column, Compare, Den, Derived, Kind, Polarity, Table, Unit};

const PATH: Column =
    Column::label("path", "path of the group below the root of its hierarchy; a group holds what its children use");

const fn time(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Microseconds, help).floor(0.02)
}

const fn limit(name: &'static str, unit: Unit, help: &'static str) -> Column {
    Column::gauge(name, unit, help).compared(Compare::Equality)
}

/// One row per group that has CPU accounting.
pub(super) static CPU: Table = Table::wide(
    "cgroup_cpu",
    "CPU time of each control group, its quota, and how often it was held back by it",
    &[
        PATH,
        time("usage", "CPU time used"),
        time("user", "of this in user mode"),
        time("system", "of this in the kernel"),
        time("nice", "of user time, at lowered priority (Linux 6.12)"),
        Column::counter(
            "nr_periods",
            Unit::None,
            "periods in which the group wanted to run; counted where it has a quota",
        ),
        Column::counter(
            "nr_throttled",
            Unit::None,
            "periods in which its quota was used up and its threads had to wait",
        )
        .worse()
        .floor(0.1),
        time("throttled", "time that its threads waited for the next period, summed over the CPUs").worse(),
        Column::counter(
            "nr_bursts",
            Unit::None,
            "periods in which it used more than its quota, from what it had saved",
        ),
        time("burst", "CPU time used beyond the quota, from what it had saved"),
        limit("quota", Unit::Microseconds, "CPU time that it may use in each period; nothing where there is no quota"),
        limit("period", Unit::Microseconds, "length of a period"),
        limit("weight", Unit::None, "share of the CPUs when there are not enough, 100 by default (version 2)"),
    ],
)
.derived(&[
    Derived {
        name: "throttled_periods",
        unit: "ratio",
        help: "share of the periods in which the quota was used up",
        num: &[("nr_throttled", 1.0)],
        den: Den::Columns(&[("nr_periods", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Difference,
        floor: 0.02,
    },
    Derived {
        name: "limit",
        unit: "",
        help: "CPUs that the quota is worth",
        num: &[("quota", 1.0)],
        den: Den::Columns(&[("period", 1.0)]),
        polarity: Polarity::Neutral,
        compare: Compare::Never,
        floor: 0.0,
    },
])
.grouped(&[&["path"]])
.from_zero();

/// One row per group with the memory controller.
pub(super) static MEMORY: Table = Table::wide(
    "cgroup_memory",
    "memory of each control group and its limits",
    &[
        PATH,
        Column::gauge("current", Unit::Bytes, "memory in use, page cache included"),
        Column::gauge("swap", Unit::Bytes, "swap in use; on version 1 only where swap is accounted").worse(),
        limit("max", Unit::Bytes, "the most it may use; nothing where there is no limit"),
        limit("high", Unit::Bytes, "beyond this its threads are slowed down and reclaim memory (version 2)"),
        limit("swap_max", Unit::Bytes, "the most swap it may use; on version 1 memory and swap together"),
        Column::gauge("peak", Unit::Bytes, "the most it ever used").compared(Compare::Never),
    ],
)
.derived(&[Derived {
    name: "fill",
    unit: "ratio",
    help: "share of its limit that is in use; page cache is given up before anything fails",
    num: &[("current", 1.0)],
    den: Den::Columns(&[("max", 1.0)]),
    polarity: Polarity::Neutral,
    compare: Compare::Difference,
    floor: 0.05,
}])
.grouped(&[&["path"]]);

const fn bytes(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Bytes, help)
}

/// The levels of `memory.stat`.
pub(super) static MEMORY_STAT: Table = Table::long(
    "cgroup_memory_stat",
    "what the memory of each control group is, every ten seconds; fields that are not 0",
    Kind::Gauge,
    &[
        PATH,
        bytes("anon", "anonymous memory: heap and stacks"),
        bytes("file", "page cache, tmpfs and shared memory included"),
        bytes("kernel", "memory of the kernel in all"),
        bytes("kernel_stack", "kernel stacks of its threads"),
        bytes("pagetables", "page tables"),
        bytes("sec_pagetables", "page tables of virtual machines and IOMMUs"),
        bytes("percpu", "per-CPU memory of the kernel"),
        bytes("sock", "network buffers"),
        bytes("vmalloc", "memory mapped by the kernel"),
        bytes("shmem", "tmpfs and shared memory"),
        bytes("zswap", "compressed swap in memory"),
        bytes("zswapped", "memory that went to compressed swap"),
        bytes("file_mapped", "mapped files"),
        bytes("file_dirty", "file data not yet written").worse(),
        bytes("file_writeback", "file data being written").worse(),
        bytes("swapcached", "swap that is also in memory"),
        bytes("anon_thp", "anonymous memory in huge pages").better(),
        bytes("file_thp", "page cache in huge pages").better(),
        bytes("shmem_thp", "shared memory in huge pages").better(),
        bytes("inactive_anon", "anonymous memory not used of late"),
        bytes("active_anon", "anonymous memory used of late"),
        bytes("inactive_file", "page cache not used of late"),
        bytes("active_file", "page cache used of late"),
        bytes("unevictable", "memory that cannot be reclaimed"),
        bytes("slab_reclaimable", "slabs that can be reclaimed, such as dentries and inodes"),
        bytes("slab_unreclaimable", "slabs that cannot be reclaimed"),
        bytes("slab", "slabs in all"),
        bytes("swap", "swap in use (version 1)").worse(),
        bytes("hugetlb", "huge pages of hugetlbfs"),
    ],
)
.grouped(&[&["path"]]);

const fn pages(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse()
}

/// The counters of `memory.stat` and `memory.events`.
pub(super) static MEMORY_EVENTS: Table = Table::long(
    "cgroup_memory_events",
    "memory events of each control group, every ten seconds; fields that ever counted, and the limits that were hit",
    Kind::Counter,
    &[
        PATH,
        pages("low", "times that memory below its protection was reclaimed").floor(0.1),
        pages("high", "times that threads were slowed down because it used more than memory.high").floor(0.1),
        pages("max", "times that it hit its limit and had to reclaim").floor(0.1),
        pages("oom", "times that it hit its limit and reclaim did not help").floor(0.01),
        pages("oom_kill", "processes killed because memory ran out (OOM)").floor(0.001),
        pages("oom_group_kill", "times that the whole group was killed").floor(0.001),
        Column::counter("pgfault", Unit::None, "page faults"),
        pages("pgmajfault", "page faults that had to read from disk or swap").floor(1.0),
        pages("workingset_refault_anon", "anonymous pages read back from swap soon after they went out").floor(1.0),
        pages(
            "workingset_refault_file",
            "pages of files read again soon after they were dropped: the cache is too small",
        )
        .floor(1.0),
        pages("workingset_activate_anon", "of those, made active at once"),
        pages("workingset_activate_file", "of those, made active at once"),
        pages("workingset_restore_anon", "of those, known to be in steady use"),
        pages("workingset_restore_file", "of those, known to be in steady use"),
        pages("pgscan", "pages scanned by reclaim"),
        pages("pgsteal", "pages reclaimed"),
        pages("pgscan_direct", "pages looked at by threads that had to reclaim for themselves: they were stalled"),
        pages("pgsteal_direct", "pages reclaimed by threads that had to do it for themselves: they were stalled"),
        pages("pgscan_kswapd", "pages scanned by background reclaim"),
        pages("pgsteal_kswapd", "pages reclaimed in the background (kswapd)"),
        pages("pswpin", "pages read from swap").floor(1.0),
        pages("pswpout", "pages written to swap").floor(1.0),
        Column::counter("thp_fault_alloc", Unit::None, "faults served with a huge page").better(),
        Column::counter("thp_collapse_alloc", Unit::None, "pages joined into a huge page").better(),
        pages("thp_swpout_fallback", "huge pages that had to be split to be swapped out"),
    ],
)
.grouped(&[&["path"]])
.from_zero();

/// One row per group and device.
pub(super) static IO: Table = Table::wide(
    "cgroup_io",
    "I/O of each control group on each block device",
    &[
        PATH,
        Column::label("device", "name of the device, or major:minor where it has none"),
        Column::counter("read", Unit::Bytes, "read"),
        Column::counter("written", Unit::Bytes, "written"),
        Column::counter("reads", Unit::None, "reads"),
        Column::counter("writes", Unit::None, "writes"),
        Column::counter("discarded", Unit::Bytes, "discarded"),
        Column::counter("discards", Unit::None, "discards"),
    ],
)
.grouped(&[&["path"], &["path", "device"]])
.from_zero();

/// One row per group with the pids controller.
pub(super) static PIDS: Table = Table::wide(
    "cgroup_pids",
    "processes and threads of each control group",
    &[
        PATH,
        Column::gauge("current", Unit::None, "processes and threads in it").floor(2.0),
        limit("max", Unit::None, "the most there may be; beyond, fork fails; nothing where there is no limit"),
        Column::counter("refused", Unit::None, "forks that failed because of the limit").worse().floor(0.1),
    ],
)
.grouped(&[&["path"]]);

/// One row per group and resource.
pub(super) static PRESSURE: Table = Table::wide(
    "cgroup_pressure",
    "time in which threads of each control group stalled for want of one resource",
    &[
        PATH,
        Column::label("resource", "cpu, memory, io, or irq"),
        time("some_total", "time in which at least one thread stalled").worse(),
        time("full_total", "time in which all non-idle threads stalled").worse(),
    ],
)
.grouped(&[&["path", "resource"]])
.from_zero();
