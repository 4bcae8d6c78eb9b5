//! What single instructions cost: what the block `instructions` holds, a gzip of JSON. Times are of the compared window, whatever window the page shows.

use serde::Serialize;

/// Where the listings are, and of which runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Instructions {
    /// The block of JSON, a `Listings`; null where no recording has any machine code.
    pub block: Option<String>,
    /// The run whose instructions are listed: the slow one.
    pub run: usize,
    /// The one that it is held against; null for one run alone.
    pub against: Option<usize>,
    /// By run: why it has no machine code; null where it has.
    pub missing: Vec<Option<NoCode>>,
}

/// Why a run has no machine code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NoCode {
    /// In words, after the name of the run.
    pub why: String,
    /// What would change that.
    pub remedy: Option<String>,
}

/// The block `instructions`: functions, instruction by instruction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Listings {
    /// What times are per, in the singular: an operation's name, `run`, `second`.
    pub per: String,
    /// Those that findings are about, and those with most samples with registers on either side.
    pub functions: Vec<Listed>,
    /// How many more there are, with fewer samples, that are left out.
    pub left_out: usize,
}

/// A function of one run, or of two side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Listed {
    /// What it is on each side.
    pub of: ListedSides<ListedFunction>,
    /// How much more CPU time the slow side takes per unit, ns, and the ends of its 95 % interval; null for one run alone.
    pub difference: Option<[f64; 3]>,
    /// Its instructions, in the order of the slow side.
    pub rows: Vec<ListedRow>,
}

/// What there is on each side; null where it has none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedSides<T> {
    /// The run that is listed.
    pub slow: Option<T>,
    /// The one that it is held against.
    pub against: Option<T>,
}

/// A function on one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedFunction {
    /// Its name.
    pub function: String,
    /// Path of its file; empty for code that a process made.
    pub module: String,
    /// The process that made it.
    pub pid: Option<i64>,
    /// Whether its code begins where the function does; else what was kept of it begins near the samples.
    pub whole: bool,
    /// CPU time per unit, ns.
    pub ns: f64,
    /// Its part of the CPU time of all traced threads, 0 to 1.
    pub share: f64,
    /// Samples that landed in it.
    pub samples: u64,
    /// How many of those have registers.
    pub with_registers: usize,
    /// How many instructions after the one that waits samples land: 0 or 1; null where the calibration did not tell.
    pub skid: Option<u8>,
    /// Cycles a second; null where they were not measured.
    pub frequency: Option<f64>,
    /// What the CPU waits for, most first.
    pub waits: Vec<WaitShare>,
    /// Its loops, outer ones first.
    pub loops: Vec<ListedLoop>,
    /// Other versions of it that the process made (JIT).
    pub versions: usize,
    /// Samples with registers in those.
    pub versions_samples: u64,
    /// How often it is called; null where that was not counted, or could not be told.
    pub calls: Option<ListedCalls>,
}

/// How often a function is called, as breakpoints counted it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedCalls {
    /// CPU time that a call takes itself, ns.
    pub ns: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// From one call to the next on the thread that runs it most, ns.
    pub between: f64,
    /// Calls come in even intervals.
    pub even: bool,
    /// Looks with breakpoints or probes.
    pub looks: usize,
    /// Calls took longer while they were counted: it waits for memory, and each hit leaves the caches colder.
    pub at_most: bool,
}

/// A part of the samples that waits for one class of things.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WaitShare {
    /// The class: `load`, `store`, `atomic`, `long`, `fetch`, `serialising`, `spin`, `core` or `unknown`.
    pub wait: String,
    /// The part, 0 to 1.
    pub part: f64,
}

/// A loop on one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedLoop {
    /// Address of its first instruction.
    pub from: u64,
    /// Address of its last.
    pub to: u64,
    /// 1 for an outermost one.
    pub depth: usize,
    /// Its part of the samples of the function, 0 to 1.
    pub share: f64,
    /// CPU time per unit, ns.
    pub ns: f64,
    /// How long a round takes; null where that is not known.
    pub round: Option<Round>,
    /// Why that is not known; empty where it is.
    pub unknown: String,
    /// Instructions of a round; null where ways part, or the code does not tell.
    pub instructions: Option<usize>,
    /// They are those of the way that has most samples: there are others.
    pub likely: bool,
    /// Cycles of a round; null where the time of a round or the frequency is not known.
    pub cycles: Option<f64>,
    /// Cycles an instruction.
    pub cpi: Option<f64>,
    /// The least cycles that a round takes when its data is near; null where that cannot be told.
    pub bound: Option<f64>,
    /// What sets that bound: `chain` (of results), `width` or `unit`; empty where there is none.
    pub bound_by: String,
    /// What a round spends its time on: `core`, `memory` or `between`; empty where that cannot be told.
    pub verdict: String,
    /// What the CPU waits for in it, most first.
    pub waits: Vec<WaitShare>,
}

/// The time of a round, as far as samples tell it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Round {
    /// The median over pairs of samples, ns of CPU time.
    pub ns: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Pairs of samples.
    pub pairs: usize,
    /// The register that counts rounds.
    pub register: String,
    /// By how much it changes a round.
    pub step: i64,
}

/// Two versions of an instruction, or one that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedRow {
    /// Rows before it that are left out: no sample is near. Absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub skipped: Option<usize>,
    /// On the slow side; absent where only the other has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub slow: Option<ListedCell>,
    /// On the other side; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub against: Option<ListedCell>,
    /// Both do the same.
    pub same: bool,
    /// How much more the slow side takes per unit, ns, and the ends of its 95 % interval; absent where there is one side only, or no sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub difference: Option<[f64; 3]>,
}

/// An instruction on one side. What is about samples is absent where there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedCell {
    /// Where it is: in the file, or in the process.
    pub address: u64,
    /// In assembly.
    pub text: String,
    /// CPU time per unit, ns, that the CPU waited for it: of it, and of entering it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub ns: Option<f64>,
    /// Samples that this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub samples: Option<u64>,
    /// How many of those stand for entering it from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub entering: Option<u64>,
    /// Samples that landed on it, without any correction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub landed: Option<u64>,
    /// What for: a class of `WaitShare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub wait: Option<String>,
    /// Where it comes from in source code, innermost function first; absent where no sample landed there, or nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub lines: Option<Vec<SourceLine>>,
}

/// A place in source code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceLine {
    /// The function, of those that were put into another.
    pub function: String,
    /// `file:line`; empty where that is not known.
    pub source: String,
}
