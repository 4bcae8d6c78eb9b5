//! What a session has come to, as it is shown: the contract of `twinscope tune show --json` and of the page. docs/tune-json.md
//! describes it. Numbers that are not known are null; factors are a variant ÷ what it is held against, of the measure itself, so
//! that 1.9 of a time is 1.9 times the time.

mod factorial;
mod optimum;

pub use factorial::{Combination, Factorial, Flag, FlagEffect};
pub use optimum::{FrontPoint, Optimum};

use serde::Serialize;

/// The version of the contract.
pub const FORMAT: u32 = 1;

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Experiment {
    /// The version of the contract.
    pub format: u32,
    /// Its name.
    pub name: String,
    /// What it asks.
    pub design: DesignKind,
    /// When it began, Unix seconds; null before its first trial.
    pub began: Option<f64>,
    /// Where: host name, kernel, CPUs.
    pub host: String,
    /// The command as the file has it, parameters in braces.
    pub command: String,
    /// Whether all is done that was planned.
    pub finished: bool,
    /// What came out, in one or a few sentences.
    pub verdict: String,
    /// What a trial measures; the first is judged.
    pub measures: Vec<MeasureHead>,
    /// The least change that matters, as a share.
    pub effect: f64,
    /// Whether both trials of a block run at the same time, each with a CPU for itself, and swap these at random.
    pub together: bool,
    /// The most blocks of a comparison (of a sweep and a factorial: all).
    pub blocks: usize,
    /// The variants by number; the first is the baseline.
    pub variants: Vec<Variant>,
    /// Comparisons: of `ab` each variant with the baseline; of a ladder the climbing.
    pub changes: Vec<Change>,
    /// Of a ladder: its steps in order; else empty.
    pub rungs: Vec<Rung>,
    /// Of a sweep: its points; else null.
    pub sweep: Option<Sweep>,
    /// Of a factorial: its effects; else null.
    pub factorial: Option<Factorial>,
    /// Of a search for the best values: what there is beside `changes`; else null.
    pub optimum: Option<Optimum>,
    /// Of a search: the rates that were found; else null. The factors of its changes are of rates.
    pub search: Option<Search>,
    /// All trials in the order in which they ran.
    pub trials: Vec<Trial>,
    /// What a reader should know before he believes it.
    pub cautions: Vec<String>,
    /// What to do next: words and a command.
    pub next: Vec<Next>,
}

/// What a session asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
pub enum DesignKind {
    /// Variants against a baseline.
    Ab,
    /// Steps, each on top of those that were kept.
    Ladder,
    /// Points of one or two parameters.
    Sweep,
    /// Flags on and off.
    Factorial,
    /// The best values.
    Optimise,
    /// The highest rate that meets all limits.
    Search,
}

/// What a trial measures.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct MeasureHead {
    /// Its name.
    pub name: String,
    /// Its unit, such as `s`, `B`, `operations/s`; empty for a bare number.
    pub unit: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// A condition that it has to meet, such as `<= 1.5ms`; null without one.
    pub limit: Option<String>,
}

/// A variant.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What its parameters are: name and value.
    pub set: Vec<(String, String)>,
    /// Its command as it is run.
    pub command: String,
    /// Trials that count, and how many of them failed.
    pub trials: usize,
    /// See `trials`.
    pub failed: usize,
    /// Of each measure: median of its trials; null without any.
    pub medians: Vec<Option<f64>>,
    /// Time of trials recorded for explaining ÷ time of measured ones: what recording costs; null without both.
    pub recording_costs: Option<f64>,
}

/// How a comparison ended or stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ts_rs::TS)]
#[ts(rename = "ExperimentVerdict")]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval lies on the better side of 1.
    Better,
    /// It lies on the worse side.
    Worse,
    /// All of it is within the least change that matters.
    Same,
    /// The blocks were used up and none of these holds.
    NotDecided,
    /// It goes on.
    Open,
}

