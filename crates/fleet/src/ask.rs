//! Which bands the recordings of a fleet fall into: the metrics that are asked, the statistics' answer, and what it means for the fleet — how much
//! time the slow bands lose, and whether a fact divides the recordings as the bands do.

use crate::loaded::{Course, Fact, Fleet, Key, Metric, Place, Recording};
use crate::separate::{Material, Separated, separated};
use crate::since::{Since, since};
use crate::statistics::bands::{self, Ask, Found, Values};
use crate::statistics::facts::{self, divides};
use crate::straying::{self, Straying};
use crate::summary::{CPU, DONE, STATES};
use crate::{Damage, FolderError};
use std::collections::BTreeMap;

/// A fact whose values divide the recordings so much as the bands do (`facts::divides`) is what the bands are.
const IS_A_FACT: f64 = 0.8;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The metrics, in words: `NAME`, `NAME{label=value}`, followed by `per operation` or `per second` or neither. None: the pace, CPU time, CPU use
    /// and the states of the ledger.
    pub by: Vec<String>,
    /// All metrics.
    pub any: bool,
    /// Only recordings with these labels.
    pub labels: Vec<(String, String)>,
    /// A fact, `CATEGORY.NAME`: recordings with the same value are asked by themselves.
    pub within: Option<String>,
}

/// Why it cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// No recording is there, or none has the labels.
    #[error("{0}")]
    Nothing(String),
    /// What is named is not there.
    #[error("no recording has {what}; {there}")]
    Unknown {
        /// What was named.
        what: String,
        /// What is there like it.
        there: String,
    },
}

/// A metric that was asked, and what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The metric, with its values on all recordings.
    pub metric: Metric,
    /// The share of the variance between recordings that is theirs, and not that of their short lengths, 0 to 1.
    pub spread: f64,
    /// What it says; `None` where it was not asked, since recordings differ by no more than their own errors.
    pub found: Option<Found>,
}

/// Bands, and what is known of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Banding {
    /// Places of the metrics that divide so among those asked; the first names it.
    pub metrics: Vec<usize>,
    /// p-value of the first, adjusted for all that were asked.
    pub p: f64,
    /// The band of each recording, best first where the metric has a direction, else the lowest first; `None` for those that stray.
    pub of: Vec<Option<usize>>,
    /// By the place of a band in this order, its place in [`Found::bands`].
    pub order: Vec<usize>,
    /// The share of the time that would be saved if all bands had the pace of the best, 0 to 1; `None` where the pace is not known.
    pub lost: Option<f64>,
    /// Facts whose values divide the recordings as the bands do: category and name.
    pub facts: Vec<(String, String)>,
    /// What separates the bands: of two the first from the second, of more each from all others.
    pub separated: Vec<Separated>,
    /// Since when.
    pub since: Since,
    /// By recording, the course of the metric that names it; empty where none was kept.
    pub courses: Vec<Course>,
}

/// Recordings that were asked together.
#[derive(Debug)]
pub struct Group {
    /// The value of the fact that they share, where that was asked for.
    pub within: Option<String>,
    /// The recordings.
    pub recordings: Vec<Recording>,
    /// The metrics that were asked.
    pub asked: Vec<Asked>,
    /// The bandings, that with most lost time first; none where there are no bands.
    pub bandings: Vec<Banding>,
    /// All metrics that what separates was asked of; empty where there are no bands.
    pub metrics: Vec<Metric>,
    /// All functions, likewise.
    pub places: Vec<Place>,
    /// All facts.
    pub facts: Vec<Fact>,
    /// Recordings that lie far from all others, and in what.
    pub strays: Vec<Straying>,
}

impl Group {
    /// The metric that names a banding, with what it says.
    pub fn named(&self, banding: &Banding) -> Option<(&Asked, &Found)> {
        let asked = self.asked.get(*banding.metrics.first()?)?;
        Some((asked, asked.found.as_ref()?))
    }

    /// The recordings of a band that lie nearest to its middle, at most so many; those that may belong to another are left out.
    pub fn middle(&self, banding: &Banding, band: usize, most: usize) -> Vec<usize> {
        let Some((asked, found)) = self.named(banding) else { return Vec::new() };
        let of = banding.order.get(band).and_then(|band| found.bands.get(*band));
        let middle = of.map_or(f64::NAN, |band| band.middle);
        let value = |at: &usize| asked.metric.mean.get(*at).copied().unwrap_or(f64::NAN);
        let mut members: Vec<usize> = of.map_or(&[][..], |band| &band.members).to_vec();
        members.retain(|at| !found.undecided.contains(at) && value(at).is_finite());
        members.sort_by(|a, b| (value(a) - middle).abs().total_cmp(&(value(b) - middle).abs()).then(a.cmp(b)));
        members.truncate(most);
        members
    }

