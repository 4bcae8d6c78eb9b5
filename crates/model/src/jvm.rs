//! The tables of JVMs. They are declared here because two write them: who looks at JVMs that run, and who imports what a JVM has written of itself.

use crate::{Chart, ChartKind, Column, Compare, Den, Derived, Fold, Measure, Page, Polarity, Table, Unit};

const PID: Column = Column::number("pid", "process");
const COMM: Column = Column::label("comm", "name of the process");

const fn pause(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Nanoseconds, help)
}

const fn time(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help).worse().floor(0.005)
}

const fn count(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).floor(1.0)
}

const fn bytes(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Bytes, help).floor(16e6)
}

/// When all Java threads stood.
pub static PAUSE: Table = Table::wide(
    "jvm_pause",
    "when all Java threads of a JVM were stopped, and what for",
    &[
        PID,
        COMM,
        Column::label("kind", "young, full or concurrent (a pause of a cycle that else runs beside the program): collections; operation: anything else"),
        Column::label("operation", "what the JVM stopped for, as -Xlog:safepoint calls it; NULL where that was not seen"),
        Column::label("cause", "of collections, why: Allocation Failure, System.gc(), Metadata GC Threshold …"),
        pause("at", "when the threads had stopped, since the start of the recording; of several pauses, the last of them"),
        pause("time", "how long they stood"),
        pause("to_stop", "time from the request until the last thread had stopped (time to safepoint); NULL where it was not seen"),
        Column::gauge("used_before", Unit::Bytes, "heap in use just before, where the JVM counts it all the time (G1)"),
        Column::gauge("used_after", Unit::Bytes, "heap in use after it; NULL of other operations"),
        Column::gauge("together", Unit::None, "pauses that this row stands for: more than 1 where they came faster than they can be told apart"),
        Column::gauge("exact", Unit::None, "1 where begin and length are the JVM's own; 0 where only sums are"),
    ],
)
.of_events()
.scoped();

