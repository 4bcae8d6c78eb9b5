//! The pages and their charts. The numbers of a chart are in the block of its page.

use super::{PageTable, Unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// A page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSpec {
    /// Its identifier.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// The block with the series of its charts and tables.
    pub block: String,
    /// How many differences point here.
    pub differences: usize,
    /// What is drawn above the charts, from a block of its own.
    pub view: Option<View>,
    /// Its charts, in order.
    pub charts: Vec<Chart>,
    /// Its tables, in order.
    pub tables: Vec<PageTable>,
}

/// What a page draws above its charts, from a block of its own: `profile`, `requests`, `instructions`, `sharing`,
/// `jvm`, `counters`, or `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// The thread ledger, and how many threads ran at once.
    TimeBudget,
    /// Flame graphs.
    Profiles,
    /// Services, how long their requests took, and where slow ones spent it.
    Requests,
    /// What single instructions cost.
    Instructions,
    /// Cache lines that threads fight over.
    Sharing,
    /// Pauses of JVMs.
    Jvm,
    /// Hardware counters.
    Counters,
    /// Maps of the code that ran.
    Code,
    /// Figures of the machines, which the head holds.
    Machine,
}

/// A chart. One that is 0 at all times in all runs is collapsed to its title.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Chart {
    /// Its identifier.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// The metric by its name in the recording, where the title is what it counts, in words: a chart drawn because it differs.
    pub kernel: Option<String>,
    /// What its lines are: `NAME: what it is`, parted by semicolons; of one line alone what it is.
    pub help: String,
    /// How to read it.
    pub read: String,
    /// How it is drawn.
    pub kind: ChartKind,
    /// Unit of the values.
    pub unit: Unit,
    /// A natural upper bound of the axis.
    pub max: Option<f64>,
    /// SQL that gives what it shows.
    pub query: String,
    /// What a reader must know of it: what is left out.
    pub note: Option<String>,
    /// Its lines, in all runs. The order of first appearance is that of stacking and of the legend; the rows of a heat map are in natural
    /// order (`cpu 2` before `cpu 10`).
    pub series: Vec<SeriesRef>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    /// Lines.
    Line,
    /// Areas on top of each other.
    Stack,
    /// A row for each line; the colour is the value.
    Heat,
}

/// A line of a chart in one run. Lines of several runs are matched by `name` and `labels`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesRef {
    /// The run.
    pub run: usize,
    /// The metric, as the kernel or the recording calls it.
    pub name: String,
    /// The metric in words. Where titles or names do not tell lines apart, the labels that differ are shown with them.
    pub title: String,
    /// What it is of.
    pub labels: BTreeMap<String, String>,
    /// Place in the series of the page's block.
    pub data: usize,
}
