//! What differs between recordings: every metric compared with an interval and a bound on false discoveries, every property that differs, and
//! everything that could not be compared. And what a comparison stands on, which `explain` shares: windows, work and pace, the two sides, whose
//! threads and control groups are the workload's, what stands against believing a difference. Knows nothing of how it is shown.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod assembly;
pub mod cautions;
mod comparison;
mod concurrency;
mod condition;
pub mod counted;
mod difference;
pub mod facts;
pub mod flame;
mod headline;
mod incident;
mod json;
mod latency;
pub mod line;
mod locks;
pub mod means;
pub mod measured;
mod metrics;
mod not_compared;
mod options;
pub mod own;
mod owner;
mod phases;
mod redundant;
pub mod side;
mod throughput;
pub mod window;
pub mod work;

pub use cautions::{Caution, CautionKind};
pub use comparison::{Comparison, LEAST_CHANGE, Options, compare};
pub use concurrency::Turns;
pub use condition::Condition;
pub use difference::{Difference, Per};
pub use facts::{FactDifference, all_facts};
pub use headline::{Headline, Level};
pub use incident::{Divided, Incident};
pub use latency::{
    LEAST as LEAST_LATENCY, Latency, Longer, LongerRequests, QUANTILES, Quantile, Requests, labels as service_labels,
};
pub use locks::{Lock, Waited};
pub use not_compared::NotCompared;
pub use options::{JvmOptions, only_jvms_chose, option_absent, options_read};
pub use phases::Phase;
pub use side::{PerSide, Side};
pub use throughput::Pace;
pub use window::{Bound, Choice, choose, narrow};
pub use work::Unit;

/// At most so many ticks of a table are read; beyond, every n-th is, which keeps counters exact.
pub const MOST_TICKS: usize = 7200;

/// What can go wrong in a comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The window that was asked for is not there.
    #[error("{run}: {why}")]
    Window {
        /// The run.
        run: String,
        /// What is wrong with the window.
        why: String,
    },
    /// The tables could not be asked.
    #[error(transparent)]
    Query(#[from] query::Error),
}
