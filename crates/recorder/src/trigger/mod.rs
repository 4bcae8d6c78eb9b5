//! Triggers: conditions on what is read, upon which a flight recorder saves what it holds. What a condition is, is in `condition`; the values of
//! metrics are in `watch`, what the kernel says by itself in `pressure`; what happens when one fires is in `saved`. `replay` asks a recording.

mod condition;
mod pressure;
mod replay;
mod saved;
mod watch;

pub use condition::Trigger;
pub(crate) use pressure::listen;
pub use replay::replay;
pub(crate) use saved::{Asked, Saved, Waiting, utc};

use condition::{Cause, Condition, What};
use model::{Rows, Symbols, Table};
use std::collections::VecDeque;
use watch::{Reading, Value, Watch};

/// Work done a second is that of this time: workloads report at a pace of their own.
const WORK_OVER: i64 = 10_000_000_000;

/// What was read so long ago, in its own intervals, holds no more.
const STALE: i64 = 3;

/// A trigger that fired.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fired {
    /// Which one, by its place.
    pub(crate) trigger: usize,
    /// When, nanoseconds since the start.
    pub(crate) t: i64,
    /// Since when it held, as far as the readings tell.
    pub(crate) since: i64,
    /// What was read: `cpu.busy 1.93 > 1.5`.
    pub(crate) what: String,
    /// The value of the first condition, and its threshold; in words.
    pub(crate) value: String,
    pub(crate) threshold: String,
}

/// The triggers of a recording, and what holds of them.
#[derive(Debug)]
pub(crate) struct Triggers {
    all: Vec<State>,
    /// The same trigger does not fire again before so many nanoseconds are over.
    cooldown: i64,
}

#[derive(Debug)]
struct State {
    trigger: Trigger,
    lasting: i64,
    watched: Vec<Watched>,
    /// Whether it has held without a break since it fired.
    holds_on: bool,
    fired_at: Option<i64>,
    /// Readings so far, until something was measured; `None` afterwards.
    silent: Option<u32>,
}

#[derive(Debug)]
struct Watched {
    condition: Condition,
    of: Of,
    /// For each group for which it holds: since when, and the value that was read last.
    holding: Vec<(Vec<String>, i64, f64)>,
    /// When it was last read, and how long that stands for.
    read_at: i64,
    interval: i64,
}

/// Where the values of a condition come from.
#[derive(Debug)]
enum Of {
    Metric(Box<Watch>),
    /// Time and total of the reports of the last [`WORK_OVER`].
    Work(VecDeque<(i64, f64)>),
}

/// After so many readings without a value the user is told.
const SILENT: u32 = 5;

impl Triggers {
    /// Waits for these.
    pub(crate) fn new(triggers: &[Trigger], cooldown: i64) -> Self {
        let watched = |condition: &Condition| Watched {
            of: match &condition.what {
                What::Metric(metric, labels) => Of::Metric(Box::new(Watch::new(metric.clone(), labels))),
                What::Work => Of::Work(VecDeque::new()),
            },
            condition: condition.clone(),
            holding: Vec::new(),
            read_at: 0,
            interval: 0,
        };
        let state = |trigger: &Trigger| State {
            lasting: match &trigger.cause {
                Cause::Conditions(_, lasting) => lasting.as_nanos() as i64,
                Cause::Pressure(_) => 0,
            },
            watched: trigger.conditions().iter().map(watched).collect(),
            trigger: trigger.clone(),
            holds_on: false,
            fired_at: None,
            silent: Some(0),
        };
        Triggers { all: triggers.iter().map(state).collect(), cooldown }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Trigger> {
        self.all.get(at).map(|state| &state.trigger)
    }

    /// The metrics that conditions are about, with the trigger that has them.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = (&Trigger, &model::Metric)> {
        self.all.iter().flat_map(|state| {
            state.watched.iter().filter_map(|watched| match &watched.of {
                Of::Metric(watch) => Some((&state.trigger, watch.metric())),
                Of::Work(_) => None,
            })
        })
    }

    /// Whether one asks for the work done.
    pub(crate) fn want_work(&self) -> Option<&Trigger> {
        let wants = |state: &&State| state.watched.iter().any(|watched| matches!(watched.of, Of::Work(_)));
        self.all.iter().find(wants).map(|state| &state.trigger)
    }

    /// Takes the rows of a reading of `table`, at `t` nanoseconds since the start.
    pub(crate) fn rows(&mut self, table: &'static Table, t: i64, rows: &Rows, symbols: &Symbols) {
        for watched in self.all.iter_mut().flat_map(|state| &mut state.watched) {
            if let Of::Metric(watch) = &mut watched.of
                && watch.metric().table.name == table.name
                && let Some(reading) = watch.take(t, rows, symbols)
            {
                watched.take(&reading);
            }
        }
    }

