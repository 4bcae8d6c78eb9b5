//! What a design that seeks the best values works with: the space of values, what was measured in it so far, and which values
//! to try next.

mod parego;
mod proposal;

pub(crate) use parego::{costs, front, knee};
pub use proposal::propose;

use crate::Session;
use crate::space::{Set, holds, zipped};
use crate::stage::Kind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is told to whoever proposes: the trials of the search in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Which one of the search, from 1: the first is the default.
    pub number: usize,
    /// Its number in the session.
    pub trial: usize,
    /// The values of what varies.
    pub set: Set,
    /// The measures; empty where it failed.
    pub values: Vec<Option<f64>>,
}

impl Told {
    /// Whether it failed.
    pub fn failed(&self) -> bool {
        self.value(0).is_none()
    }

    /// A measure, where it is one that can be compared by its ratio.
    pub fn value(&self, measure: usize) -> Option<f64> {
        self.values.get(measure).copied().flatten().filter(|x| *x > 0.0)
    }
}

/// The trials of a session's search that ended.
pub fn history(session: &Session) -> Vec<Told> {
    let (Some(space), Some(stage)) = (space(session), session.stages().first()) else { return Vec::new() };
    let told = |(at, block): (usize, &crate::blocks::Block)| {
        let (slot, (trial, outcome)) = (block.order.first()?, block.trials.first()?);
        let mut set = space.default_set();
        set.extend(slot.set.clone());
        let values = match outcome {
            crate::Outcome::Measured(values) => values.clone(),
            _ => Vec::new(),
        };
        Some(Told { number: at + 1, trial: *trial, set, values })
    };
    let blocks = if stage.kind == Kind::Seek { stage.series.blocks.as_slice() } else { &[] };
    blocks.iter().enumerate().filter_map(told).collect()
}

/// The space of a session that seeks.
pub fn space(session: &Session) -> Option<&Space> {
    match &session.plan().design {
        crate::Design::Optimise { space, .. } => Some(space),
        _ => None,
    }
}

/// The values from which are chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Space {
    /// What varies.
    pub dimensions: Vec<Dimension>,
    /// The usual values of all parameters.
    pub usual: Set,
    /// What must hold of them: expressions of SQL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// A parameter, or several that go together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// One, or those of a `zip`.
    pub parameters: Vec<String>,
    /// Its points: a value of each parameter.
    pub values: Vec<Vec<String>>,
    /// Which point is the usual one.
    pub first: usize,
    /// Whether neighbours are alike: numbers, in their order.
    pub ordered: bool,
}

impl Dimension {
    /// The place of the values that a set has; `None` where it has none of these.
    pub fn place(&self, set: &Set) -> Option<usize> {
        let is = |point: &&Vec<String>| self.parameters.iter().zip(point.iter()).all(|(p, v)| set.get(p) == Some(v));
        self.values.iter().position(|point| is(&point))
    }

    /// What one point sets.
    pub fn at(&self, point: usize) -> impl Iterator<Item = (String, String)> + '_ {
        let values = self.values.get(point).map_or(&[][..], Vec::as_slice);
        self.parameters.iter().cloned().zip(values.iter().cloned())
    }
}

impl Space {
    /// Of these parameters, the first value of each being the usual one. Numbers are put in their order.
    ///
    /// # Errors
    /// What does not go together, with the word that it is about.
    pub fn of(
        parameters: &BTreeMap<String, Vec<String>>,
        zip: &[Vec<String>],
        only: &[String],
    ) -> Result<Space, (String, String)> {
        let mut dimensions: Vec<Dimension> = Vec::new();
        for (name, values) in parameters {
            let (together, lists) = zipped(name, parameters, zip).map_err(|what| ("zip".to_owned(), what))?;
            if values.len() < 2 && together.len() == 1 || dimensions.iter().any(|d| d.parameters.contains(name)) {
                continue;
            }
            let usual: Vec<String> = lists.iter().filter_map(|list| list.first().cloned()).collect();
            let mut points: Vec<Vec<String>> =
                (0..values.len()).map(|at| lists.iter().filter_map(|list| list.get(at).cloned()).collect()).collect();
            let number =
                |point: &Vec<String>| point.first().and_then(|v| v.parse::<f64>().ok()).filter(|x| x.is_finite());
            let ordered = points.iter().all(|point| number(point).is_some());
            if ordered {
                points.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
            }
            let twice =
                points.iter().enumerate().find(|(at, point)| points.iter().take(*at).any(|other| other == *point));
            if let Some((_, point)) = twice {
                return Err((name.clone(), format!("parameter {name}: {} is there twice", point.join(", "))));
            }
            let first = points.iter().position(|point| *point == usual).unwrap_or(0);
            dimensions.push(Dimension { parameters: together, values: points, first, ordered });
        }
        let usual = parameters.iter().filter_map(|(p, v)| Some((p.clone(), v.first()?.clone()))).collect();
        let space = Space { dimensions, usual, only: only.to_vec() };
        match space.allows(&Set::new()) {
            Ok(true) => Ok(space),
            Ok(false) => {
                Err(("where".into(), "where: it must hold of the default, the first value of each parameter".into()))
            }
            Err(what) => Err(("where".into(), what)),
        }
    }

    /// How many combinations there are, those that `only` leaves out among them.
    pub fn points(&self) -> usize {
        self.dimensions.iter().fold(1, |n: usize, d| n.saturating_mul(d.values.len()))
    }

    /// All values of a parameter.
    pub(crate) fn values_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        let of = move |d: &'a Dimension| {
            let at = d.parameters.iter().position(|p| p == name);
            at.into_iter().flat_map(move |at| d.values.iter().filter_map(move |point| point.get(at).cloned()))
        };
        self.dimensions.iter().flat_map(of)
    }

    /// The default.
    pub fn default_set(&self) -> Set {
        self.dimensions.iter().flat_map(|d| d.at(d.first)).collect()
    }

    /// Whether a set names a point of each dimension, and nothing else. `Err` says what is wrong.
    pub fn check(&self, set: &Set) -> Result<(), String> {
        let known = |name: &&String| self.dimensions.iter().any(|d| d.parameters.contains(name));
        if let Some(name) = set.keys().find(|name| !known(name)) {
            return Err(format!("{name} is no parameter that varies"));
        }
        for d in &self.dimensions {
            let Some(missing) = d.parameters.iter().find(|p| !set.contains_key(*p)) else {
                if d.place(set).is_some() {
                    continue;
                }
                let (name, value) = (d.parameters.join(", "), d.parameters.iter().filter_map(|p| set.get(p)));
                let value: Vec<&str> = value.map(String::as_str).collect();
                return Err(format!("{name} has no value {}", value.join(", ")));
            };
            return Err(format!("{missing} is missing"));
        }
        Ok(())
    }

    /// Whether what must hold does, of these values and the usual ones of all others.
    ///
    /// # Errors
    /// What cannot be asked.
    pub fn allows(&self, set: &Set) -> Result<bool, String> {
        if self.only.is_empty() {
            return Ok(true);
        }
        let mut whole = self.usual.clone();
        whole.extend(set.clone());
        holds(&whole, &self.only)
    }
}
