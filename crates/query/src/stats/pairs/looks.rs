//! Looking several times: after which pairs, at which level, and what may be said after four.
//!
//! Whoever tests after each pair and stops at p < 0.05 calls a difference between equal programs in a fifth to a quarter of all
//! sessions. Here the looks are planned, and all are made at one level, at which all of them together are wrong in 5 % (Pocock,
//! "Group sequential methods in the design and analysis of clinical trials", Biometrika 64, 1977, with signed ranks in place of
//! means). Only signs are random, so the level can be counted once and for all: `examples/look_levels.rs` does so, by 4,000,000
//! sessions (1,000,000 beyond 60 blocks) of random signs with sizes in random order.

use super::super::rank::Effect;
use super::super::special::t_critical;

/// The looks that are planned: each after some 1.4 times as many pairs as the one before. After 7 the least p-value would lie
/// just above the level.
pub const PLANNED: [usize; 11] = [8, 11, 15, 21, 30, 42, 60, 84, 120, 168, 240];

/// For each number of looks.
struct Row {
    /// The level where the last is one of [`PLANNED`].
    level: f64,
    /// Where it is any number of pairs in between: the least of their levels.
    between: f64,
    /// P(any look is wrong) ÷ level at most, where that probability is between 0.02 and 5 %.
    worth: f64,
}

const ROWS: [Row; PLANNED.len()] = [
    Row { level: 0.05, between: 0.05, worth: 1.0 },
    Row { level: 0.0389, between: 0.0389, worth: 1.8 },
    Row { level: 0.0254, between: 0.0243, worth: 2.4 },
    Row { level: 0.0214, between: 0.0202, worth: 2.8 },
    Row { level: 0.0164, between: 0.0157, worth: 3.4 },
    Row { level: 0.0150, between: 0.0144, worth: 3.9 },
    Row { level: 0.0128, between: 0.0125, worth: 4.6 },
    Row { level: 0.0108, between: 0.0104, worth: 5.3 },
    Row { level: 0.0097, between: 0.0096, worth: 6.0 },
    Row { level: 0.0086, between: 0.0083, worth: 6.8 },
    Row { level: 0.0078, between: 0.0077, worth: 7.2 },
];

/// After how many pairs one looks, where `pairs` are the most: the planned ones, but none that lies less than a fifth before
/// the last. Empty below 8.
pub fn planned(pairs: usize) -> Vec<usize> {
    let (Some(first), Some(most)) = (PLANNED.first(), PLANNED.last()) else { return Vec::new() };
    if pairs < *first {
        return Vec::new();
    }
    let last = pairs.min(*most);
    PLANNED.into_iter().filter(|look| look * 6 / 5 < last).chain([last]).collect()
}

/// The level of each of the looks of [`planned`] at which all together are wrong with a probability of `total` (up to 0.05) at
/// most. 0 below 8 pairs.
///
/// So it is where the sizes of the differences come in any order. Where each is greater than all before, as in noise that only
/// ever grows, 5 % become 6.4 (30 pairs) to 6.9; where each is smaller, 3.
pub fn level(pairs: usize, total: f64) -> f64 {
    let looks = planned(pairs);
    let (Some(row), Some(last)) = (looks.len().checked_sub(1).and_then(|i| ROWS.get(i)), looks.last()) else {
        return 0.0;
    };
    if total >= 0.05 {
        return if PLANNED.contains(last) { row.level } else { row.between };
    }
    // Beyond what was counted, the sum of all looks bounds it.
    total.max(0.0) / if total < 2e-4 { looks.len() as f64 } else { row.worth }
}

/// After so many pairs a large difference may be called already.
pub const EARLY: usize = 4;

/// The level of that look, of a session's 5 %: it comes on top of them.
pub const EARLY_LEVEL: f64 = 0.002;

/// The least factor that it may call.
pub const EARLY_FACTOR: f64 = 1.2;

