//! What separates a band from the others, as it is shown.

use serde::Serialize;

/// What separates one band.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetSeparated {
    /// Which band, from 1.
    pub band: usize,
    /// What it is held against, in words: `band 2`, `the others`.
    pub others: String,
    /// How many lines separate, or how many recordings it would take, in a sentence.
    pub says: String,
    /// The first facts and metrics that separate, in a sentence; empty where none do.
    pub brief: String,
    /// What does not differ, in sentences.
    pub not: Vec<String>,
    /// Metrics that differ, those that tell most recordings apart first.
    pub lines: Vec<FleetLine>,
    /// How many lines were tested.
    pub tested: usize,
    /// How many would be listed if bands were drawn at random, at most.
    pub by_chance: usize,
    /// Where too few recordings are there for anything to be listed: how many are needed; else null.
    pub hosts_needed: Option<usize>,
    /// Facts that differ, the surest first.
    pub facts: Vec<FleetFact>,
    /// Facts that were left out, since nearly every recording has its own value.
    pub facts_unique: Vec<String>,
    /// How many facts have one value on all recordings.
    pub facts_same: usize,
    /// Functions whose own share differs.
    pub functions: Vec<FleetFunction>,
    /// The rule that tells the band best; null where none is better than none.
    pub rule: Option<FleetRule>,
    /// By how much any function's share could differ at most; null where some differ, or none were sampled.
    pub functions_at_most: Option<FleetAtMost>,
    /// Whether the work is equal; null where that is what the bands are of, or where it is not known.
    pub work: Option<FleetWork>,
}

/// How something differs between a band and the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetDifference {
    /// Median of the band.
    pub band: f64,
    /// Median of the others.
    pub others: f64,
    /// The probability that a recording of the band has the greater value; ties count half.
    pub superiority: f64,
    /// Two-sided p-value of "no difference".
    pub p: f64,
    /// The share of false ones among all lines that are listed if this one is.
    pub q: f64,
    /// By how much a recording of the band exceeds another (Hodges and Lehmann).
    pub shift: FleetShift,
}

/// A shift with its 95 % interval, in the unit of its line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetShift {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A metric that differs.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetLine {
    /// Its name; `variation of …` where it is the standard deviation within the recordings that differs.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// What the metric says, in a sentence; empty where that is not known.
    pub help: String,
    /// Metrics that move together with it.
    pub with: Vec<String>,
    /// How it differs.
    pub difference: FleetDifference,
}

/// A fact that differs.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetFact {
    /// Category and name.
    pub fact: String,
    /// The value that tells most.
    pub value: String,
    /// Recordings of the band with that value, of how many.
    pub band: (usize, usize),
    /// The others with that value, of how many.
    pub others: (usize, usize),
    /// p-value of "it has nothing to do with the bands".
    pub p: f64,
    /// The share of false ones among all facts listed at this p-value.
    pub q: f64,
}

/// A function whose own share of a state differs.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetFunction {
    /// The function.
    pub function: String,
    /// File name of its program or library.
    pub module: String,
    /// `cpu`, or the state in which threads were blocked.
    pub state: String,
    /// How its share differs, 0 to 1.
    pub difference: FleetDifference,
}

/// A rule for who is in the band.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetRule {
    /// In a sentence.
    pub says: String,
    /// One cut, or two.
    pub cuts: Vec<FleetCut>,
    /// How two go together: `and`, `or`.
    pub join: &'static str,
    /// Recordings told wrongly on the blocks that it was found on.
    pub wrong: usize,
    /// Recordings told wrongly on the other blocks.
    pub wrong_elsewhere: usize,
    /// Of how many.
    pub hosts: usize,
    /// How many would be wrong without any rule.
    pub without: usize,
}

/// A cut through a metric.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetCut {
    /// The metric.
    pub metric: String,
    /// Where.
    pub at: f64,
    /// Whether the band lies above.
    pub above: bool,
}

/// By how much a function's share could differ at most.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetAtMost {
    /// By how much, 0 to 1.
    pub by: f64,
    /// The function that leaves most open; null where it has no name.
    pub function: Option<String>,
}

/// Whether the work is equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetWork {
    /// By which part the band exceeds the others: 0.02 is 2 % more.
    pub change: f64,
    /// Lower end of its 90 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether the interval lies within the margin on both sides.
    pub equal: bool,
}
