//! The vocabulary that every other part shares: what a table is, what a column means, what a row holds,
//! what could not be read, and what a recording says about itself. Nothing here touches a file or the kernel.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod chart;
mod clock;
mod coverage;
mod figure;
mod human;
mod intern;
pub mod jvm;
mod known;
mod manifest;
mod measure;
mod metric;
mod pattern;
mod rows;
mod table;
mod text;
mod time;
mod unit;
mod work;

pub use chart::{Chart, ChartKind, Page};
pub use clock::Clock;
pub use coverage::{Coverage, Status, Unavailable};
pub use figure::{Figure, FigureRatio, is_hardware, sets_figure};
pub use human::{count, human, percent, ratio, times, times_interval};
pub use intern::intern;
pub use known::{Known, WELL_KNOWN, why_it_matters};
pub use manifest::{
    DURATION_OVER, Exit, Fact, HOLDER, IMPORTED, IMPORTED_FROM, Manifest, Mark, Output, OwnCost, OwnProcess, Usage,
    Window, Work, whose,
};
pub use measure::{Bucket, Locks, Measure, Other, State, StateKind};
pub use metric::{Divisor, Metric, Term, metric, metrics};
pub use pattern::matches;
pub use rows::{NULL, Out, Rows, Symbols, real, real_of};
pub use table::{Column, Compare, Den, Derived, Fold, Kind, Polarity, Shape, Table, Type};
pub use text::{clean, clean_lines, csv_cell, is_harmful};
pub use time::{duration, utc};
pub use unit::Unit;
pub use work::WorkChoice;
