//! Where the time went: one bar for each run, all on one scale.

use super::Unit;
use serde::Serialize;

/// The time of each run by state.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Budget {
    /// What is shown.
    pub title: String,
    /// Unit of the values: `s/op`, `s` or `s/s`.
    pub unit: Unit,
    /// What a reader must know of it.
    pub note: Option<String>,
    /// What was measured.
    pub source: BudgetSource,
    /// What a unit of work is, in the singular; absent for the CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub per: Option<String>,
    /// The states, in the order in which they are stacked.
    pub states: Vec<State>,
    /// By run and state: thread-seconds or CPU-seconds in `unit`; null where they were not measured.
    pub values: Vec<Vec<Option<f64>>>,
    /// By state: its part of the lost time (of all time, for one run alone), below 0 where it fell; null where no time was lost, absent for
    /// the CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub shares: Option<Option<Vec<Share>>>,
    /// By run: elapsed seconds per unit of work; null where they are not known. Absent for the CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub elapsed: Option<Vec<Option<f64>>>,
    /// By run: units of work done, and in how many seconds. Absent for the CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub done: Option<Vec<Option<[f64; 2]>>>,
}

/// What a budget was measured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum BudgetSource {
    /// The threads that do the work, with the states and numbers of the explanation.
    Ledger,
    /// The CPUs, where there is no thread ledger.
    Cpu,
}

/// A state that time is spent in: of threads, as the recorder declares it; or of the CPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct State {
    /// Its identifier.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it means.
    pub help: String,
    /// Full names of its metrics: choosing the state shows their differences.
    pub metrics: Vec<String>,
    /// True for no lost time (idle), which is left out unless asked for. Absent for the CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub quiet: Option<bool>,
    /// The state of the thread ledger that it is, or is a part of: what pages of threads and stacks show it under; null for none. Absent in
    /// the ledger's own list, and for the CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub ledger: Option<Option<String>>,
    /// How time in it bears on the work. Absent for the CPUs, and where the recording does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub kind: Option<StateKind>,
    /// What it is drawn in, on a light page and on a dark one: `#rrggbb`. Absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub color: Option<[String; 2]>,
}

/// How time in a state bears on the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// On a CPU.
    OnCpu,
    /// Kept from a CPU, or from the use of one: run queue, quota, steal.
    Stretch,
    /// Blocked on something that the work needs.
    Wait,
    /// Blocked for a time that the thread asked for.
    Sleep,
    /// Waiting for work: no lost time.
    Rest,
}

/// A part of a whole, with its 95 % interval; 1 is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Share {
    /// The part.
    pub share: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}
