//! The tables of cache lines that threads share, but for those in `access::tables`, which `import` fills too; and the rows of all.

use super::Machine;
use super::lines::{LINE as BYTES, Looked};
use super::watch::Budget;
use model::{Column, Compare, NULL, Out, Table, Unit};

/// What lies in a line.
pub(in super::super) static FIELD: Table = Table::wide(
    "sharing_field",
    "a field or an element that lies in a shared line",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact_number("line", Unit::None, "number of the line"),
        Column::fact_number("first", Unit::None, "its first byte in the line; negative where it begins before"),
        Column::fact_number("size", Unit::Bytes, "size of it"),
        Column::fact("name", "path of the field: stats[1].packets"),
        Column::fact("type", "its type"),
    ],
)
.of_entries();

/// Threads that were looked at.
pub(in super::super) static LOOK: Table = Table::wide(
    "sharing_look",
    "a thread whose samples were looked through for shared lines",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start of the recording"),
        Column::gauge("time", Unit::Nanoseconds, "its CPU time meanwhile"),
    ],
)
.of_events()
.scoped();

/// What accesses cost here.
pub(in super::super) static MACHINE: Table = Table::wide(
    "sharing_machine",
    "what passing a cache line costs on this machine, measured at the start",
    &[
        Column::real(
            "transfer",
            Unit::Nanoseconds,
            "a line from one CPU to another: half a round trip, the median of some pairs; NULL with one CPU",
        )
        .compared(Compare::Never),
        Column::real(
            "contended",
            Unit::Nanoseconds,
            "an atomic addition while another CPU adds to the same line; NULL with one CPU",
        )
        .compared(Compare::Never),
        Column::real("atomic", Unit::Nanoseconds, "an atomic addition to a line that no other CPU uses")
            .compared(Compare::Never),
    ],
)
.of_events();

/// What watching took.
pub(in super::super) static WATCH: Table = Table::wide(
    "sharing_watch",
    "what watchpoints took of the threads, in all so far",
    &[
        Column::gauge("at", Unit::Nanoseconds, "when, since the start of the recording"),
        Column::gauge("set", Unit::None, "watchpoints that were set"),
        Column::gauge("hits", Unit::None, "their hits, some 10 to 15 µs each"),
        Column::gauge("armed", Unit::Nanoseconds, "how long some were armed"),
        Column::gauge("longest", Unit::Nanoseconds, "the longest time without a rest"),
    ],
)
.of_events();

/// Where the tables stand among those of the source.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct At {
    pub line: usize,
    pub field: usize,
    pub access: usize,
    pub look: usize,
    pub machine: usize,
    pub watch: usize,
}

fn or_null(number: Option<f64>) -> i64 {
    number.map_or(NULL, |n| n.to_bits() as i64)
}

/// Writes what was found at a time, ns since the start of the recording.
pub(in super::super) fn write(
    at: At,
    time: i64,
    looked: &Looked,
    budget: &Budget,
    machine: Option<Machine>,
    fields: &mut i64,
    out: &mut Out<'_>,
) {
    if let Some(Machine { transfer, contended, atomic }) = machine {
        out.row(at.machine, &[or_null(transfer), or_null(contended), or_null(Some(atomic))]);
    }
    for (thread, cpu) in &looked.threads {
        let (comm, name) = (out.text(&thread.comm), out.text(&thread.thread));
        out.row(at.look, &[thread.pid.into(), thread.tid.into(), comm, name, time, *cpu as i64]);
    }
    for line in &looked.lines {
        if let Some(data) = &line.data {
            let comm = line.accesses.values().map(|a| &a.comm).find(|comm| !comm.is_empty());
            let comm = comm.map_or(NULL, |comm| out.text(comm));
            let mut text = |text: Option<&str>| text.filter(|t| !t.is_empty()).map_or(NULL, |text| out.text(text));
            let cells = [
                line.number,
                line.pid.into(),
                comm,
                line.address as i64,
                text(data.memory),
                text(Some(&data.name)),
                text(data.module.as_deref()),
                text(data.source.as_deref()),
                data.start.map_or(NULL, |start| start as i64),
                data.size.map_or(NULL, |size| size as i64),
                text(data.note.as_deref()),
            ];
            out.row(at.line, &cells);
            for field in &data.fields {
                *fields += 1;
                let (name, of_type) = (out.text(&field.name), out.text(&field.of_type));
                out.row(at.field, &[*fields, line.number, field.first, field.size as i64, name, of_type]);
            }
        }
        let mut accesses: Vec<_> = line.accesses.iter().collect();
        accesses.sort_by_key(|(key, _)| **key);
        for (key, access) in accesses {
            let [comm, thread, instruction] = [&access.comm, &access.thread, &access.text].map(|t| out.text(t));
            let sampled = Some(access.sampled).filter(|sampled| sampled.all > 0);
            let cells = [
                line.number,
                access.pid.into(),
                key.tid.into(),
                comm,
                thread,
                instruction,
                time,
                access.stack,
                key.code as i64,
                (key.offset % BYTES) as i64,
                key.size.into(),
                access.reads.into(),
                access.writes.into(),
                access.atomic.into(),
                access.waited as i64,
                access.wait as i64,
                access.seen as i64,
                or_null(access.between),
                access.hits as i64,
                access.armed as i64,
                sampled.map_or(NULL, |s| s.all as i64),
                sampled.map_or(NULL, |s| s.from_core as i64),
                sampled.map_or(NULL, |s| s.modified as i64),
                sampled.map_or(NULL, |s| s.timed as i64),
                sampled.map_or(NULL, |s| s.cycles as i64),
            ];
            out.row(at.access, &cells);
        }
    }
    if budget.set > 0 {
        let [set, hits] = [budget.set, budget.hits].map(|n| n as i64);
        let [armed, longest] = [budget.armed, budget.longest].map(|d| d.as_nanos() as i64);
        out.row(at.watch, &[time, set, hits, armed, longest]);
    }
}
