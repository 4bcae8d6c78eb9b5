//! Recordings written as text, for tests: a header, then one line a row, `t` in seconds first. Rows of equal `t` are one read. Values are in the
//! order of the stored columns; `-` is what was not read; a text with blanks stands in double quotes, with the escapes of
//! JSON. A line `seal` ends a generation.
//!
//! ```text
//! t    cpu  user  idle  mhz
//! 0    0    100   100   2000
//! 0.5  0    110   140   -
//! ```

use crate::Run;
use model::{Column, Compare, Den, Derived, Fold, Kind, Manifest, NULL, Polarity, Rows, Symbols, Table, Type, Unit};
use std::path::Path;
use store::{Frame, Recording, Select, Writer};

const fn time(name: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, "time")
}

/// The ledger of threads, with its states.
pub static THREADS: Table = Table::wide(
    "thread_time",
    "threads",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "process"),
        Column::label("thread", "thread"),
        time("user"),
        time("kernel"),
        time("stolen"),
        time("runnable"),
        time("throttled"),
        time("lock"),
        time("disk"),
        time("network"),
        time("pipe"),
        time("fault"),
        time("sleep"),
        time("idle"),
        time("other"),
    ],
)
.from_zero();

/// Samples by counters.
pub static COUNTED: Table = Table::wide(
    "counted_sample",
    "samples by counters",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "its name"),
        Column::number("stack", "stack"),
        Column::gauge("cycles", Unit::None, "cycles"),
        Column::gauge("cycle_samples", Unit::None, "samples"),
        Column::gauge("instructions", Unit::None, "instructions"),
        Column::gauge("instruction_samples", Unit::None, "samples"),
    ],
)
.of_events();

/// A wide table with a number for a label, counters, a gauge that folds to its mean, and derived metrics.
pub static CPU: Table = Table::wide(
    "cpu",
    "CPU time",
    &[
        Column::number("cpu", "CPU number"),
        Column::counter("user", Unit::ClockTicks, "in user mode"),
        Column::counter("idle", Unit::ClockTicks, "idle").better(),
        Column::gauge("mhz", Unit::Hertz, "frequency").folded(model::Fold::Mean),
    ],
)
.derived(&[
    Derived {
        name: "busy",
        unit: "s/s",
        help: "CPUs in use",
        num: &[("user", 1.0)],
        den: Den::Time,
        polarity: Polarity::Neutral,
        compare: Compare::Ratio,
        floor: 0.02,
    },
    Derived {
        name: "busy_share",
        unit: "ratio",
        help: "share of the time in use",
        num: &[("user", 1.0)],
        den: Den::Columns(&[("user", 1.0), ("idle", 1.0)]),
        polarity: Polarity::Neutral,
        compare: Compare::Difference,
        floor: 0.02,
    },
])
.grouped(&[&[], &["cpu"]]);

/// A wide table with a text for a label.
pub static NET: Table = Table::wide(
    "net",
    "one network interface",
    &[
        Column::label("name", "interface"),
        Column::counter("received", Unit::Bytes, "bytes received"),
        Column::gauge("speed", Unit::None, "line rate").folded(model::Fold::Max),
    ],
);

/// A wide table whose entities begin at zero.
pub static PROCESS: Table = Table::wide(
    "process",
    "one process",
    &[
        Column::number("pid", "process id"),
        Column::label("comm", "name"),
        Column::counter("user", Unit::Nanoseconds, "CPU time in user mode"),
        Column::gauge("rss", Unit::Bytes, "memory resident"),
    ],
)
.from_zero();

