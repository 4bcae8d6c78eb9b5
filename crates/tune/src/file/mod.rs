//! The file of an experiment: TOML, as docs/tune.md describes it. What is not understood is an error that names the line, and the
//! nearest word where it is a misspelt one.

mod error;
mod kinds;

pub use error::FileError;
pub(crate) use error::nearest;
pub use kinds::{
    Amount, Budget, Check, Commands, DesignName, EnvParameter, From, KeepWord, LoadSpec, MeasureSpec, Parameter, Ready,
    Scalar, Score, Server, SettingParameter, StepSpec, Time, VariantSpec, Workload,
};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A file, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What the session is called; the file's name without its extension where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is asked.
    #[serde(default)]
    pub design: DesignName,
    /// Of a ladder: what its steps are judged by, where that is not the first measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// The least change that matters: `"3%"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Amount>,
    /// How sure a difference has to be that is called: `"95%"` where it does not say, and more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// What orders are drawn from; drawn itself where it is not given, and kept in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Four blocks and Student's t.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// Both trials of a block at the same time, on two CPUs that they swap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// In how many blocks each variant has a second trial, recorded in full, for explaining. 3 where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<usize>,
    /// Of `optimise`: how many measures are sought to be good. 1 where it does not say; 2: the front of the first two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objectives: Option<usize>,
    /// Of `optimise`: a program that says what to try, in place of the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Commands>,
    /// When it ends at the latest.
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
    /// What is run.
    #[serde(default)]
    pub workload: Workload,
    /// A server that is started before each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// The built-in client as the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSpec>,
    /// What is measured; `work` where the workload has a throughput, else `wall`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measure: Vec<MeasureSpec>,
    /// What varies, or could.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
    /// Combinations that make sense: all of these hold.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub only_where: Vec<String>,
    /// Parameters that go together, first value with first value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zip: Vec<Vec<String>>,
    /// Of `ab`: the variants by hand, the baseline first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<VariantSpec>,
    /// Of `ladder`: the steps in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step: Vec<StepSpec>,
}

impl File {
    /// Reads it. `name` is what errors call it.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn parse(text: &str, name: &str) -> Result<File, FileError> {
        toml::from_str(text).map_err(|e| FileError::of(&e, text, name))
    }

    /// Whether rates are sought: by a search, or by a ladder of which each step is one.
    pub fn searches(&self) -> bool {
        self.design == DesignName::Search || self.score == Some(Score::Rate)
    }

    /// The file as text, as a session keeps it.
    pub fn text(&self) -> String {
        // Nothing here can fail: all keys are texts, and tables come after values.
        toml::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
