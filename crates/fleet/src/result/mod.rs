//! What a fleet answers, as it is shown: the contract of `twinscope fleet bands --json` and of the page. Text, Markdown and the page are made of
//! it. docs/fleet.md describes it; the page's types are made from these. What is not known is null; lists by recording are in the order of
//! [`FleetGroup::recordings`]; names of hosts, files, facts and functions are data from outside, never markup.

mod make;
mod separated;
mod words;

pub use make::result;
pub use separated::{
    FleetAtMost, FleetCut, FleetDifference, FleetFact, FleetFunction, FleetLine, FleetRule, FleetSeparated, FleetShift,
    FleetWork,
};
pub use words::{more, some};

use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the contract.
pub const FORMAT: u32 = 1;

/// Recordings of a band that stand for it, those nearest to its middle.
pub const NEAREST: usize = 5;

/// What a fleet answers.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetAnswer {
    /// The version of the contract.
    pub format: u32,
    /// By value of the fact that was asked to look within; one where none was.
    pub groups: Vec<FleetGroup>,
}

/// Recordings that were asked together.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetGroup {
    /// The value of the fact that they share; null where none was asked for.
    pub within: Option<String>,
    /// The recordings, by host and start.
    pub recordings: Vec<FleetRecording>,
    /// The metrics that were asked for bands.
    pub asked: Vec<FleetAsked>,
    /// The bandings, that with most lost time first; none where there are no bands.
    pub bandings: Vec<FleetBanding>,
    /// Where there are no bands: that there are none, and which this fleet would have shown, in sentences; else empty.
    pub says: Vec<String>,
    /// Recordings that lie far from all others of their band, and in what.
    pub strays: Vec<FleetStraying>,
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetRecording {
    /// Identifier in the folder.
    pub id: String,
    /// Name of the host.
    pub host: String,
    /// Name of the recording.
    pub run: String,
    /// What it is called: its host, and its own name where the host has several; its own name alone where all are of one host.
    pub name: String,
    /// The file that it was read from.
    pub file: String,
    /// When it began, ns since 1970 UTC.
    pub start: i64,
    /// How long it is, s; null where that is not known.
    pub seconds: Option<f64>,
    /// Labels that were given.
    pub labels: BTreeMap<String, String>,
}

/// A metric that was asked for bands.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetAsked {
    /// Its name, with its labels and what it is per.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// What it says, in a sentence; empty where that is not known.
    pub help: String,
    /// `more`, `less`, or empty where neither is better.
    pub better: String,
    /// The share of the variance between recordings that is theirs, and not that of their short lengths, 0 to 1.
    pub spread: f64,
    /// By recording, its mean; null where the recording lacks the metric.
    pub values: Vec<Option<f64>>,
    /// By recording, the standard error of its mean; null where that is not known.
    pub errors: Vec<Option<f32>>,
    /// How many bands there are; 1: none; null where it was not asked, since recordings differ by no more than their own errors.
    pub bands: Option<usize>,
    /// Whether logarithms were looked at.
    pub logs: bool,
    /// Recordings that lie far from all others by it.
    pub strays: Vec<FleetStray>,
    /// Without bands: which ones would have been found in four of five such fleets.
    pub shown: Vec<FleetShown>,
}

/// A recording far out of its band (docs/method.md, "strays").
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetStray {
    /// Which.
    pub recording: usize,
    /// How many robust deviations it lies above; negative: below.
    pub deviations: f64,
}

/// Two bands of equal width that would have been found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetShown {
    /// The share of the smaller, 0 to 1.
    pub share: f64,
    /// Their middles as a ratio; null where not all values are positive.
    pub ratio: Option<f64>,
    /// Their middles as a difference, in the unit of the metric.
    pub difference: f64,
}

/// A recording that strays, and the metrics that it strays in.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetStraying {
    /// Which.
    pub recording: usize,
    /// The metrics by which it lies so far out of its band while fewer than three others do: those asked first, then the farthest.
    pub lines: Vec<FleetStrayLine>,
    /// How many more there are.
    pub more: usize,
}

/// A metric that a recording strays in.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetStrayLine {
    /// The metric, with its labels and what it is per.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The recording's mean.
    pub value: f64,
    /// The median of its band.
    pub middle: f64,
    /// How many robust deviations it lies above; negative: below.
    pub deviations: f64,
}

