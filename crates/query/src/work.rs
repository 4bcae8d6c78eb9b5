//! Work that is known without the workload's help: requests that a server answered, or that a client made, as the source `turns` counted them.
//!
//! Which requests are the work: those of the server port that others ask most. Questions of a process that serves on another port itself are not asked by others:
//! a service that asks its database fifty times for each request does one operation, not fifty.

use crate::metric;
use crate::series::Grid;
use model::{Work, WorkChoice as Choice};
use std::collections::{HashMap, HashSet};
use store::{Recording, Select};

/// Fewer requests than this are not what a workload is there for.
const FEWEST: f64 = 100.0;
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

/// The work of a recording by `choice`; `None` where that finds none. What the workload reported stands first unless something else is chosen.
pub fn of(recording: &Recording, choice: &Choice) -> Option<Work> {
    let manifest = recording.manifest();
    let made_with = manifest.work_by.parse().unwrap_or_default();
    let choice = if *choice == Choice::Auto { &made_with } else { choice };
    match choice {
        Choice::None => return None,
        Choice::Auto if manifest.work.as_ref().is_some_and(|work| work.total > 0.0) => return manifest.work.clone(),
        _ => {}
    }
    let all = turns(recording);
    let (chosen, how): (Vec<&Turns>, String) = match choice {
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
    sum(&chosen, how).filter(|work| *choice != Choice::Auto || work.total >= FEWEST)
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

fn sum(chosen: &[&Turns], how: String) -> Option<Work> {
    let mut steps: Vec<(f64, f64)> = chosen.iter().flat_map(|turns| turns.steps.iter().copied()).collect();
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
    (total > 0.0).then(|| Work { unit: "requests".into(), total, progress, how })
}
