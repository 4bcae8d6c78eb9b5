//! A wager on the signs of differences: a test that one may look at after each pair, and stop whenever one likes.
//!
//! Whoever bets on the next sign while signs are random has a wealth that grows to W with a probability of 1 ÷ W at most, ever
//! (Ville 1939; Shafer, "Testing by betting", JRSS A 184, 2021; Ramdas et al., "Game-theoretic statistics and safe anytime-valid
//! inference", Statistical Science 38, 2023). So a wealth of 20 is a level of 5 %, however often one looks. Here ten players
//! begin with a tenth each, five on either sign; each bets the share tanh(λ score) of what he has. The score is that of the
//! difference's size among the sizes so far, its own included, for only the sign is not known yet: the normal quantile of its
//! rank. So what is far out does not count for more than its rank.

use crate::stats::special::normal_quantile;

/// How daring the players are.
const LAMBDAS: [f64; 5] = [0.3, 0.6, 1.0, 1.6, 2.5];

/// No player bets more than this share: one wrong sign would ruin him.
const MOST: f64 = 0.999;

/// The wealth of ten players, pair after pair.
#[derive(Clone, Debug, Default)]
pub struct Wager {
    /// Sizes of the differences so far, in order.
    sizes: Vec<f64>,
    /// Logarithms of what the players have made of 1, those who bet on plus first.
    logs: [[f64; LAMBDAS.len()]; 2],
    most: f64,
}

impl Wager {
    /// Before the first pair.
    pub fn new() -> Wager {
        Wager::default()
    }

    /// After all of `d`.
    pub fn of(d: &[f64]) -> Wager {
        let mut wager = Wager::new();
        d.iter().for_each(|x| wager.push(*x));
        wager
    }

    /// The next difference. One of 0 has no sign: nothing is won or lost. What is not a number is left out.
    pub fn push(&mut self, x: f64) {
        if x.is_nan() {
            return;
        }
        let size = x.abs();
        let below = self.sizes.partition_point(|s| *s < size);
        let upto = self.sizes.partition_point(|s| *s <= size);
        self.sizes.insert(upto, size);
        if x != 0.0 {
            let rank = (below + upto) as f64 / 2.0 + 1.0;
            let score = normal_quantile(0.5 + 0.5 * (rank - 0.5) / self.sizes.len() as f64);
            for (side, logs) in [x.signum(), -x.signum()].into_iter().zip(&mut self.logs) {
                for (log, lambda) in logs.iter_mut().zip(LAMBDAS) {
                    *log += (side * (lambda * score).tanh().min(MOST)).ln_1p();
                }
            }
        }
        self.most = self.most.max(self.wealth());
    }

    /// What all players together have made of 1.
    pub fn wealth(&self) -> f64 {
        let all = self.logs.as_flattened();
        all.iter().map(|l| l.min(700.0).exp()).sum::<f64>() / all.len() as f64
    }

    /// The greatest wealth so far: the p-value of "the signs are random" is at most 1 ÷ this, whenever one looks.
    pub fn most(&self) -> f64 {
        self.most.max(1.0)
    }
}

/// Steps of the search for the ends of [`interval`].
const STEPS: u32 = 60;

/// The differences that the wager has never ruled out at 1 ÷ `wealth`: an interval that holds whenever one looks. `d` in the
/// order in which they came. Infinite ends where there are too few pairs yet; `None` without any.
///
/// The ends are searched from outside in steps of 1/60 of the range of `d` and then by halving, so that what is found is the
/// outermost place that is not ruled out, up to such a step. What is not a number or above 10³⁰⁰ is left out.
pub fn interval(d: &[f64], wealth: f64) -> Option<(f64, f64)> {
    // Differences of what is larger would overflow.
    let d: Vec<f64> = d.iter().copied().filter(|x| x.abs() < 1e300).collect();
    let least = d.iter().copied().reduce(f64::min)?;
    let most = d.iter().copied().reduce(f64::max)?;
    let out = |at: f64| Wager::of(&d.iter().map(|x| x - at).collect::<Vec<_>>()).most() >= wealth;
    // Beyond all differences every sign is the same.
    let width = (most - least).max(most.abs().max(least.abs()) * 1e-9).max(f64::MIN_POSITIVE);
    let end = |from: f64, step: f64| {
        if !out(from) {
            return f64::INFINITY.copysign(-step);
        }
        let mut outside = from;
        for _ in 0..=STEPS {
            let next = outside + step;
            if !out(next) {
                let mut inside = next;
                for _ in 0..30 {
                    let middle = 0.5 * (inside + outside);
                    if out(middle) { outside = middle } else { inside = middle }
                }
                return inside;
            }
            outside = next;
        }
        outside
    };
    let step = width / f64::from(STEPS);
    let (low, high) = (end(least - 0.5 * step, step), end(most + 0.5 * step, -step));
    Some((low.min(high), high.max(low)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    #[test]
    fn a_fair_game_makes_nobody_rich() {
        let mut rng = Rng::new(9);
        let rich = (0..4000)
            .filter(|case| {
                let mut wager = Wager::new();
                (0..100).any(|i| {
                    // Sizes that grow with time, that are all alike, and those of a drift.
                    let size = [rng.normal().abs(), 1.0, f64::from(i) + 1.0][case % 3];
                    wager.push(if rng.below(2) == 0 { size } else { -size });
                    wager.wealth() >= 20.0
                })
            })
            .count();
        assert!((40..=200).contains(&rich), "{rich} of 4000; at most 5 %, and not for nothing");
    }

    #[test]
    fn one_game_by_hand() {
        // The first size is the greatest of one: rank 1 of 1, a score of Φ⁻¹(0.75).
        let mut wager = Wager::new();
        wager.push(3.0);
        // What one side wins, the other loses.
        assert!((wager.wealth() - 1.0).abs() < 1e-12);
        wager.push(2.0);
        // Scores 0.6745 and, for the lesser of two, Φ⁻¹(0.5 + 0.5 · 0.25) = 0.3186.
        let by_hand: f64 = [0.3f64, 0.6, 1.0, 1.6, 2.5]
            .iter()
            .map(|l| {
                let (a, b) = ((l * 0.674_489_75f64).tanh(), (l * 0.318_639_36f64).tanh());
                ((1.0 + a) * (1.0 + b) + (1.0 - a) * (1.0 - b)) / 10.0
            })
            .sum();
        assert!((wager.wealth() - by_hand).abs() < 1e-6, "{} {by_hand}", wager.wealth());
        let before = wager.wealth();
        wager.push(0.0);
        wager.push(f64::NAN);
        assert_eq!(wager.wealth(), before);
        wager.push(-9.0);
        assert!(wager.wealth() < before && wager.most() == before);
    }

    #[test]
    fn intervals_hold_the_difference() {
        let mut rng = Rng::new(4);
        let mut missed = 0;
        for _ in 0..60 {
            let d: Vec<f64> = (0..40).map(|_| 0.03 + 0.04 * rng.normal()).collect();
            let (low, high) = interval(&d, 20.0).unwrap();
            missed += usize::from(!(low..=high).contains(&0.03));
            assert!(high - low < 0.08 && low < high, "{low} {high}");
        }
        assert!(missed <= 5, "{missed}");
        assert_eq!(interval(&[1.0, 2.0], 20.0), Some((f64::NEG_INFINITY, f64::INFINITY)));
        assert_eq!(interval(&[], 20.0), None);
        let (low, high) = interval(&[0.5; 30], 20.0).unwrap();
        assert!((low - 0.5).abs() < 1e-6 && (high - 0.5).abs() < 1e-6, "{low} {high}");
    }
}