    /// Takes the work done in all, as known at `t`.
    pub(crate) fn work(&mut self, t: i64, total: f64) {
        for watched in self.all.iter_mut().flat_map(|state| &mut state.watched) {
            let Of::Work(points) = &mut watched.of else { continue };
            points.push_back((t, total));
            while points.get(1).is_some_and(|(at, _)| t - at >= WORK_OVER) {
                points.pop_front();
            }
            if let Some(&(from, before)) = points.front().filter(|(from, _)| t - from >= WORK_OVER) {
                let value = (total - before) / ((t - from) as f64 / 1e9);
                let reading = Reading { from, to: t, values: vec![Value { group: Vec::new(), value }] };
                watched.take(&reading);
            }
        }
    }

    /// What fires at `t`, after all rows of the time were taken.
    pub(crate) fn fire(&mut self, t: i64) -> Vec<Fired> {
        let cooldown = self.cooldown;
        let mut fired = Vec::new();
        for (at, state) in self.all.iter_mut().enumerate().filter(|(_, state)| !state.watched.is_empty()) {
            let since: Option<Vec<i64>> = state.watched.iter().map(|watched| watched.since(t)).collect();
            let Some(since) = since else {
                state.holds_on = false;
                continue;
            };
            let since = since.into_iter().max().unwrap_or(t);
            let cool = state.fired_at.is_none_or(|before| t - before >= cooldown);
            // Readings come some microseconds early or late, and the first at which it has lasted long enough is meant.
            let early = state.watched.iter().map(|watched| watched.interval / 4).max().unwrap_or(0);
            if state.holds_on || !cool || t - since < state.lasting - early.min(state.lasting / 4) {
                continue;
            }
            (state.holds_on, state.fired_at) = (true, Some(t));
            let words: Vec<String> = state.watched.iter().map(Watched::words).collect();
            let first = state.watched.first();
            fired.push(Fired {
                trigger: at,
                t,
                since: since.min(t),
                what: words.join(" and "),
                value: first.map_or(String::new(), |watched| watched.number(watched.value())),
                threshold: first.map_or(String::new(), |watched| watched.number(watched.condition.threshold)),
            });
        }
        fired
    }

    /// What the kernel said of pressure fires at `t`, unless it is too soon after the time before.
    pub(crate) fn pressed(&mut self, at: usize, t: i64) -> Option<Fired> {
        let cooldown = self.cooldown;
        let state = self.all.get_mut(at)?;
        let Cause::Pressure(pressure) = &state.trigger.cause else { return None };
        if state.fired_at.is_some_and(|before| t - before < cooldown) {
            return None;
        }
        state.fired_at = Some(t);
        let threshold = format!("{:?} in {:?}", pressure.stall, pressure.window);
        let value = format!("at least {threshold}");
        // The stall lay somewhere in the kernel's window, which ended now.
        let since = t.saturating_sub(pressure.window.as_nanos() as i64).max(0);
        Some(Fired { trigger: at, t, since, what: state.trigger.text.clone(), value, threshold })
    }

    /// Conditions of which nothing was measured at any of the first readings, each said once: in words.
    pub(crate) fn silent(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        for state in &mut self.all {
            let Some(readings) = &mut state.silent else { continue };
            *readings += 1;
            let unread = state.watched.iter().find(|watched| watched.interval == 0);
            match unread {
                None => state.silent = None,
                Some(watched) if *readings == SILENT => {
                    said.push(format!(
                        "trigger {}: nothing to measure {} of was found so far; it fires once there is",
                        state.trigger.name,
                        watched.condition.name()
                    ));
                    state.silent = None;
                }
                Some(_) => {}
            }
        }
        said
    }
}

impl Watched {
    fn take(&mut self, reading: &Reading) {
        let before = std::mem::take(&mut self.holding);
        if reading.values.iter().any(|value| !value.value.is_nan()) {
            self.interval = reading.to.saturating_sub(self.read_at).max(1);
        }
        self.read_at = reading.to;
        for Value { group, value } in &reading.values {
            if self.condition.holds(*value) {
                let since =
                    before.iter().find(|(known, ..)| known == group).map_or(reading.from, |(_, since, _)| *since);
                self.holding.push((group.clone(), since, *value));
            }
        }
    }

    /// The group for which it holds longest.
    fn longest(&self) -> Option<&(Vec<String>, i64, f64)> {
        self.holding.iter().min_by_key(|(_, since, _)| *since)
    }

    /// Since when it holds, if it does at `t`.
    fn since(&self, t: i64) -> Option<i64> {
        let is_stale = t.saturating_sub(self.read_at) > self.interval.saturating_mul(STALE);
        self.longest().filter(|_| !is_stale).map(|(_, since, _)| *since)
    }

    fn value(&self) -> f64 {
        self.longest().map_or(f64::NAN, |(_, _, value)| *value)
    }

    fn number(&self, value: f64) -> String {
        model::human(value, self.condition.unit())
    }

    fn words(&self) -> String {
        let group = self.longest().map_or(&[][..], |(group, ..)| group);
        let group = if group.is_empty() { String::new() } else { format!(" ({})", group.join(", ")) };
        let [value, threshold] = [self.value(), self.condition.threshold].map(|number| self.number(number));
        format!("{}{group} {value} {} {threshold}", self.condition.name(), self.condition.sign.as_str())
    }
}

#[cfg(test)]
mod tests;
