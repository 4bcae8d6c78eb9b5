//! Stacks on and off the CPU, locks and the thread ledger: what the block `profile` holds.

use super::{State, Unit};
use serde::Serialize;

/// What is in the block `profile`, and how it is read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProfileSpec {
    /// The block.
    pub block: String,
    /// What weights are given per.
    pub per: WeightPer,
    /// The states of the thread ledger, as its table declares them.
    pub states: Vec<State>,
    /// What a stack can be weighed by, as tables declare it; what divides the time of the ledger first.
    pub measures: Vec<Measure>,
    /// The tables that the block holds: those of the measures, `ledger` and `running`.
    pub tables: Vec<String>,
    /// By run: how its threads take turns; null where that was not recorded.
    pub turns: Vec<Option<Turns>>,
    /// By run: what a reader of its stacks must know: losses, and what was counted in part.
    pub notes: Vec<Vec<String>>,
}

/// What weights are divided by: the seconds of the window times the run's rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WeightPer {
    /// What they are given per.
    pub what: PerWhat,
    /// By run: how many of these there were in a second.
    pub rate: Vec<f64>,
}

/// What weights of stacks are given per.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum PerWhat {
    /// An operation of the workload.
    Operation,
    /// A run of the command.
    Run,
    /// A second.
    Second,
}

/// What a stack can be weighed by: a column of a table of the block.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measure {
    /// Its identifier.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it means.
    pub help: String,
    /// The table.
    pub table: String,
    /// The column of weights.
    pub weight: String,
    /// Unit of the weights.
    pub unit: Unit,
    /// Whether it divides the time of the thread ledger: that on a CPU, or with `state` that in the states which the column names.
    pub ledger: bool,
    /// The text column that is a level above the stacks.
    pub state: Option<String>,
    /// Whose stack it is, in words: "who waited".
    pub who: String,
    /// A column of other stacks of the same rows.
    pub other: Option<String>,
    /// What the other stacks are.
    pub other_title: Option<String>,
}

/// How the threads of a run take turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Turns {
    /// The serial phases of the whole recording, in time.
    pub serial: Vec<Serial>,
    /// A regular swing of the number of running threads in the compared window.
    pub sawtooth: Option<Sawtooth>,
}

/// A serial phase: a stretch in which one thread ran and no other could, after more did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Serial {
    /// Where it begins, seconds.
    pub from: f64,
    /// Where it ends, seconds.
    pub to: f64,
    /// The process that had most of its samples; null without samples.
    pub process: Option<String>,
    /// The thread that had most of them.
    pub thread: Option<String>,
    /// The function of the program that ran in most of them.
    pub function: Option<String>,
}

/// A regular swing of the number of running threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sawtooth {
    /// Seconds from one crest to the next.
    pub period: f64,
    /// Threads from trough to crest.
    pub swing: f64,
    /// Part of the variance that the period and its harmonics make up.
    pub share: f64,
    /// How likely chance shows such a swing.
    pub p: f64,
}
