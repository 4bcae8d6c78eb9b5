//! The answer of `explain`: what was found, with what it explains, and what stands beside it.

use crate::budget::{Estimate, Judged, State};
use crate::machine::MachinesOf;
use compare::{Caution, FactDifference, LongerRequests, Pace, PerSide, Unit};
use model::Window;

/// A cause that was found, with what it explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Identifier of the cause.
    pub cause: String,
    /// Its title.
    pub title: String,
    /// Part of the lost time that it explains, and no other finding does; of one run alone, of the time of its threads.
    pub share: Estimate,
    /// What it is about: a lock, a function …
    pub subject: String,
    /// In a sentence.
    pub says: String,
    /// What shows it, line by line.
    pub evidence: Vec<String>,
    /// What to do about it.
    pub advice: Vec<String>,
    /// How to see it by hand.
    pub check: Vec<String>,
    /// What an experiment would vary.
    pub experiment: Vec<String>,
    /// References.
    pub see: Vec<String>,
    /// The question whose answer it is.
    pub query: String,
    /// Of the lost time that it explains, how much was in which state, largest first.
    pub states: Vec<(State, f64)>,
}

/// Something that is worth knowing and has no cost that could be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Identifier of the cause.
    pub cause: String,
    /// In a sentence.
    pub text: String,
}

/// A cause that could not be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotEvaluated {
    /// Identifier of the cause.
    pub cause: String,
    /// What is missing.
    pub needs: String,
}

/// How the sides compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The slow side is slower, by enough.
    Slower,
    /// It is not, or not by enough: there is nothing to explain.
    NoSlower,
    /// It is, by less than one or two recordings a side can tell from chance, or from what other programs do.
    Undecided,
    /// It is, with one or two runs a side, and so is all of its code, the kernel's too: as on slower CPUs.
    Evenly,
    /// The work is not known, and the threads spent more time on it, by enough.
    MoreTime,
    /// As many requests are answered, for their clients ask for no more; but they take longer, and the threads spend more time on each.
    LongerRequests,
    /// There is one side only.
    Alone,
}

impl Outcome {
    /// Whether the slow side lost time, so that there is a whole that shares are parts of.
    pub fn is_loss(self) -> bool {
        !matches!(self, Outcome::NoSlower | Outcome::Alone)
    }
}

/// By how much runs may differ before one is called slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// 0.1 for 10 %.
    pub least: f64,
    /// What it is set by.
    pub by: LimitedBy,
}

/// What sets a [`Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// Whoever asks.
    Asked,
    /// Repeats of each side, which show how much runs differ.
    Repeats,
    /// A side that was recorded once or twice.
    Once,
    /// Other programs, by the share of the CPUs that they use.
    Others,
}

/// The answer.
#[derive(Debug)]
pub struct Explanation {
    /// Names of the runs, the slow ones first.
    pub runs: Vec<String>,
    /// How many of them are slow.
    pub slow: usize,
    /// The window of each run.
    pub windows: Vec<Window>,
    /// What a unit of work is.
    pub unit: Unit,
    /// Elapsed seconds per unit; equal for one side only.
    pub elapsed: PerSide<f64>,
    /// Units done, and in which time.
    pub done: PerSide<Pace>,
    /// Elapsed time per unit, slow over baseline.
    pub ratio: Estimate,
    /// By how much the slow side must take longer to be called slower.
    pub limit: Limit,
    /// How the sides compare.
    pub outcome: Outcome,
    /// Where the slow side does as much: requests that take longer there; the slowest ones, or those that make it [`Outcome::LongerRequests`].
    pub tail: Option<LongerRequests>,
    /// In a sentence or two.
    pub verdict: String,
    /// Where all code is slower alike: what is known of the CPUs that says why.
    pub slower_cpus: Option<String>,
    /// Thread-seconds per unit by state, and the part of the lost time.
    pub ledger: Vec<(State, PerSide<f64>, Estimate)>,
    /// What the workload's threads waited for: as recorded, and as it is taken to be.
    pub waits: Vec<Judged>,
    /// The function of the program in which its threads' own code ran most, and the part of their time that it took.
    pub hottest: Option<(String, f64)>,
    /// What was found, largest first.
    pub findings: Vec<Finding>,
    /// Where it is [`Outcome::Undecided`], what differs between these recordings all the same, largest first: it explains the
    /// difference if that is no chance.
    pub differs: Vec<Finding>,
    /// Where the sides do not differ and what takes most time of each alone is the same: that.
    pub limits_both: Option<PerSide<Finding>>,
    /// Where the baseline is the slower side: the command that explains it, without the program's name.
    pub reversed: Option<String>,
    /// Part of the lost time that no finding explains.
    pub unexplained: f64,
    /// What is worth knowing besides.
    pub notes: Vec<Note>,
    /// What could not be looked for.
    pub not_evaluated: Vec<NotEvaluated>,
    /// What the figures of the machines say.
    pub machines: MachinesOf,
    /// Properties of the hosts that differ.
    pub facts: Vec<FactDifference>,
    /// What stands against believing all this too readily.
    pub cautions: Vec<Caution>,
    /// What could not be read of the recordings.
    pub damage: Vec<String>,
}
