//! The tables that an imported profile fills, as a recorder fills them.

use model::{Column, Table, Unit};

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
