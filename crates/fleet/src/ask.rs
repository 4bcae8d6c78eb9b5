//! Which bands the recordings of a fleet fall into: the metrics that are asked, the statistics' answer, and what it means for the fleet — how much
//! time the slow bands lose, and whether a fact divides the recordings as the bands do.

use crate::engine::{Engine, EngineError};
use crate::loaded::{Course, Fact, Key, Metric, Place, Recording};
use crate::separate::{FactSplit, Separated, say_defaults, separated};
use crate::since::{Since, since};
use crate::statistics::bands::{self, Ask, Found, Values};
use crate::straying::{self, Straying};
use crate::summary::{CPU, DONE, REQUESTS, STATES};
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
    /// The engine does not answer.
    #[error(transparent)]
    Engine(#[from] EngineError),
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
    /// Of three bands and more, where no fact divides as they do: after which band facts do, and these. A band too many, from a disturbance,
    /// must not hide what the others are.
    pub border: Option<(usize, Vec<(String, String)>)>,
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
/// Where the folder cannot be read, the engine does not answer, or what is named is not there.
pub fn ask<'a>(engine: impl Into<Box<dyn Engine<'a> + 'a>>, question: &Question) -> Result<Answer, AskError> {
    let mut engine = engine.into();
    if engine.recordings().is_empty() {
        let why = match question.labels.as_slice() {
            [] => "the fleet has no recordings; add some with: twinscope fleet add".to_owned(),
            labels => {
                let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("no recording has the label {}", labels.join(", "))
            }
        };
        return Err(AskError::Nothing(why));
    }
    let mut answer = Answer { groups: Vec::new(), damage: engine.damage() };
    let parts = match &question.within {
        None => vec![(None, engine)],
        Some(name) => {
            let parts = divided(&mut *engine, name)?;
            answer.damage.extend(engine.damage());
            parts
        }
    };
    for (within, mut engine) in parts {
        let group = group(&mut *engine, within, question)?;
        answer.groups.push(group);
        for damage in engine.damage() {
            if !answer.damage.contains(&damage) {
                answer.damage.push(damage);
            }
        }
    }
    Ok(answer)
}

/// Recordings with the value of a fact that they share.
type Within<'a> = (Option<String>, Box<dyn Engine<'a> + 'a>);

/// The recordings by the values of a fact.
fn divided<'a>(engine: &mut (dyn Engine<'a> + 'a), name: &str) -> Result<Vec<Within<'a>>, AskError> {
    let fact = match engine.fact(name)? {
        Ok(fact) => fact,
        Err(names) => {
            return Err(AskError::Unknown { what: format!("the fact {name}"), there: nearest(name, &names) });
        }
    };
    let with = |wanted: &dyn Fn(u32) -> bool| -> Vec<usize> {
        (0..fact.of.len()).filter(|at| fact.of.get(*at).is_some_and(|value| wanted(*value))).collect()
    };
    let mut parts: Vec<Within<'a>> = (0..fact.values.len())
        .map(|value| (fact.values.get(value).cloned(), engine.only(&with(&|of| of as usize == value))))
        .collect();
    let rest = with(&|of| of as usize >= fact.values.len());
    if !rest.is_empty() {
        parts.push((Some(String::from("(not read)")), engine.only(&rest)));
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(parts)
}

/// Facts whose names hold what was named, or a part of it.
fn nearest(name: &str, facts: &[(String, String)]) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    let mut found: Vec<String> = facts
        .iter()
        .filter(|fact| fact.1.contains(last) || fact.0 == name.split('.').next().unwrap_or(name))
        .map(|fact| format!("{}.{}", fact.0, fact.1))
        .take(6)
        .collect();
    if found.is_empty() {
        found.push("list them with: twinscope fleet sql FLEET 'select distinct category, name from fact'".into());
        return found.remove(0);
    }
    format!("there are {}", found.join(", "))
}

