//! Records a system: opens the sources, reads each when it is due, runs the workload under test beside, and hands the rows to the
//! recording file. Knows nothing of what a table means.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod away;
mod command;
mod control;
mod governor;
mod keeper;
mod last;
mod list;
pub mod live;
mod moment;
mod notify;
mod options;
mod own;
mod plan;
mod program;
mod progress;
mod rights;
mod rotate;
mod run;
mod schedule;
mod send;
mod signals;
mod then;
mod trigger;
mod work;

pub use control::{mark, recorders, snapshot};
pub use governor::Budget;
pub use list::list;
pub use moment::{moment, unix_now};
pub use options::{
    Mark, Record, Snapshot, SourcesArgs, Triggers, Usage, Whose, bytes, duration, mode, output, process, result,
};
pub use program::begin_program;
pub use progress::can_rewrite;
pub use rights::{Lack, Rights};
pub use run::{Before, Ended, record};
pub use send::{Drop, HEADER, Hold, STILL_RECORDING, Send, Stop, clock, drop_recording, hold, send, stop};
pub use then::{Then, then};
pub use trigger::{Trigger, replay};

/// The version that recordings carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