/// The mean of `d` with the interval of Student's t at level `alpha`. It takes `d` to be normal, as ranks do not; but of four
/// pairs ranks can say nothing. `None` with fewer than two. What is not finite is left out.
pub fn student(d: &[f64], alpha: f64) -> Option<Effect> {
    let d: Vec<f64> = d.iter().copied().filter(|x| x.is_finite()).collect();
    let n = d.len() as f64;
    if d.len() < 2 {
        return None;
    }
    let estimate = d.iter().map(|x| x / n).sum::<f64>();
    let variance = d.iter().map(|x| (x - estimate).powi(2)).sum::<f64>() / (n - 1.0);
    let reach = t_critical(alpha, n - 1.0) * (variance / n).sqrt();
    Some(Effect { estimate, low: estimate - reach, high: estimate + reach })
}

/// The early look at differences of logarithms: an answer only where they lie beyond [`EARLY_FACTOR`] on average, and 0 beyond
/// the interval of `alpha` ([`EARLY_LEVEL`] where one comparison is made). `None` otherwise, and for other than [`EARLY`] pairs.
pub fn early(d: &[f64], alpha: f64) -> Option<Effect> {
    let effect = student(d, alpha).filter(|_| d.len() == EARLY)?;
    (effect.estimate.abs() > EARLY_FACTOR.ln() && (effect.low > 0.0 || effect.high < 0.0)).then_some(effect)
}

#[cfg(test)]
mod tests {
    use super::super::{least_p, signed_rank};
    use super::*;
    use crate::stats::rng::Rng;

    #[test]
    fn looks_end_where_the_pairs_end() {
        assert_eq!(planned(30), [8, 11, 15, 21, 30]);
        assert_eq!(planned(60), [8, 11, 15, 21, 30, 42, 60]);
        assert_eq!(planned(10), [8, 10]);
        assert_eq!(planned(9), [9]);
        assert_eq!(planned(25), [8, 11, 15, 25]);
        assert!(planned(7).is_empty());
        assert_eq!(planned(1000), PLANNED);
        assert_eq!((level(30, 0.05), level(60, 0.05), level(7, 0.05)), (0.0164, 0.0128, 0.0));
        assert_eq!(level(29, 0.05), 0.0157);
        assert!((8..300).all(|n| level(n, 0.01) <= 0.01 && level(n, 0.01) * 5.0 <= level(n, 0.05) * 1.1));
        // One pair fewer, and the first look could never speak.
        assert!(least_p(8) <= level(60, 0.05) && least_p(7) > level(30, 0.05) * 0.95);
    }

    #[test]
    fn all_looks_together_are_wrong_in_a_twentieth() {
        let mut rng = Rng::new(8);
        for (most, total, low, high) in [(30, 0.05, 170, 230), (25, 0.05, 150, 230), (30, 0.01, 10, 52)] {
            let (looks, level) = (planned(most), level(most, total));
            let wrong = (0..4000)
                .filter(|_| {
                    let d: Vec<f64> = (0..most).map(|_| rng.normal()).collect();
                    looks.iter().any(|n| signed_rank(&d[..*n]).unwrap().p <= level)
                })
                .count();
            assert!((low..=high).contains(&wrong), "{most} pairs at {total}: {wrong} of 4000");
        }
    }

    #[test]
    fn four_pairs_tell_only_what_is_large_and_sure() {
        assert!(early(&[0.30, 0.31, 0.29, 0.30], EARLY_LEVEL).is_some());
        assert!(early(&[-0.30, -0.31, -0.29, -0.30], EARLY_LEVEL).is_some());
        assert!(early(&[0.10, 0.101, 0.1, 0.1], EARLY_LEVEL).is_none(), "sure, but small");
        assert!(early(&[0.10, 0.9, 0.3, 0.5], EARLY_LEVEL).is_none(), "large, but not sure");
        assert!(early(&[0.3; 5], EARLY_LEVEL).is_none());
        assert_eq!(student(&[1.0], 0.05), None);
        let t = student(&[1.0, 2.0, 3.0, f64::NAN], 0.05).unwrap();
        // t of two degrees of freedom is 4.3027.
        assert!((t.estimate - 2.0).abs() < 1e-12 && (t.high - 2.0 - 4.302_652_7 / 3f64.sqrt()).abs() < 1e-6, "{t:?}");
    }
}
