//! Questions to recordings. [`series`] turns a table into series of rates and levels, window means and chart data; the SQL front end and
//! the export ask the same code, so that a number is the same wherever it is shown.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod accesses;
pub mod assembly;
mod code;
pub mod concurrency;
pub mod cycles;
pub mod dump;
mod error;
pub mod export;
pub mod footprint;
pub mod latency;
pub mod machine;
mod metric;
pub mod profile;
mod runs;
pub mod series;
pub mod sharing;
pub mod sql;
pub mod stats;
pub mod testing;
pub mod work;

pub use error::Error;
pub use metric::{Metric, fields, metric, metrics};
pub use model::{count, human, percent, ratio, times, times_interval};
pub use runs::{Run, Stretch, open, open_by, short_names};
pub use sql::Session;
