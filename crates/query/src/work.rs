//! Work that is known without the workload's help: requests that a server answered, or that a client made, as the source `turns` counted them; or reads
//! of the file that the work comes from, as the source `reads` counted them.
//!
//! Which requests are the work: those of the server port that others ask most. Questions of a process that serves on another port itself are not asked by others:
//! a service that asks its database fifty times for each request does one operation, not fifty.
//!
//! Reads are the work where each brings an item. Where nearly all fill a large buffer, how many there are says how large the buffer is: the bytes are the work then.

use crate::metric;
use crate::series::Grid;
use model::{Work, WorkChoice as Choice};
use std::collections::{HashMap, HashSet};
use store::{Recording, Select};

/// Fewer requests than this are not what a workload is there for.
const FEWEST: f64 = 100.0;
/// The share of reads that fill a buffer from which on the bytes are what is comparable.
const FULL: f64 = 0.9;
const MEBIBYTE: f64 = 1024.0 * 1024.0;
/// The unit of work of reads that fill buffers, and of those that do not.
const BYTES: &str = "MiB";
const READS: &str = "reads";
/// Points of the progress that are kept at most.
const MOST_POINTS: usize = 2_000;

/// Requests of one process on one port, or to one other side.
struct Turns {
    pid: String,
    is_server: bool,
    /// Protocol and port; of Unix sockets the path.
    place: (String, String, String),
    port: u16,
    /// When read, seconds, and how many since the read before.
    steps: Vec<(f64, f64)>,
}

impl Turns {
    fn total(&self) -> f64 {
        self.steps.iter().map(|(_, done)| done).sum()
    }
}

fn turns(recording: &Recording) -> Vec<Turns> {
    let Some(frame) = recording.load("turn", &Select::default()) else { return Vec::new() };
    let Some(turns) = metric(frame.table, "turns") else { return Vec::new() };
    const BY: &[&str] = &["pid", "role", "protocol", "port", "peer"];
    let Ok(grid) = Grid::new(&frame, &turns, BY, None) else { return Vec::new() };
    let of = |series: &crate::series::Series| {
        let [pid, role, protocol, port, peer] = <[String; 5]>::try_from(series.labels.clone()).ok()?;
        let is_server = role == "server";
        let path = if is_server || protocol == "unix" { peer } else { String::new() };
        let steps = grid.all().filter_map(|i| Some((*grid.to.get(i)?, series.num(i)))).filter(|(_, done)| *done > 0.0);
        let (steps, number) = (steps.collect(), port.parse().unwrap_or(0));
        Some(Turns { pid, is_server, place: (protocol, port, path), port: number, steps })
    };
    grid.series.iter().filter_map(of).collect()
}

/// What counts as work in a recording: what it was made with, unless something else is chosen.
fn chosen(recording: &Recording, choice: &Choice) -> Choice {
    match choice {
        Choice::Auto => recording.manifest().work_by.parse().unwrap_or_default(),
        _ => choice.clone(),
    }
}

/// The work of a recording by `choice`; `None` where that finds none. What the workload reported stands first unless something else is chosen.
pub fn of(recording: &Recording, choice: &Choice) -> Option<Work> {
    let manifest = recording.manifest();
    let choice = &chosen(recording, choice);
    match choice {
        Choice::None => return None,
        Choice::Auto if manifest.work.as_ref().is_some_and(|work| work.total > 0.0) => return manifest.work.clone(),
        Choice::Reads(path) => return reads(recording, path),
        _ => {}
    }
    let all = turns(recording);
    let (those, how): (Vec<&Turns>, String) = match choice {
        Choice::Port(port) => {
            (all.iter().filter(|t| t.is_server && t.port == *port).collect(), format!("answered on port {port}"))
        }
        Choice::Client(port) => {
            let made = all.iter().filter(|t| !t.is_server && port.is_none_or(|port| t.port == port)).collect();
            (made, port.map_or("made".to_owned(), |port| format!("made to port {port}")))
        }
        _ => {
            let place = busiest(&all)?;
            let how = match place {
                (protocol, _, path) if protocol == "unix" => format!("answered on the socket {path}"),
                (_, port, _) => format!("answered on port {port}"),
            };
            (all.iter().filter(|t| t.is_server && t.place == *place).collect(), how)
        }
    };
    let steps = those.iter().flat_map(|turns| turns.steps.iter().copied()).collect();
    sum("requests", steps, how).filter(|work| *choice != Choice::Auto || work.total >= FEWEST)
}

/// Where others ask most.
fn busiest(all: &[Turns]) -> Option<&(String, String, String)> {
    let servers: HashSet<&str> = all.iter().filter(|t| t.is_server).map(|t| t.pid.as_str()).collect();
    let mut asked: HashMap<&(String, String, String), f64> = HashMap::new();
    for turns in all.iter().filter(|t| t.is_server) {
        *asked.entry(&turns.place).or_default() += turns.total();
    }
    for turns in all.iter().filter(|t| !t.is_server && servers.contains(t.pid.as_str())) {
        if let Some(asked) = asked.get_mut(&turns.place) {
            *asked -= turns.total();
        }
    }
    asked.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(a.0))).map(|(place, _)| place)
}

/// Reads from `path`, or the bytes of them.
fn reads(recording: &Recording, path: &str) -> Option<Work> {
    let [reads, full] = ["reads", "full"].map(|metric| read_from(recording, path, metric));
    let [many, of_them] = [&reads, &full].map(|steps| steps.iter().map(|(_, done)| done).sum::<f64>());
    if of_them < FULL * many { sum(READS, reads, format!("read from {path}")) } else { bytes(recording, path) }
}

