//! The page *Counters*: what hardware counters say of each run. A block of JSON.

use super::{NoCode, Polarity, Unit};
use serde::Serialize;

/// What was counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Counters {
    /// By run: what is known of its counters.
    pub runs: Vec<CountersOfRun>,
    /// Whether the CPUs of all runs are of one kind, so that all metrics can be compared.
    pub alike: bool,
    /// The metrics, in the order of the groups.
    pub metrics: Vec<CounterMetric>,
    /// Cycles per instruction of functions; null where there is nothing to say of them.
    pub functions: Option<FunctionsCycles>,
}

/// Cycles per instruction of functions, by samples of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FunctionsCycles {
    /// By run: why it has no samples by instructions, and what would give them; null where it has.
    pub missing: Vec<Option<NoCode>>,
    /// Those in which most cycles were spent, by the greatest share in any run.
    pub functions: Vec<FunctionCycles>,
    /// How many are left out, each of which has a smaller share or too few samples.
    pub left_out: u64,
    /// The question of `twinscope sql` that tells of all of them.
    pub query: String,
}

/// A function, without what it called.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FunctionCycles {
    /// What it is called; where it has no name, after its file.
    pub name: String,
    /// The file name of the file that it is in; `[kernel]`, `[jit]` …
    pub module: String,
    /// By run; null where no sample found it.
    pub runs: Vec<Option<FunctionCyclesOfRun>>,
}

/// What a function took in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FunctionCyclesOfRun {
    /// Its part of the cycles of all samples, 0 to 1.
    pub share: f64,
    /// Samples by cycles.
    pub cycle_samples: f64,
    /// Samples by instructions.
    pub instruction_samples: f64,
    /// Cycles per instruction, with the 95 % interval; null where no sample by instructions found it.
    pub cpi: Option<[f64; 3]>,
    /// How much more than in the baseline, as a part of that, with the 95 % interval; null of the baseline, and where either is not known.
    pub change: Option<[f64; 3]>,
}

/// What is known of the counters of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CountersOfRun {
    /// The kind of its CPUs: the microarchitecture, else what they call themselves; null where neither is known.
    pub kind: Option<String>,
    /// Why there are none, and what would give them; null where there are.
    pub missing: Option<NoCode>,
    /// What slots for operations were used for; null where that was not counted.
    pub topdown: Option<TopDown>,
    /// The groups of counters.
    pub groups: Vec<CounterGroup>,
}

/// Slots for operations, of which each is used or lost to something: parts of all, 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TopDown {
    /// Work that was kept.
    pub retiring: f64,
    /// Wrong predictions.
    pub bad_speculation: f64,
    /// Waiting for instructions.
    pub frontend_bound: f64,
    /// Waiting for data, and for free units.
    pub backend_bound: f64,
    /// Of waiting for instructions, that for the first of them; null where it was not counted.
    pub fetch_latency: Option<f64>,
    /// Of waiting for data and units, that for loads and stores; null where it was not counted.
    pub memory_bound: Option<f64>,
}

/// Counters that were on at the same time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CounterGroup {
    /// Its name.
    pub group: String,
    /// Share of the time in which it had counters; null where that is not known.
    pub share: Option<f64>,
    /// What was counted.
    pub events: String,
    /// What was not, and why; empty where nothing is missing.
    pub absent: String,
}

/// A metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CounterMetric {
    /// Its name: `branch_mpki`.
    pub name: String,
    /// Its unit; empty where the help says per what it is.
    pub unit: Unit,
    /// What it says, and how to read it.
    pub help: String,
    /// Whether more of it is better.
    pub polarity: Polarity,
    /// Its difference is told as such, not as a ratio.
    pub is_share: bool,
    /// The least difference that matters.
    pub floor: f64,
    /// Why runs are not compared by it; null where they are.
    pub not_comparable: Option<String>,
    /// By run; null where it was not counted.
    pub values: Vec<Option<CounterValue>>,
}

/// What a metric was in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CounterValue {
    /// Its mean over the window: the ratio of the sums.
    pub mean: f64,
    /// The group of counters that it is from.
    pub group: String,
    /// Over the recording, in stretches of equal length; null where it was not counted.
    pub spark: Vec<Option<f64>>,
    /// Against the baseline; null of the baseline, and where they cannot be compared.
    pub change: Option<CounterChange>,
}

/// Against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CounterChange {
    /// Other − baseline.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// As a part of the baseline, with its interval; null where the baseline may be 0.
    pub ratio: Option<[f64; 3]>,
    /// Whether the interval leaves out 0, and the difference is as large as matters.
    pub differs: bool,
}