    /// The slow and the fast band of a banding, by the pace where that is known, else the last and the first.
    pub fn slow_and_fast(&self, banding: &Banding) -> Option<(usize, usize)> {
        let last = banding.order.len().checked_sub(1).filter(|last| *last > 0)?;
        let pace = self.asked.iter().map(|asked| &asked.metric).chain(&self.metrics).find(|m| &*m.key.metric == DONE);
        let mean = |band: usize| {
            let of = banding.of.iter().zip(&pace?.mean).filter(|(of, pace)| **of == Some(band) && pace.is_finite());
            let (sum, n) = of.fold((0.0, 0.0), |(sum, n), (_, pace)| (sum + pace, n + 1.0));
            (n > 0.0).then_some(sum / n)
        };
        let mut paces: Vec<(usize, f64)> = (0..=last).filter_map(|band| Some((band, mean(band)?))).collect();
        paces.sort_by(|a, b| a.1.total_cmp(&b.1));
        match paces.as_slice() {
            [slow, .., fast] if paces.len() == banding.order.len() => Some((slow.0, fast.0)),
            _ => Some((last, 0)),
        }
    }
}

/// What the fleet answers.
#[derive(Debug)]
pub struct Answer {
    /// By value of the fact of [`Question::within`]; one where none was given.
    pub groups: Vec<Group>,
    /// Parts of the folder that could not be read as a whole.
    pub damage: Vec<Damage>,
}

/// Asks.
///
/// # Errors
/// Where the folder cannot be read, or what is named is not there.
pub fn ask(mut fleet: Fleet<'_>, question: &Question) -> Result<Answer, AskError> {
    if fleet.is_empty() {
        let why = match question.labels.as_slice() {
            [] => "the fleet has no recordings; add some with: twinscope fleet add".to_owned(),
            labels => {
                let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("no recording has the label {}", labels.join(", "))
            }
        };
        return Err(AskError::Nothing(why));
    }
    let facts = fleet.facts()?;
    let parts = match &question.within {
        None => vec![(None, fleet)],
        Some(name) => divided(fleet, name, &facts)?,
    };
    let mut answer = Answer { groups: Vec::new(), damage: Vec::new() };
    for (within, mut fleet) in parts {
        let facts = fleet.facts()?;
        let group = group(&mut fleet, within, facts, question)?;
        answer.groups.push(group);
        for damage in fleet.damage {
            if !answer.damage.contains(&damage) {
                answer.damage.push(damage);
            }
        }
    }
    Ok(answer)
}