/// Bands, and what is known of them.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetBanding {
    /// In one sentence that stands alone; names of facts and metrics stand between backticks.
    pub title: String,
    /// In sentences, with numbers.
    pub says: Vec<String>,
    /// Which simple shares that of the smaller of two bands leaves open, in sentences.
    pub share_says: Vec<String>,
    /// The place among `asked` of the metric that names it.
    pub by: usize,
    /// The metrics that divide so, that which names it first.
    pub metrics: Vec<String>,
    /// The unit of the first.
    pub unit: String,
    /// p-value of "one band", adjusted for all that were asked.
    pub p: f64,
    /// The bands: best first where the metric has a direction, else the lowest first.
    pub bands: Vec<FleetBand>,
    /// Between the bands, ascending by value.
    pub valleys: Vec<FleetValley>,
    /// By recording, its band from 0 in the order of `bands`; null where it strays or lacks the metric.
    pub of: Vec<Option<usize>>,
    /// Recordings that may lie in either of two bands.
    pub undecided: Vec<usize>,
    /// Recordings that lie far from all others by the first metric.
    pub strays: Vec<FleetStray>,
    /// The share of the time that would be saved at the pace of the best band, 0 to 1; null where the pace is not known.
    pub lost: Option<f64>,
    /// Facts whose values divide the recordings as the bands do.
    pub facts: Vec<String>,
    /// The slow and the fast band, by the pace where that is known, else the last and the first.
    pub slow_and_fast: [usize; 2],
    /// What separates the bands: of two the first from the second, of more each from all others.
    pub separated: Vec<FleetSeparated>,
    /// Since when.
    pub since: FleetSince,
}

/// A band.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetBand {
    /// Recordings in it.
    pub count: usize,
    /// Recordings that are in any band.
    pub of: usize,
    /// The exact 95 % interval of its share.
    pub share: FleetShare,
    /// The median of its values.
    pub middle: f64,
    /// Its least value.
    pub low: f64,
    /// Its greatest value.
    pub high: f64,
    /// The recordings nearest to its middle, those that may lie in another band left out: at most five.
    pub nearest: Vec<usize>,
}

/// An interval of a share, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetShare {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A valley between two bands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetValley {
    /// Where, in the unit of the metric.
    pub at: f64,
    /// The density there over that of the lower peak.
    pub depth: f64,
}

/// Since when recordings are in their bands.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetSince {
    /// In sentences; without the switches.
    pub says: Vec<String>,
    /// Switches from one band to another within a recording, by time.
    pub switches: Vec<FleetSwitch>,
    /// What they lie close to, the surest first.
    pub around: Vec<FleetAround>,
    /// Recordings with a course that shows none.
    pub steady: usize,
    /// For how long those were watched in all, s.
    pub watched: f64,
    /// What decides the band, where that can be said: `host`, `start`, `time`; else null.
    pub decides: Option<&'static str>,
    /// Pairs of recordings of one host; null where no host has several.
    pub starts: Option<FleetStarts>,
}

/// A recording that changed its band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ts_rs::TS)]
pub struct FleetSwitch {
    /// Which.
    pub recording: usize,
    /// When, ns since 1970 UTC.
    pub at: i64,
    /// Whether to the upper of the two bands by value.
    pub up: bool,
    /// How long the oldest process of the workload had been there, ns; null where that is not known.
    pub after_start: Option<i64>,
}

/// What switches lie close to.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetAround {
    /// To what: `mark`, `start` of the process, `boot`, or `time`: all at the same.
    pub what: &'static str,
    /// The text of the mark; else null.
    pub mark: Option<String>,
    /// Switches that lie there, of how many in recordings that have it.
    pub switches: (usize, usize),
    /// How long after it they lie, from the first to the last, ns; of `time`: when, ns since 1970 UTC.
    pub after: (i64, i64),
    /// p-value of "they lie anywhere in their recordings", adjusted for all that was looked at.
    pub p: f64,
}

/// What several recordings of hosts say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FleetStarts {
    /// Pairs of recordings of one host that are in one band, of all such pairs.
    pub same: (usize, usize),
    /// What share of the pairs chance would put into one band.
    pub by_chance: f64,
    /// p-value of "each start draws its band" against "recordings of one host are alike".
    pub p: f64,
}

impl FleetGroup {
    /// The name of a recording.
    pub fn name(&self, at: usize) -> &str {
        self.recordings.get(at).map_or("", |of| &of.name)
    }
}
