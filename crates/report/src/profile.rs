//! The block `profile`: stacks on and off the CPU, locks, interrupts sent, faults, the thread ledger and how many threads ran at once, all
//! over time, so that the page can add them up for any window. See docs/report-bundle.md, "Block of columns".

use crate::bundle::{Measure, MeasureUnit, PerWhat, ProfileSpec, WeightPer};
use crate::columns::{Column, Columns};
use crate::events::{Event, Shape, Ticks, merge, write};
use crate::rows::Rows;
use crate::stacks::Stacks;
use crate::{ledger, locks};
use explain::Comparison;
use model::NULL;
use query::Run;
use std::collections::HashMap;

/// The name of the block.
pub(crate) const BLOCK: &str = "profile";

const SAMPLE: Shape = Shape {
    table: "sample",
    keys: &[("stack", false), ("thread", false)],
    sums: &[("weight", true), ("count", false)],
    most: &[],
    limit: 120_000,
};
const WAIT: Shape = Shape {
    table: "wait",
    keys: &[
        ("stack", false),
        ("thread", false),
        ("state", true),
        ("what", true),
        ("waker", true),
        ("waker_stack", false),
    ],
    sums: &[("time", true), ("count", false)],
    most: &[("longest", true)],
    limit: 100_000,
};
const GOROUTINE: Shape = Shape {
    table: "goroutine_wait",
    keys: &[("stack", false), ("thread", false), ("reason", true), ("lock", true), ("process", true)],
    sums: &[("time", true)],
    most: &[("most", false)],
    limit: 40_000,
};
const FAULT: Shape = Shape {
    table: "page_fault",
    keys: &[("stack", false), ("thread", false), ("kind", true), ("access", true)],
    sums: &[("count", false)],
    most: &[],
    limit: 40_000,
};
const IPI: Shape = Shape {
    table: "ipi",
    keys: &[("stack", false), ("thread", false), ("kind", true), ("function", true), ("process", true)],
    sums: &[("count", false), ("targets", false), ("pages", false)],
    most: &[],
    limit: 40_000,
};
const LOCK: Shape = Shape {
    table: "lock",
    keys: &[
        ("stack", false),
        ("thread", false),
        ("kind", true),
        ("lock", true),
        ("address", true),
        ("holder", true),
        ("holder_stack", false),
        ("process", true),
    ],
    sums: &[("time", true), ("count", false)],
    most: &[("longest", true), ("waiters", false)],
    limit: 60_000,
};

/// The tables of events with stacks.
pub(crate) const EVENTS: [&Shape; 6] = [&SAMPLE, &WAIT, &LOCK, &GOROUTINE, &FAULT, &IPI];

/// What is in the block, and what is told of it in the head.
pub(crate) struct Profile {
    pub(crate) block: Columns,
    pub(crate) spec: ProfileSpec,
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
pub(crate) fn profile(runs: &[Run], comparison: &Comparison) -> Result<Option<Profile>, crate::Error> {
    let mut columns = Columns::default();
    let stacks = Stacks::load(runs, &mut columns);
    let mut making = Making { columns, stacks, threads: Threads::default(), ticks: Ticks::default() };
    let mut of = |shape: &Shape, read: &dyn Fn(&Rows, u32, &mut Making) -> Vec<Event>| {
        let mut events = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            for part in parts(run, shape) {
                if let Some(rows) = Rows::load_part(run, shape.table, None, part) {
                    events.append(&mut read(&rows, index as u32, &mut making));
                }
                if events.len() > shape.limit * 4 {
                    events = merge(events, shape.limit);
                }
            }
        }
        write(shape, events, &mut making.ticks, &mut making.columns);
    };
    of(&SAMPLE, &samples);
    of(&WAIT, &waits);
    of(&LOCK, &locks::rows);
    of(&GOROUTINE, &goroutines);
    of(&FAULT, &faults);
    of(&IPI, &ipis);
    ledger::write(runs, &mut making)?;
    let Making { mut columns, stacks, threads, ticks } = making;
    let named = EVENTS.iter().map(|shape| shape.table).chain(ledger::TABLES);
    let tables: Vec<&str> = named.filter(|t| columns.has(t)).collect();
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
        states: ledger::states(),
        measures: measures().into_iter().filter(|m| columns.has(&m.table)).collect(),
        tables: tables.into_iter().map(str::to_owned).collect(),
        turns: ledger::turns(comparison),
        notes: runs.iter().map(notes).collect(),
    };
    Ok(Some(Profile { block: columns, spec }))
}

/// Length of a part of a recording that is read at a time, nanoseconds.
const PART: i64 = 120_000_000_000;

