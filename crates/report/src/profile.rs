//! The block `profile`: the rows of all tables that declare a measure, the thread ledger and how many threads ran at once, all over time, so that the
//! page can add them up for any window. See docs/report-bundle.md, "Block of columns".

use crate::bundle::{self, PerWhat, ProfileSpec, WeightPer};
use crate::columns::{Column, Columns};
use crate::events::{Event, KEYS, MOSTS, SUMS, Shape, Ticks, merge, write};
use crate::explained::Explained;
use crate::rows::Rows;
use crate::stacks::Stacks;
use crate::{ledger, locks};
use compare::{Choice, Comparison, Pace, work};
use model::{Fold, Measure, NULL, Table, Unit, Window};
use query::Run;
use std::collections::HashMap;

/// The name of the block.
pub(crate) const BLOCK: &str = "profile";

/// Rows of one table in the block, about: of one whose weights divide the ledger's time, and of another.
const OF_LEDGER: usize = 110_000;
const OF_OTHERS: usize = 50_000;

/// The block's own tables: none that is recorded goes by these names.
const OWN: [&str; 6] = ["frame", "stack", "thread", "tick", ledger::LEDGER, ledger::RUNNING];

/// A table with a measure, as its rows go into the block.
pub(crate) struct Measured {
    pub(crate) table: &'static Table,
    pub(crate) measure: &'static Measure,
    shape: Shape,
    /// Of the shape's keys, those that are columns of the table.
    labels: Vec<&'static str>,
    /// Whether some of its rows belong into a table on its page: of those about locks, one that is about a lock.
    pub(crate) is_listed: bool,
}

/// The key that says which lock a row is about.
const LOCK: (&str, bool) = ("lock", true);

/// The column of the block that says how many events with a time of their own a row stands for.
const COUNT: &str = "count";

impl Measured {
    fn new(table: &'static Table, measure: &'static Measure) -> Measured {
        let mut keys = vec![("stack", false), ("thread", false)];
        keys.extend(measure.other.map(|other| (other.stack, false)));
        keys.extend(measure.locks.map(|_| LOCK));
        keys.extend(table.page.map(|_| ("process", true)));
        let own = keys.len();
        for label in measure.labels.iter().filter(|label| **label != "tick") {
            if keys.len() < KEYS && keys.iter().all(|(name, _)| name != label) {
                keys.push((label, true));
            }
        }
        let labels = keys.iter().skip(own).map(|(name, _)| *name).collect();
        let (mut sums, mut most) = (vec![(measure.weight, is_time(table, measure.weight))], Vec::new());
        for &name in measure.more.iter().filter(|name| **name != measure.weight) {
            let column = table.stored().into_iter().find(|c| c.name == name);
            let amount = (name, is_time(table, name));
            match column.map(|c| c.fold) {
                Some(Fold::Sum) if sums.len() < SUMS => sums.push(amount),
                Some(Fold::Max) if most.len() < MOSTS => most.push(amount),
                _ => {}
            }
        }
        if !measure.at.is_empty() && sums.len() < SUMS && sums.iter().all(|(name, _)| *name != COUNT) {
            sums.push((COUNT, false));
        }
        let limit = if measure.ledger { OF_LEDGER } else { OF_OTHERS };
        Measured {
            table,
            measure,
            shape: Shape { table: table.name, keys, sums, most, limit },
            labels,
            is_listed: false,
        }
    }

    /// Those of all runs: what divides the ledger's time first.
    fn of(runs: &[Run]) -> Vec<Measured> {
        let mut found: Vec<Measured> = Vec::new();
        for (table, measure) in runs.iter().flat_map(query::profile::measured) {
            let known = |m: &Measured| m.table.name == table.name || m.measure.id == measure.id;
            if !OWN.contains(&table.name) && !found.iter().any(known) {
                found.push(Measured::new(table, measure));
            }
        }
        found.sort_by_key(|m| (!m.measure.ledger, !m.measure.level.is_empty()));
        found
    }

