//! The head: the recordings, what is said of them, what differs, what was not measured. And the block `set-up`.

use super::{Budget, Explanation, Instructions, Machines, PageSpec, ProfileSpec, Requests, Unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that the first screen shows, and what each page holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Head {
    /// Version of this contract.
    pub format: u32,
    /// What wrote the report.
    pub tool: Tool,
    /// When it was written, Unix seconds.
    pub generated: f64,
    /// The recordings, at least one; the first is the baseline.
    pub runs: Vec<Run>,
    /// The answer in a sentence: of the explanation, else of the comparison.
    pub verdict: Verdict,
    /// Why a recording is slower, or what limits one; null where nothing could be explained.
    pub explanation: Option<Explanation>,
    /// Why there is no explanation.
    pub not_explained: Option<String>,
    /// What the comparison of metrics says; the verdict says it where nothing was explained.
    pub comparison: Comparison,
    /// What speaks against believing the comparison too readily.
    pub cautions: Vec<Caution>,
    /// Where the time went; null where nothing of it was measured.
    pub budget: Option<Budget>,
    /// What differs, best first: one entry for each metric, labels and other run.
    pub differences: Vec<Difference>,
    /// How many metrics were compared: what the false discovery rate is about.
    pub compared: usize,
    /// Properties of the hosts that are not the same in all runs.
    pub facts: Vec<FactDifference>,
    /// Where all properties are: a block of JSON, see `SetUp`.
    pub set_up: BlockRef,
    /// What was not measured, and why.
    pub missing: Vec<Missing>,
    /// Stacks, locks and the thread ledger; null where none of them was recorded.
    pub profile: Option<ProfileSpec>,
    /// Requests that servers answered and clients made; null where none was counted.
    pub requests: Option<Requests>,
    /// What single instructions cost; null where no recording says anything of it.
    pub instructions: Option<Instructions>,
    /// Cache lines that threads fight over: the block of JSON, a `SharedLines`; null where no recording says anything of it.
    pub sharing: Option<BlockRef>,
    /// Pauses, heap and options of JVMs, see [`super::Jvms`]; null where none was recorded.
    pub jvm: Option<BlockRef>,
    /// Hardware counters, see [`super::Counters`]; null where no recording says anything of them.
    pub counters: Option<BlockRef>,
    /// Over how much memory code is spread: the block of JSON, a `CodeMaps`; null where no recording tells.
    pub code: Option<BlockRef>,
    /// Figures of the machines; null where none were measured.
    pub machine: Option<Machines>,
    /// The pages, in the order of the left rail. Each has data.
    pub pages: Vec<PageSpec>,
}

/// The program that wrote a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A block of the file, by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BlockRef {
    /// The script with the identifier `block-…` holds it.
    pub block: String,
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Run {
    /// Its name.
    pub name: String,
    /// What tells it from the others, where there is little room: labels, or what its name has that theirs have not.
    pub short: String,
    /// The path of its file as it was given, from where the report was made; null where it is no text.
    pub file: Option<String>,
    /// The first is the baseline.
    pub role: Role,
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// CPUs online at the start.
    pub cpus: i64,
    /// What the CPUs call themselves; null where that was not read.
    pub cpu_model: Option<String>,
    /// Memory of the host, bytes.
    pub memory_bytes: i64,
    /// When the recording began, Unix seconds.
    pub start: f64,
    /// How long it is, seconds.
    pub duration: f64,
    /// Interval between reads, seconds.
    pub interval: f64,
    /// A shorter interval at the start.
    pub sprint: Option<Sprint>,
    /// The command that was recorded, with its arguments; values that look like secrets are masked.
    pub command: Option<Vec<String>>,
    /// How the command ended.
    pub exit: Option<Exit>,
    /// How long the command ran, seconds.
    pub wall: Option<f64>,
    /// The work that the workload counted.
    pub work: Option<Work>,
    /// Labels that the user gave.
    pub labels: BTreeMap<String, String>,
    /// The window that is compared.
    pub window: Window,
    /// Moments that someone named, in time.
    pub marks: Vec<Mark>,
    /// The last lines that the command wrote.
    pub output: Option<Output>,
    /// What is missing of the recording, where it was cut off or is damaged.
    pub incomplete: Option<String>,
    /// CPU use, for the time strip.
    pub strip: Strip,
}

/// What a recording is in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What the others are compared with.
    Baseline,
    /// One of the others.
    Other,
}

/// A shorter interval between reads at the start of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sprint {
    /// The interval, seconds.
    pub interval: f64,
    /// Until when it held, seconds.
    pub until: f64,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Work that the workload counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Work {
    /// What was counted, in the plural.
    pub unit: String,
    /// How much was done in all.
    pub total: f64,
    /// Throughput in the window; null where that is not known.
    pub per_second: Option<f64>,
}

/// The stretch of a recording that is compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Window {
    /// Where it begins, seconds.
    pub from: f64,
    /// Where it ends, seconds.
    pub to: f64,
    /// Why this stretch, in words.
    pub why: String,
}

/// A moment that someone named.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Mark {
    /// When, seconds.
    pub t: f64,
    /// Its name.
    pub text: String,
}

