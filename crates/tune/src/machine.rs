//! What a session needs of the world: something that runs a trial, and something that keeps what was decided.

use crate::Session;
use crate::event::{Event, Outcome};
use crate::optimise;
use crate::space::Set;
use crate::stage::Stage;

/// One run of one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its number in the session, from 1. A trial that is run again has a new one.
    pub number: usize,
    /// The stage, from 0.
    pub stage: usize,
    /// The block within its stage, from 0.
    pub block: usize,
    /// How often this block was begun before.
    pub attempt: usize,
    /// The place within the block, from 0.
    pub place: usize,
    /// Which variant.
    pub variant: usize,
    /// Of a ladder: the steps that this variant has, from 0.
    pub steps: Vec<usize>,
    /// Values of parameters that were chosen for this trial, beside those of its variant.
    pub set: Set,
    /// Recorded for explaining: what it measures is kept, and not part of the numbers.
    pub explained: bool,
}

/// Whether to begin another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Yes.
    On,
    /// No, for the time of this stage is up: it is judged as it is, and the next stage is asked for.
    TimeUp,
    /// No, somebody wants to stop: the session ends, and can go on later.
    Stop,
}

/// Runs trials.
pub trait Machine {
    /// Runs this one, from its settings to its cleanup. [`Outcome::Void`] is only for reasons that do not look at what was
    /// measured.
    fn run(&mut self, trial: &Trial) -> Outcome;

    /// Runs these at the same time, as [`crate::Plan::together`] asks for: the trial of place 0 on the first CPU of two, that of
    /// place 1 on the second. The outcomes in their order. A machine for which nothing differs runs one after the other.
    fn run_together(&mut self, trials: &[Trial]) -> Vec<Outcome> {
        trials.iter().map(|trial| self.run(trial)).collect()
    }

    /// The values of the next trial of a session that seeks the best ones; `None` to stop. They are written down before it is run.
    ///
    /// # Errors
    /// Why there are none.
    fn propose(&mut self, session: &Session) -> Result<Option<Set>, String> {
        Ok(Some(optimise::propose(session)))
    }

    /// Asked before each block of a stage.
    fn go_on(&mut self, _stage: &Stage) -> Go {
        Go::On
    }
}

/// Keeps events.
pub trait Journal {
    /// Adds this one to the end. It must be safe when this returns: what comes next relies on it.
    fn append(&mut self, event: &Event) -> std::io::Result<()>;
}

impl Journal for Vec<Event> {
    fn append(&mut self, event: &Event) -> std::io::Result<()> {
        self.push(event.clone());
        Ok(())
    }
}