    /// Its numbers that add up, and those of which the greatest counts.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.shape.sums.iter().chain(&self.shape.most).any(|(name, _)| *name == column)
    }

    /// The labels by which its rows are told apart.
    pub(crate) fn labels(&self) -> &[&'static str] {
        &self.labels
    }

    /// What a stack can be weighed by, as the head tells it.
    fn spec(&self) -> bundle::Measure {
        let m = self.measure;
        bundle::Measure {
            id: m.id.into(),
            title: m.title.into(),
            help: m.help.into(),
            table: self.table.name.into(),
            weight: m.weight.into(),
            unit: m.unit(self.table).base().into(),
            ledger: m.ledger,
            state: (!m.level.is_empty()).then(|| m.level.into()),
            who: m.who.into(),
            other: m.other.map(|o| o.stack.into()),
            other_title: m.other.map(|o| o.who.into()),
        }
    }

    /// The stretches in which it is read: a long recording's samples and waits would not all fit into memory. Locks are looked at as a whole, for
    /// their names; there are few of them.
    fn parts(&self, run: &Run) -> Vec<(i64, i64)> {
        if self.measure.locks.is_some() { vec![(i64::MIN, i64::MAX)] } else { parts(run) }
    }

    /// Rows as they are merged and written.
    fn events(&self, rows: &Rows, run: u32, making: &mut Making) -> Vec<Event> {
        let m = self.measure;
        let (threads, processes) = threads(rows, making);
        let stacks = nodes(rows, m.stack, run, making);
        let mut keys = vec![stacks, threads];
        keys.extend(m.other.map(|other| nodes(rows, other.stack, run, making)));
        if let Some(locks) = &m.locks {
            let places = (keys.first().map_or(&[][..], Vec::as_slice), &*processes);
            keys.push(locks::names(rows, locks, places, m.weight, making));
        }
        keys.extend(self.table.page.map(|_| processes));
        keys.extend(self.labels.iter().map(|label| rows.texts(label, &mut making.columns)));
        let amount = |(name, time): &(&'static str, bool)| {
            let unit = self.table.stored().into_iter().find(|c| c.name == *name).map(|c| c.unit);
            match unit {
                // So many events with a time of their own, where the table does not count them.
                None if *name == COUNT => vec![1; rows.len()],
                None | Some(Unit::None | Unit::Nanoseconds) => rows.numbers(name),
                Some(unit) => {
                    let factor = unit.factor() * if *time { 1e9 } else { 1.0 };
                    rows.numbers(name).into_iter().map(|n| (n as f64 * factor) as i64).collect()
                }
            }
        };
        let sums: Vec<Vec<i64>> = self.shape.sums.iter().map(amount).collect();
        let most: Vec<Vec<i64>> = self.shape.most.iter().map(amount).collect();
        let moments = (!m.at.is_empty()).then(|| rows.numbers(m.at));
        let stretches = if moments.is_none() { rows.stretches() } else { Vec::new() };
        let event = |i: usize| {
            let (from, to) = match &moments {
                Some(moments) => (at(moments, i).max(0), at(moments, i).max(0)),
                None => at(&stretches, i),
            };
            let mut event = Event { run, from, to, ..Event::default() };
            event.key.iter_mut().zip(&keys).for_each(|(cell, column)| *cell = at(column, i));
            event.sum.iter_mut().zip(&sums).for_each(|(cell, column)| *cell = at(column, i));
            event.most.iter_mut().zip(&most).for_each(|(cell, column)| *cell = at(column, i));
            event
        };
        rows.indices().map(event).collect()
    }
}

/// Whether a column is an amount of time.
fn is_time(table: &Table, column: &str) -> bool {
    table.stored().iter().any(|c| c.name == column && c.unit.base() == "s")
}

/// What is in the block, and what is told of it in the head.
pub(crate) struct Profile {
    pub(crate) block: Columns,
    pub(crate) spec: ProfileSpec,
    /// The tables with a measure that are in it.
    pub(crate) measured: Vec<Measured>,
}

/// Threads by process and thread name: numbers mean nothing in another run.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    numbers: HashMap<(u32, u32), u32>,
    list: Vec<(u32, u32)>,
}

impl Threads {
    /// The number of a thread, from 0.
    pub(crate) fn number(&mut self, process: u32, thread: u32) -> u32 {
        let list = &mut self.list;
        *self.numbers.entry((process, thread)).or_insert_with(|| {
            list.push((process, thread));
            list.len() as u32 - 1
        })
    }
}

/// All that is collected on the way.
pub(crate) struct Making {
    pub(crate) columns: Columns,
    pub(crate) stacks: Stacks,
    pub(crate) threads: Threads,
    pub(crate) ticks: Ticks,
}

/// Makes the block; `None` where no recording has any of it.
pub(crate) fn profile(
    runs: &[Run],
    comparison: &Comparison,
    explained: Option<&Explained>,
) -> Result<Option<Profile>, crate::Error> {
    let mut columns = Columns::default();
    let stacks = Stacks::load(runs, &mut columns);
    let mut making = Making { columns, stacks, threads: Threads::default(), ticks: Ticks::default() };
    let mut measured = Measured::of(runs);
    for one in &mut measured {
        let lock = one.shape.keys.iter().position(|key| *key == LOCK).filter(|_| one.measure.locks.is_some());
        let is_listed = |event: &Event| lock.is_none_or(|at| event.key.get(at).is_some_and(|lock| *lock != 0));
        let limit = one.shape.limit;
        let mut events = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            for part in one.parts(run) {
                if let Some(rows) = Rows::load_part(run, one.table.name, None, part) {
                    events.append(&mut one.events(&rows, index as u32, &mut making));
                }
                one.is_listed |= events.iter().any(is_listed);
                if events.len() > limit * 4 {
                    events = merge(events, limit);
                }
            }
        }
        write(&one.shape, events, &mut making.ticks, &mut making.columns);
    }
    ledger::write(runs, explained, &mut making)?;
    let Making { mut columns, stacks, threads, ticks } = making;
    measured.retain(|one| columns.has(one.table.name));
    let own = ledger::TABLES.into_iter().filter(|t| columns.has(t));
    let tables: Vec<&str> = measured.iter().map(|one| one.table.name).chain(own).collect();
    if tables.is_empty() {
        return Ok(None);
    }
    stacks.finish(&mut columns);
    ticks.finish(&mut columns);
    let part = |of: fn(&(u32, u32)) -> u32| threads.list.iter().map(of).collect::<Vec<u32>>();
    columns.table("thread", &[Column::text("process", part(|t| t.0)), Column::text("thread", part(|t| t.1))]);
    let spec = ProfileSpec {
        block: BLOCK.into(),
        per: per(runs),
        states: ledger::states(runs),
        measures: measured.iter().map(Measured::spec).collect(),
        tables: tables.into_iter().map(str::to_owned).collect(),
        turns: ledger::turns(comparison),
        notes: runs.iter().map(notes).collect(),
    };
    Ok(Some(Profile { block: columns, spec, measured }))
}