fn bytes(recording: &Recording, path: &str) -> Option<Work> {
    let mut steps = read_from(recording, path, "bytes");
    steps.iter_mut().for_each(|(_, done)| *done /= MEBIBYTE);
    sum(BYTES, steps, format!("read from {path}"))
}

/// How far a counter of the table of reads went between each two reads of it, for one file.
fn read_from(recording: &Recording, path: &str, counter: &str) -> Vec<(f64, f64)> {
    let Some(frame) = recording.load("read_from", &Select::default()) else { return Vec::new() };
    let Some(counter) = metric(frame.table, counter) else { return Vec::new() };
    let Ok(grid) = Grid::new(&frame, &counter, &["pid", "path"], None) else { return Vec::new() };
    let of_file = grid.series.iter().filter(|series| series.labels.last().is_some_and(|label| label == path));
    let steps = of_file.flat_map(|series| grid.all().filter_map(|i| Some((*grid.to.get(i)?, series.num(i)))));
    steps.filter(|(_, done)| *done > 0.0).collect()
}

/// Reads and bytes cannot be compared: where the work of some recordings is the one and that of others the other, bytes are it in all.
pub fn of_one_unit(recordings: &mut [&mut Recording], choice: &Choice) {
    let unit = |recording: &Recording| recording.manifest().work.as_ref().map(|work| work.unit.clone());
    if !recordings.iter().any(|recording| unit(recording).as_deref() == Some(BYTES)) {
        return;
    }
    for recording in recordings {
        if let Choice::Reads(path) = chosen(recording, choice)
            && unit(recording).as_deref() == Some(READS)
        {
            let work = bytes(recording, &path);
            recording.set_work(work);
        }
    }
}

/// The work that adds up from `steps`: when they were read, seconds, and how many units that was more.
fn sum(unit: &str, mut steps: Vec<(f64, f64)>, how: String) -> Option<Work> {
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut progress, mut total): (Vec<(f64, f64)>, f64) = (Vec::new(), 0.0);
    for (at, done) in steps {
        total += done;
        match progress.last_mut() {
            Some(last) if last.0 == at => last.1 = total,
            _ => progress.push((at, total)),
        }
    }
    while progress.len() > MOST_POINTS {
        let last = progress.last().copied();
        let mut at = 0;
        progress.retain(|_| {
            at += 1;
            at % 2 == 1
        });
        if progress.last().copied() != last {
            progress.extend(last);
        }
    }
    (total > 0.0).then(|| Work { unit: unit.into(), total, progress, how })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;
    use model::{Column, Manifest, Table, Unit};

    static READ_FROM: Table = Table::wide(
        "read_from",
        "what was read",
        &[
            Column::number("pid", "process"),
            Column::label("comm", "name"),
            Column::label("path", "file"),
            Column::counter("reads", Unit::None, "reads"),
            Column::counter("bytes", Unit::Bytes, "bytes"),
            Column::counter("full", Unit::None, "reads that filled a buffer"),
        ],
    )
    .from_zero();

    fn recording(rows: &str) -> Recording {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let manifest = Manifest { work_by: "reads:q".into(), ..Manifest::default() };
        let rows = format!("t pid comm path reads bytes full\n{rows}");
        write(&path, &manifest, &[(&READ_FROM, &rows)]);
        Recording::open(&path).unwrap()
    }

    /// 30 reads by two processes, of which `full` filled a buffer; and some of another file.
    fn reads_of(full: u32) -> Recording {
        recording(&format!("1 1 a q 0 0 0\n2 1 a q 20 2097152 {full}\n2 2 a q 10 1048576 0\n2 3 a other 70 70 0"))
    }

    #[test]
    fn reads_are_the_work_where_they_bring_items() {
        let work = of(&reads_of(3), &Choice::Auto).unwrap();
        assert_eq!((work.unit.as_str(), work.total, work.how.as_str()), ("reads", 30.0, "read from q"));
        assert_eq!(work.progress, [(2.0, 30.0)]);
        assert!(of(&reads_of(3), &Choice::Reads("nothing".into())).is_none());
        let other = of(&reads_of(3), &Choice::Reads("other".into())).unwrap();
        assert_eq!((other.total, other.how.as_str()), (70.0, "read from other"));
        assert!(of(&reads_of(3), &Choice::None).is_none());
    }

    #[test]
    fn bytes_are_the_work_where_reads_fill_buffers() {
        let work = of(&reads_of(27), &Choice::Auto).unwrap();
        assert_eq!((work.unit.as_str(), work.total), ("MiB", 3.0));
        assert_eq!(of(&reads_of(26), &Choice::Auto).unwrap().unit, "reads", "less than nine in ten");
    }

    #[test]
    fn all_recordings_count_the_same() {
        let counted = |full: [u32; 2]| {
            let mut both = full.map(reads_of);
            for recording in &mut both {
                let work = of(recording, &Choice::Auto);
                recording.set_work(work);
            }
            of_one_unit(&mut both.iter_mut().collect::<Vec<_>>(), &Choice::Auto);
            both.map(|recording| recording.manifest().work.clone().unwrap()).map(|work| (work.unit, work.total))
        };
        assert_eq!(counted([3, 30]), [("MiB".to_owned(), 3.0), ("MiB".to_owned(), 3.0)]);
        assert_eq!(counted([3, 4]), [("reads".to_owned(), 30.0), ("reads".to_owned(), 30.0)]);
    }
}
