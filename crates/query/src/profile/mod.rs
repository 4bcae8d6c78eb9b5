//! Profiles: the samples, waits, locks, page faults and inter-processor interrupts of recordings as call trees. [`load()`] merges the rows of a window
//! of each run into one [`Tree`] with a weight for each run, so that a difference of two runs is two columns of one tree.

mod firefox;
mod folded;
mod load;
mod map;
mod pprof;
mod speedscope;
mod stage;
mod stretches;
mod tree;
mod word;

pub use firefox::{Written, firefox};
pub use folded::folded;
pub(crate) use load::unresolved;
pub use load::{Filter, Levels, Part, Request, load};
pub use map::{Map, Mix};
pub use pprof::pprof;
pub use speedscope::speedscope;
pub use stage::{identity, of_tier, stage};
pub use stretches::{Of, Ran, Stretch, Stretches};
pub(crate) use tree::file_name;
pub use tree::{Frame, ROOT, Top, Tree};
pub use word::{ALL, Known, has, known, measured, words};

#[cfg(test)]
mod tests;