/// The stretches in which a table is read: a long recording's samples and waits would not all fit into memory. Locks are looked at as a whole,
/// for their names; there are few of them.
fn parts(run: &Run, shape: &Shape) -> Vec<(i64, i64)> {
    let duration = run.recording.duration();
    if duration <= PART * 2 || shape.table == LOCK.table {
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

/// What a stack can be weighed by.
fn measures() -> [Measure; 6] {
    let of = |id: &str, title: &str, table: &str, weight: &str, unit: MeasureUnit, help: &str| Measure {
        id: id.into(),
        title: title.into(),
        help: help.into(),
        table: table.into(),
        weight: weight.into(),
        unit,
        state: None,
        other: None,
        other_title: None,
    };
    let other = |measure: Measure, column: &str, title: &str| Measure {
        other: Some(column.into()),
        other_title: Some(title.into()),
        ..measure
    };
    let by_state = |measure: Measure, column: &str| Measure { state: Some(column.into()), ..measure };
    use MeasureUnit::{Counts, Seconds};
    let wait = "time that threads were blocked, by the stack that waited";
    let lock = "time blocked on contended locks, by the stack that waited";
    let goroutine =
        "time that goroutines of Go programs waited, most of them without a thread, by the stack that waited";
    let ipi = "interrupts that CPUs send to each other, by the stack that sends; each CPU hit counts once";
    [
        of("cpu", "On CPU", "sample", "weight", Seconds, "CPU time by stack, from samples in equal intervals"),
        by_state(
            other(of("wait", "Off CPU", "wait", "time", Seconds, wait), "waker_stack", "who ended the wait"),
            "state",
        ),
        other(of("locks", "Lock waits", "lock", "time", Seconds, lock), "holder_stack", "who held the lock"),
        by_state(of("goroutines", "Goroutines", "goroutine_wait", "time", Seconds, goroutine), "reason"),
        of("faults", "Page faults", "page_fault", "count", Counts, "page faults by the stack that touched the page"),
        of("ipis", "Interrupts sent", "ipi", "targets", Counts, ipi),
    ]
}

/// What the weights are divided by: operations or runs of the command, each as so many per second, or nothing.
fn per(runs: &[Run]) -> WeightPer {
    let manifests: Vec<_> = runs.iter().map(|r| r.recording.manifest()).collect();
    let wall = |m: &&model::Manifest| m.wall.filter(|w| *w > 0).map(|w| w as f64 / 1e9);
    let walls: Option<Vec<f64>> = manifests.iter().map(wall).collect();
    let work: Option<Vec<f64>> =
        manifests.iter().map(|m| m.work.as_ref().map(|w| w.total).filter(|t| *t > 0.0)).collect();
    match (walls, work) {
        (Some(walls), Some(work)) => {
            WeightPer { what: PerWhat::Operation, rate: work.iter().zip(&walls).map(|(w, s)| w / s).collect() }
        }
        (Some(walls), None) => WeightPer { what: PerWhat::Run, rate: walls.iter().map(|s| 1.0 / s).collect() },
        (None, _) => WeightPer { what: PerWhat::Second, rate: vec![1.0; runs.len()] },
    }
}

/// What a reader of this run's stacks must know.
fn notes(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    for (_, table) in run.recording.tables() {
        if table.name != "collector" && !table.name.ends_with("_collector") {
            continue;
        }
        let Some(rows) = Rows::load(run, table.name) else { continue };
        let (names, lost, one_in) = (rows.cells("collector"), rows.numbers("lost"), rows.numbers("sampled_1_in"));
        let mut worst: HashMap<&str, (i64, i64)> = HashMap::new();
        for ((&name, &lost), &one_in) in names.iter().zip(&lost).zip(&one_in) {
            let entry = worst.entry(rows.text(name).unwrap_or(table.name)).or_default();
            *entry = (entry.0.max(lost), entry.1.max(one_in));
        }
        let mut worst: Vec<_> = worst.into_iter().collect();
        worst.sort_unstable();
        for (name, (lost, one_in)) in worst {
            if lost > 0 {
                notes.push(format!("{name}: {lost} events were lost"));
            }
            // What a source counts goes by its own name, its stacks by theirs.
            if one_in > 1 && (name == "stacks" || table.name == "collector") {
                notes.push(format!("{name}: stacks were taken of down to 1 in {one_in} events"));
            } else if one_in > 1 {
                notes.push(format!("{name}: counted in down to 1/{one_in} of the time, and scaled up"));
            }
        }
    }
    notes
}

/// Threads of rows that name their process `comm` and their thread `thread`.
pub(crate) fn threads(rows: &Rows, making: &mut Making) -> (Vec<u32>, Vec<u32>) {
    let processes = rows.texts("comm", &mut making.columns);
    let names = rows.texts("thread", &mut making.columns);
    let threads = processes.iter().zip(&names).map(|(&p, &t)| making.threads.number(p, t)).collect();
    (threads, processes)
}

/// The tree nodes of a column of stacks.
pub(crate) fn nodes(rows: &Rows, column: &str, run: u32, making: &mut Making) -> Vec<u32> {
    rows.cells(column).into_iter().map(|s| if s == NULL { 0 } else { making.stacks.node(run as usize, s) }).collect()
}

pub(crate) fn at<T: Copy + Default>(cells: &[T], row: usize) -> T {
    cells.get(row).copied().unwrap_or_default()
}

fn samples(rows: &Rows, run: u32, making: &mut Making) -> Vec<Event> {
    let (threads, _) = threads(rows, making);
    let stacks = nodes(rows, "stack", run, making);
    let (times, weights) = (rows.numbers("at"), rows.numbers("weight"));
    let event = |i: usize| {
        let t = at(&times, i).max(0);
        Event {
            run,
            from: t,
            to: t,
            key: [at(&stacks, i), at(&threads, i), 0, 0, 0, 0, 0, 0],
            sum: [at(&weights, i), 1, 0],
            most: [0; 2],
        }
    };
    rows.indices().map(event).collect()
}

fn waits(rows: &Rows, run: u32, making: &mut Making) -> Vec<Event> {
    let (threads, _) = threads(rows, making);
    let stacks = nodes(rows, "stack", run, making);
    let wakers = nodes(rows, "waker_stack", run, making);
    let texts = ["state", "what", "waker"].map(|c| rows.texts(c, &mut making.columns));
    let [states, whats, waker_names] = &texts;
    let (times, counts, longest) = (rows.numbers("time"), rows.numbers("count"), rows.numbers("longest"));
    let stretches = rows.stretches();
    let event = |i: usize| {
        let (from, to) = at(&stretches, i);
        Event {
            run,
            from,
            to,
            key: [
                at(&stacks, i),
                at(&threads, i),
                at(states, i),
                at(whats, i),
                at(waker_names, i),
                at(&wakers, i),
                0,
                0,
            ],
            sum: [at(&times, i), at(&counts, i), 0],
            most: [at(&longest, i), 0],
        }
    };
    rows.indices().map(event).collect()
}

fn goroutines(rows: &Rows, run: u32, making: &mut Making) -> Vec<Event> {
    let processes = rows.texts("comm", &mut making.columns);
    let stacks = nodes(rows, "stack", run, making);
    let reasons = rows.texts("reason", &mut making.columns);
    let (times, most) = (rows.numbers("time"), rows.numbers("most"));
    let stretches = rows.stretches();
    let threads: Vec<u32> = processes.iter().map(|&p| making.threads.number(p, 0)).collect();
    let places = locks::places(&stacks, making);
    let event = |i: usize| {
        let (from, to) = at(&stretches, i);
        let place = places.get(&at(&stacks, i)).copied().unwrap_or(0);
        let key = [at(&stacks, i), at(&threads, i), at(&reasons, i), place, at(&processes, i), 0, 0, 0];
        Event { run, from, to, key, sum: [at(&times, i), 0, 0], most: [at(&most, i), 0] }
    };
    rows.indices().map(event).collect()
}

fn faults(rows: &Rows, run: u32, making: &mut Making) -> Vec<Event> {
    let processes = rows.texts("comm", &mut making.columns);
    let stacks = nodes(rows, "stack", run, making);
    let texts = ["kind", "access"].map(|c| rows.texts(c, &mut making.columns));
    let [kinds, accesses] = &texts;
    let counts = rows.numbers("count");
    let stretches = rows.stretches();
    let threads: Vec<u32> = processes.iter().map(|&p| making.threads.number(p, 0)).collect();
    let event = |i: usize| {
        let (from, to) = at(&stretches, i);
        let key = [at(&stacks, i), at(&threads, i), at(kinds, i), at(accesses, i), 0, 0, 0, 0];
        Event { run, from, to, key, sum: [at(&counts, i), 0, 0], most: [0; 2] }
    };
    rows.indices().map(event).collect()
}

fn ipis(rows: &Rows, run: u32, making: &mut Making) -> Vec<Event> {
    let (threads, processes) = threads(rows, making);
    let stacks = nodes(rows, "stack", run, making);
    let texts = ["kind", "function"].map(|c| rows.texts(c, &mut making.columns));
    let [kinds, functions] = &texts;
    let (counts, targets, pages) = (rows.numbers("count"), rows.numbers("targets"), rows.numbers("pages"));
    let stretches = rows.stretches();
    let event = |i: usize| {
        let (from, to) = at(&stretches, i);
        let key = [at(&stacks, i), at(&threads, i), at(kinds, i), at(functions, i), at(&processes, i), 0, 0, 0];
        Event { run, from, to, key, sum: [at(&counts, i), at(&targets, i), at(&pages, i)], most: [0; 2] }
    };
    rows.indices().map(event).collect()
}
