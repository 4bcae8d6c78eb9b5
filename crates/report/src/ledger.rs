//! The thread ledger: what threads did with their time, by process and thread over time, the names of their states, and how many ran at once.

use crate::bundle::{self, BudgetState, Sawtooth, Turns};
use crate::columns::Column;
use crate::events::{Event, Shape, merge};
use crate::profile::{Making, at};
use crate::rows::Rows;
use crate::{Error, events};
use explain::Comparison;
use explain::budget::State;
use query::concurrency::{Concurrency, SLOT, Serial};
use query::series::Grid;
use query::{Run, metric};
use std::collections::HashMap;
use store::{Frame, Select};

/// The table.
pub(crate) const TABLE: &str = "thread_time";

/// Ticks that are kept of it.
const MOST_TICKS: usize = 600;

/// Threads told apart, those with the most time that was not idle; the others are added up by process.
const THREADS: usize = 400;

/// Slots of the number of threads that ran at once that are kept, of all runs.
const SLOTS: usize = 60_000;

/// The name of the table of threads running at once.
const RUNNING: &str = "running";

/// The tables of the block that are made here.
pub(crate) const TABLES: [&str; 2] = [LEDGER.table, RUNNING];

const LEDGER: Shape = Shape {
    table: "ledger",
    keys: &[("thread", false), ("state", true)],
    sums: &[("time", true)],
    most: &[],
    limit: 150_000,
};

/// The states: column, title, help, and whether it is no lost time.
const STATES: [(&str, &str, &str, bool); 13] = [
    ("user", "Running, user code", "on a CPU, in the program's own code and its libraries", false),
    (
        "kernel",
        "Running, kernel",
        "on a CPU, in system calls, faults and other work of the kernel for the thread",
        false,
    ),
    ("stolen", "Stolen", "on a CPU but interrupted by devices, timers or the hypervisor", false),
    ("runnable", "Waiting for a CPU", "ready to run while all CPUs it may use were taken", false),
    ("throttled", "Throttled", "ready to run, held back by the CPU quota of a control group", false),
    ("lock", "Lock", "blocked on a lock that another thread held", false),
    ("disk", "Disk", "blocked on reads, writes or syncs of a disk", false),
    ("network", "Network", "blocked on a socket", false),
    ("pipe", "Pipe", "blocked on a pipe", false),
    ("fault", "Page fault", "blocked on memory: a page to be read in, swap, reclaim", false),
    ("sleep", "Sleep", "asked to sleep: timers, polls with a timeout", false),
    ("idle", "Idle", "waiting for work: an empty queue, a condition variable, a listening socket", true),
    (
        "other",
        "Other",
        "blocked on what could not be told apart; the function that it waited in is in its stack",
        false,
    ),
];

/// The states that an explanation tells apart and the ledger does not, or not so finely: column, title, help, and the state of the ledger
/// that it is a part of.
const FINER: [(&str, &str, &str, Option<&str>); 3] = [
    (
        "runnable",
        "CPU taken by own threads",
        "ready to run while other threads of the workload had the CPUs",
        Some("runnable"),
    ),
    ("neighbours", "CPU taken by others", "ready to run while other programs had the CPUs", Some("runnable")),
    ("fewer_threads", "Fewer threads", "threads that the other recording had, and that were not there", None),
];

fn metric_of(id: &str) -> String {
    format!("{TABLE}.{id}")
}

/// The states as the head tells them.
pub(crate) fn states() -> Vec<BudgetState> {
    let state = |&(id, title, help, quiet): &(&str, &str, &str, bool)| BudgetState {
        id: id.into(),
        title: title.into(),
        help: help.into(),
        metrics: vec![metric_of(id)],
        quiet: Some(quiet),
        ledger: None,
    };
    STATES.iter().map(state).collect()
}

/// A state of an explanation as the head tells it. `ledger`: the state that pages of threads and stacks show it under.
pub(crate) fn state(state: State, quiet: bool) -> BudgetState {
    let id = state.name();
    let (title, help, ledger) = match FINER.iter().find(|(name, ..)| *name == id) {
        Some((_, title, help, ledger)) => (*title, *help, *ledger),
        None => match STATES.iter().find(|(name, ..)| *name == id) {
            Some((_, title, help, _)) => (*title, *help, Some(id)),
            None => (id, state.words(), None),
        },
    };
    BudgetState {
        id: id.into(),
        title: title.into(),
        help: help.into(),
        metrics: ledger.into_iter().map(metric_of).collect(),
        quiet: Some(quiet),
        ledger: Some(ledger.map(str::to_owned)),
    }
}

fn load(run: &Run) -> Option<Frame> {
    run.recording
        .load(TABLE, &Select { most_ticks: MOST_TICKS, ..Select::default() })
        .filter(|f| f.ticks.len() > 1 && !f.entities.is_empty())
}

/// Writes the tables `ledger` and `running`.
pub(crate) fn write(runs: &[Run], making: &mut Making) -> Result<(), Error> {
    let mut all: Vec<Event> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let Some(frame) = load(run) else { continue };
        let mut found: Vec<(Vec<String>, u32, Event)> = Vec::new();
        let mut busy: HashMap<Vec<String>, f64> = HashMap::new();
        for (id, _, _, quiet) in STATES {
            let Some(metric) = metric(frame.table, id) else { continue };
            let by: Vec<&str> = ["comm", "thread"].into_iter().filter(|l| frame.table.column(l).is_some()).collect();
            let grid = Grid::new(&frame, &metric, &by, None)?;
            let state = making.columns.string(id);
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
                    if !quiet {
                        *busy.entry(series.labels.clone()).or_default() += time;
                    }
                }
            }
        }
        // Beyond so many threads the least busy are added up by process.
        let mut order: Vec<(&Vec<String>, f64)> = busy.iter().map(|(labels, time)| (labels, *time)).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let few = found.len() / STATES.len() <= THREADS;
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
    events::write(&LEDGER, all, &mut making.ticks, &mut making.columns);
    running(runs, making);
    Ok(())
}

/// Serial phases and regular swings, run by run.
pub(crate) fn turns(comparison: &Comparison) -> Vec<Option<Turns>> {
    let serial = |s: &Serial| {
        let (process, thread) = s.thread.clone().unzip();
        bundle::Serial { from: s.from, to: s.to, process, thread, function: s.function.clone() }
    };
    let one = |c: &Concurrency| Turns {
        serial: c.serial.iter().map(serial).collect(),
        sawtooth: c.sawtooth.map(|s| Sawtooth { period: s.period, swing: s.swing, share: s.share, p: s.p }),
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
            Column::exact("run", slots.iter().map(|e| e.run).collect()),
            Column::rising("slot", slots.iter().map(|e| u32::try_from(e.from / width).unwrap_or(0)).collect())
                .scaled(width as f64 / 1e9),
            Column::amount("running", &of(0), 100.0),
            Column::amount("runnable", &of(1), 100.0),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_of_an_explanation_has_its_words() {
        for known in explain::budget::STATES {
            let told = state(known, false);
            assert_ne!(told.title, known.name(), "{}", known.name());
        }
        assert_eq!(state(State::Neighbours, false).metrics, ["thread_time.runnable"]);
        assert_eq!(state(State::Fewer, false).ledger, Some(None));
    }
}