/// Asks recordings that belong together.
fn group<'a>(
    engine: &mut (dyn Engine<'a> + 'a),
    within: Option<String>,
    question: &Question,
) -> Result<Group, AskError> {
    let metrics = if question.any {
        engine.all()?
    } else if question.by.is_empty() {
        usual(engine)?
    } else {
        let mut all = Vec::new();
        for word in &question.by {
            all.push(named(engine, word)?);
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
        None => engine.named(&[DONE], None)?.into_iter().next().map(|pace| pace.mean),
    };
    let mut bandings = Vec::new();
    // What separates bands, or what strays stray in, is looked for in all that there is.
    let strays = answer.found.iter().flatten().any(|found| !found.strays.is_empty());
    let mut material = engine.material(strays || !answer.bandings.is_empty())?;
    for found in answer.bandings {
        let Some(first) = found.metrics.first().copied() else { continue };
        let (Some(metric), Some(Some(of))) = (metrics.get(first), answer.found.get(first)) else { continue };
        let names: Vec<&Key> = found.metrics.iter().filter_map(|at| Some(&metrics.get(*at)?.key)).collect();
        let courses = engine.courses(&metric.key)?;
        let starts = engine.starts()?;
        let when = since(of, engine.recordings(), &courses, &starts);
        let mut banding = banding(found.metrics.clone(), found.adjusted, metric, of, when);
        banding.courses = courses;
        banding.lost = pace.as_deref().and_then(|pace| lost(pace, &banding.of, banding.order.len()));
        let mut split = material.facts(&banding.of, &of.undecided)?;
        say_defaults(&mut split);
        banding.facts = dividing(&split, FactSplit::divides);
        if banding.facts.is_empty() {
            banding.border = border(&split, banding.order.len());
        }
        let all = material.metrics();
        let left_out: Vec<usize> = (0..all.len()).filter(|at| names.contains(&&all[*at].key)).collect();
        // Of two bands each separates from the other by the same.
        let asked = if banding.order.len() == 2 { 1 } else { banding.order.len() };
        for band in 0..asked {
            banding.separated.push(separated(&mut *material, &split, &banding.of, band, &left_out, &of.undecided)?);
        }
        let listed = banding.separated.iter().flat_map(|of| of.facts.listed.iter().map(|fact| fact.fact));
        let named = (0..split.len()).filter(|at| split.get(*at).is_some_and(|fact| banding.facts.contains(&fact.name)));
        material.fact_whole(&listed.chain(named).collect::<Vec<_>>())?;
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
    let strays = if straying::any(&asked) { straying::straying(&asked, &mut *material)? } else { Vec::new() };
    let (mut all, mut places, facts) = material.into_parts();
    if bandings.is_empty() {
        (all, places) = (Vec::new(), Vec::new());
    }
    let recordings = engine.recordings().to_vec();
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
    Banding {
        metrics,
        p,
        of,
        order,
        lost: None,
        facts: Vec::new(),
        border: None,
        separated: Vec::new(),
        since,
        courses: Vec::new(),
    }
}

/// The facts whose values divide the recordings as `by` tells; what JVMs chose themselves only where no other does, for it follows from one.
fn dividing(facts: &[FactSplit], by: impl Fn(&FactSplit) -> f64) -> Vec<(String, String)> {
    let follows = |fact: &FactSplit| {
        compare::only_jvms_chose(&fact.name.0, &fact.name.1, fact.rows.iter().map(|(value, ..)| value.as_str()))
    };
    let (chosen, given): (Vec<_>, Vec<_>) =
        facts.iter().filter(|fact| by(fact) >= IS_A_FACT).partition(|fact| follows(fact));
    let named = if given.is_empty() { chosen } else { given };
    named.into_iter().map(|fact| fact.name.clone()).collect()
}

/// The first border between so many bands at which facts divide, and these.
fn border(facts: &[FactSplit], bands: usize) -> Option<(usize, Vec<(String, String)>)> {
    let at = |after: usize| (after, dividing(facts, |fact| fact.divides_after(after)));
    (0..bands.saturating_sub(1)).map(at).find(|(_, facts)| bands > 2 && !facts.is_empty())
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
fn usual<'a>(engine: &mut (dyn Engine<'a> + 'a)) -> Result<Vec<Metric>, AskError> {
    let mut names: Vec<String> = vec![DONE.into()];
    names.extend(REQUESTS.map(String::from));
    names.extend([CPU.into(), "cpu.busy".into()]);
    names.extend(STATES.iter().map(|column| crate::summary::of_state(column)));
    let of_names = engine.named(&names.iter().map(String::as_str).collect::<Vec<_>>(), Some("{}"))?;
    let known = |m: &Metric| m.mean.iter().filter(|mean| mean.is_finite()).count();
    // Per operation where that is known of all; what is per operation needs no word on how much was asked of a host.
    let best = |name: &String| {
        let plain = of_names.iter().filter(|m| *m.key.metric == **name && known(m) > 0);
        plain.max_by_key(|m| (known(m), m.key.per_operation)).cloned()
    };
    Ok(names.iter().filter_map(best).collect())
}

/// The metric that a word names.
fn named<'a>(engine: &mut (dyn Engine<'a> + 'a), word: &str) -> Result<Metric, AskError> {
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
    let labels = serde_json::to_string(&labels).unwrap_or_default();
    let of_group = engine.named(&[name], Some(&labels))?;
    let known = |m: &Metric| m.mean.iter().filter(|mean| mean.is_finite()).count();
    let fits = |m: &&Metric| per.is_none_or(|per| per == m.key.per_operation);
    if let Some(metric) = of_group.iter().filter(fits).max_by_key(|m| (known(m), m.key.per_operation)) {
        return Ok(metric.clone());
    }
    let of_name = engine.named(&[name], None)?;
    if of_name.is_empty() {
        let declared = engine.declared()?;
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
    let mut there: Vec<String> = of_name.iter().map(|m| m.key.to_string()).collect();
    there.truncate(6);
    Err(unknown(format!("there are {}", there.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_too_many_hides_no_fact() {
        let split = |name: &str, rows: &[(&str, usize, u64)]| FactSplit {
            name: ("workload".into(), name.into()),
            rows: rows.iter().map(|(value, band, count)| ((*value).into(), Some(*band), true, *count)).collect(),
        };
        // Ten starts on one CPU are the slow band; of the others four were disturbed.
        let cpus = split("cpus_allowed", &[("0", 2, 10), ("0-1", 0, 24), ("0-1", 1, 6)]);
        let zone = split("zone", &[("a", 0, 12), ("a", 1, 3), ("a", 2, 5), ("b", 0, 12), ("b", 1, 3), ("b", 2, 5)]);
        let named = |facts: &[FactSplit], bands| border(facts, bands).map(|(after, facts)| (after, facts.len()));
        assert_eq!(named(&[zone.clone(), cpus.clone()], 3), Some((1, 1)));
        assert_eq!(named(std::slice::from_ref(&zone), 3), None);
        assert!(dividing(&[zone.clone(), cpus], FactSplit::divides).is_empty());
        // Of two bands there is one border, and that is asked as a whole.
        let two = split("cpus_allowed", &[("0", 1, 10), ("0-1", 0, 30)]);
        assert_eq!((dividing(std::slice::from_ref(&two), FactSplit::divides).len(), named(&[two], 2)), (1, None));
    }

    #[test]
    fn an_option_that_one_band_alone_has_is_at_its_default_in_the_others() {
        let split = |name: &str, rows: &[(&str, usize, u64)]| FactSplit {
            name: ("runtime".into(), name.into()),
            rows: rows.iter().map(|(value, band, count)| ((*value).into(), Some(*band), true, *count)).collect(),
        };
        // Of 30 and 10 JVMs the options of two each could not be read; one host runs another program.
        let mut facts = [
            split("java.Main.flag.MaxHeapSize", &[("1 (ergonomic)", 0, 28), ("1 (ergonomic)", 1, 8)]),
            split("java.Main.flag.UseZGC", &[("true (command line)", 1, 8)]),
            split("java.Main.version", &[("17", 0, 30), ("17", 1, 10)]),
            split("java.Main.-Dx", &[("y", 1, 3)]),
            split("java.Other.flag.UseZGC", &[("true (command line)", 0, 1)]),
        ];
        say_defaults(&mut facts);
        let said: Vec<Vec<(&str, Option<usize>, u64)>> =
            facts.iter().map(|fact| fact.rows.iter().map(|row| (&*row.0, row.1, row.3)).collect()).collect();
        assert_eq!(said[1], [("default", Some(0), 28), ("true (command line)", Some(1), 8)]);
        assert_eq!(said[0].len() + said[2].len(), 4);
        // The command lines of these three are all that is known to have been read.
        assert_eq!((said[3].len(), said[4].len()), (1, 1));
        assert_eq!(dividing(&facts, FactSplit::divides), [facts[1].name.clone()]);

        // What a JVM chose because of it is not named beside it, but alone it is.
        let heap = split("java.Main.flag.NewSize", &[("1 (ergonomic)", 0, 28), ("2 (ergonomic)", 1, 8)]);
        assert_eq!(dividing(std::slice::from_ref(&heap), FactSplit::divides), std::slice::from_ref(&heap.name));
        assert_eq!(dividing(&[heap, facts[1].clone()], FactSplit::divides), [facts[1].name.clone()]);
    }
}
