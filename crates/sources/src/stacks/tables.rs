//! The tables of stacks and samples.

use model::{Column, Compare, Den, Derived, Measure, Polarity, Table, Unit};

pub(super) static FRAME: Table = Table::wide(
    "frame",
    "a code location, the element of stacks",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact("function", "the function; NULL where it was not resolved"),
        Column::fact("module", "path of the file, or [kernel], [MODULE], [vdso], [jit], [JIT code of node], [anonymous]; of Python the file as it was compiled"),
        Column::fact(
            "build_id",
            "the build id of the file (ld(1)), hexadecimal; with the offset it can be resolved elsewhere",
        ),
        Column::fact_number("offset", Unit::None, "address in the file; of the kernel, address minus _text"),
        Column::fact("source", "file and line, where the file has debug information"),
        Column::fact("kind", "kernel, native, jit, interpreted, python, inlined, or unknown; class: no code, but what is allocated"),
        Column::fact_number(
            "spins",
            Unit::None,
            "1 if its code is in a busy-wait loop, one that pauses the CPU (x86 pause, Arm yield, wfe, isb)",
        ),
        Column::fact_number(
            "tier",
            Unit::None,
            "of Java methods: 0 interpreted, 1 to 3 compiled by C1 (2 and 3 count what they do), 4 by C2; NULL for others",
        ),
    ],
)
.of_entries();

pub(super) static STACK: Table = Table::wide(
    "stack",
    "a stack: its innermost frame and the stack of its caller. Kernel frames lie inside those of the program",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact_number("parent", Unit::None, "the stack of its caller; NULL where a thread starts"),
        Column::fact_number("frame", Unit::None, "its innermost frame"),
    ],
)
.of_entries();

pub(super) static SAMPLE: Table = Table::wide(
    "sample",
    "a sample of what a CPU ran, of the threads in scope",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start of the recording; rounded to a millisecond"),
        Column::gauge("cpu", Unit::None, "CPU"),
        Column::gauge("stack", Unit::None, "number of its stack"),
        Column::gauge("weight", Unit::Nanoseconds, "CPU time it represents"),
        Column::gauge("code", Unit::None, "number of what its innermost instruction lies in, see code_space; NULL where that is not known")
            .compared(Compare::Never),
        Column::gauge(
            "address",
            Unit::None,
            "the innermost instruction: its address in the file, in the process for code that it made, of the kernel minus _text",
        )
        .compared(Compare::Never),
    ],
)
.of_events()
.scoped()
.measured(
    &Measure::new("cpu", "CPU time", "weight", "CPU time by stack, from samples in equal intervals")
        .of("who ran")
        .of_ledger()
        .at("at"),
);

pub(super) static COUNTED_SAMPLE: Table = Table::wide(
    "counted_sample",
    "what the CPUs counted in a place of the code since the read before, where samples are taken by cycles and by instructions: each sample \
     stands for what was counted since the one before it. The place is the innermost instruction alone, told in the same way for both: functions \
     of an interpreted language are the interpreter's",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::number("stack", "number of the stack that has the innermost frame alone"),
        Column::gauge("cycles", Unit::None, "cycles in which the CPU was not halted").compared(Compare::Never),
        Column::gauge("cycle_samples", Unit::None, "samples that they were told by").compared(Compare::Never),
        Column::gauge("instructions", Unit::None, "instructions that were carried out to their end (retired)")
            .compared(Compare::Never),
        Column::gauge("instruction_samples", Unit::None, "samples that they were told by").compared(Compare::Never),
    ],
)
.of_events()
.scoped();

pub(super) static CODE_SPACE: Table = Table::wide(
    "code_space",
    "what the code lies in that was sampled: a file, the memory of a process that made it, the kernel",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact(
            "kind",
            "file, jit (code that a process made while it ran, interpreters of JVMs among it), or kernel",
        ),
        Column::fact("module", "path of the file, or [kernel], [vdso]; NULL for jit"),
        Column::fact_number("pid", Unit::None, "of jit, the process that made it; NULL for others"),
    ],
)
.of_entries();

pub(super) static CODE_HUGE: Table = Table::wide(
    "code_huge",
    "how much of the code of a process that was sampled lies on huge pages, by samples: which pages are, is looked at half a second after \
     it was first sampled, and then ever less often",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::number("code", "what the code lies in, see code_space"),
        Column::fact_number("samples", Unit::None, "samples in it since it was first looked at"),
        Column::fact_number("huge", Unit::None, "of these, on huge pages; before Linux 6.7 estimated by what smaps says of a mapping"),
    ],
)
.of_entries()
.scoped();

pub(super) static COLLECTOR: Table = Table::wide(
    "stacks_collector",
    "what the sampler took, lost and cost; instructions: samples by instructions beside those by cycles, lost and paid for with them; python: of \
     the samples whose Python functions were told",
    &[
        Column::label("collector", "its name"),
        Column::counter("events", Unit::None, "samples of threads in scope"),
        Column::counter("lost", Unit::None, "records lost because buffers were full").worse(),
        Column::counter("truncated", Unit::None, "samples whose stack could not be unwound to the start of its thread")
            .worse(),
        Column::gauge("sampled_1_in", Unit::None, "every so many events has a stack").compared(Compare::Never),
        Column::counter(
            "cost_ns",
            Unit::Nanoseconds,
            "CPU time of the thread that reads and unwinds them; of python, of the threads that were sampled",
        )
        .worse(),
    ],
)
.derived(&[Derived {
    name: "unwound_to_start",
    unit: "ratio",
    help: "share of the samples whose stack was unwound to the start of its thread",
    num: &[("events", 1.0), ("truncated", -1.0)],
    den: Den::Columns(&[("events", 1.0)]),
    polarity: Polarity::Better,
    compare: Compare::Difference,
    floor: 0.02,
}])
.grouped(&[]);