/// What was allocated.
pub static ALLOCATION: Table = Table::wide(
    "allocation",
    "what JVMs allocated, by class and stack: allocations for which a thread took a new buffer (TLAB) or that were too large for one, \
     each with the bytes that it stands for",
    &[
        PID,
        Column::number("tid", "thread; NULL where it is not known"),
        COMM,
        Column::label("thread", "name of the thread"),
        Column::label("class", "class of the object, as Java writes it; NULL where it was unloaded before it could be read"),
        Column::number("outside", "1 where it did not fit into the thread's buffer, as large ones; else 0"),
        Column::gauge("stack", Unit::None, "number of the stack that allocated it; NULL where none was taken"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start of the recording"),
        Column::gauge(
            "bytes",
            Unit::Bytes,
            "bytes that it stands for: of a buffer all of it, and with them those of allocations whose stacks were not taken",
        ),
        Column::gauge("count", Unit::None, "buffers and large objects that the row stands for"),
        Column::gauge(
            "sampled_1_in",
            Unit::None,
            "the inverse of the share of time in which allocations were counted, 1 if all were: bytes and count are scaled by it",
        ),
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

/// Collections, by collector.
pub static COLLECTOR: Table = Table::wide(
    "jvm_collector",
    "garbage collections of a JVM, by collector",
    &[
        PID,
        COMM,
        Column::label("collector", "its name as the JVM has it: G1 young collection pauses, PSScavenge …"),
        count("collections", "collections, or pauses of a concurrent one").worse(),
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

/// Parts of a JVM's memory.
pub static HEAP: Table = Table::wide(
    "jvm_heap",
    "parts of a JVM's memory: spaces of the heap, classes, code",
    &[
        PID,
        COMM,
        Column::label(
            "pool",
            "eden, survivor, old, metaspace, class space; heap: all of the first three, where no more is known; of code: code profiled (methods that count what they do), code non-profiled (other methods), code non-nmethods (the interpreter and stubs), or code for all",
        ),
        bytes(
            "used",
            "in use, as the JVM last counted it: most collectors do after each collection, G1 counts eden all the time, as is code",
        )
        .folded(Fold::Sum),
        bytes("capacity", "committed: taken from the system").folded(Fold::Sum),
        bytes("most", "the most it may grow to; NULL for no limit").folded(Fold::Sum),
        bytes("peak", "of code, the most that was in use since the JVM began").folded(Fold::Sum).compared(Compare::Never),
    ],
)
.grouped(&[&["comm", "pool"]])
.titled("Memory of JVMs")
.on(Page::Jvm)
.scoped();

/// Stops of all Java threads, by what they were for.
pub static SAFEPOINT: Table = Table::wide(
    "jvm_safepoint",
    "stops of all Java threads of a JVM, by what they were for",
    &[
        PID,
        COMM,
        Column::label("operation", "as -Xlog:safepoint calls it: G1CollectForAllocation, ThreadDump, Deoptimize …; [all] where the JVM tells only sums"),
        count("count", "how often").worse(),
        time("time", "how long the threads stood; shared out by number where several came together"),
        time("to_stop", "time from the request until the last thread had stopped (time to safepoint)"),
    ],
)
.grouped(&[&["comm", "operation"]])
.from_zero()
.titled("Safepoints")
.on(Page::Jvm)
.scoped();

/// What the compilers did.
pub static COMPILER: Table = Table::wide(
    "jvm_compiler",
    "the compilers of a JVM",
    &[
        PID,
        COMM,
        count("compiled", "methods compiled"),
        count("osr", "loops compiled while they ran (on-stack replacement)"),
        Column::counter("time", Unit::Nanoseconds, "time that compiler threads were at it").floor(0.01),
        Column::counter("bytes", Unit::Bytes, "machine code made").floor(1e5),
        count("invalidated", "compiled methods that were given up").worse(),
        count("bailed_out", "methods that a compiler gave up on").worse(),
        Column::gauge("queue", Unit::None, "methods that wait to be compiled").worse().floor(20.0),
        Column::gauge(
            "stopped",
            Unit::None,
            "1 while the compilers take no work, as they do when the code cache is full; else 0",
        )
        .worse(),
        count("stops", "how often they stopped taking work").worse(),
    ],
)
.grouped(&[&["comm"]])
.from_zero()
.titled("Compilers of JVMs")
.on(Page::Jvm)
.scoped();

/// Compiled code that was given up.
pub static DEOPTIMIZATION: Table = Table::wide(
    "jvm_deoptimization",
    "compiled code of a JVM that was left for the interpreter because what it took for granted did not hold",
    &[
        PID,
        COMM,
        Column::label("reason", "what did not hold, as HotSpot calls it: class_check, unstable_if, null_check …"),
        Column::label("action", "what becomes of the code: reinterpret, make_not_entrant, maybe_recompile, none …"),
        count("count", "how often").worse(),
    ],
)
.grouped(&[&["comm", "reason"]])
.from_zero()
.titled("Deoptimizations")
.on(Page::Jvm)
.scoped();

/// Java threads.
pub static THREAD: Table = Table::wide(
    "jvm_thread",
    "Java threads by their whole names, of which the kernel keeps 15 characters, and what they allocated",
    &[
        PID,
        COMM,
        Column::number("tid", "thread"),
        Column::label("name", "its name in the JVM"),
        Column::label("pool", "the name with numbers left out, the same for all threads of a pool"),
        Column::counter(
            "allocated",
            Unit::Bytes,
            "bytes allocated in the heap; of a thread that was there before, since it was first looked at",
        )
        .floor(1e6),
    ],
)
.grouped(&[&["comm", "pool"]])
.from_zero()
.titled("Java threads")
.on(Page::Jvm)
.scoped();

const fn told(name: &'static str, unit: Unit, help: &'static str) -> Column {
    Column::fact_number(name, unit, help)
}

/// Methods that were on a CPU.
pub static CODE: Table = Table::wide(
    "jvm_code",
    "methods of a JVM that were on a CPU when it was sampled, by how they ran; of each JVM those with most of the time",
    &[
        PID,
        COMM,
        Column::label("method", "the method; what it has inlined counts for it"),
        Column::number("tier", "0 interpreted, 1 to 3 compiled by C1 (2 and 3 count what they do), 4 by C2"),
        Column::number("osr", "1 for a loop that was compiled while it ran (on-stack replacement), else 0"),
        Column::fact("state", "of compiled code: in use, not entrant (no new caller gets to it), OSR; NULL of interpreted methods"),
        Column::fact("why_not", "why it is not compiled, or not by C2: too large (more than 8,000 bytes of bytecode), not compilable, not compilable by C1 or C2, waits to be compiled; NULL where nothing keeps it from it"),
        told("time", Unit::Nanoseconds, "CPU time that its samples stand for, without what native code and the kernel did for it"),
        told("samples", Unit::None, "its samples"),
        told("bytes", Unit::Bytes, "its machine code, as it was last seen"),
        told("bytecode", Unit::Bytes, "its bytecode"),
        told("compile_id", Unit::None, "number of its compilation, as -XX:+PrintCompilation has it"),
        told("compilations", Unit::None, "how many different ones were met"),
    ],
)
.of_entries()
.scoped();

/// Over how much memory compiled code is spread.
pub static CODE_LAYOUT: Table = Table::wide(
    "jvm_code_layout",
    "heaps of a JVM's code, with how much of each holds the samples: 90 % of those in code of the JVM, by the methods that have most",
    &[
        PID,
        COMM,
        Column::label("heap", "code profiled, code non-profiled, code non-nmethods, or code for all, as in jvm_heap"),
        told("reserved", Unit::Bytes, "the most it may have"),
        told("committed", Unit::Bytes, "taken from the system"),
        told("used", Unit::Bytes, "in use"),
        told("methods", Unit::None, "compiled methods in it"),
        told("full", Unit::None, "how often there was no room in it"),
        told("samples", Unit::None, "samples in its code"),
        told("hot_bytes", Unit::Bytes, "machine code of the methods that hold 90 % of the samples, as far as they lie here"),
        told("hot_pages_4k", Unit::None, "pages of 4 KiB that this code touches"),
        told("hot_pages_2m", Unit::None, "pages of 2 MiB that it would touch"),
        told("huge", Unit::Bytes, "bytes of it in huge pages; NULL where the kernel does not tell (before 6.7)"),
    ],
)
.of_entries()
.scoped();

/// Charts of these tables.
pub static CHARTS: &[Chart] = &[
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
        "By pool, as the JVM last counted it. What the old generation holds right after a full or mixed collection is what the program needs; where that is near the limit, the heap is too small.",
        "jvm_heap",
        &["used"],
    )
    .by(&["comm", "pool"], 8),
    Chart::new(
        "jvm-allocated",
        Page::Jvm,
        ChartKind::Line,
        "Bytes allocated",
        "By pool of threads. Young collections come as often as this fills eden.",
        "jvm_thread",
        &["allocated"],
    )
    .by(&["comm", "pool"], 8),
    Chart::new(
        "jvm-compiled",
        Page::Jvm,
        ChartKind::Line,
        "Methods compiled",
        "A program that has warmed up compiles little. Where one run still compiles and the other does not, they are at different points of their lives.",
        "jvm_compiler",
        &["compiled", "osr", "invalidated"],
    )
    .by(&["comm"], 4),
    Chart::new(
        "jvm-compile-queue",
        Page::Jvm,
        ChartKind::Line,
        "Methods that wait to be compiled",
        "They run interpreted, or half compiled, until it is their turn. A queue that does not empty: too few compiler threads for a program of this size, or too few CPUs.",
        "jvm_compiler",
        &["queue", "stopped"],
    )
    .by(&["comm"], 4),
    Chart::new(
        "jvm-deoptimizations",
        Page::Jvm,
        ChartKind::Line,
        "Deoptimizations",
        "Compiled code that was left because what it took for granted did not hold. Some at the start are usual; when they go on, the same code is compiled and given up again and again.",
        "jvm_deoptimization",
        &["count"],
    )
    .by(&["comm", "reason"], 8),
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
