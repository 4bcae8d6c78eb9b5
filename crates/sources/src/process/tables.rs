//! What the tables about processes hold. Times are stored in nanoseconds: `/proc` gives them in ticks of 10 ms, eBPF exactly.

use model::{Chart, ChartKind, Column, Compare, Den, Derived, Page, Polarity, Table, Type, Unit};

/// Counters of a process or a thread, in this order in every row and every [`super::track::Sample`].
pub const COUNTERS: usize = 16;
/// Place of a counter among the [`COUNTERS`].
pub mod counter {
    #![allow(missing_docs)]
    pub const USER: usize = 0;
    pub const SYSTEM: usize = 1;
    pub const CHILDREN_USER: usize = 2;
    pub const CHILDREN_SYSTEM: usize = 3;
    pub const MINOR_FAULTS: usize = 4;
    pub const MAJOR_FAULTS: usize = 5;
    pub const VOLUNTARY: usize = 6;
    pub const INVOLUNTARY: usize = 7;
    pub const RUN_WAIT: usize = 8;
    pub const SLICES: usize = 9;
    pub const READ_BYTES: usize = 10;
    pub const WRITE_BYTES: usize = 11;
    pub const READ_CHARS: usize = 12;
    pub const WRITE_CHARS: usize = 13;
    pub const READ_CALLS: usize = 14;
    pub const WRITE_CALLS: usize = 15;
}

/// Levels of a process, after its counters and before its state.
pub const GAUGES: usize = 7;
/// Place of a level among the [`GAUGES`].
pub mod gauge {
    #![allow(missing_docs)]
    pub const RSS: usize = 0;
    pub const SWAP: usize = 1;
    pub const SIZE: usize = 2;
    pub const THREADS: usize = 3;
    pub const CPU: usize = 4;
    pub const PRIORITY: usize = 5;
    pub const NICE: usize = 6;
}

/// Places of the tables among those of the source.
pub const PROCESS: usize = 0;
/// The table of properties.
pub const PROCESS_INFO: usize = 1;
/// The table of what ended.
pub const PROCESS_EXIT: usize = 2;
/// The table of threads.
pub const THREAD: usize = 3;

const PID: Column = Column::number("pid", "process id");
const START: Column = Column::number(
    "start",
    "when it was started, in hundredths of a second since boot: tells processes apart that had the same pid",
);
const COMM: Column = Column::label(
    "comm",
    "name, as the kernel keeps it (15 bytes); of kernel threads, what stands before the slash. A process that takes another name \
     (exec, prctl) goes on as another row, with counters from zero: what it used since the read before counts for its new name",
);

const USER: Column = Column::counter("user", Unit::Nanoseconds, "CPU time in user mode, all threads").floor(0.02);
const SYSTEM: Column = Column::counter("system", Unit::Nanoseconds, "CPU time in the kernel, all threads").floor(0.02);
const CHILDREN_USER: Column =
    Column::counter("children_user", Unit::Nanoseconds, "user time of children that ended and were waited for")
        .compared(Compare::Never);
const CHILDREN_SYSTEM: Column =
    Column::counter("children_system", Unit::Nanoseconds, "system time of children that ended and were waited for")
        .compared(Compare::Never);
const MINOR_FAULTS: Column =
    Column::counter("minor_faults", Unit::None, "minor page faults, served without I/O").worse().floor(200.0);
const MAJOR_FAULTS: Column =
    Column::counter("major_faults", Unit::None, "major page faults, which needed I/O").worse().floor(5.0);
const VOLUNTARY: Column = Column::counter("voluntary_switches", Unit::None, "voluntary context switches");
const INVOLUNTARY: Column = Column::counter("involuntary_switches", Unit::None, "involuntary context switches").worse();
const RUN_WAIT: Column =
    Column::counter("run_wait", Unit::Nanoseconds, "run-queue wait of its threads").worse().floor(0.02);
const SLICES: Column =
    Column::counter("slices", Unit::None, "times its threads were scheduled onto a CPU").compared(Compare::Never);
const READ_BYTES: Column = Column::counter(
    "read_bytes",
    Unit::Bytes,
    "bytes that it had read from storage; read from /proc, children waited for are included",
);
const WRITE_BYTES: Column = Column::counter(
    "write_bytes",
    Unit::Bytes,
    "bytes of pages that it made dirty, or wrote past the page cache; read from /proc, children waited for are included",
);
const READ_CHARS: Column = Column::counter(
    "read_chars",
    Unit::Bytes,
    "bytes that read(2) and its like gave, from files, sockets and pipes; read from /proc, children waited for are included",
);
const WRITE_CHARS: Column = Column::counter(
    "write_chars",
    Unit::Bytes,
    "bytes that write(2) and its like took; read from /proc, children waited for are included",
);
const READ_CALLS: Column = Column::counter("read_calls", Unit::None, "calls of read(2) and its like");
const WRITE_CALLS: Column = Column::counter("write_calls", Unit::None, "calls of write(2) and its like");

const fn unlike(column: Column) -> Column {
    column.compared(Compare::Never)
}

const STATE: Column = unlike(Column::fact(
    "state",
    "of its first thread: R running or runnable, S sleeping, D uninterruptible sleep, I idle kernel \
     thread, T stopped, t traced, Z ended and not yet waited for, X gone",
));
const CPU: Column = unlike(Column::gauge("cpu", Unit::None, "CPU on which it last ran"));

const CPU_TIME: Derived = Derived {
    name: "cpu_time",
    unit: "s/s",
    help: "CPU time, user and kernel",
    num: &[("user", 1.0), ("system", 1.0)],
    den: Den::Time,
    polarity: Polarity::Neutral,
    compare: Compare::Ratio,
    floor: 0.02,
};

