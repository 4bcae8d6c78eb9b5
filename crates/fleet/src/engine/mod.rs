//! Who answers questions about a fleet: the summaries in memory ([`crate::Fleet`]), or an engine that people have, such as Spark or DuckDB
//! ([`Elsewhere`]). Bands, p-values, quantiles and correlations are computed here in either case, from the values of a few metrics and of some hosts,
//! and from sums over all of them: the answers are the same. docs/engines.md is the contract with engines.

mod elsewhere;
mod here;
#[cfg(test)]
mod lint;
mod question;
mod rows;
mod session;
mod tables;
#[cfg(test)]
mod tests;

pub use elsewhere::{Elsewhere, Where};
pub use question::Question;
pub use session::{Asker, EngineError, Session};

use crate::ask::AskError;
use crate::loaded::{Course, Declared, Fact, Key, Metric, Part, Place, Recording};
use crate::separate::FactSplit;
use crate::statistics::separate::Sums;
use crate::{Damage, Fleet};
use std::collections::HashMap;
use std::sync::Arc;

/// Answers what is asked of the recordings of a fleet.
pub trait Engine<'a> {
    /// The recordings, by host and start.
    fn recordings(&self) -> &[Recording];

    /// The metrics of these names, and, where `labels` is given, of this group; by key, with their values.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn named(&mut self, names: &[&str], labels: Option<&str>) -> Result<Vec<Metric>, AskError>;

    /// All metrics by key, with their values.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn all(&mut self) -> Result<Vec<Metric>, AskError>;

    /// What metrics are, by name.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn declared(&mut self) -> Result<HashMap<String, Arc<Declared>>, AskError>;

    /// A fact on each recording, by `CATEGORY.NAME`; else the names of all facts.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn fact(&mut self, name: &str) -> Result<Result<Fact, Vec<(String, String)>>, AskError>;

    /// The same of only those recordings, by their places.
    fn only(&self, kept: &[usize]) -> Box<dyn Engine<'a> + 'a>;

    /// The course of a metric on each recording; empty where none was kept.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn courses(&mut self, key: &Key) -> Result<Vec<Course>, AskError>;

    /// When the oldest process of the workload of each recording began, ns since 1970 UTC, where that is known.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn starts(&mut self) -> Result<HashMap<usize, i64>, AskError>;

    /// All that the recordings can differ in; only facts where there are no bands.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn material(&mut self, banded: bool) -> Result<Box<dyn Material + 'a>, AskError>;

    /// Parts of the folder that could not be read as a whole.
    fn damage(&mut self) -> Vec<Damage>;
}

/// All that the recordings of a fleet can differ in. Metrics and functions are told by their places.
pub trait Material {
    /// The metrics by key, with those of their values that were asked for.
    fn metrics(&self) -> &[Metric];

    /// What the ranks of these values add up to.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn metric_sums(&mut self, which: &[(usize, Part)], sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError>;

    /// These values on all recordings.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn metric_whole(&mut self, which: &[(usize, Part)]) -> Result<Vec<Vec<f64>>, AskError>;

    /// These values on some recordings.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn metric_some(&mut self, which: &[(usize, Part)], hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError>;

    /// All metrics, with all their values on these recordings, in their order.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn metrics_on(&mut self, hosts: &[usize]) -> Result<Vec<Metric>, AskError>;

    /// What the ranks of the own shares of all functions add up to.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn place_sums(&mut self, sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError>;

    /// The own shares of some functions on all recordings.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn place_whole(&mut self, which: &[usize]) -> Result<Vec<Vec<f64>>, AskError>;

    /// The own shares of all functions on some recordings.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn place_some(&mut self, hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError>;

    /// How the facts divide recordings of these bands, of which some are undecided.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn facts(&mut self, of: &[Option<usize>], undecided: &[usize]) -> Result<Vec<FactSplit>, AskError>;

    /// Sees to it that the values of these facts, by their places in what [`Material::facts`] gave, are among the parts.
    ///
    /// # Errors
    /// Where the summaries cannot be had.
    fn fact_whole(&mut self, which: &[usize]) -> Result<(), AskError>;

    /// The metrics, functions and facts, with those of their values that are here.
    fn into_parts(self: Box<Self>) -> (Vec<Metric>, Vec<Place>, Vec<Fact>);
}

impl<'a> From<Fleet<'a>> for Box<dyn Engine<'a> + 'a> {
    fn from(fleet: Fleet<'a>) -> Self {
        Box::new(fleet)
    }
}

impl From<Elsewhere> for Box<dyn Engine<'static>> {
    fn from(engine: Elsewhere) -> Self {
        Box::new(engine)
    }
}
