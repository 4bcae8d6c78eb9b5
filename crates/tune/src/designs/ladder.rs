//! A ladder: each step against what was kept so far; then all variants that were tried once more, all in each block.
//!
//! While climbing, a step is kept because its gain was seen to be large, so the gain as seen then is too large on average. The
//! table comes from blocks that chose nothing. Half of the probability of a wrong call is for climbing, half for the table.

use super::{Change, search};
use crate::judge::Rule;
use crate::stage::{Comparison, Kind, Stage};
use crate::{Session, Verdict};

pub(crate) fn stage(session: &Session, steps: usize, table: usize) -> Option<Stage> {
    let plan = session.plan();
    let done = session.stages().len();
    // More of a rate is better, whatever the measures are.
    let sign = if plan.searched().is_some() { 1.0 } else { plan.measures.first()?.better.sign() };
    let kept = session.kept();
    let last = kept.last().map_or(0, |step| step + 1);
    if done < steps {
        let rule = Rule::planned(plan.blocks, session.climb_level(done), plan.log_effect(), sign);
        let mut stage = Stage::new(
            Kind::Climb(done),
            vec![last, done + 1],
            vec![Comparison::new(done + 1, last, rule)],
            plan.blocks,
        );
        if last != 0 && plan.searched().is_none() {
            stage.variants.insert(0, 0);
            stage.seldom = Some(0);
        }
        return Some(search::judged_by_rate(session, stage));
    }
    if done > steps {
        return None;
    }
    // Each step against what was kept before it, and what was kept against the baseline where that is not the same.
    let before = |step: usize| kept.iter().rev().find(|k| **k < step).map_or(0, |k| k + 1);
    let mut asked: Vec<(usize, usize)> = (0..steps).map(|step| (step + 1, before(step))).collect();
    asked.extend(kept.iter().map(|step| (step + 1, 0)).filter(|(variant, _)| before(variant - 1) != 0));
    let rule = Rule::once(table, session.table_level() / asked.len() as f64, plan.log_effect(), sign);
    let comparisons = asked.iter().map(|(v, a)| Comparison::new(*v, *a, rule.clone())).collect();
    // A step whose every trial failed while climbing has nothing to show.
    let climb = |step: usize| session.stages().get(step);
    let alive = |v: &usize| v.checked_sub(1).and_then(climb).is_none_or(|s| !s.series.hopeless(*v));
    let stage = Stage::new(Kind::Table, (0..=steps).filter(alive).collect(), comparisons, table);
    Some(search::judged_by_rate(session, stage))
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The step, from 0.
    pub step: usize,
    /// Whether it was kept; `None` while that is open.
    pub kept: Option<bool>,
    /// How the comparison while climbing ended or stands: why it was kept or not.
    pub climbed: Change,
    /// The step against what was kept before it, from the blocks of the whole ladder; `None` before these.
    pub change: Option<Change>,
    /// All that was kept up to this step against the baseline, from the same blocks; `None` where it was not kept, and before.
    pub total: Option<Change>,
}

/// The table, as far as it goes.
pub fn table(session: &Session) -> Vec<Row> {
    let kept = session.kept();
    let whole = session.stages().iter().find(|s| s.kind == Kind::Table);
    let find = |variant: usize, against: Option<usize>| {
        let whole = whole?;
        let mut all = whole.comparisons.iter();
        let c = all.find(|c| c.variant == variant && against.is_none_or(|a| c.against == a))?;
        Some(Change::of(whole, c))
    };
    let climbs = session.stages().iter().filter_map(|s| match s.kind {
        Kind::Climb(step) => Some((step, Change::of(s, s.comparisons.first()?))),
        _ => None,
    });
    climbs
        .map(|(step, climbed)| Row {
            step,
            kept: climbed.verdict.map(|_: Verdict| kept.contains(&step)),
            change: find(step + 1, Some(climbed.against)),
            total: if kept.contains(&step) { find(step + 1, Some(0)) } else { None },
            climbed,
        })
        .collect()
}