/// The recordings by the values of a fact.
fn divided<'a>(mut fleet: Fleet<'a>, name: &str, facts: &[Fact]) -> Result<Vec<(Option<String>, Fleet<'a>)>, AskError> {
    let is_it = |fact: &&Fact| format!("{}.{}", fact.name.0, fact.name.1) == name;
    let Some(fact) = facts.iter().find(is_it) else {
        return Err(AskError::Unknown { what: format!("the fact {name}"), there: nearest(name, facts) });
    };
    let damage = std::mem::take(&mut fleet.damage);
    let mut parts: Vec<(Option<String>, Fleet<'a>)> = (0..fact.values.len())
        .map(|value| {
            let part = fleet.only(|at| fact.of.get(at) == Some(&(value as u32)));
            (fact.values.get(value).cloned(), part)
        })
        .collect();
    let rest = fleet.only(|at| fact.of.get(at).is_none_or(|value| *value as usize >= fact.values.len()));
    if !rest.is_empty() {
        parts.push((Some(String::from("(not read)")), rest));
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some((_, first)) = parts.first_mut() {
        first.damage = damage;
    }
    Ok(parts)
}

/// Facts whose names hold what was named, or a part of it.
fn nearest(name: &str, facts: &[Fact]) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let mut found: Vec<String> = facts
        .iter()
        .filter(|fact| fact.name.1.contains(last) || fact.name.0 == name.split('.').next().unwrap_or(name))
        .map(|fact| format!("{}.{}", fact.name.0, fact.name.1))
        .take(6)
        .collect();
    if found.is_empty() {
        found.push("list them with: twinscope fleet sql FLEET 'select distinct category, name from fact'".into());
        return found.remove(0);
    }
    format!("there are {}", found.join(", "))
}

/// Asks recordings that belong together.
fn group(
    fleet: &mut Fleet<'_>,
    within: Option<String>,
    facts: Vec<Fact>,
    question: &Question,
) -> Result<Group, AskError> {
    let metrics = if question.any {
        fleet.metrics(None)?
    } else if question.by.is_empty() {
        usual(fleet)?
    } else {
        let mut all = Vec::new();
        for word in &question.by {
            all.push(named(fleet, word)?);
        }
        all
    };
    let wide: Vec<[Vec<f64>; 3]> = metrics
        .iter()
        .map(|m| [&m.even, &m.odd, &m.error].map(|values| values.iter().map(|v| f64::from(*v)).collect()))
        .collect();
    let names: Vec<String> = metrics.iter().map(|metric| metric.key.to_string()).collect();
    let values: Vec<Values<'_>> = metrics
        .iter()
        .zip(&wide)
        .zip(&names)
        .map(|((metric, [even, odd, error]), name)| Values { name, whole: &metric.mean, even, odd, error })
        .collect();
    let how = Ask { by_any: question.any, named: !question.by.is_empty(), ..Ask::default() };
    let answer = bands::ask(&values, &how);
    let spreads: Vec<f64> = values.iter().map(bands::spread).collect();
    let pace = match metrics.iter().find(|m| &*m.key.metric == DONE) {
        Some(pace) => Some(pace.mean.clone()),
        None => fleet.metrics(Some(DONE))?.into_iter().next().map(|pace| pace.mean),
    };
    let mut bandings = Vec::new();
    let mut all = Vec::new();
    let mut places = Vec::new();
    if !answer.bandings.is_empty() {
        all = if question.any { metrics.clone() } else { fleet.metrics(None)? };
        places = fleet.places()?;
    }
    let material = Material { metrics: &all, facts: &facts, places: &places };
    for found in answer.bandings {
        let Some(first) = found.metrics.first().copied() else { continue };
        let (Some(metric), Some(Some(of))) = (metrics.get(first), answer.found.get(first)) else { continue };
        let names: Vec<&Key> = found.metrics.iter().filter_map(|at| Some(&metrics.get(*at)?.key)).collect();
        let courses = fleet.courses(&metric.key)?;
        let starts = fleet.starts()?;
        let when = since(of, &fleet.recordings, &courses, &starts);
        let mut banding = banding(found.metrics.clone(), found.adjusted, metric, of, when);
        banding.courses = courses;
        banding.lost = pace.as_deref().and_then(|pace| lost(pace, &banding.of, banding.order.len()));
        banding.facts = dividing(&facts, &banding.of);
        let left_out: Vec<usize> = (0..all.len()).filter(|at| names.contains(&&all[*at].key)).collect();
        // Of two bands each separates from the other by the same.
        let asked = if banding.order.len() == 2 { 1 } else { banding.order.len() };
        banding.separated =
            (0..asked).map(|band| separated(&material, &banding.of, band, &left_out, &of.undecided)).collect();
        bandings.push(banding);
    }
    // Stable: of those that lose the same the first that was asked stands first.
    bandings.sort_by(|a, b| b.lost.unwrap_or(0.0).total_cmp(&a.lost.unwrap_or(0.0)));
    let asked: Vec<Asked> = metrics
        .into_iter()
        .zip(spreads)
        .zip(answer.found)
        .map(|((metric, spread), found)| Asked { metric, spread, found })
        .collect();
    let strays = match (straying::any(&asked), bandings.is_empty()) {
        (false, _) => Vec::new(),
        (true, false) => straying::straying(&asked, &all),
        (true, true) => straying::straying(&asked, &fleet.metrics(None)?),
    };
    let recordings = fleet.recordings.clone();
    Ok(Group { within, recordings, asked, bandings, metrics: all, places, facts, strays })
}

/// Bands in their order, best first.
fn banding(metrics: Vec<usize>, p: f64, metric: &Metric, found: &Found, since: Since) -> Banding {
    let mut order: Vec<usize> = (0..found.bands.len()).collect();
    if metric.declared.better == "more" {
        order.reverse();
    }
    let place = |band: usize| order.iter().position(|b| *b == band);
    let of: Vec<Option<usize>> = found.of.iter().map(|band| band.and_then(place)).collect();
    Banding { metrics, p, of, order, lost: None, facts: Vec::new(), separated: Vec::new(), since, courses: Vec::new() }
}

/// The facts whose values divide the recordings as the bands do.
fn dividing(facts: &[Fact], of: &[Option<usize>]) -> Vec<(String, String)> {
    let is_it = |fact: &&Fact| {
        let values: Vec<Option<&str>> =
            fact.of.iter().map(|v| fact.values.get(*v as usize).map(String::as_str)).collect();
        divides(&facts::Fact { name: &fact.name.1, values: &values }, of) >= IS_A_FACT
    };
    facts.iter().filter(is_it).map(|fact| fact.name.clone()).collect()
}

/// The share of the time that all bands would save at the pace of the best: of each recording's second, 1 − its pace ÷ the best band's.
fn lost(pace: &[f64], of: &[Option<usize>], bands: usize) -> Option<f64> {
    let mut middles = vec![(0.0, 0.0); bands];
    for (pace, band) in pace.iter().zip(of).filter(|(pace, _)| pace.is_finite() && **pace > 0.0) {
        if let Some(sum) = band.and_then(|band| middles.get_mut(band)) {
            *sum = (sum.0 + pace, sum.1 + 1.0);
        }
    }
    let means: Vec<f64> = middles.iter().map(|(sum, n)| sum / n).filter(|mean| mean.is_finite()).collect();
    let best = means.iter().copied().fold(f64::NAN, f64::max);
    let all: f64 = middles.iter().map(|(_, n)| n).sum();
    let saved: f64 = middles.iter().filter(|(_, n)| *n > 0.0).map(|(sum, n)| n - sum / best).sum();
    (best > 0.0 && means.len() == bands).then_some((saved / all).max(0.0))
}

/// The metrics that are asked where none is named, the pace first.
fn usual(fleet: &mut Fleet<'_>) -> Result<Vec<Metric>, AskError> {
    let mut found = Vec::new();
    let mut names: Vec<String> = vec![DONE.into(), CPU.into(), "cpu.busy".into()];
    names.extend(STATES.iter().map(|column| crate::summary::of_state(column)));
    for name in names {
        let metrics = fleet.metrics(Some(&name))?;
        let plain = metrics.iter().filter(|m| &*m.key.labels == "{}" && m.mean.iter().any(|mean| mean.is_finite()));
        // Per operation where that is known of all; what is per operation needs no word on how much was asked of a host.
        let known = |m: &Metric| m.mean.iter().filter(|mean| mean.is_finite()).count();
        found.extend(plain.max_by_key(|m| (known(m), m.key.per_operation)).cloned());
    }
    Ok(found)
}

/// The metric that a word names.
fn named(fleet: &mut Fleet<'_>, word: &str) -> Result<Metric, AskError> {
    let word = word.trim();
    let (rest, per) = match (word.strip_suffix(" per operation"), word.strip_suffix(" per second")) {
        (Some(rest), _) => (rest, Some(true)),
        (_, Some(rest)) => (rest, Some(false)),
        _ => (word, None),
    };
    let unknown = |there: String| AskError::Unknown { what: format!("the metric {word}"), there };
    let (name, labels) = match rest.split_once('{') {
        None => (rest, BTreeMap::new()),
        Some((name, labels)) => {
            let inner = labels.strip_suffix('}').ok_or_else(|| unknown("its labels do not end with }".into()))?;
            let pair = |pair: &str| pair.split_once('=').map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()));
            let pairs: Option<BTreeMap<String, String>> = inner.split(',').map(pair).collect();
            (name, pairs.ok_or_else(|| unknown("labels are NAME=VALUE, apart by commas".into()))?)
        }
    };
    let of_name = fleet.metrics(Some(name))?;
    if of_name.is_empty() {
        let declared = fleet.declared()?;
        let last = name.rsplit('.').next().unwrap_or(name);
        let mut like: Vec<&str> = declared.keys().map(String::as_str).filter(|known| known.contains(last)).collect();
        like.sort_unstable();
        like.truncate(6);
        let there = match like.as_slice() {
            [] => "list them with: twinscope fleet sql FLEET 'select distinct metric from metric'".to_owned(),
            like => format!("there are {}", like.join(", ")),
        };
        return Err(unknown(there));
    }
    let labels = serde_json::to_string(&labels).unwrap_or_default();
    let known = |m: &Metric| m.mean.iter().filter(|mean| mean.is_finite()).count();
    let fits = |m: &&Metric| *m.key.labels == *labels && per.is_none_or(|per| per == m.key.per_operation);
    match of_name.iter().filter(fits).max_by_key(|m| (known(m), m.key.per_operation)) {
        Some(metric) => Ok(metric.clone()),
        None => {
            let mut there: Vec<String> = of_name.iter().map(|m| m.key.to_string()).collect();
            there.truncate(6);
            Err(unknown(format!("there are {}", there.join(", "))))
        }
    }
}
