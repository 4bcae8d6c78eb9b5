//! Requests that were followed from the read of their question to the send of its answer: where their time went, one row each.

use super::{OfRows, Services};
use crate::bundle;
use crate::columns::{Column, Columns};
use crate::ledger;
use crate::profile::at;
use crate::rows::Rows;
use model::Table;
use query::Run;

/// The table, which has this name in the block too.
const FOLLOWED: &str = "turn_followed";

/// Its columns that add up to the service time, in the order in which they are stacked: what they are called, and the state of the thread ledger
/// whose colours they have.
const STATES: [(&str, &str, &str); 12] = [
    ("running", "Running", "user"),
    ("runnable", "Run-queue wait", "runnable"),
    ("throttled", "Throttled", "throttled"),
    ("lock", "Lock", "lock"),
    ("disk", "Disk", "disk"),
    ("network", "Network", "network"),
    ("pipe", "Pipe", "pipe"),
    ("fault", "Page fault", "fault"),
    ("sleep", "Sleep", "sleep"),
    ("other", "Other", "other"),
    ("unknown", "Not known", "stolen"),
    ("others", "Other requests", ""),
];

/// Colours of a state that the ledger does not have: in the light and on the dark page.
const OWN: [&str; 2] = ["#a8438f", "#dd82c9"];

/// Requests kept, of all runs. The slowest are kept one by one; of the others one stands for several.
const ROWS: usize = 6_000;

/// Those kept one by one, as a part of the requests kept.
const SLOWEST: usize = 4;

/// One of them. Times are in nanoseconds.
#[derive(Clone)]
struct Followed {
    run: u32,
    service: u32,
    at: i64,
    weight: f64,
    time: i64,
    queued: i64,
    states: [i64; STATES.len()],
    backend_time: i64,
    backend_turns: i64,
    handed: i64,
    /// Texts: thread, helper, back-end.
    texts: [u32; 3],
}

const TEXTS: [&str; 3] = ["thread", "helper", "backend"];

/// Writes the table; gives the states that its rows have, none where nothing was followed.
pub(super) fn write(runs: &[Run], services: &Services, columns: &mut Columns) -> Vec<bundle::State> {
    let mut table = None;
    let mut all: Vec<Followed> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        if let Some(rows) = Rows::load(run, FOLLOWED) {
            table = table.or(run.recording.table(FOLLOWED));
            all.append(&mut thin(of_rows(&rows, index, services, columns), ROWS / runs.len().max(1)));
        }
    }
    let Some(table) = table.filter(|_| !all.is_empty()) else { return Vec::new() };
    let exact = |name, of: fn(&Followed) -> u32| Column::exact(name, all.iter().map(of).collect());
    let seconds = |name, of: &dyn Fn(&Followed) -> i64| Column::seconds(name, &all.iter().map(of).collect::<Vec<_>>());
    let mut out = vec![
        exact("run", |f| f.run),
        exact("service", |f| f.service),
        // Tenths of a millisecond, as in `tick`.
        exact("at", |f| u32::try_from((f.at + 50_000) / 100_000).unwrap_or(0)).scaled(1e-4),
        Column::amount("weight", &all.iter().map(|f| f.weight * 1000.0).collect::<Vec<_>>(), 1000.0),
        seconds("time", &|f| f.time),
        seconds("queued", &|f| f.queued),
        seconds("backend_time", &|f| f.backend_time),
        exact("backend_turns", |f| u32::try_from(f.backend_turns).unwrap_or(0)),
        exact("handed", |f| u32::try_from(f.handed).unwrap_or(0)),
    ];
    for (i, (name, ..)) in STATES.iter().enumerate() {
        out.push(seconds(name, &|f| at(&f.states, i)));
    }
    for (i, name) in TEXTS.into_iter().enumerate() {
        out.push(Column::text(name, all.iter().map(|f| at(&f.texts, i)).collect()));
    }
    columns.table(FOLLOWED, &out);
    told(runs, table)
}

/// The states as the head tells them: those that the table has, in the colours of the ledger.
fn told(runs: &[Run], table: &Table) -> Vec<bundle::State> {
    let of_ledger = ledger::states(runs);
    let state = |&(id, title, like): &(&str, &str, &str)| {
        let column = table.column(id)?;
        let like = of_ledger.iter().find(|state| state.id == like);
        Some(bundle::State {
            id: id.into(),
            title: title.into(),
            help: column.help.into(),
            metrics: Vec::new(),
            quiet: None,
            ledger: None,
            kind: None,
            color: like.map_or(Some(OWN.map(str::to_owned)).filter(|_| id == "others"), |state| state.color.clone()),
        })
    };
    STATES.iter().filter_map(state).collect()
}

fn of_rows(rows: &Rows, run: usize, services: &Services, columns: &mut Columns) -> Vec<Followed> {
    let mut services = OfRows::new(rows, run, services);
    let numbers = |name| rows.numbers(name);
    let (ats, times, queued) = (numbers("at"), numbers("time"), numbers("queued"));
    let (backend_times, backend_turns, handed) = (numbers("backend_time"), numbers("backend_turns"), numbers("handed"));
    let weights = rows.reals("weight");
    let states = STATES.map(|(name, ..)| rows.numbers(name));
    let texts = TEXTS.map(|name| rows.texts(name, columns));
    let one = |i: usize| {
        Some(Followed {
            run: run as u32,
            service: services.number(i)?,
            at: at(&ats, i),
            weight: at(&weights, i).filter(|w| w.is_finite() && *w > 0.0).unwrap_or(1.0),
            time: at(&times, i),
            queued: at(&queued, i),
            states: states.each_ref().map(|cells| at(cells, i)),
            backend_time: at(&backend_times, i),
            backend_turns: at(&backend_turns, i),
            handed: at(&handed, i),
            texts: texts.each_ref().map(|cells| at(cells, i)),
        })
    };
    rows.indices().filter_map(one).collect()
}

/// Leaves so many, about: the slowest one by one, and of the others, in order of their time, each for its neighbours.
fn thin(mut all: Vec<Followed>, most: usize) -> Vec<Followed> {
    if all.len() <= most {
        return all;
    }
    all.sort_by_key(|f| std::cmp::Reverse(f.time));
    let mut rest = all.split_off(most / SLOWEST);
    rest.sort_by_key(|f| (f.service, std::cmp::Reverse(f.time)));
    let each = rest.len().div_ceil((most - most / SLOWEST).max(1)).max(1);
    for service in rest.chunk_by(|a, b| a.service == b.service) {
        for chunk in service.chunks(each) {
            let weight = chunk.iter().map(|f| f.weight).sum();
            all.extend(chunk.get(chunk.len() / 2).map(|middle| Followed { weight, ..middle.clone() }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_stood_for() {
        let one = |time: i64| Followed {
            run: 0,
            service: (time % 2) as u32,
            at: time,
            weight: 2.0,
            time,
            queued: 0,
            states: [0; STATES.len()],
            backend_time: 0,
            backend_turns: 0,
            handed: 0,
            texts: [0; 3],
        };
        let all: Vec<Followed> = (0..10_000).map(one).collect();
        let thinned = thin(all.clone(), 1_000);
        assert!(thinned.len() <= 1_010, "{}", thinned.len());
        assert_eq!(thinned.iter().map(|f| f.weight).sum::<f64>(), 20_000.0);
        assert!((9_750..10_000).all(|time| thinned.iter().any(|f| f.time == time && f.weight == 2.0)));
        assert_eq!(thin(all, 20_000).len(), 10_000, "few stay as they are");
    }
}
