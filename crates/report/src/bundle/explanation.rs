//! Why a run is slower, or what limits one: what `twinscope explain` says.

use serde::Serialize;

/// Why a run is slower than another, or what limits one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Explanation {
    /// The run that is explained.
    pub run: usize,
    /// The run that it is held against; null for one run alone.
    pub against: Option<usize>,
    /// How the two compare.
    pub outcome: Outcome,
    /// Which runs these are, where that has to be said: the baseline is the slower one, or there are several.
    pub which: Option<String>,
    /// The causes that were found, largest first.
    pub findings: Vec<Finding>,
    /// Part of the lost time that no finding explains.
    pub unexplained: f64,
    /// What is worth knowing besides, without a cost that could be measured.
    pub notes: Vec<Note>,
    /// Causes that could not be looked for.
    pub not_evaluated: Vec<NotEvaluated>,
}

/// How the run that is explained compares with the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Outcome {
    /// It is slower.
    #[serde(rename = "slower")]
    Slower,
    /// It is not, or not by enough.
    #[serde(rename = "no slower")]
    NoSlower,
    /// It is, by less than one or two recordings a side can tell from chance; the findings are what differs between these.
    #[serde(rename = "undecided")]
    Undecided,
    /// It is, and so is all of its code: as on slower CPUs.
    #[serde(rename = "evenly slower")]
    EvenlySlower,
    /// The work is not known, and the threads spent more time on it.
    #[serde(rename = "more time")]
    MoreTime,
    /// As many requests are answered, but they take longer, and the threads spend more time on each.
    #[serde(rename = "longer requests")]
    LongerRequests,
    /// There is no other.
    #[serde(rename = "alone")]
    Alone,
}

/// A cause that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// Identifier of the cause.
    pub cause: String,
    /// Its title.
    pub title: String,
    /// Part of the lost time that it explains and no other finding does; of one run alone, of the time of its threads.
    pub share: f64,
    /// Lower end of the 95 % interval of the share.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// What it is about: a lock, a function …
    pub subject: String,
    /// What happens, in a sentence.
    pub says: String,
    /// What shows it, line by line.
    pub evidence: Vec<String>,
    /// What to do about it, line by line.
    pub advice: Vec<String>,
    /// How to see it by hand, line by line.
    pub check: Vec<String>,
    /// What an experiment would vary, line by line.
    pub experiment: Vec<String>,
    /// References, line by line.
    pub references: Vec<String>,
    /// The question, in SQL, whose answer it is.
    pub query: String,
    /// Where its time was, largest first.
    pub states: Vec<StateShare>,
    /// Pages of this report where more of it is seen, or `set-up`.
    pub pages: Vec<String>,
    /// Of the page of instructions, the function that it is about: its place in `Listings`; null where it is about none of those.
    pub function: Option<usize>,
}

/// A state, and the part of the lost time that was in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StateShare {
    /// Identifier of a state of the budget.
    pub state: String,
    /// The part.
    pub share: f64,
}

/// Something that is worth knowing and has no cost that could be measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Note {
    /// Identifier of the cause.
    pub cause: String,
    /// In a sentence.
    pub text: String,
    /// Pages of this report where more of it is seen, or `set-up`.
    pub pages: Vec<String>,
}

/// Causes that could not be looked for, for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NotEvaluated {
    /// Identifiers of the causes.
    pub causes: Vec<String>,
    /// What is missing for them.
    pub needs: String,
}
