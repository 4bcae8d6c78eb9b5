//! The tables of memory accesses. They are declared here because two write them: who samples, and who imports what perf has sampled.

use model::{Column, Table, Unit};

/// Accesses by instruction.
pub static INSTRUCTION: Table = Table::wide(
    "instruction_access",
    "accesses to memory that the CPU sampled itself (PEBS, IBS, SPE): of one instruction of a thread, of one kind and outcome, in about a second",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::label("kind", "load, store, atomic, load and store"),
        Column::label(
            "level",
            "where the data came from: L1, fill buffer, L2, L3, other core, remote cache, memory, remote memory, remote, device; unknown where the CPU \
             does not tell",
        ),
        Column::label("snoop", "what other caches said: none (not asked), miss, clean, modified (HITM); unknown"),
        Column::label("tlb", "how the address was translated: hit, L2 hit, walk; unknown"),
        Column::gauge("at", Unit::Nanoseconds, "when the first of them was, since the start of the recording"),
        Column::gauge("stack", Unit::None, "number of the stack that has the instruction alone"),
        Column::gauge(
            "address",
            Unit::None,
            "the instruction: its address in the file, or in the process for code that it made, or in the kernel",
        ),
        Column::gauge("samples", Unit::None, "how many"),
        Column::gauge("timed", Unit::None, "of these, those of which the CPU told how long they took"),
        Column::gauge("latency", Unit::None, "cycles that these took together"),
        Column::gauge("memory", Unit::None, "of that, cycles for the data; NULL where the CPU does not tell them apart"),
        Column::gauge(
            "translation",
            Unit::None,
            "of that, cycles for the translation of addresses; NULL where the CPU does not tell them apart",
        ),
    ],
)
.of_events()
.scoped();

/// Whose line, and where.
pub static LINE: Table = Table::wide(
    "sharing_line",
    "a cache line that several threads use, one of which at least writes",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact_number("pid", Unit::None, "the process it was met in"),
        Column::fact("comm", "name of that process"),
        Column::fact_number("address", Unit::None, "its first byte, in that process"),
        Column::fact(
            "memory",
            "global, thread-local, stack, heap, java, metadata or shared memory; NULL where nobody tells",
        ),
        Column::fact("name", "the variable, or the type or class of what lies there; NULL where nobody tells"),
        Column::fact("module", "path of the file that has the variable or the type"),
        Column::fact("source", "file and line where it is declared, where the file has debug information"),
        Column::fact_number("start", Unit::None, "address of what lies there, in that process"),
        Column::fact_number("size", Unit::Bytes, "size of it"),
        Column::fact(
            "note",
            "what else is known: of a class of a JVM the interfaces that are looked for, and its version",
        ),
    ],
)
.of_entries();

/// Who does what with it.
pub static ACCESS: Table = Table::wide(
    "sharing_access",
    "accesses of an instruction of a thread to a shared line, of one look or about a second: sampled, and where watchpoints were set, watched",
    &[
        Column::number("line", "number of the line"),
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "name of the process; empty where it was only watched"),
        Column::label("thread", "name of the thread"),
        Column::label("text", "the instruction"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start of the recording"),
        Column::gauge("stack", Unit::None, "number of the stack that has the instruction alone"),
        Column::gauge("code", Unit::None, "address of the instruction, in the process"),
        Column::gauge("first", Unit::None, "first byte in the line that it uses"),
        Column::gauge("size", Unit::Bytes, "how many; 0: somewhere in the word of 8"),
        Column::gauge("reads", Unit::None, "1 if it reads"),
        Column::gauge("writes", Unit::None, "1 if it writes"),
        Column::gauge("atomic", Unit::None, "1 if it does both in one step"),
        Column::gauge("waited", Unit::None, "samples that waited for it"),
        Column::gauge("wait", Unit::Nanoseconds, "CPU time that these stand for"),
        Column::gauge("seen", Unit::None, "samples near it, by whose registers it goes there"),
        Column::real(
            "period",
            Unit::Nanoseconds,
            "CPU time from one execution to the next, by the rounds of its loop; NULL: unknown",
        ),
        Column::gauge("hits", Unit::None, "hits of a watchpoint"),
        Column::gauge("armed", Unit::Nanoseconds, "how long that was armed for these"),
        Column::gauge("sampled", Unit::None, "accesses that the CPU sampled itself (PEBS, IBS, SPE); NULL without"),
        Column::gauge("from_core", Unit::None, "of these, those whose data came from the cache of another core"),
        Column::gauge("modified", Unit::None, "of those, where that core had changed them (HITM)"),
        Column::gauge("timed", Unit::None, "of those from another core, those of which the CPU told how long they took"),
        Column::gauge("latency", Unit::None, "cycles that these took together"),
    ],
)
.of_events()
.scoped();
