//! The machines of the recordings: figures that `record --doctor` measured, and what the program's time is spent on. In the head, for it is small.

use super::Unit;
use serde::Serialize;

/// What is known of the machines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Machines {
    /// Figures, those that differ first, by most.
    pub figures: Vec<MachineFigure>,
    /// What `explain` says of the two machines; empty where they do not differ.
    pub says: Vec<String>,
    /// What the time of the explanation's baseline is spent on, by what machines are measured by; empty where that is not known.
    pub parts: Vec<MachinePart>,
    /// How many times as long its program would take on the other machine, by these figures.
    pub forecast: Option<MachineRatio>,
    /// By run: what disturbed the measurement; null where nothing did, or nothing was measured.
    pub disturbed: Vec<Option<String>>,
}

/// A figure of the machines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineFigure {
    /// Its name: `memory.dram`.
    pub id: String,
    /// In words.
    pub title: String,
    /// Its unit.
    pub unit: Unit,
    /// Whether more of it is better.
    pub more: bool,
    /// By run; null where it was not measured.
    pub values: Vec<Option<MachineValue>>,
    /// By run: how many times the baseline's; null of the baseline, and where either was not measured.
    pub ratios: Vec<Option<MachineRatio>>,
    /// Whether any run differs from the baseline: the intervals lie apart, and by more than machines waver.
    pub differs: bool,
    /// Where the difference comes from: `machine`, `set-up`, `either` or `unknown`; null where nothing differs, or it was not asked.
    pub origin: Option<String>,
    /// The facts that it may come from.
    pub facts: Vec<String>,
}

/// A figure of one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineValue {
    /// The median of the rounds.
    pub value: f64,
    /// What one round of ten is below.
    pub low: f64,
    /// What one round of ten is above.
    pub high: f64,
}

/// How many times as much.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineRatio {
    /// Of the medians.
    pub value: f64,
    /// The least that both intervals allow.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// What a part of the time is spent on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachinePart {
    /// In words.
    pub title: String,
    /// How it was come by: `counted`, `sampled` or `estimated`.
    pub evidence: String,
    /// Its part of the time of the threads that do the work.
    pub share: f64,
    /// The figure that it goes by, by name; null where none tells.
    pub figure: Option<String>,
    /// How many times as long it takes on the other machine; null where both take as long, or that is not known.
    pub times: Option<MachineRatio>,
}
