//! The tables of the pages. Their values are computed by the page, for the window that its reader chooses.

use super::Unit;
use serde::Serialize;
use std::collections::BTreeMap;

/// A table of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PageTable {
    /// Means of series over the window.
    Window(WindowTable),
    /// Sums of rows over the window.
    Events(EventTable),
}

/// A table of things, whose values are means of series over the window.
///
/// Side by side, rows of several runs with equal keys share a line, with the values of several rows of a run added up (of `Hz` and `°C`: their
/// mean). Of a thing that did not exist for part of the window, what it used then counts as 0, what it held as not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WindowTable {
    /// Its identifier.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What its rows are, and what is left out.
    pub help: String,
    /// SQL that gives it.
    pub query: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, those that use most first.
    pub rows: Vec<Row>,
}

/// A column of a table of series.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Column {
    /// Its identifier: the key in `text` or `data` of the rows.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Unit of its values; empty for texts.
    pub unit: Unit,
    /// What it means.
    pub help: String,
    /// Whether it holds texts.
    pub text: bool,
    /// Whether rows of several runs are matched by it; where no column says so, by all texts. Absent where that is no question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub key: Option<bool>,
}

/// A row of a table of series: one thing in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Row {
    /// The run.
    pub run: usize,
    /// Texts by column.
    pub text: BTreeMap<String, String>,
    /// Places in the series of the page's block, by column; a column that was not measured has none.
    pub data: BTreeMap<String, usize>,
}

/// A table whose rows are added up over the window, from a block of columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventTable {
    /// Its identifier.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What its rows are, and what is left out.
    pub help: String,
    /// SQL that gives it.
    pub query: String,
    /// The block.
    pub block: String,
    /// The table of the block.
    pub table: String,
    /// Which rows of that table are its own, where others are made of the same; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub only: Option<Only>,
    /// Text columns that tell its lines apart.
    pub keys: Vec<EventKey>,
    /// Its values.
    pub values: Vec<EventValue>,
    /// What a line opens to: stacks by their share of the first value.
    pub stacks: Vec<StackColumn>,
}

/// Rows with one of these texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Only {
    /// A text column.
    pub column: String,
    /// The texts.
    pub texts: Vec<String>,
}

/// A text column of a table of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventKey {
    /// The column of the block.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What it means.
    pub help: String,
    /// Whether it tells lines apart and matches them over the runs; of the others the texts that are found are listed.
    pub key: bool,
}

/// A value of a table of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventValue {
    /// Its identifier.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its unit.
    pub unit: Unit,
    /// What it means.
    pub help: String,
    /// How it is computed.
    pub how: How,
}

/// How a value follows from the rows of a line and run.
///
/// `rate`: the sum of that column per second of the window. `share`: its sum over that of all lines of the run. `mean`: the sum of the first
/// column over that of the second. `max`: the greatest of the rows. `quantile`: the value below which so much (0 to 1) of a histogram lies;
/// within a bucket values are taken to be log-uniform.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum How {
    /// The sum of a column per second of the window.
    Rate { rate: String },
    /// The sum of a column over that of all lines of the run.
    Share { share: String },
    /// The sum of the first column over that of the second.
    Mean { mean: [String; 2] },
    /// The greatest of the rows.
    Max { max: String },
    /// From a histogram.
    Quantile { quantile: f64, buckets: Vec<Bucket> },
}

impl How {
    /// See [`How::Rate`].
    pub fn rate(column: &str) -> How {
        How::Rate { rate: column.to_owned() }
    }

    /// See [`How::Share`].
    pub fn share(column: &str) -> How {
        How::Share { share: column.to_owned() }
    }

    /// See [`How::Mean`].
    pub fn mean(of: &str, per: &str) -> How {
        How::Mean { mean: [of.to_owned(), per.to_owned()] }
    }

    /// See [`How::Max`].
    pub fn max(column: &str) -> How {
        How::Max { max: column.to_owned() }
    }
}

/// A bucket of a histogram: the column that counts it, and the least and the greatest value, in base units.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Bucket(pub String, pub f64, pub f64);

/// A column of stacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StackColumn {
    /// The column of the block.
    pub column: String,
    /// What its stacks are.
    pub title: String,
}
