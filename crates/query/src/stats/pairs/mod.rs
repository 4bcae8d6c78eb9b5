//! Pairs of measurements, one of each variant, taken side by side in random order: is the difference within a pair 0, and how
//! large is it? Give the differences, of logarithms where ratios are meant.
//!
//! [`signed_rank`] is Wilcoxon's test ("Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945). It asks for
//! nothing but the random order: where the variants are equal, whoever swapped them would have changed the sign of the
//! difference and nothing else, so that all 2ⁿ patterns of signs were as likely as the one that came. [`shift`] asks for one
//! thing more, that the difference is the same in each pair, and tells it with an interval. [`looks`] says at which level one
//! may look several times, [`wager`] how to look as often as one likes.

pub mod looks;
pub mod wager;

use super::rank::Effect;

/// Above this number of pairs there is no answer: counting takes time with its third power (a second here).
pub const MOST: usize = 1000;

/// What the signs and ranks of differences say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// How many differences there are that are numbers.
    pub pairs: usize,
    /// Sum of the ranks of the positive differences.
    pub plus: f64,
    /// Sum of the ranks of the negative ones.
    pub minus: f64,
    /// Two-sided p-value of "the signs are random": exact.
    pub p: f64,
}

/// Wilcoxon's signed ranks, counted exactly over all patterns of signs.
///
/// Equal sizes share the mean of their ranks, and the patterns are counted with these very ranks. Differences of 0 take the
/// lowest ranks, which then count for neither side (Pratt, "Remarks on zeros and ties in the Wilcoxon signed rank procedures",
/// JASA 54, 1959): where zeros are dropped before ranking, a greater difference can be less significant than a smaller one; and
/// the ranks of this way are what the means of two that [`shift`] counts add up to. What is not finite is left out. `None`
/// without pairs, and above [`MOST`].
pub fn signed_rank(d: &[f64]) -> Option<SignedRank> {
    let mut d = finite(d)?;
    d.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Doubled, mean ranks are whole numbers.
    let (mut ranks, mut before) = (Vec::new(), 0);
    let (mut plus, mut minus) = (0, 0);
    for group in d.chunk_by(|a, b| a.abs() == b.abs()) {
        let rank = 2 * before + group.len() + 1;
        before += group.len();
        for x in group.iter().filter(|x| **x != 0.0) {
            ranks.push(rank);
            if *x > 0.0 { plus += rank } else { minus += rank }
        }
    }
    let p = 2.0 * at_most(&ranks, plus.min(minus)).last().copied().unwrap_or(1.0);
    Some(SignedRank { pairs: d.len(), plus: plus as f64 / 2.0, minus: minus as f64 / 2.0, p: p.min(1.0) })
}

/// P(sum of the ranks that a fair coin chooses ≤ s) for each s from 0 to `most`.
fn at_most(ranks: &[usize], most: usize) -> Vec<f64> {
    let mut p = vec![0.0f64; most + 1];
    p[0] = 1.0;
    for &rank in ranks {
        for s in (0..=most).rev() {
            p[s] = 0.5 * (p[s] + if s >= rank { p[s - rank] } else { 0.0 });
        }
    }
    let mut sum = 0.0;
    p.iter_mut().for_each(|x| {
        sum += *x;
        *x = sum;
    });
    p
}

/// P(W ≤ w) for w from 0 to half of the greatest, where W is the sum of the ranks that have one sign among so many pairs
/// without ties, if signs are random. Not for more than [`MOST`].
pub fn null(pairs: usize) -> Vec<f64> {
    let ranks: Vec<usize> = (1..=pairs).collect();
    at_most(&ranks, pairs * (pairs + 1) / 4)
}

/// How many sums of ranks, from 0 on, have a probability of at most `tail`. This many means of two lie outside the interval on
/// either side.
fn rejected(pairs: usize, tail: f64) -> usize {
    null(pairs).partition_point(|p| *p <= tail)
}

/// Hodges and Lehmann's estimate of the difference ("Estimates of location based on rank tests", Annals of Mathematical
/// Statistics 34, 1963), the median of the means of all two pairs, each with itself among them (Walsh averages); and the
/// interval of all differences that [`signed_rank`] would not reject at level `alpha` (Tukey 1949; Hollander and Wolfe,
/// "Nonparametric statistical methods", §3.3). It has no ends (infinite ones) where there are too few pairs for this level.
///
/// It leaves out the truth in at most `alpha` of all cases, whatever the distribution, if each pair's difference is the true
/// one plus something whose sign is random. With ties and zeros this holds as well, for the ends belong to it (Noether,
/// "Wilcoxon confidence intervals for location parameters in the discrete case", JASA 62, 1967); without, 0 lies outside just
/// where p ≤ `alpha`. What is not finite is left out. `None` without pairs, and above [`MOST`].
pub fn shift(d: &[f64], alpha: f64) -> Option<Effect> {
    let d = finite(d)?;
    let mut means = walsh(&d);
    let k = rejected(d.len(), alpha / 2.0);
    let last = means.len() - 1;
    // Four places are asked for, so the rest need not be in order.
    let mut at = |i: usize| *means.select_nth_unstable_by(i, f64::total_cmp).1;
    let estimate = 0.5 * at(last / 2) + 0.5 * at(last.div_ceil(2));
    let (low, high) = if k > 0 { (at(k - 1), at(last + 1 - k)) } else { (f64::NEG_INFINITY, f64::INFINITY) };
    Some(Effect { estimate, low: low.min(estimate), high: high.max(estimate) })
}

