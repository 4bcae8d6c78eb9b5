//! Variants against a baseline: one stage, the baseline in each block, a variant until its comparison has ended.

use super::Change;
use crate::Session;
use crate::judge::Rule;
use crate::stage::{Comparison, Kind, Stage};
use query::stats::pairs::looks;

pub(crate) fn stage(session: &Session, variants: usize) -> Option<Stage> {
    if !session.stages().is_empty() {
        return None;
    }
    let plan = session.plan();
    // Bonferroni over the comparisons that are known now: with five equal candidates a permuted maximum wins three points of
    // power for two points more of wrong calls.
    let total = plan.wrong / variants as f64;
    let sign = plan.measures.first()?.better.sign();
    let (rule, limit) = if plan.quick {
        (Rule::quick(total, plan.log_effect(), sign), looks::EARLY)
    } else {
        (Rule::planned(plan.blocks, total, plan.log_effect(), sign), plan.blocks)
    };
    let comparisons = (1..=variants).map(|v| Comparison::new(v, 0, rule.clone())).collect();
    Some(Stage::new(Kind::Compare, (0..=variants).collect(), comparisons, limit))
}

/// What is known of each variant.
pub fn changes(session: &Session) -> Vec<Change> {
    session.stages().iter().flat_map(|s| s.comparisons.iter().map(|c| Change::of(s, c))).collect()
}
