//! The tables that an imported profile fills, as a recorder fills them.

use model::{Chart, ChartKind, Column, Compare, Den, Derived, Fold, Measure, Page, Polarity, Table, Unit};

pub(crate) static FRAME: Table = Table::wide(
    "frame",
    "one place in code that stacks refer to",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact("function", "function; not there where it could not be resolved"),
        Column::fact("module", "program, library, or [kernel], [vdso], [jit], [anonymous]"),
        Column::fact("build_id", "build id of the module, hexadecimal"),
        Column::fact_number("offset", Unit::None, "address in the module's file"),
        Column::fact("source", "file and line"),
        Column::fact("kind", "kernel, native, jit, interpreted, inlined …"),
    ],
)
.of_entries();

pub(crate) static STACK: Table = Table::wide(
    "stack",
    "one stack: its innermost frame, and the stack of the caller",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact_number("parent", Unit::None, "number of the caller's stack; not there at the root"),
        Column::fact_number("frame", Unit::None, "number of its innermost frame"),
    ],
)
.of_entries();

/// What it is beyond its columns (that it weighs stacks by CPU time), readers know by its name: `store/older.json`.
pub(crate) static SAMPLE: Table = Table::wide(
    "sample",
    "one sample of what a CPU was doing",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::number("cpu", "CPU"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start; to the millisecond"),
        Column::gauge("stack", Unit::None, "number of its stack"),
        Column::gauge("weight", Unit::Nanoseconds, "CPU time that it stands for"),
    ],
)
.of_events();

/// As `sample`, readers know what it is beyond its columns.
pub(crate) static WAIT: Table = Table::wide(
    "wait",
    "what threads waited for, where that took long enough to be recorded",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::label("state", "lock, idle, sleep, network, disk; other where it is not known"),
        Column::label("what", "what it waited for"),
        Column::number("stack", "the stack that waited; NULL if none was taken"),
        Column::label("waker", "of a lock, who held it before"),
        Column::number("waker_stack", "stack of the waker; not there"),
        Column::gauge("count", Unit::None, "waits that ended"),
        Column::gauge("time", Unit::Nanoseconds, "time waited"),
        Column::gauge("longest", Unit::Nanoseconds, "the longest of them").folded(Fold::Max),
        Column::gauge("timed_out", Unit::None, "waits that ended by their timeout"),
        Column::gauge("timed_out_time", Unit::Nanoseconds, "their total length"),
    ],
)
.of_events();

/// As `sample`, readers know what it is beyond its columns.
pub(crate) static LOCK: Table = Table::wide(
    "lock",
    "waits for contended locks, where these took long enough to be recorded",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label("kind", "monitor, ReentrantLock, ReentrantReadWriteLock, StampedLock, Semaphore"),
        Column::label("address", "of the lock as the JVM told it"),
        Column::label("name", "`monitor of CLASS`, or the class that threads were parked for"),
        Column::number("stack", "where the lock was waited for"),
        Column::label("holder", "name of the thread that held it before; NULL where it is not known"),
        Column::number("holder_tid", "thread id of the holder"),
        Column::number("holder_stack", "where the holder was; not there"),
        Column::gauge("count", Unit::None, "waits that ended"),
        Column::gauge("time", Unit::Nanoseconds, "time waited"),
        Column::gauge("longest", Unit::Nanoseconds, "the longest wait").folded(Fold::Max),
        Column::gauge("waiters", Unit::None, "most threads that waited for it at once; not there").folded(Fold::Max),
    ],
)
.of_events();

pub(crate) static ALLOCATION: Table = Table::wide(
    "allocation",
    "objects allocated, by class and stack: samples, each with the bytes that it stands for",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::label("class", "class of the object, as Java writes it"),
        Column::number("outside", "1 where it did not fit into the thread's own buffer (TLAB), as large ones; else 0"),
        Column::gauge("stack", Unit::None, "number of the stack that allocated it"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start"),
        Column::gauge("bytes", Unit::Bytes, "bytes that it stands for"),
        Column::gauge("count", Unit::None, "samples that the row stands for"),
    ],
)
.of_events()
.scoped()
.measured(
    &Measure::new("allocation", "Allocations", "bytes", "bytes allocated, by the stack that did so")
        .of("who allocated")
        .at("at")
        .labels(&["class"])
        .more(&["count"]),
);

