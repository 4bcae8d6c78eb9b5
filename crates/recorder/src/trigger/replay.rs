//! `triggers`: what can be asked for, and when triggers would have fired in a recording.

use super::condition::{Cause, WORK};
use super::saved::utc;
use super::{Fired, Trigger, Triggers};
use crate::options::{self, Usage};
use anyhow::{Context, Result};
use model::{NULL, Rows, Table};
use std::collections::BTreeMap;
use store::{Frame, Recording, Select};

/// `twinscope-recorder triggers`.
///
/// # Errors
/// Where the recording cannot be read, or no trigger was given for it.
pub fn replay(options: &options::Triggers) -> Result<()> {
    let Some(path) = &options.test else {
        if options.trigger.is_empty() {
            list();
        }
        for trigger in &options.trigger {
            println!("{}: {}", trigger.name, trigger.text);
        }
        return Ok(());
    };
    if options.trigger.is_empty() {
        return Err(Usage("--test: which triggers? Give them with --trigger".into()).into());
    }
    let recording = Recording::open(path).with_context(|| format!("{}", path.display()))?;
    let fired = test(&recording, &options.trigger, options.cooldown.as_nanos() as i64)?;
    let start = recording.manifest().start_unix;
    for (at, trigger) in options.trigger.iter().enumerate() {
        let own: Vec<&Fired> = fired.iter().filter(|fired| fired.trigger == at).collect();
        match (&trigger.cause, own.len()) {
            (Cause::Pressure(_), _) => {
                println!("{}: the kernel decides that when it happens; a recording cannot tell", trigger.name);
            }
            (_, 0) => println!("{}: would not have fired", trigger.name),
            (_, n) => println!(
                "{}: would have fired {}",
                trigger.name,
                if n == 1 { "once".into() } else { format!("{n} times") }
            ),
        }
        for fired in own {
            let unix = start.saturating_add(fired.t) / 1_000_000_000;
            println!("  at {:.1} s ({}): {}", fired.t as f64 / 1e9, utc(unix), fired.what);
        }
    }
    Ok(())
}

/// When triggers would have fired in a recording, in the order of time.
fn test(recording: &Recording, triggers: &[Trigger], cooldown: i64) -> Result<Vec<Fired>> {
    let mut state = Triggers::new(triggers, cooldown);
    let mut tables: BTreeMap<&'static str, (&'static Table, Frame)> = BTreeMap::new();
    for (trigger, metric) in state.metrics() {
        let name = metric.table.name;
        if tables.contains_key(name) {
            continue;
        }
        let here = recording.tables().any(|(_, table)| table.name == name);
        let frame = recording.load(name, &Select::default()).filter(|_| here);
        let frame = frame.with_context(|| format!("trigger {}: {name} was not recorded", trigger.name))?;
        if !frame.table.labels().map(|label| label.name).eq(metric.table.labels().map(|label| label.name)) {
            anyhow::bail!(
                "trigger {}: {name} has other labels in this recording, which another version made",
                trigger.name
            );
        }
        tables.insert(name, (metric.table, frame));
    }
    let mut readings: Vec<(i64, &'static Table, &Frame, usize)> = Vec::new();
    for (table, frame) in tables.values() {
        readings.extend(frame.ticks.iter().enumerate().map(|(tick, t)| (*t, *table, frame, tick)));
    }
    readings.sort_by_key(|(t, ..)| *t);
    let mut work = recording.manifest().work.iter().flat_map(|work| &work.progress).peekable();
    if let Some(trigger) = state.want_work()
        && work.peek().is_none()
    {
        anyhow::bail!("trigger {}: no work was reported in this recording, so that there is no {WORK}", trigger.name);
    }
    let mut fired = Vec::new();
    let mut cells: BTreeMap<&'static str, Replayed> = BTreeMap::new();
    for (t, table, frame, tick) in readings {
        while let Some((seconds, total)) = work.next_if(|(seconds, _)| seconds * 1e9 <= t as f64) {
            let t = (seconds * 1e9) as i64;
            state.work(t, *total);
            fired.extend(state.fire(t));
        }
        let rows = cells.entry(table.name).or_insert_with(|| Replayed::new(table, frame)).rows(frame, tick);
        state.rows(table, t, &rows, &frame.symbols);
        fired.extend(state.fire(t));
    }
    for (seconds, total) in work {
        let t = (seconds * 1e9) as i64;
        state.work(t, *total);
        fired.extend(state.fire(t));
    }
    Ok(fired)
}

/// Brings back the rows of one reading after the other: a recording leaves out those that did not change.
pub(super) struct Replayed {
    /// For each entity the next of its rows, and the one that holds.
    next: Vec<usize>,
    holds: Vec<Option<usize>>,
    /// The width of a row, and where its values are among the frame's: the declaration may have grown since the recording was made.
    width: usize,
    columns: Vec<Option<usize>>,
}

impl Replayed {
    pub(super) fn new(table: &'static Table, frame: &Frame) -> Self {
        let stored = table.stored();
        let values = stored.get(table.label_width()..).unwrap_or_default();
        Replayed {
            width: table.width(),
            next: frame.entities.iter().map(|entity| entity.rows.start).collect(),
            holds: vec![None; frame.entities.len()],
            columns: values.iter().map(|column| frame.names.iter().position(|name| *name == column.name)).collect(),
        }
    }

    pub(super) fn rows(&mut self, frame: &Frame, tick: usize) -> Rows {
        let mut rows = Rows { width: self.width, cells: Vec::new() };
        for ((entity, next), holds) in frame.entities.iter().zip(&mut self.next).zip(&mut self.holds) {
            while *next < entity.rows.end && frame.tick.get(*next).is_some_and(|at| *at as usize <= tick) {
                let gone = frame.gone.get(*next).copied().unwrap_or(false);
                *holds = (!gone).then_some(*next);
                *next += 1;
            }
            let Some(row) = *holds else { continue };
            rows.cells.extend(&entity.labels);
            let cell =
                |column: &Option<usize>| column.and_then(|at| frame.values.get(at)?.get(row).copied()).unwrap_or(NULL);
            rows.cells.extend(self.columns.iter().map(cell));
        }
        rows
    }
}

/// All that triggers can ask for.
fn list() {
    println!("{WORK}  1/s  work done a second, as the workload reports it (--throughput), over the last 10 s");
    let tables = sources::ALL.iter().flat_map(|source| source.tables.iter().copied());
    for table in tables.filter(|table| !table.events) {
        let labels: Vec<&str> = table.labels().map(|column| column.name).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        for metric in model::metrics(table) {
            println!("{}{labels}  {}  {}", metric.full_name(), metric.unit, metric.help);
        }
    }
}
