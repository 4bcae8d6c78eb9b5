//! The thread ledger: what threads did with their time, by process and thread over time, the names of their states, and how many ran at once.

use crate::bundle;
use crate::columns::Column as Numbers;
use crate::events::{Event, Shape, merge};
use crate::profile::{Making, at};
use crate::rows::Rows;
use crate::words::titled;
use crate::{Error, events};
use compare::Comparison;
use explain::budget;
use model::{Column, State, StateKind, Table};
use query::concurrency::{Concurrency, SLOT, Serial};
use query::series::Grid;
use query::{Run, metric};
use std::collections::HashMap;
use store::{Frame, Select};

/// Ticks that are kept of it.
const MOST_TICKS: usize = 600;

/// Threads told apart, those with the most time that was not idle; the others are added up by process.
const THREADS: usize = 400;

/// Slots of the number of threads that ran at once that are kept, of all runs.
const SLOTS: usize = 60_000;

/// The tables of the block that are made here: the time of threads by state, and threads running at once.
pub(crate) const LEDGER: &str = "ledger";
pub(crate) const RUNNING: &str = "running";
pub(crate) const TABLES: [&str; 2] = [LEDGER, RUNNING];

/// Rows of the ledger in the block, about.
const ROWS: usize = 150_000;

/// The table whose columns are the states of threads.
fn table_of(run: &Run) -> Option<&'static Table> {
    run.recording.tables().map(|(_, table)| table).find(|table| table.states().next().is_some())
}

/// That of the first of these runs that has one.
pub(crate) fn table(runs: &[Run]) -> Option<&'static Table> {
    runs.iter().find_map(table_of)
}

/// A state as the head tells it: what its column declares, the metrics that it is in, and whether it is no lost time.
fn told(column: &Column, state: &State, metrics: Vec<String>, quiet: bool) -> bundle::State {
    bundle::State {
        id: column.name.into(),
        title: titled(column),
        help: column.help.into(),
        metrics,
        quiet: Some(quiet),
        ledger: None,
        kind: Some(match state.kind {
            StateKind::OnCpu => bundle::StateKind::OnCpu,
            StateKind::Stretch => bundle::StateKind::Stretch,
            StateKind::Wait => bundle::StateKind::Wait,
            StateKind::Sleep => bundle::StateKind::Sleep,
            StateKind::Rest => bundle::StateKind::Rest,
        }),
        color: Some(state.color.map(str::to_owned)),
    }
}

fn metric_of(table: &Table, id: &str) -> String {
    format!("{}.{id}", table.name)
}

/// The states of these runs as the head tells them, in the order in which they are declared.
pub(crate) fn states(runs: &[Run]) -> Vec<bundle::State> {
    let mut known: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for table in runs.iter().filter_map(table_of) {
        for (column, state) in table.states() {
            if !known.contains(&column.name) {
                known.push(column.name);
                let quiet = state.kind == StateKind::Rest;
                all.push(told(column, state, vec![metric_of(table, column.name)], quiet));
            }
        }
    }
    all
}

/// A state of an explanation as the head tells it, `table` being the ledger; `ledger`: the state that pages of threads and stacks show it under.
pub(crate) fn state(table: Option<&'static Table>, state: budget::State, quiet: bool) -> bundle::State {
    let id = state.name();
    let declared = || table?.states().find(|(column, _)| column.name == id).map(|(column, state)| (*column, *state));
    let finer = budget::FINER.iter().find(|(finer, ..)| *finer == state);
    let (found, ledger) = match finer {
        Some((_, column, ledger)) => (column.state.map(|state| (*column, *state)), *ledger),
        None => (declared(), Some(id)),
    };
    let metrics: Vec<String> = table.zip(ledger).map(|(table, id)| metric_of(table, id)).into_iter().collect();
    let told = match found {
        Some((column, state)) => told(&column, &state, metrics, quiet),
        None => bundle::State {
            id: id.into(),
            title: id.into(),
            help: state.words().into(),
            metrics,
            quiet: Some(quiet),
            ledger: None,
            kind: None,
            color: None,
        },
    };
    bundle::State { ledger: Some(ledger.map(str::to_owned)), ..told }
}

fn load(run: &Run) -> Option<Frame> {
    run.recording
        .load(table_of(run)?.name, &Select { most_ticks: MOST_TICKS, ..Select::default() })
        .filter(|f| f.ticks.len() > 1 && !f.entities.is_empty())
}