/// A long table of counters.
pub static VMSTAT: Table = Table::long(
    "vmstat",
    "one event counter",
    Kind::Counter,
    &[
        Column::counter("pgfault", Unit::None, "page faults").worse(),
        Column::counter("pgmajfault", Unit::None, "page faults that needed I/O"),
    ],
)
.derived(&[Derived {
    name: "major_share",
    unit: "ratio",
    help: "share of the page faults that needed I/O",
    num: &[("pgmajfault", 1.0)],
    den: Den::Columns(&[("pgfault", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Difference,
    floor: 0.0,
}]);

/// A long table of levels, by node.
pub static MEMINFO: Table = Table::long(
    "meminfo",
    "one figure of the memory of a node",
    Kind::Gauge,
    &[
        Column::number("node", "NUMA node"),
        Column::gauge("total", Unit::Kibibytes, "memory"),
        Column::gauge("free", Unit::Kibibytes, "unused memory").better(),
    ],
)
.derived(&[Derived {
    name: "used",
    unit: "B",
    help: "memory in use",
    num: &[("total", 1.0), ("free", -1.0)],
    den: Den::Time,
    polarity: Polarity::Neutral,
    compare: Compare::Ratio,
    floor: 0.0,
}]);

/// A table of events.
pub static ENDED: Table = Table::wide(
    "ended",
    "a process that ended",
    &[
        Column::number("pid", "process"),
        Column::label("command", "name"),
        Column { kind: Kind::Duration, ..Column::gauge("lived", Unit::Nanoseconds, "how long it lived") },
        Column::real("load", Unit::None, "load when it ended"),
    ],
)
.of_events();

/// As the recorder has it.
pub static FRAME: Table = Table::wide(
    "frame",
    "one place in code",
    &[
        Column::number("number", "its number"),
        Column::fact("function", "function"),
        Column::fact("module", "module"),
        Column::fact("build_id", "build id"),
        Column::fact_number("offset", Unit::None, "address in the file"),
        Column::fact("source", "file and line"),
        Column::fact("kind", "kind of code"),
    ],
)
.of_entries();

/// As the recorder has it.
pub static STACK: Table = Table::wide(
    "stack",
    "one stack",
    &[
        Column::number("number", "its number"),
        Column::fact_number("parent", Unit::None, "the caller's stack"),
        Column::fact_number("frame", Unit::None, "its innermost frame"),
    ],
)
.of_entries();

/// As the recorder has it.
pub static SAMPLE: Table = Table::wide(
    "sample",
    "one sample",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "process name"),
        Column::label("thread", "thread name"),
        Column::gauge("at", Unit::Nanoseconds, "when"),
        Column::gauge("cpu", Unit::None, "where"),
        Column::gauge("stack", Unit::None, "stack"),
        Column::gauge("weight", Unit::Nanoseconds, "CPU time"),
    ],
)
.of_events();

/// As the recorder has it, with what the reading side needs.
pub static WAIT: Table = Table::wide(
    "wait",
    "waits of one kind",
    &[
        Column::fact_number("pid", Unit::None, "process"),
        Column::fact("comm", "process name"),
        Column::fact("thread", "thread name"),
        Column::fact("state", "state"),
        Column::fact("what", "where in the kernel"),
        Column::fact_number("stack", Unit::None, "stack"),
        Column::fact("waker", "who ended it"),
        Column::fact_number("waker_stack", Unit::None, "the waker's stack"),
        Column::gauge("count", Unit::None, "number"),
        Column::gauge("time", Unit::Nanoseconds, "time"),
        Column::gauge("longest", Unit::Nanoseconds, "longest").folded(Fold::Max),
    ],
)
.of_events();

/// As the recorder has it, with what the reading side needs.
pub static LOCK: Table = Table::wide(
    "lock",
    "waits for one lock",
    &[
        Column::fact_number("pid", Unit::None, "process"),
        Column::fact("comm", "process name"),
        Column::fact("kind", "kind"),
        Column::fact("address", "address"),
        Column::fact("name", "name"),
        Column::fact_number("stack", Unit::None, "stack"),
        Column::fact("holder", "thread that held it"),
        Column::gauge("count", Unit::None, "number"),
        Column::gauge("time", Unit::Nanoseconds, "time"),
        Column::gauge("longest", Unit::Nanoseconds, "longest").folded(Fold::Max),
        Column::gauge("waiters", Unit::None, "at once").folded(Fold::Max),
    ],
)
.of_events();

/// As the recorder has it.
pub static RUNNING: Table = Table::wide(
    "running",
    "threads running at once",
    &[
        Column::gauge("at", Unit::Nanoseconds, "start of the slot"),
        Column::real("running", Unit::None, "threads on a CPU"),
        Column::real("runnable", Unit::None, "threads waiting for one"),
    ],
)
.of_events();

/// As the recorder has it, with fewer columns.
pub static TURN: Table = Table::wide(
    "turn",
    "requests",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "process name"),
        Column::label("role", "side"),
        Column::label("protocol", "protocol"),
        Column::number("port", "port"),
        Column::label("peer", "other side"),
        Column::counter("turns", Unit::None, "questions that were answered"),
        Column::counter("sends", Unit::None, "writes"),
        Column::counter("sent", Unit::Bytes, "bytes written"),
        Column::counter("service_time", Unit::Nanoseconds, "time to the first byte of the answer"),
        Column::counter("queued", Unit::None, "questions that lay there"),
        Column::counter("queue_time", Unit::Nanoseconds, "time that they lay there"),
        Column::counter("opened", Unit::None, "connections made"),
        Column::counter("used", Unit::None, "connections used"),
    ],
)
.from_zero();

/// As the recorder has it.
pub static TURN_TIME: Table = Table::wide(
    "turn_time",
    "how long turns took",
    &[
        Column::label("comm", "process name"),
        Column::label("role", "side"),
        Column::label("protocol", "protocol"),
        Column::number("port", "port"),
        Column::label("peer", "other side"),
        Column::label("what", "which time"),
        Column::gauge("low", Unit::Nanoseconds, "from"),
        Column::gauge("high", Unit::Nanoseconds, "to"),
        Column::gauge("count", Unit::None, "number"),
    ],
)
.of_events();

