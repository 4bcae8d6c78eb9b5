//! Records a system: opens the sources, reads each when it is due, runs the workload under test beside, and hands the rows to the
//! recording file. Knows nothing of what a table means.

mod command;
mod control;
mod keeper;
mod list;
pub mod live;
mod options;
mod own;
mod plan;
mod program;
mod progress;
mod run;
mod schedule;
mod signals;
mod work;

pub use control::{mark, snapshot};
pub use list::list;
pub use options::{Mark, Record, Snapshot, SourcesArgs, Usage, Whose, duration};
pub use program::begin_program;
pub use run::{Before, record};

/// The version that recordings carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
