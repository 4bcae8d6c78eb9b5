//! Why a run is slower than another: the budget of lost time and the causes that explain it. As JSON and as Markdown; knows nothing else of how it is shown.

mod allocate;
mod answer;
pub mod budget;
pub mod cause;
mod explanation;
mod json;
pub mod machine;
mod markdown;
pub mod tail;
mod verdict;

pub use answer::{Explanation, Finding, Limit, LimitedBy, NotEvaluated, Note, Outcome};
pub use explanation::{Explain, explain, session};
pub use markdown::share_in_words;

/// What can go wrong in an explanation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The window that was asked for is not there.
    #[error(transparent)]
    Window(#[from] compare::Error),
    /// The time of the threads cannot be divided.
    #[error("{0}")]
    Budget(String),
    /// The tables that causes ask cannot be made.
    #[error("{0}")]
    Tables(String),
    /// What slow requests did is not known.
    #[error("{0}")]
    Tail(String),
    /// A cause cannot be used.
    #[error(transparent)]
    Cause(#[from] cause::Faulty),
    /// The tables could not be asked.
    #[error(transparent)]
    Query(#[from] query::Error),
}
