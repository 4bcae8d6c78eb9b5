//! Why a run is slower than another: the budget of lost time and the causes that explain it. And what differs between recordings: every metric
//! compared with an interval and a bound on false discoveries, every property that differs, and everything that could not be compared.
//! Knows nothing of how it is shown.

mod allocate;
pub mod budget;
pub mod cause;
mod cautions;
mod compare;
mod concurrency;
mod condition;
mod difference;
mod explanation;
mod facts;
mod headline;
mod json;
mod line;
mod locks;
mod means;
mod metrics;
mod not_compared;
mod own;
mod phases;
mod redundant;
mod side;
mod throughput;
mod verdict;
mod window;
mod work;

pub use cautions::{Caution, CautionKind};
pub use compare::{Comparison, Options, compare};
pub use concurrency::Turns;
pub use condition::Condition;
pub use difference::{Difference, Per};
pub use explanation::{Explain, Explanation, Finding, NotEvaluated, Note, Outcome, explain, session};
pub use facts::{FactDifference, all_facts};
pub use headline::{Headline, Level};
pub use locks::{Lock, Waited};
pub use not_compared::NotCompared;
pub use phases::Phase;
pub use side::{PerSide, Side};
pub use throughput::Pace;
pub use window::{Bound, Choice, choose};

/// At most so many ticks of a table are read; beyond, every n-th is, which keeps counters exact.
const MOST_TICKS: usize = 7200;

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
    /// The time of the threads cannot be divided.
    #[error("{0}")]
    Budget(String),
    /// The tables that causes ask cannot be made.
    #[error("{0}")]
    Tables(String),
    /// A cause cannot be used.
    #[error(transparent)]
    Cause(#[from] cause::Faulty),
    /// The tables could not be asked.
    #[error(transparent)]
    Query(#[from] query::Error),
}
