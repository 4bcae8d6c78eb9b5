//! The two sides of a question: which recordings, and which stretch of each. Two stretches of one recording are two sides as well.

use crate::compare::window;
use anyhow::Result;
use clap::Args;
use compare::{Choice, Divided};
use query::Run;
use recorder::Usage;
use std::ops::Range;
use std::path::PathBuf;

/// The window of the baseline, where it has one of its own: shared by all that compare.
#[derive(Args, Clone, Debug, Default)]
pub struct AgainstWindow {
    /// The window of the baseline, FROM..TO like --window, which is then the slow side's. Without another baseline it is a
    /// stretch of the same recording: two stretches of one recording are compared
    #[arg(long, value_name = "WINDOW", value_parser = window)]
    against_window: Option<Choice>,
}

impl AgainstWindow {
    /// Whether it was given.
    pub(crate) fn is_given(&self) -> bool {
        self.against_window.is_some()
    }

    /// The recordings of the baseline: those that are named as such, or, with a window for it alone, the recording itself.
    ///
    /// # Errors
    /// Where it is not clear what the two stretches are.
    pub(crate) fn baseline<'a>(
        &self,
        slow: &'a [PathBuf],
        named: &'a [PathBuf],
        window: &Choice,
    ) -> Result<&'a [PathBuf]> {
        if !self.is_given() || !named.is_empty() {
            return Ok(named);
        }
        let why = match (slow.len(), window) {
            (1, Choice::Auto) => "--against-window needs --window as well, FROM..TO: the stretch that is slow",
            (1, _) => return Ok(slow),
            _ => "--against-window compares two stretches of one recording: name one, or a baseline",
        };
        Err(Usage(why.into()).into())
    }

    /// Makes each run its stretch; `baseline` says which are the baseline. Nothing where no window was given for the baseline.
    ///
    /// # Errors
    /// Where a stretch is not there, or both have a part in common.
    pub(crate) fn narrow(&self, runs: &mut [Run], baseline: Range<usize>, window: &Choice) -> Result<()> {
        let Some(against) = &self.against_window else { return Ok(()) };
        let choices: Vec<&Choice> =
            (0..runs.len()).map(|run| if baseline.contains(&run) { against } else { window }).collect();
        Ok(compare::narrow(runs, &choices)?)
    }

    /// The two options as one would type them; nothing where no window was chosen.
    pub(crate) fn words(&self, window: &Choice) -> Vec<String> {
        let mut words = Vec::new();
        if *window != Choice::Auto {
            words.extend(["--window".to_owned(), window.to_string()]);
        }
        if let Some(against) = &self.against_window {
            words.extend(["--against-window".to_owned(), against.to_string()]);
        }
        words
    }
}

/// What a trigger had saved, as two sides: since it held, and the time before.
pub(crate) struct OfTrigger {
    /// Says in a line which stretches were taken, and how to choose others.
    pub(crate) said: String,
    /// The options that choose the same; empty where there is too little before.
    pub(crate) words: Vec<String>,
}

impl OfTrigger {
    /// Whether the only one of `runs` is what a trigger had saved; `again` is then a second opening of it.
    ///
    /// # Errors
    /// Where it cannot be opened once more.
    pub(crate) fn of(runs: &mut Vec<Run>, again: impl FnOnce() -> Result<Vec<Run>>) -> Result<Option<OfTrigger>> {
        let Some(Divided { said, windows }) = Divided::of(runs, again)? else { return Ok(None) };
        let Some(windows) = windows else {
            let said = format!("{said} Two stretches of your own: --window FROM..TO --against-window FROM..TO");
            return Ok(Some(OfTrigger { said, words: Vec::new() }));
        };
        let said =
            format!("{said} Others: --window FROM..TO --against-window FROM..TO; all as one run: --window whole");
        let options = ["--window", "--against-window"].into_iter().zip(windows);
        let words = options.flat_map(|(option, window)| [option.to_owned(), window]).collect();
        Ok(Some(OfTrigger { said, words }))
    }
}
