//! The page of a fleet, what `twinscope fleet report` writes: what `twinscope fleet bands --json` says, and what is needed to draw it. The bytes of
//! its blocks are described in docs/report-bundle.md.

use super::Explanation;
use fleet::result::FleetGroup;
use serde::Serialize;

/// The version of the data of a fleet's page. A page draws data of its own version only.
pub const FLEET_FORMAT: u32 = 1;

/// A fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FleetPage {
    /// Version of these data.
    pub format: u32,
    /// The version of twinscope that made them.
    pub version: String,
    /// When, Unix seconds.
    pub made: f64,
    /// The folder of summaries, as it was named.
    pub folder: String,
    /// The command that says the same as text.
    pub command: String,
    /// The fact that was asked to look within; null where none was.
    pub within: Option<String>,
    /// What was asked together, by value of that fact.
    pub groups: Vec<FleetPageGroup>,
}

/// Recordings that were asked together, as they are drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FleetPageGroup {
    /// What they answer.
    pub answer: FleetGroup,
    /// The block that `offset`s of this group count in; null where there is nothing in it.
    pub block: Option<String>,
    /// What is drawn of each banding.
    pub drawn: Vec<FleetDrawn>,
    /// Facts that differ between bands, by recording.
    pub facts: Vec<FleetFacts>,
    /// Why the slow band of the first banding is slower; null where it was not looked for, or in vain.
    pub why: Option<FleetWhy>,
    /// Why no cause was looked for; null where one was, or there are no bands.
    pub not_explained: Option<String>,
}

/// What is drawn of a banding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FleetDrawn {
    /// The course of its metric on each recording; null where none was kept.
    pub course: Option<FleetCourse>,
    /// Values of what separates each band, in the order of `separated`.
    pub strips: Vec<FleetStrips>,
}

/// The courses of a metric: `columns` bytes for each recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FleetCourse {
    /// Where they begin in the block.
    pub offset: usize,
    /// Stretches of equal length for each recording, from its own start.
    pub columns: usize,
    /// The length of all of them, s; shorter recordings end before.
    pub seconds: f64,
    /// The value of byte 0, and of what is less.
    pub low: f64,
    /// The value of byte 254, and of what is more; 255 is not measured.
    pub high: f64,
    /// Whether bytes between are of the logarithm.
    pub log: bool,
}

/// Where the values of what separates a band are: for each an f32 by recording, byte planes shuffled; NaN: the recording lacks it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FleetStrips {
    /// Of the first of `lines`.
    pub lines: Vec<usize>,
    /// Of the first of `functions`.
    pub functions: Vec<usize>,
}

/// A fact of all recordings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FleetFacts {
    /// Category and name.
    pub fact: String,
    /// Its values.
    pub values: Vec<String>,
    /// By recording, which of them; null where it is not known.
    pub of: Vec<Option<u32>>,
}

/// Why the slow band is slower: some recordings of each explained as repeats.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FleetWhy {
    /// Recordings of the slow band that were explained.
    pub slow: Vec<usize>,
    /// Recordings of the fast band that they were held against.
    pub fast: Vec<usize>,
    /// In a sentence or two.
    pub verdict: String,
    /// Causes.
    pub explanation: Explanation,
}