/// A variant and what it is held against.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Change {
    /// The variant's number.
    pub variant: usize,
    /// That of what it is held against.
    pub against: usize,
    /// How it ended.
    pub verdict: Verdict,
    /// The factor of the judged measure; null before the first look.
    pub factor: Option<f64>,
    /// Its interval, which leaves out the truth with the probability `level`; null where so few pairs have none.
    pub interval: Option<[f64; 2]>,
    /// See `interval`.
    pub level: Option<f64>,
    /// By what the interval was made: `signed ranks`, `Student's t`, `wager`.
    pub by: String,
    /// Blocks it was judged by.
    pub blocks: usize,
    /// Blocks that will probably decide it; null where it is decided, or cannot be told.
    pub needs: Option<usize>,
    /// The other measures: factor and 95 % interval, in the order of `measures` without the first; null where unknown. They are
    /// shown, and nothing is called by them.
    pub others: Vec<Option<(f64, [f64; 2])>>,
    /// Block by block: trial numbers and values of what it is held against and of the variant.
    pub pairs: Vec<Pair>,
    /// Why, by explained trials; empty where there are none.
    pub why: Vec<Why>,
    /// The file beside the page that has a trial of each side by side (`twinscope report --pairs`); null where none was made.
    pub report: Option<String>,
}

/// A block, as a comparison sees it.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Pair {
    /// The block, from 0.
    pub block: usize,
    /// The judged measure of what it is held against.
    pub against: f64,
    /// Of the variant.
    pub variant: f64,
}

/// A finding of `explain` about a change.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Why {
    /// Which cause.
    pub cause: String,
    /// What the slower side has, in words.
    pub says: String,
    /// Its part of the difference, 0 to 1.
    pub share: f64,
}

/// A step of a ladder.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Rung {
    /// Its name.
    pub name: String,
    /// The number of its variant.
    pub variant: usize,
    /// Why it is tried, as the file has it; null where it does not say.
    pub why: Option<String>,
    /// Whether it was kept; null while that is open.
    pub kept: Option<bool>,
    /// Against what was kept before it, from the blocks of the whole ladder: these are the numbers to quote. Null before.
    pub change: Option<Change>,
    /// All that was kept up to it against the baseline, from the same blocks; null where it was not kept, and before.
    pub total: Option<Change>,
}

/// A sweep.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Sweep {
    /// The parameters that vary, one or two.
    pub parameters: Vec<String>,
    /// The points.
    pub points: Vec<Point>,
    /// The scaling law, for one parameter of numbers that are at least 1, with a measure of which more is better, or a time.
    pub law: Option<Law>,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Point {
    /// The number of its variant.
    pub variant: usize,
    /// Its values, in the order of `parameters`.
    pub values: Vec<String>,
    /// Geometric mean of the judged measure; null without any.
    pub mean: Option<f64>,
    /// Its 95 % interval; null with fewer than two blocks.
    pub interval: Option<[f64; 2]>,
    /// The point ÷ the best one with its interval, by pairs; null for the best.
    pub of_best: Option<(f64, [f64; 2])>,
    /// Whether this is the best.
    pub is_best: bool,
    /// Whether it is not to be told from the best.
    pub may_be_best: bool,
    /// Of explained trials: seconds of threads per unit of work by state; empty where there are none.
    pub ledger: Vec<(String, f64)>,
}

/// A search.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Search {
    /// The parameter that was searched.
    pub parameter: String,
    /// What has to hold, in words.
    pub limits: Vec<String>,
    /// The measure whose curve over the rate is shown, by its place in `measures`.
    pub measure: usize,
    /// Its limit; null where it has no upper one.
    pub limit: Option<f64>,
    /// What was found, by variant.
    pub rates: Vec<SearchRate>,
}