/// Length of a part of a recording that is read at a time, nanoseconds.
const PART: i64 = 120_000_000_000;

/// The stretches in which a table of many rows is read; a short recording as a whole.
pub(crate) fn parts(run: &Run) -> Vec<(i64, i64)> {
    let duration = run.recording.duration();
    if duration <= PART * 2 {
        return vec![(i64::MIN, i64::MAX)];
    }
    let count = (duration + PART - 1) / PART;
    let edge = |i: i64| match i {
        0 => i64::MIN,
        _ if i == count => i64::MAX,
        _ => i * PART,
    };
    (0..count).map(|i| (edge(i), edge(i + 1))).collect()
}

/// What the weights are divided by: operations or runs of the command, each as so many per second, or nothing.
fn per(runs: &[Run]) -> WeightPer {
    let second = || WeightPer { what: PerWhat::Second, rate: vec![1.0; runs.len()] };
    let windows = runs.iter().map(|run| compare::choose(run, &Choice::Auto)).collect::<Result<Vec<_>, _>>();
    let Ok(windows) = windows else { return second() };
    let rates = |of: fn(&Run, &Window) -> Option<Pace>| {
        runs.iter().zip(&windows).map(|(run, window)| of(run, window).map_or(f64::NAN, Pace::rate)).collect()
    };
    match work::Unit::of(runs.iter().zip(&windows)) {
        work::Unit::Operation(_) => WeightPer { what: PerWhat::Operation, rate: rates(Pace::of) },
        work::Unit::Run => WeightPer { what: PerWhat::Run, rate: rates(Pace::of_whole) },
        work::Unit::Second => second(),
    }
}

/// What a reader of this run's stacks must know.
fn notes(run: &Run) -> Vec<String> {
    let names = run.recording.tables().map(|(_, table)| table.name);
    names.filter(|name| *name == "collector" || name.ends_with("_collector")).flat_map(|n| notes_of(run, n)).collect()
}

/// What a table of a collector says that a reader must know: losses, and what was counted in part.
pub(crate) fn notes_of(run: &Run, table: &str) -> Vec<String> {
    let Some(rows) = Rows::load(run, table) else { return Vec::new() };
    let (names, lost, one_in) = (rows.cells("collector"), rows.numbers("lost"), rows.numbers("sampled_1_in"));
    let mut worst: HashMap<&str, (i64, i64)> = HashMap::new();
    for ((&name, &lost), &one_in) in names.iter().zip(&lost).zip(&one_in) {
        let entry = worst.entry(rows.text(name).unwrap_or(table)).or_default();
        *entry = (entry.0.max(lost), entry.1.max(one_in));
    }
    let mut worst: Vec<_> = worst.into_iter().collect();
    worst.sort_unstable();
    let mut notes = Vec::new();
    for (name, (lost, one_in)) in worst {
        if lost > 0 {
            notes.push(format!("{name}: {lost} events were lost"));
        }
        // What a source counts goes by its own name, its stacks by theirs.
        if one_in > 1 && (name == "stacks" || table == "collector") {
            notes.push(format!("{name}: stacks were taken of down to 1 in {one_in} events"));
        } else if one_in > 1 {
            notes.push(format!("{name}: counted in down to 1/{one_in} of the time, and scaled up"));
        }
    }
    notes
}

/// Threads of rows that name their process `comm` and their thread `thread`.
fn threads(rows: &Rows, making: &mut Making) -> (Vec<u32>, Vec<u32>) {
    let processes = rows.texts("comm", &mut making.columns);
    let names = rows.texts("thread", &mut making.columns);
    let threads = processes.iter().zip(&names).map(|(&p, &t)| making.threads.number(p, t)).collect();
    (threads, processes)
}

/// The tree nodes of a column of stacks.
fn nodes(rows: &Rows, column: &str, run: u32, making: &mut Making) -> Vec<u32> {
    rows.cells(column).into_iter().map(|s| if s == NULL { 0 } else { making.stacks.node(run as usize, s) }).collect()
}

pub(crate) fn at<T: Copy + Default>(cells: &[T], row: usize) -> T {
    cells.get(row).copied().unwrap_or_default()
}