/// The means of all two, each with itself among them. Halves before the sum: two extremes would overflow.
fn walsh(d: &[f64]) -> Vec<f64> {
    d.iter().enumerate().flat_map(|(i, a)| d.iter().skip(i).map(move |b| 0.5 * a + 0.5 * b)).collect()
}

/// The least two-sided p-value that this many pairs can have: all signs alike.
pub fn least_p(pairs: usize) -> f64 {
    2.0 * 0.5f64.powf(pairs as f64)
}

fn finite(d: &[f64]) -> Option<Vec<f64>> {
    let d: Vec<f64> = d.iter().copied().filter(|x| x.is_finite()).collect();
    (!d.is_empty() && d.len() <= MOST).then_some(d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    /// The p-value by its definition: every pattern of signs.
    fn by_hand(d: &[f64]) -> f64 {
        let rank = |x: f64| {
            let below = d.iter().filter(|y| y.abs() < x.abs()).count();
            let same = d.iter().filter(|y| y.abs() == x.abs()).count();
            below as f64 + (same as f64 + 1.0) / 2.0
        };
        let ranks: Vec<f64> = d.iter().filter(|x| **x != 0.0).map(|x| rank(*x)).collect();
        let all: f64 = ranks.iter().sum();
        let plus: f64 = d.iter().filter(|x| **x > 0.0).map(|x| rank(*x)).sum();
        let seen = plus.min(all - plus);
        let of = |pattern: u32| -> f64 {
            ranks.iter().enumerate().filter(|(i, _)| pattern >> i & 1 == 1).map(|(_, r)| r).sum()
        };
        let patterns = 1u32 << ranks.len();
        let extreme = (0..patterns).filter(|p| of(*p) <= seen + 1e-9).count() * 2;
        (extreme as f64 / f64::from(patterns)).min(1.0)
    }

    #[test]
    fn all_patterns_of_signs_are_counted() {
        let mut rng = Rng::new(3);
        for case in 0..400 {
            let n = 1 + rng.below(11);
            let few = [2, 4, 8, 1000][case % 4];
            let d: Vec<f64> = (0..n).map(|_| rng.below(2 * few + 1) as f64 - few as f64).collect();
            let got = signed_rank(&d).unwrap();
            assert!((got.p - by_hand(&d)).abs() < 1e-12, "{d:?}: {got:?}, by hand {}", by_hand(&d));
        }
    }

    #[test]
    fn known_by_heart() {
        // All of eight on one side: 2 of 256.
        let d: Vec<f64> = (1..=8).map(f64::from).collect();
        let t = signed_rank(&d).unwrap();
        assert_eq!((t.pairs, t.plus, t.minus, t.p), (8, 36.0, 0.0, 2.0 / 256.0));
        assert_eq!(least_p(8), 2.0 / 256.0);
        // Hollander and Wolfe's table: P(W ≤ 3) of eight is 0.0195, so that 95 % take the fourth from either end.
        assert_eq!(rejected(8, 0.025), 4);
        assert_eq!((rejected(5, 0.025), rejected(6, 0.025), rejected(10, 0.025), rejected(30, 0.025)), (0, 1, 9, 138));
        let all_zero = signed_rank(&[0.0; 9]).unwrap();
        assert_eq!((all_zero.p, all_zero.plus), (1.0, 0.0));
        assert_eq!(signed_rank(&[]), None);
        assert_eq!(signed_rank(&[f64::NAN, f64::INFINITY]), None);
        assert_eq!(signed_rank(&vec![1.0; MOST + 1]), None);
    }

    #[test]
    fn intervals() {
        let d = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let e = shift(&d, 0.05).unwrap();
        // The sorted means begin 1, 1.5, 2, 2, 2.5, …: the fourth is 2.
        assert_eq!((e.estimate, e.low, e.high), (4.5, 2.0, 7.0));
        let none = shift(&d[..4], 0.05).unwrap();
        assert_eq!((none.estimate, none.low, none.high), (2.5, f64::NEG_INFINITY, f64::INFINITY));
        let wide = shift(&[f64::MAX; 8], 0.05).unwrap();
        assert_eq!((wide.low, wide.high), (f64::MAX, f64::MAX));
        assert_eq!(shift(&[], 0.05), None);
    }
}
