//! The tables that an imported profile fills, as a recorder fills them.

use model::{Column, Fold, Table, Unit};

pub(crate) use model::jvm::{
    ALLOCATION, COLLECTOR as JVM_COLLECTOR, DEOPTIMIZATION as JVM_DEOPTIMIZATION, HEAP as JVM_HEAP, PAUSE as JVM_PAUSE,
    SAFEPOINT as JVM_SAFEPOINT,
};

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
