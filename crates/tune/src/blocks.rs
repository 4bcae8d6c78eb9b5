//! Blocks: one trial of each variant, one right after the other, in an order drawn at random before the first begins.
//!
//! What varies from minute to minute is then the same for all of a block, and what varies within it hits each variant with the
//! same probability (Fisher, "The design of experiments", 1935; Abedi and Brecht, "Conducting repeatable experiments in highly
//! variable cloud computing environments", ICPE 2017).

use crate::event::Outcome;
use crate::space::Set;
use query::stats::rng::Rng;
use serde::{Deserialize, Serialize};

/// A place in a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// Which variant.
    pub variant: usize,
    /// Recorded for explaining, and not part of the numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explained: bool,
    /// Values of parameters that were chosen for this trial, beside those of its variant.
    #[serde(default, skip_serializing_if = "Set::is_empty")]
    pub set: Set,
}

impl Slot {
    /// Of a variant as it is, measured.
    pub fn of(variant: usize) -> Slot {
        Slot { variant, ..Slot::default() }
    }
}

/// The order of a block: all orders are as likely (Fisher and Yates). It depends on nothing but its arguments, so it can be told
/// before, and a block that is run again has the same.
pub fn order(seed: u64, stage: usize, block: usize, slots: &[Slot]) -> Vec<Slot> {
    // Odd factors keep seeds of neighbours apart; the generator mixes them.
    let place = (stage as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (block as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mut rng = Rng::new(seed ^ place);
    let mut order = slots.to_vec();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last + 1));
    }
    order
}

/// The same with the measured trials first, for these run at the same time and those for explaining alone. As the order is drawn,
/// so is that of the measured ones, which says who is on which CPU.
pub(crate) fn together(order: Vec<Slot>) -> Vec<Slot> {
    let (explained, mut measured): (Vec<Slot>, Vec<Slot>) = order.into_iter().partition(|slot| slot.explained);
    measured.extend(explained);
    measured
}

/// A block that was completed.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its order.
    pub order: Vec<Slot>,
    /// The numbers of its trials and what came out, in this order.
    pub trials: Vec<(usize, Outcome)>,
}

impl Block {
    /// Whether any of its trials was measured.
    pub(crate) fn succeeded(&self) -> bool {
        self.trials.iter().any(|(_, outcome)| !outcome.failed())
    }

    /// What came out for a variant, where it was measured.
    fn measured(&self, variant: usize) -> Option<&Outcome> {
        let mut both = self.order.iter().zip(&self.trials);
        both.find(|(slot, _)| slot.variant == variant && !slot.explained).map(|(_, (_, outcome))| outcome)
    }
}

/// The completed blocks of a stage, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The blocks.
    pub blocks: Vec<Block>,
}

impl Series {
    /// The values of a measure, a variant's in each block; `None` where it was not in it, failed, or could not be measured.
    pub fn values(&self, variant: usize, measure: usize) -> impl Iterator<Item = Option<f64>> + '_ {
        self.blocks.iter().map(move |b| b.measured(variant)?.value(measure))
    }

    /// ln(variant ÷ against) of each block in which both have a positive number.
    pub fn pairs(&self, variant: usize, against: usize, measure: usize) -> Vec<f64> {
        let both = self.values(variant, measure).zip(self.values(against, measure));
        both.filter_map(|(a, b)| Some((a? / b?).ln())).filter(|d| d.is_finite()).collect()
    }

    /// Trials of a variant, and how many of them failed. Those for explaining do not count.
    pub fn trials(&self, variant: usize) -> (usize, usize) {
        let outcomes = self.blocks.iter().filter_map(|b| b.measured(variant));
        outcomes.fold((0, 0), |(n, failed), o| (n + 1, failed + usize::from(o.failed())))
    }

    /// Whether more than one in ten trials failed: then a variant is not called better.
    pub fn fails(&self, variant: usize) -> bool {
        let (n, failed) = self.trials(variant);
        failed * 10 > n
    }

    /// Whether none of at least three trials succeeded: then a variant is not run again.
    pub fn hopeless(&self, variant: usize) -> bool {
        let (n, failed) = self.trials(variant);
        n >= 3 && failed == n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(n: usize) -> Vec<Slot> {
        (0..n).map(Slot::of).collect()
    }

    #[test]
    fn each_order_is_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for block in 0..6000 {
            let order: Vec<usize> = order(5, 1, block, &slots(3)).iter().map(|s| s.variant).collect();
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert_eq!(order(5, 1, 7, &slots(9)), order(5, 1, 7, &slots(9)));
        assert_ne!(order(5, 1, 7, &slots(9)), order(5, 2, 7, &slots(9)));
        assert_ne!(order(5, 1, 7, &slots(9)), order(6, 1, 7, &slots(9)));
        assert!(order(1, 0, 0, &[]).is_empty());
    }

    #[test]
    fn only_complete_pairs_count() {
        let of = |a: Outcome, b: Outcome| Block { order: slots(2), trials: vec![(1, a), (2, b)] };
        let value = |x: f64| Outcome::Measured(vec![Some(x)]);
        let series = Series {
            blocks: vec![
                of(value(1.0), value(2.0)),
                of(value(1.0), Outcome::Failed("exit code 1".into())),
                of(Outcome::Measured(vec![None]), value(2.0)),
                of(value(4.0), value(2.0)),
            ],
        };
        let half = 0.5f64.ln();
        assert_eq!(series.pairs(0, 1, 0), [half, -half]);
        assert_eq!(series.trials(1), (4, 1));
        assert!(series.fails(1) && !series.fails(0) && !series.hopeless(1));
        assert!(series.pairs(0, 1, 3).is_empty() && series.pairs(0, 7, 0).is_empty());
    }
}