static PROCESS_TABLE: Table = Table::wide(
    "process",
    "one process, with all of its threads",
    &[
        PID,
        START,
        COMM,
        USER,
        SYSTEM,
        CHILDREN_USER,
        CHILDREN_SYSTEM,
        MINOR_FAULTS,
        MAJOR_FAULTS,
        VOLUNTARY,
        INVOLUNTARY,
        RUN_WAIT,
        SLICES,
        READ_BYTES,
        WRITE_BYTES,
        READ_CHARS,
        WRITE_CHARS,
        READ_CALLS,
        WRITE_CALLS,
        Column::gauge(
            "rss",
            Unit::Bytes,
            "memory resident: its own and its share of what is shared counted in full; by eBPF within 64 pages for each CPU",
        )
        .worse(),
        Column::gauge("swap", Unit::Bytes, "memory swapped out").worse(),
        unlike(Column::gauge("size", Unit::Bytes, "address space, mostly not backed by memory")),
        Column::gauge("threads", Unit::None, "threads").floor(2.0),
        CPU,
        unlike(Column::gauge("priority", Unit::None, "kernel priority: 20 + nice, or below 0 for real time")),
        unlike(Column::gauge("nice", Unit::None, "nice value: -20 (highest priority) to 19 (lowest)")),
        STATE,
    ],
)
.derived(&[CPU_TIME])
.grouped(&[&["comm"]])
.from_zero();

static INFO_TABLE: Table = Table::wide(
    "process_info",
    "what a process is: read when it is first seen and when it changed",
    &[
        PID,
        START,
        Column::fact("name", "name, in full for kernel threads"),
        Column::fact_number("parent", Unit::None, "process id of its parent"),
        Column::fact("command", "command line; values that look like secrets are masked unless asked for"),
        Column::fact("executable", "path of its program; needs the same user or CAP_SYS_PTRACE"),
        Column::fact_number("uid", Unit::None, "user that it runs as"),
        Column::fact("cgroup", "control group: in the hierarchy of the cpu controller, else of version 2"),
        Column::fact_number(
            "cpus_allowed",
            Unit::None,
            "CPUs that its first thread may run on, by its mask and its cpuset",
        ),
    ],
)
.grouped(&[]);

static EXIT_TABLE: Table = Table::wide(
    "process_exit",
    "processes that ended, by name and name of the parent: what they used since the last row of table process, so that both tables together are the total. Read from /proc, it is what waited-for children used, and their names are not known",
    &[
        Column::label("comm", "name it had at its end, as in table process; \"(not known)\" where only /proc can be read"),
        Column::label("parent", "name of its parent when it ended"),
        Column::counter("ended", Unit::None, "processes that ended"),
        Column::counter("short_lived", Unit::None, "of them, those that began after the read before").worse(),
        unlike(Column::counter("lifetime", Unit::Nanoseconds, "time from start to end of those that ended")),
        USER,
        SYSTEM,
        MINOR_FAULTS,
        MAJOR_FAULTS,
        VOLUNTARY,
        INVOLUNTARY,
        RUN_WAIT,
        SLICES,
        READ_BYTES,
        WRITE_BYTES,
        READ_CHARS,
        WRITE_CHARS,
        READ_CALLS,
        WRITE_CALLS,
    ],
)
.derived(&[CPU_TIME])
.grouped(&[&["comm"]])
.from_zero();

static THREAD_TABLE: Table = Table::wide(
    "thread",
    "one thread of a process; kept only where threads are asked for",
    &[
        PID,
        Column::number("tid", "thread id"),
        START,
        COMM,
        USER,
        SYSTEM,
        MINOR_FAULTS,
        MAJOR_FAULTS,
        VOLUNTARY,
        INVOLUNTARY,
        RUN_WAIT,
        SLICES,
        CPU,
        Column { ty: Type::Text, ..STATE },
    ],
)
.derived(&[CPU_TIME])
.grouped(&[&["comm"]])
.from_zero();

/// The tables, in the order of their numbers above.
pub static TABLES: &[&Table] = &[&PROCESS_TABLE, &INFO_TABLE, &EXIT_TABLE, &THREAD_TABLE];

/// The default charts.
pub static CHARTS: &[Chart] = &[
    Chart::new(
        "process-cpu",
        Page::Processes,
        ChartKind::Stack,
        "CPU time by process name",
        "The ten busiest names; the height is the number of CPUs they use. Look first at what is new or wider than in the other run.",
        "process",
        &["cpu_time"],
    )
    .by(&["comm"], 10),
    Chart::new(
        "process-rss",
        Page::Processes,
        ChartKind::Stack,
        "Resident memory by process name",
        "The ten largest names. Memory that processes share is counted for each of them; a steady climb is a leak or a cache that fills.",
        "process",
        &["rss"],
    )
    .by(&["comm"], 10),
    Chart::new(
        "process-run-wait",
        Page::Processes,
        ChartKind::Line,
        "Waiting for a CPU by process name",
        "How many threads of that name stood in a run queue on average. Waiting while CPUs are idle elsewhere points to affinity, quotas or imbalance.",
        "process",
        &["run_wait"],
    )
    .by(&["comm"], 10),
    Chart::new(
        "process-short-lived",
        Page::Processes,
        ChartKind::Line,
        "Short-lived processes by name",
        "Processes that began and ended between two reads, each second. Hundreds of them are often a script that starts a program for each step; their cost hides from tools that sample.",
        "process_exit",
        &["short_lived"],
    )
    .by(&["comm"], 10),
];
