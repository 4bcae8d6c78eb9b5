//! The JSON indexes at the start of the binary blocks; what their bytes are is in docs/report-bundle.md.

use serde::Serialize;
use std::collections::BTreeMap;

/// Index of the block of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BlockIndex {
    /// Time axes.
    pub times: Vec<TimeIndex>,
    /// Series, which charts and tables name by their place.
    pub series: Vec<SeriesIndex>,
}

/// A time axis: the middle of the interval that each value stands for, seconds, ascending.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeIndex {
    /// How many times.
    pub n: usize,
    /// Where they are: `n` f64.
    pub offset: usize,
    /// Where the lengths of the intervals are, `n` f64, seconds; null where each reaches half-way to its neighbours.
    pub widths: Option<usize>,
}

/// A series at several resolutions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesIndex {
    /// From coarse to fine; statistics are computed from the finest.
    pub levels: Vec<LevelIndex>,
}

/// One resolution of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LevelIndex {
    /// Its time axis.
    pub time: usize,
    /// How many values: the length of the time axis.
    pub n: usize,
    /// Where they are.
    pub offset: usize,
    /// How they are stored.
    pub coding: Coding,
    /// With `u8`: the value of byte 254.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub scale: Option<f64>,
    /// Where the least value of each interval is, stored alike; null where the level is exact.
    pub min: Option<usize>,
    /// Where the greatest value of each interval is; null where the level is exact.
    pub max: Option<usize>,
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Coding {
    /// f32, byte planes shuffled; NaN is not measured.
    F32,
    /// Bytes: 254 is `scale`, 255 is not measured.
    U8,
}

/// Index of a block of columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ColumnsIndex {
    /// Texts, which text columns number from 1.
    pub strings: Vec<String>,
    /// Tables by name. One that is missing is empty.
    pub tables: BTreeMap<String, TableIndex>,
}

/// A table of a block of columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableIndex {
    /// How many rows.
    pub rows: usize,
    /// Columns by name. One that is missing is all 0.
    pub columns: BTreeMap<String, ColumnIndex>,
}

/// A column: `rows` unsigned 32-bit numbers, byte planes shuffled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ColumnIndex {
    /// Where they are.
    pub offset: usize,
    /// What one is worth, in base units: seconds, bytes, counts.
    pub scale: f64,
    /// Whether they number texts; 0 is no text.
    pub text: bool,
    /// Whether each is the difference from the one before, wrapping around.
    pub delta: bool,
}