/// The highest rate of a variant that meets the limits.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct SearchRate {
    /// The number of its variant.
    pub variant: usize,
    /// The rate; null where it is not known.
    pub rate: Option<f64>,
    /// Its 95 % interval, in which is how the machine went up and down; null with too few trials.
    pub interval: Option<[f64; 2]>,
    /// How many trials it is made of.
    pub around: usize,
    /// Where no rate was found: that even the highest, or not even the lowest, met the limits. Null where one was.
    pub says: Option<String>,
    /// What was broken most often, in words; null where nothing was.
    pub limited_by: Option<String>,
    /// The curve of the measure over the rate; empty where there is none.
    pub curve: Vec<(f64, f64)>,
    /// The measured trials in their order.
    pub tried: Vec<SearchTrial>,
}

/// A trial of a search.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct SearchTrial {
    /// Its number.
    pub trial: usize,
    /// The rate that was asked for.
    pub rate: f64,
    /// What `measure` was; null where it failed.
    pub value: Option<f64>,
    /// What was broken, in words; null where all limits were met.
    pub broke: Option<String>,
    /// Whether the estimate is made of it, among others.
    pub around: bool,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Value {
    /// The estimate.
    pub estimate: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The law of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Law {
    /// `linear`, `Amdahl`, `Universal Scalability Law` or `Gustafson`.
    pub name: String,
    /// Whether the repeats say that it does not hold; then nothing else of it should be believed.
    pub does_not_fit: bool,
    /// Throughput of one.
    pub lambda: Value,
    /// The share that is done by one at a time.
    pub sigma: Value,
    /// What each pays for each other; null where it cannot be told.
    pub kappa: Option<Value>,
    /// Where throughput is highest; null where none is known.
    pub peak: Option<Value>,
    /// The peak in words: where it is, that there is none up to some N, or that it is not known.
    pub peak_says: String,
    /// For each point with a number: N, what the law says, and measured ÷ that.
    pub points: Vec<(f64, f64, f64)>,
    /// Of explained trials: the state of threads that grows most with N; null without them.
    pub grows: Option<String>,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
pub enum TrialEnd {
    /// It was measured.
    Measured,
    /// It failed: a wrong answer, an exit code, a time-out.
    Failed,
    /// It tells nothing, and its block was run again.
    Void,
    /// Its block was cut and run again.
    Cut,
    /// It runs, or the session ended within it.
    Open,
}

/// A trial.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Trial {
    /// Its number, from 1.
    pub number: usize,
    /// The stage, from 0: of a ladder one for each step, and the whole ladder.
    pub stage: usize,
    /// The block within its stage, from 0.
    pub block: usize,
    /// Its variant.
    pub variant: usize,
    /// Values of parameters that were chosen for this trial, beside those of its variant: name and value.
    pub set: Vec<(String, String)>,
    /// Recorded for explaining; not part of the numbers.
    pub explained: bool,
    /// How it ended.
    pub end: TrialEnd,
    /// Why it failed or tells nothing; null where it was measured.
    pub reason: Option<String>,
    /// When it began, seconds since the session began; null where it was not kept.
    pub at: Option<f64>,
    /// How long it took from its preparation to its cleanup, seconds.
    pub seconds: Option<f64>,
    /// The measures; null for one that could not be taken.
    pub values: Vec<Option<f64>>,
    /// Part of the machine's CPU time that the hypervisor gave to others meanwhile, 0 to 1.
    pub stolen: Option<f64>,
    /// Part that other programs used, 0 to 1.
    pub others: Option<f64>,
    /// The CPU that it had for itself while the other trial of its block ran on another; null where it ran alone.
    pub cpu: Option<usize>,
    /// CPU time of its command ÷ its wall-clock time: how many CPUs it used on average; null where that is not known.
    pub cpus_used: Option<f64>,
    /// The last lines that its command wrote, where it failed.
    pub output: Option<String>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Next {
    /// In words.
    pub says: String,
    /// The command to copy; null where there is none.
    pub command: Option<String>,
}