/// Writes the tables `ledger` and `running`.
pub(crate) fn write(runs: &[Run], making: &mut Making) -> Result<(), Error> {
    let mut all: Vec<Event> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let Some(frame) = load(run) else { continue };
        let mut found: Vec<(Vec<String>, u32, Event)> = Vec::new();
        let mut busy: HashMap<Vec<String>, f64> = HashMap::new();
        let states: Vec<_> = frame.table.states().collect();
        for (column, declared) in &states {
            let Some(metric) = metric(frame.table, column.name) else { continue };
            let by: Vec<&str> = ["comm", "thread"].into_iter().filter(|l| frame.table.column(l).is_some()).collect();
            let grid = Grid::new(&frame, &metric, &by, None)?;
            let state = making.columns.string(column.name);
            for series in &grid.series {
                for (i, time, _) in series.measured(grid.all()).filter(|(_, time, _)| *time > 0.0) {
                    let ns = |seconds: &[f64]| (at(seconds, i) * 1e9) as i64;
                    let (from, to) = (ns(&grid.from), ns(&grid.to));
                    let sum = [(time * 1e9) as i64, 0, 0];
                    found.push((
                        series.labels.clone(),
                        state,
                        Event { run: index as u32, from, to, sum, ..Event::default() },
                    ));
                    if declared.kind != StateKind::Rest {
                        *busy.entry(series.labels.clone()).or_default() += time;
                    }
                }
            }
        }
        // Beyond so many threads the least busy are added up by process.
        let mut order: Vec<(&Vec<String>, f64)> = busy.iter().map(|(labels, time)| (labels, *time)).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let few = found.len() / states.len().max(1) <= THREADS;
        let named: HashMap<&Vec<String>, ()> = order.iter().take(THREADS).map(|(labels, _)| (*labels, ())).collect();
        for (labels, state, mut event) in found {
            let text = |i: usize| labels.get(i).map_or("", String::as_str);
            let thread = if few || named.contains_key(&labels) { text(1) } else { "(others)" };
            let (process, thread) = (making.columns.string(text(0)), making.columns.string(thread));
            event.key[0] = making.threads.number(process, thread);
            event.key[1] = state;
            all.push(event);
        }
    }
    let shape = Shape {
        table: LEDGER,
        keys: vec![("thread", false), ("state", true)],
        sums: vec![("time", true)],
        most: Vec::new(),
        limit: ROWS,
    };
    events::write(&shape, all, &mut making.ticks, &mut making.columns);
    running(runs, making);
    Ok(())
}

/// Serial phases and regular swings, run by run.
pub(crate) fn turns(comparison: &Comparison) -> Vec<Option<bundle::Turns>> {
    let serial = |s: &Serial| {
        let (process, thread) = s.thread.clone().unzip();
        bundle::Serial { from: s.from, to: s.to, process, thread, function: s.function.clone() }
    };
    let one = |c: &Concurrency| bundle::Turns {
        serial: c.serial.iter().map(serial).collect(),
        sawtooth: c.sawtooth.map(|s| bundle::Sawtooth { period: s.period, swing: s.swing, share: s.share, p: s.p }),
    };
    comparison.concurrency.iter().map(|c| c.as_ref().map(one)).collect()
}

/// How many threads ran, and how many waited for a CPU, slot by slot; in hundredths of a thread.
fn running(runs: &[Run], making: &mut Making) {
    let mut slots: Vec<Event> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let Some(rows) = Rows::load(run, "running") else { continue };
        let (times, running, runnable) = (rows.numbers("at"), rows.reals("running"), rows.reals("runnable"));
        for (i, &from) in times.iter().enumerate() {
            let hundredths = |cells: &[Option<f64>]| (at(cells, i).unwrap_or(0.0) * 100.0).round() as i64;
            let sum = [hundredths(&running), hundredths(&runnable), 1];
            slots.push(Event { run: index as u32, from, to: from, sum, ..Event::default() });
        }
    }
    if slots.is_empty() {
        return;
    }
    let slots = merge(slots, SLOTS);
    // Slots that were merged hold sums; a slot that is missing had nothing running, so the sum is divided by the slots that there were time for.
    let width = slots.first().map_or(0, |e| e.to - e.from).max(SLOT);
    let mean = |e: &Event, part: usize| (e.sum.get(part).copied().unwrap_or(0) as f64 / (width / SLOT) as f64).max(0.0);
    let of = |part: usize| slots.iter().map(|e| mean(e, part)).collect::<Vec<f64>>();
    making.columns.table(
        RUNNING,
        &[
            Numbers::exact("run", slots.iter().map(|e| e.run).collect()),
            Numbers::rising("slot", slots.iter().map(|e| u32::try_from(e.from / width).unwrap_or(0)).collect())
                .scaled(width as f64 / 1e9),
            Numbers::amount("running", &of(0), 100.0),
            Numbers::amount("runnable", &of(1), 100.0),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    static THREADS: Table = Table::wide(
        "thread_time",
        "threads",
        &[Column::counter("lock", model::Unit::Nanoseconds, "blocked").titled("Lock").state(&State {
            words: "waiting for locks",
            kind: StateKind::Wait,
            color: ["#000000", "#ffffff"],
        })],
    );

    #[test]
    fn states_of_an_explanation_are_told_as_they_are_declared() {
        let lock = state(Some(&THREADS), budget::State::Lock, false);
        assert_eq!((&*lock.title, &*lock.help, lock.kind), ("Lock", "blocked", Some(bundle::StateKind::Wait)));
        assert_eq!(
            (&*lock.metrics, lock.color),
            (&["thread_time.lock".to_owned()][..], Some(["#000000", "#ffffff"].map(str::to_owned)))
        );
        let neighbours = state(Some(&THREADS), budget::State::Neighbours, false);
        assert_eq!(neighbours.title, "CPU taken by others");
        assert_eq!(neighbours.metrics, ["thread_time.runnable"]);
        assert_eq!(state(Some(&THREADS), budget::State::Fewer, false).ledger, Some(None));
        assert_eq!(state(None, budget::State::Disk, false).help, budget::State::Disk.words());
    }
}