pub(crate) static JVM_PAUSE: Table = Table::wide(
    "jvm_pause",
    "when all Java threads of a JVM were stopped, and what for",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label(
            "kind",
            "young (mixed ones too), full or concurrent (a pause of a cycle that else runs beside the program): collections; operation: anything else",
        ),
        Column::label("operation", "what the JVM stopped for, as -Xlog:safepoint calls it; NULL where that was not recorded"),
        Column::label("cause", "of collections, why: Allocation Failure, System.gc(), Metadata GC Threshold …"),
        Column::gauge("at", Unit::Nanoseconds, "when the threads had stopped, since the start of the recording"),
        Column::gauge("time", Unit::Nanoseconds, "how long they stood"),
        Column::gauge(
            "to_stop",
            Unit::Nanoseconds,
            "time from the request until the last thread had stopped (time to safepoint); NULL where that was not recorded",
        ),
        Column::gauge("used_before", Unit::Bytes, "heap in use just before; NULL of other operations"),
        Column::gauge("used_after", Unit::Bytes, "heap in use after it; NULL of other operations"),
        Column::gauge("together", Unit::None, "pauses that this row stands for"),
        Column::gauge("exact", Unit::None, "1 where begin and length are the JVM's own"),
    ],
)
.of_events()
.scoped();

pub(crate) static JVM_CPU: Table = Table::wide(
    "jvm_cpu",
    "CPU use as a JVM saw it (jdk.CPULoad): shares of all CPUs of the machine",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::real("user", Unit::Ratio, "of the JVM, in user mode"),
        Column::real("system", Unit::Ratio, "of the JVM, in the kernel"),
        Column::real("machine", Unit::Ratio, "of all programs"),
    ],
);

const fn time(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help).worse().floor(0.005)
}

const fn count(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse().floor(1.0)
}

const fn bytes(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Bytes, help).floor(16e6)
}

/// Made of the pauses, as if somebody had read counters of them every second.
pub(crate) static JVM_COLLECTOR: Table = Table::wide(
    "jvm_collector",
    "garbage collections of a JVM, by collector",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label("collector", "as the JVM calls it: G1 young collection pauses …"),
        count("collections", "collections, or pauses of a concurrent one"),
        time("time", "time of these"),
    ],
)
.derived(&[Derived {
    name: "mean_time",
    unit: "s",
    help: "mean time of a collection",
    num: &[("time", 1.0)],
    den: Den::Columns(&[("collections", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Ratio,
    floor: 1e-3,
}])
.grouped(&[&["comm", "collector"]])
.from_zero()
.titled("Garbage collectors")
.on(Page::Jvm)
.scoped();

/// Made of the pauses, as if somebody had read counters of them every second.
pub(crate) static JVM_SAFEPOINT: Table = Table::wide(
    "jvm_safepoint",
    "stops of all Java threads of a JVM, by what they were for",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label("operation", "as -Xlog:safepoint calls it: G1CollectForAllocation, ThreadDump, Deoptimize …"),
        count("count", "how often"),
        time("time", "how long the threads stood"),
        time("to_stop", "time from the request until the last thread had stopped (time to safepoint)"),
    ],
)
.grouped(&[&["comm", "operation"]])
.from_zero()
.titled("Safepoints")
.on(Page::Jvm)
.scoped();

pub(crate) static JVM_HEAP: Table = Table::wide(
    "jvm_heap",
    "the heap of a JVM, before and after collections",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label("pool", "heap: all of it"),
        bytes("used", "in use").folded(Fold::Sum),
        bytes("capacity", "committed: taken from the system").folded(Fold::Sum),
        bytes("most", "the most it may grow to; NULL for no limit").folded(Fold::Sum),
    ],
)
.grouped(&[&["comm", "pool"]])
.titled("Memory of JVMs")
.on(Page::Jvm)
.scoped();

/// As the source `jvm` has them.
pub(crate) static CHARTS: [Chart; 4] = [
    Chart::new(
        "jvm-collections",
        Page::Jvm,
        ChartKind::Line,
        "Time in garbage collections",
        "Seconds that Java threads stood still for a collector in each second. Above a few hundredths it shows in the latency of the slowest requests, above a tenth in the throughput.",
        "jvm_collector",
        &["time"],
    )
    .by(&["comm", "collector"], 8),
    Chart::new(
        "jvm-heap",
        Page::Jvm,
        ChartKind::Line,
        "Heap in use",
        "Before and after collections. What is held right after a full or mixed collection is what the program needs; where that is near the limit, the heap is too small.",
        "jvm_heap",
        &["used"],
    )
    .by(&["comm", "pool"], 8),
    Chart::new(
        "jvm-safepoints",
        Page::Jvm,
        ChartKind::Line,
        "Time at safepoints",
        "Seconds that all Java threads stood still in each second, by what for.",
        "jvm_safepoint",
        &["time"],
    )
    .by(&["comm", "operation"], 8),
    Chart::new(
        "jvm-time-to-safepoint",
        Page::Jvm,
        ChartKind::Line,
        "Time to safepoint",
        "Seconds in each second from a request to stop until the last thread had stopped. The others stand and wait for it: a long loop without a poll, or a thread that gets no CPU.",
        "jvm_safepoint",
        &["to_stop"],
    )
    .by(&["comm", "operation"], 8),
];