/// The tables of profiles.
pub static PROFILE: [&Table; 5] = [&FRAME, &STACK, &SAMPLE, &WAIT, &LOCK];

/// One read: time, and its rows.
struct Read {
    table: usize,
    t: i64,
    rows: Rows,
    seal: bool,
}

/// Splits a line into words; double quotes hold blanks.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut text = String::new();
            let mut chars = quoted.char_indices();
            let mut end = quoted.len();
            while let Some((i, c)) = chars.next() {
                match c {
                    '"' => {
                        end = i + 1;
                        break;
                    }
                    '\\' => match chars.next().expect("an escape at the end of a line").1 {
                        'n' => text.push('\n'),
                        '0' => text.push('\0'),
                        other => text.push(other),
                    },
                    _ => text.push(c),
                }
            }
            words.push(text);
            rest = quoted[end..].trim_start();
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = rest[end..].trim_start();
        }
    }
    words
}

fn cell(column: &Column, word: &str, symbols: &mut Symbols) -> i64 {
    if word == "-" {
        return NULL;
    }
    match column.ty {
        Type::Text => symbols.cell(word),
        Type::Int => word.parse().unwrap_or_else(|_| panic!("{word:?} is no number for column {}", column.name)),
        Type::Real => {
            model::real(word.parse().unwrap_or_else(|_| panic!("{word:?} is no number for column {}", column.name)))
        }
    }
}

fn reads(table: usize, declared: &Table, text: &str, symbols: &mut Symbols) -> Vec<Read> {
    let columns = declared.stored();
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    let header = words(lines.next().expect("a header"));
    let names: Vec<&str> = std::iter::once("t").chain(columns.iter().map(|c| c.name)).collect();
    assert_eq!(header, names, "the header names the stored columns of table {}", declared.name);
    let mut reads: Vec<Read> = Vec::new();
    for line in lines {
        if line.trim() == "seal" {
            reads.last_mut().expect("a row before seal").seal = true;
            continue;
        }
        let words = words(line);
        assert_eq!(words.len(), columns.len() + 1, "cells of {line:?}");
        let t = (words[0].parse::<f64>().expect("seconds") * 1e9).round() as i64;
        let cells = columns.iter().zip(&words[1..]).map(|(c, w)| cell(c, w, symbols));
        match reads.last_mut() {
            Some(read) if read.t == t => read.rows.cells.extend(cells),
            _ => {
                reads.push(Read { table, t, rows: Rows { width: columns.len(), cells: cells.collect() }, seal: false })
            }
        }
    }
    reads
}

/// Writes a finished recording of these tables.
///
/// # Panics
/// Where the text is not as described, or the file cannot be written: the test is wrong.
pub fn write(path: &Path, manifest: &Manifest, tables: &[(&'static Table, &str)]) {
    write_with(path, manifest, tables, |_| {});
}

/// Like [`write()`], with a hand on the writer before the first row: for sources, facts, marks, coverage.
///
/// # Panics
/// Like [`write()`].
pub fn write_with(
    path: &Path,
    manifest: &Manifest,
    tables: &[(&'static Table, &str)],
    prepare: impl FnOnce(&mut Writer),
) {
    let mut writer = Writer::create(path, true, i64::MAX).expect("a new recording");
    let mut symbols = Symbols::default();
    prepare(&mut writer);
    let mut all = Vec::new();
    let mut ids = Vec::new();
    for (index, (table, text)) in tables.iter().enumerate() {
        ids.push(writer.define("test", table));
        all.extend(reads(index, table, text, &mut symbols));
    }
    all.sort_by_key(|read| read.t);
    for read in all {
        writer.put(ids[read.table], read.t, &read.rows);
        if read.seal {
            writer.commit(&symbols).expect("a commit");
            writer.seal(&symbols).expect("a seal");
        }
    }
    let ended = manifest.ended.clone().or(Some("test".into()));
    writer.finish(&Manifest { ended, ..manifest.clone() }, &symbols).expect("a finished recording");
}

/// An open recording called `name` of these tables.
///
/// # Panics
/// Like [`write()`].
pub fn run(name: &str, tables: &[(&'static Table, &str)]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.twin");
    write(&path, &Manifest { name: name.into(), ..Manifest::default() }, tables);
    // The open file outlives its name.
    Run { name: name.into(), recording: Recording::open(&path).expect("the recording just written"), stretch: None }
}

/// One table of a recording, with all its columns.
///
/// # Panics
/// Like [`write()`].
pub fn frame(table: &'static Table, text: &str) -> Frame {
    run("test", &[(table, text)]).recording.load(table.name, &Select::default()).expect("the table just written")
}