/// The last lines that a command wrote.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Output {
    /// To standard output.
    pub stdout: String,
    /// To standard error.
    pub stderr: String,
}

/// CPU use over time: at most 600 points; none where it was not recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Strip {
    /// The middle of each interval, seconds.
    pub t: Vec<f64>,
    /// Part of all CPU time that was used, 0 to 1; null where it was not measured.
    pub busy: Vec<Option<f64>>,
}

/// The answer in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Verdict {
    /// In a sentence or two.
    pub headline: String,
    /// One or two more, or nothing.
    pub detail: String,
    /// What kind of answer it is.
    pub level: Level,
}

/// What kind of answer a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Something differs.
    Differs,
    /// Nothing differs.
    Same,
    /// One recording: nothing to compare.
    Single,
    /// Too little was recorded to say.
    Unsure,
}

/// What the comparison of metrics says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Comparison {
    /// In a sentence.
    pub headline: String,
    /// One or two more.
    pub detail: String,
}

/// A reason not to believe a comparison too readily.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Caution {
    /// Its kind: `failed` (the command did), `once` (each side was recorded once), `steal`, `others` (other programs used the CPUs),
    /// `recorder` (it used them), `frequency`, `ticks` (the kernel divides CPU time otherwise than the samples do), `ledger` (it was only sampled).
    pub what: String,
    /// The run that it is about; null for all.
    pub run: Option<usize>,
    /// In a sentence.
    pub text: String,
}

/// A metric that differs from the baseline in one of the other runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Difference {
    /// Its full name, such as `cpu.busy`.
    pub metric: String,
    /// What it is of, as far as that is told apart, such as `device: vda`.
    pub labels: BTreeMap<String, String>,
    /// Unit of the values.
    pub unit: Unit,
    /// What it is, in a few words.
    pub title: String,
    /// The run that differs.
    pub run: usize,
    /// Mean of the baseline over its window.
    pub baseline: f64,
    /// Mean of the other run over its window.
    pub other: f64,
    /// Change as a fraction of the baseline; null where that is 0.
    pub change: Option<f64>,
    /// Lower end of the 95 % interval of the change; null where it has no bound.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// The other's value less the baseline's, in `unit`.
    pub difference: f64,
    /// False discovery rate: the part of false ones to expect among all that are at least as clear.
    pub q: f64,
    /// What the values are per.
    pub per: DifferencePer,
    /// Whether more of it is better.
    pub polarity: Polarity,
    /// The page whose charts or tables show it; null where none does.
    pub page: Option<String>,
    /// The chart that shows it.
    pub chart: Option<String>,
    /// Medians: of the baseline, of this run.
    pub median: [Option<f64>; 2],
    /// 99th percentiles: of the baseline, of this run.
    pub p99: [Option<f64>; 2],
    /// SQL that gives both means.
    pub query: String,
    /// Values over the window, of the baseline and of this run: at most 60 points each, null where nothing was measured.
    pub spark: [Vec<Option<f64>>; 2],
}

/// What values of a difference are per.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum DifferencePer {
    /// Per second; or a level, or a share.
    Second,
    /// Per operation of the workload.
    Operation,
}

/// What more of a metric means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Polarity {
    /// More is better.
    Better,
    /// More is worse.
    Worse,
    /// Neither.
    Neutral,
}

/// A property of the hosts that is not the same in all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FactDifference {
    /// Its full name, such as `kernel.release`.
    pub fact: String,
    /// Its group: kernel, cpu, sysctl …
    pub category: String,
    /// Its value in the baseline; null where it was not read.
    pub baseline: Option<String>,
    /// Its values in the other runs, in their order.
    pub others: Vec<Option<String>>,
    /// Whether it is known to matter for performance.
    pub known: bool,
    /// Why it matters, where that is known.
    pub why: Option<String>,
}

/// Something that was not measured in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Missing {
    /// The run.
    pub run: usize,
    /// The source that reads it; of what was not compared, its name.
    pub source: String,
    /// What of the source: a file, a field; empty for all of it.
    pub item: String,
    /// In which way it is missing.
    pub status: MissingStatus,
    /// Why.
    pub why: String,
    /// What would change that.
    pub remedy: Option<String>,
    /// Whether something could not be compared or answered for want of it.
    pub matters: bool,
}

/// In which way something was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum MissingStatus {
    /// This kernel, driver or machine does not have it.
    #[serde(rename = "absent")]
    Absent,
    /// It is there, and reading it was refused.
    #[serde(rename = "denied")]
    Denied,
    /// It makes no sense here, or the user left it out; or it was not compared.
    #[serde(rename = "not applicable")]
    NotApplicable,
    /// It is there and could not be understood, or the read failed.
    #[serde(rename = "failed")]
    Failed,
    /// It was read in a part of the time and scaled up.
    #[serde(rename = "estimated")]
    Estimated,
}

/// The block `set-up`: all properties of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SetUp {
    /// By category and name.
    pub facts: Vec<Fact>,
}

/// A property of the hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fact {
    /// Its full name, such as `kernel.release`.
    pub fact: String,
    /// Its group.
    pub category: String,
    /// Its value by run; null where it was not read.
    pub values: Vec<Option<String>>,
    /// Why it matters for performance, where that is known.
    pub why: Option<String>,
}
