//! The best values: single trials that choose where to look next, then blocks of the best three and the default.
//!
//! Whoever takes the best of 80 noisy trials overstates its gain by 9 to 16 points. So the search says only which three to look
//! at again; the gain comes from blocks that chose nothing.

use super::Change;
use crate::Session;
use crate::judge::Rule;
use crate::optimise::{Told, history, space};
use crate::plan::Seek;
use crate::space::Set;
use crate::stage::{Comparison, Kind, Stage};
use std::collections::BTreeMap;

/// The variant that is sought: a trial of it has values of its own.
pub const SOUGHT: usize = 1;

/// So many are looked at again.
pub const CONFIRMED: usize = 3;

/// Variants in all: the default, what is sought, and those that are looked at again.
pub const VARIANTS: usize = 2 + CONFIRMED;

pub(crate) fn stage(session: &Session, seek: Seek) -> Option<Stage> {
    match session.stages() {
        [] => Some(Stage::new(Kind::Seek, vec![SOUGHT], Vec::new(), seek.searched)),
        [_] => confirm(session, seek),
        _ => None,
    }
}

/// The blocks that the gain comes from; none where nothing worked.
fn confirm(session: &Session, seek: Seek) -> Option<Stage> {
    let plan = session.plan();
    let sign = plan.measures.first()?.better.sign();
    let sets: BTreeMap<usize, Set> =
        best(session).into_iter().enumerate().map(|(i, set)| (SOUGHT + 1 + i, set)).collect();
    if sets.is_empty() {
        return None;
    }
    let rule = Rule::once(seek.blocks, plan.wrong / CONFIRMED as f64, plan.log_effect(), sign).or_student();
    let comparisons = sets.keys().map(|variant| Comparison::new(*variant, 0, rule.clone())).collect();
    let variants = [0].into_iter().chain(sets.keys().copied()).collect();
    Some(Stage { sets, ..Stage::new(Kind::Confirm, variants, comparisons, seek.blocks) })
}

/// What was tried with the same values: which, and the means of the logarithms of what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The values.
    pub set: Set,
    /// The trials, by their numbers in the session.
    pub trials: Vec<usize>,
    /// Of each measure that counts, turned so that less is better; `None` where none succeeded.
    pub costs: Option<Vec<f64>>,
}

/// What was tried, in the order of the first trial of each; the default is the first.
pub fn tried(session: &Session) -> Vec<Tried> {
    let objectives = session.plan().objectives();
    let mut all: Vec<(Tried, Vec<Vec<f64>>)> = Vec::new();
    for told in history(session) {
        let costs = crate::optimise::costs(&told, &session.plan().measures, objectives);
        let Told { set, trial, .. } = told;
        let at = all.iter().position(|(tried, _)| tried.set == set).unwrap_or_else(|| {
            all.push((Tried { set, trials: Vec::new(), costs: None }, Vec::new()));
            all.len() - 1
        });
        if let Some((tried, known)) = all.get_mut(at) {
            tried.trials.push(trial);
            known.extend(costs);
        }
    }
    let mean = |(mut tried, known): (Tried, Vec<Vec<f64>>)| {
        let of = |at: usize| known.iter().filter_map(|c| c.get(at)).sum::<f64>() / known.len() as f64;
        tried.costs = (!known.is_empty()).then(|| (0..objectives).map(of).collect());
        tried
    };
    all.into_iter().map(mean).collect()
}

/// Of what was tried, by their places there: those that no other beats in both measures, the best by the first one first.
pub fn front(tried: &[Tried]) -> Vec<usize> {
    let known: Vec<usize> = (0..tried.len()).filter(|at| tried[*at].costs.is_some()).collect();
    let costs: Vec<Vec<f64>> = known.iter().filter_map(|at| tried[*at].costs.clone()).collect();
    let mut front: Vec<usize> =
        crate::optimise::front(&costs).into_iter().filter_map(|at| known.get(at).copied()).collect();
    let first = |at: &usize| tried[*at].costs.as_ref().and_then(|c| c.first().copied()).unwrap_or(f64::INFINITY);
    front.sort_by(|a, b| first(a).total_cmp(&first(b)));
    front
}

/// The values that are looked at again, none of them the default: the best three; of two measures the best by each, and the knee
/// of the front.
fn best(session: &Session) -> Vec<Set> {
    let Some(default) = space(session).map(|space| space.default_set()) else { return Vec::new() };
    let others: Vec<Tried> = tried(session).into_iter().filter(|t| t.set != default && t.costs.is_some()).collect();
    let cost =
        |tried: &Tried, at: usize| tried.costs.as_ref().and_then(|c| c.get(at).copied()).unwrap_or(f64::INFINITY);
    let by = |at: usize| {
        let mut order: Vec<usize> = (0..others.len()).collect();
        order.sort_by(|a, b| cost(&others[*a], at).total_cmp(&cost(&others[*b], at)));
        order
    };
    let mut chosen: Vec<usize> = Vec::new();
    if session.plan().objectives() == 2 {
        let costs: Vec<Vec<f64>> = others.iter().filter_map(|t| t.costs.clone()).collect();
        let front = crate::optimise::front(&costs);
        let knee = crate::optimise::knee(&costs, &front);
        chosen.extend([by(0).first().copied(), by(1).first().copied(), knee].into_iter().flatten());
        // Where one is best in more than one way, another of the front takes its place.
        chosen.extend(front);
    }
    chosen.extend(by(0));
    let mut sets: Vec<Set> = Vec::new();
    for at in chosen {
        let set = others.get(at).map(|t| &t.set);
        sets.extend(set.filter(|set| sets.len() < CONFIRMED && !sets.contains(set)).cloned());
    }
    sets
}

/// The values of each variant that is looked at again.
pub fn confirmed(session: &Session) -> BTreeMap<usize, Set> {
    let stage = session.stages().iter().find(|stage| stage.kind == Kind::Confirm);
    stage.map_or_else(BTreeMap::new, |stage| stage.sets.clone())
}

/// What the blocks say of each.
pub fn changes(session: &Session) -> Vec<Change> {
    let stages = session.stages().iter().filter(|stage| stage.kind == Kind::Confirm);
    stages.flat_map(|s| s.comparisons.iter().map(|c| Change::of(s, c))).collect()
}

/// The variant to take: the best of those in the blocks by their estimate, unless it is worse than the default; `None` before there
/// is one. Those that fail too often are not it.
pub fn to_take(session: &Session) -> Option<usize> {
    let sign = session.plan().measures.first()?.better.sign();
    let stage = session.stages().iter().find(|stage| stage.kind == Kind::Confirm)?;
    let gain = |variant: usize| {
        let d = stage.series.pairs(variant, 0, 0);
        let shift = query::stats::pairs::shift(&d, 0.5).map(|e| e.estimate * sign);
        shift.filter(|_| !stage.series.fails(variant))
    };
    let gains = stage.sets.keys().filter_map(|variant| Some((*variant, gain(*variant)?)));
    let best = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(if best.1 > 0.0 { best.0 } else { 0 })
}
