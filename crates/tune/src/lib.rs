//! Experiments: which of several variants of a program is better, by how much, and how sure that is.
//!
//! A session is driven by a list of events that only grows ([`Event`], one line of JSON each): [`Session::run`] asks a
//! [`Machine`] for one trial after the other and appends to a [`Journal`] what it decides before it does it. The state of a
//! session is what its events make of it and nothing else, so a session that was killed goes on with [`Session::resume`] where
//! it was: a block that was cut is run again as a whole, and no trial counts twice.
//!
//! ```
//! use tune::simulated::{Noise, Simulated};
//! use tune::{Better, Design, End, Measure, Plan, Session};
//!
//! let measures = vec![Measure { name: "wall".into(), better: Better::Less }];
//! let plan = Plan::new(Design::Ab { variants: 1 }, measures, 7);
//! // The journal of a real session is a file; here it is a list.
//! let mut journal = Vec::new();
//! let mut session = Session::begin(plan, &mut journal)?;
//! // Variant 1 takes 5 % less time than variant 0, the baseline.
//! let mut machine = Simulated::new(Noise::White, 1, 60).effects(&[0.0, 0.95f64.ln()]);
//! assert_eq!(session.run(&mut machine, &mut journal)?, End::Finished);
//! let change = &tune::designs::ab::changes(&session)[0];
//! println!("{:.2} times the time, {:?}", change.factor, change.verdict);
//! # Ok::<(), tune::Error>(())
//! ```
//!
//! What decides is in [`judge`], how blocks are made in [`blocks`]; docs/method.md says what is assumed, and how often it is
//! wrong. Sessions, designs and verdicts read no clock, start no process and write no file. What does is apart: an
//! experiment's [`file`] becomes an [`Experiment`], its trials are run by a [`Runner`] and kept in a [`Folder`], and
//! [`drive()`] puts these together.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod blocks;
pub mod designs;
mod drive;
mod event;
mod experiment;
pub mod file;
mod folder;
pub mod judge;
mod machine;
pub mod measure;
pub mod optimise;
mod place;
mod plan;
pub mod result;
mod runner;
pub mod scaling;
mod session;
mod settings;
mod show;
pub mod simulated;
pub mod space;
mod stage;
mod together;
mod why;

pub use designs::Change;
pub use drive::{Drive, DriveError, drive};
pub use event::{Event, FORMAT, Outcome, lines};
pub use experiment::{Experiment, Invocation, Variant};
pub use folder::{About, Folder, FolderError, TrialRecord};
pub use judge::{By, Look, Verdict};
pub use machine::{Go, Journal, Machine, Trial};
pub use place::Place;
pub use plan::{Better, Design, Keep, Measure, Plan, Seek};
pub use runner::{KeepRecordings, Runner, Tools, Watch};
pub use session::{End, Session};
pub use settings::{Setter, Setting, Settings};
pub use show::{amount, factor, shell, show};
pub use stage::{Comparison, Kind, Stage};
pub use together::cpus;

/// What can go wrong in a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan cannot be carried out.
    #[error("{0}")]
    Plan(String),
    /// A line of a journal is none that a session writes.
    #[error("line {line} of the journal: {what}")]
    Journal {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it, and what to do.
        what: String,
    },
    /// What was decided could not be written down.
    #[error("the journal cannot be written: {0}; nothing was done that it does not say")]
    Write(#[from] std::io::Error),
    /// One block could not be completed.
    #[error("{attempts} attempts of one block were void, the last because {why}; what was measured before is kept")]
    Void {
        /// How often it was begun.
        attempts: usize,
        /// Why the last one was void.
        why: String,
    },
    /// Nobody said what to try next.
    #[error("{0}; what was measured before is kept")]
    Ask(String),
    /// More blocks were asked for where they would not be honest, or do nothing.
    #[error("{0}")]
    More(String),
}
