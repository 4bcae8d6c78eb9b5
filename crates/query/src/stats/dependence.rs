//! How sure the mean of one series is, when its samples depend on each other in a way that must itself be guessed from few
//! samples.
//!
//! The usual ways fail here. Treating samples as independent is wrong by a factor of four and more for load that drifts. A
//! plug-in estimate of the autocorrelation (Newey and West, prewhitening, an AR(1) fit) is too low in short series, and
//! wrong exactly when it matters. So the dependence is not estimated and then believed: it is averaged over. The model is a
//! slow part and a noise part,
//!
//! > xₜ = μ + sₜ + eₜ,  sₜ = φ·sₜ₋₁ + innovation,  share of eₜ in the variance = λ,
//!
//! on a grid of (φ, λ), from independent samples to a random walk hidden in noise. Given (φ, λ), the mean has a Student t
//! distribution with n − 1 degrees of freedom around it; given the data, each (φ, λ) has a weight (its marginal likelihood
//! after μ and σ are integrated out, flat in μ, 1/σ in σ: Zellner and Tiao, "Bayesian analysis of the regression model with
//! autocorrelated errors", JASA 59, 1964). φ = exp(−1/τ) for time scales τ from the length of the series down by halves to one
//! sample; slower than the series is a level that the series cannot tell from its mean. Prior weights are below. Negative φ is
//! left out: it would only make us surer.
//!
//! The average over the grid has heavier tails than any one t. It is handed on as a standard error and degrees of freedom
//! whose t has the same 5 % and 0.01 % points: the one number says how wide, the other how little is known.

use super::special::{t_critical, t_two_sided};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Prior weight of samples that do not depend on each other.
const INDEPENDENT: f64 = 0.3;
/// Prior weight of a slow part as long as the series: a random walk in all but name.
const DRIFT: f64 = 0.3;
/// The time scale, in samples, of the slowest part that is considered in short series.
const LEAST_DRIFT: f64 = 24.0;
/// The shares of the noise part that are considered.
const NOISE: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 0.9];
/// How much a series says about its own dependence, as the power of its likelihood. Below 1 because the model is not the truth: a
/// tempered posterior (Grünwald, "The safe Bayesian", 2012) does not grow sure of the wrong (φ, λ) in long series.
const OWN: f64 = 0.7;
/// How much the other runs of a metric say about the dependence within this one, as the power of their likelihood (a power
/// prior: Ibrahim and Chen, "Power prior distributions for regression models", Statistical Science 15, 2000).
const SHARE: f64 = 0.25;
/// Longer series are joined to this many samples first: the mean of neighbours of the model is again of the model.
pub const LONGEST: usize = 240;
/// With fewer samples nothing can be said of how they depend on each other.
pub const SHORTEST: usize = 4;

/// How sure a mean is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard error of the mean.
    pub se: f64,
    /// Degrees of freedom of the t distribution that goes with it. At least 1.
    pub df: f64,
    /// As many independent samples would make the mean as sure.
    pub n_eff: f64,
}

/// The spread of means of series, with the tables for each length kept.
#[derive(Clone, Debug, Default)]
pub struct Dependence {
    plans: HashMap<(usize, usize), Arc<Plan>>,
}

/// One series against the grid.
struct Profile {
    plan: Arc<Plan>,
    /// ln of the marginal likelihood of each grid point, and ln of the standard error under it.
    points: Vec<(f64, f64)>,
    /// What the values were divided by.
    scale: f64,
    /// Variance of the divided values.
    variance: f64,
}

impl Dependence {
    /// No tables yet.
    pub fn new() -> Dependence {
        Dependence::default()
    }

    /// How sure the mean of `x` is, for [`SHORTEST`] to [`LONGEST`] samples in time order. `None` for other lengths, for
    /// values that are not finite, and where all values are equal: then the series itself holds no measure of its error.
    pub fn spread(&mut self, x: &[f64]) -> Option<Spread> {
        self.spreads(&[x]).pop().flatten()
    }

    /// The same for several series of one metric (other runs, other side), each with its own variance. What the others say
    /// about the dependence counts [`SHARE`] as much as what the series itself says: runs of one program move alike, but need not.
    pub fn spreads(&mut self, series: &[&[f64]]) -> Vec<Option<Spread>> {
        let longest = series.iter().map(|x| x.len()).max().unwrap_or(0);
        let profiles: Vec<Option<Profile>> = series.iter().map(|x| self.profile(x, longest)).collect();
        let size = profiles.iter().flatten().map(|p| p.points.len()).next().unwrap_or(0);
        let all: Vec<f64> = (0..size).map(|k| profiles.iter().flatten().map(|p| p.points[k].0).sum::<f64>()).collect();
        profiles.iter().map(|p| p.as_ref().map(|p| p.spread(&all))).collect()
    }

    fn profile(&mut self, x: &[f64], longest: usize) -> Option<Profile> {
        if !(SHORTEST..=LONGEST).contains(&x.len()) || x.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let scale = super::series::scale(x);
        let n = x.len() as f64;
        let mean = x.iter().map(|v| v / scale).sum::<f64>() / n;
        let x: Vec<f64> = x.iter().map(|v| v / scale - mean).collect();
        // What is left of equal values after rounding is not a measure of anything.
        if x.iter().all(|v| v.abs() <= 1e-12) {
            return None;
        }
        let own = super::series::scale(&x);
        let x: Vec<f64> = x.iter().map(|v| v / own).collect();
        let plan =
            self.plans.entry((x.len(), longest)).or_insert_with(|| Arc::new(Plan::new(x.len(), longest))).clone();
        let points = plan.points(&x);
        let variance = x.iter().map(|v| v * v).sum::<f64>() / (n - 1.0);
        Some(Profile { plan, points, scale: own * scale, variance })
    }
}

impl Profile {
    /// `all` is the sum of the likelihoods over all series, this one among them.
    fn spread(&self, all: &[f64]) -> Spread {
        let n = self.plan.n as f64;
        let ln_weight = |k: usize| {
            let own = self.points[k].0;
            self.plan.ln_prior[k] + OWN * own + SHARE * (all[k] - own)
        };
        let best = (0..all.len()).map(ln_weight).fold(f64::NEG_INFINITY, f64::max);
        let mut parts: Vec<(f64, f64)> =
            (0..all.len()).map(|k| ((ln_weight(k) - best).exp(), self.points[k].1)).filter(|p| p.0 > 1e-8).collect();
        let total: f64 = parts.iter().map(|p| p.0).sum();
        parts.iter_mut().for_each(|p| p.0 /= total);
        let near = self.plan.tail.point(&parts, NEAR);
        let far = self.plan.tail.point(&parts, FAR);
        let df = degrees(far - near).min(n - 1.0);
        let se = (near.exp() / t_critical_cached(df)).max((self.variance / n).sqrt());
        Spread { se: se * self.scale, df, n_eff: (self.variance / (se * se)).clamp(1e-3, n) }
    }
}

/// What depends on the length of a series alone. Arrays over time × grid hold the Kalman filter of each grid point for a
/// slow part of variance 1 − λ and noise of variance λ: its steps are the innovations form of the exact likelihood (Harvey,
/// "Forecasting, structural time series models and the Kalman filter", 1989, §3.4).
#[derive(Debug)]
struct Plan {
    n: usize,
    phi: Vec<f64>,
    gain: Vec<f64>,
    precision: Vec<f64>,
    ones: Vec<f64>,
    /// Σ of the squared whitened ones.
    information: Vec<f64>,
    ln_prior: Vec<f64>,
    /// ln of the part of the marginal likelihood that does not depend on the data.
    ln_weight: Vec<f64>,
    /// Variance of the plain average of n samples of total variance 1.
    of_mean: Vec<f64>,
    tail: Tail,
}

impl Plan {
    /// For `n` samples, beside a series of `longest`.
    fn new(n: usize, longest: usize) -> Plan {
        let mut scales = vec![(longest as f64).max(LEAST_DRIFT)];
        while scales[scales.len() - 1] > 1.0 {
            scales.push(0.5 * scales[scales.len() - 1]);
        }
        let each = (1.0 - INDEPENDENT - DRIFT) / (scales.len() - 1) as f64;
        let mut points: Vec<(f64, f64, f64)> = vec![(0.0, 0.0, INDEPENDENT)];
        for (i, scale) in scales.iter().enumerate() {
            let prior = if i == 0 { DRIFT } else { each } / NOISE.len() as f64;
            points.extend(NOISE.iter().map(|&noise| ((-1.0 / scale).exp(), noise, prior)));
        }
        let g = points.len();
        let mut plan = Plan {
            n,
            phi: points.iter().map(|p| p.0).collect(),
            gain: vec![0.0; n * g],
            precision: vec![0.0; n * g],
            ones: vec![0.0; n * g],
            information: vec![0.0; g],
            ln_prior: points.iter().map(|p: &(f64, f64, f64)| p.2.ln()).collect(),
            ln_weight: vec![0.0; g],
            of_mean: vec![0.0; g],
            tail: Tail::new(n as f64 - 1.0),
        };
        for (k, &(phi, noise, _)) in points.iter().enumerate() {
            let slow = 1.0 - noise;
            let (mut variance, mut one) = (slow, 0.0);
            for t in 0..n {
                let total = variance + noise;
                let gain = phi * variance / total;
                let innovation = 1.0 - one;
                plan.gain[t * g + k] = gain;
                plan.precision[t * g + k] = 1.0 / total;
                plan.ones[t * g + k] = innovation / total;
                plan.information[k] += innovation * innovation / total;
                plan.ln_weight[k] -= 0.5 * total.ln();
                one = phi * one + gain * innovation;
                variance = phi * phi * variance * noise / total + slow * (1.0 - phi * phi);
            }
            plan.ln_weight[k] -= 0.5 * plan.information[k].ln();
            let m = n as f64;
            let pairs: f64 = (1..n).map(|lag| (m - lag as f64) * phi.powi(lag as i32)).sum();
            plan.of_mean[k] = (noise * m + slow * (m + 2.0 * pairs)) / (m * m);
        }
        plan
    }

    /// ln marginal likelihood and ln standard error of the mean at each grid point. `x` has mean 0 and magnitude 1.
    fn points(&self, x: &[f64]) -> Vec<(f64, f64)> {
        let g = self.phi.len();
        let (mut state, mut square, mut cross) = (vec![0.0; g], vec![0.0; g], vec![0.0; g]);
        for (t, &value) in x.iter().enumerate() {
            let row = t * g..(t + 1) * g;
            let (gain, precision, ones) = (&self.gain[row.clone()], &self.precision[row.clone()], &self.ones[row]);
            for k in 0..g {
                let innovation = value - state[k];
                state[k] = self.phi[k] * state[k] + gain[k] * innovation;
                square[k] += innovation * innovation * precision[k];
                cross[k] += innovation * ones[k];
            }
        }
        let df = self.n as f64 - 1.0;
        (0..g)
            .map(|k| {
                let rest = (square[k] - cross[k] * cross[k] / self.information[k]).max(1e-24);
                (self.ln_weight[k] - 0.5 * df * rest.ln(), 0.5 * (self.of_mean[k] * rest / df).ln())
            })
            .collect()
    }
}

/// The two tail probabilities at which the average over the grid and its t agree.
const NEAR: f64 = 0.05;
const FAR: f64 = 1e-4;

/// ln P(|T| ≥ exp z) of one t distribution, tabulated over z.
#[derive(Debug)]
struct Tail {
    ln: Vec<f64>,
}

const TAIL_FROM: f64 = -5.0;
const TAIL_STEP: f64 = 0.04;
const TAIL_SIZE: usize = 400;

impl Tail {
    fn new(df: f64) -> Tail {
        let at = |i: usize| t_two_sided((TAIL_FROM + i as f64 * TAIL_STEP).exp(), df).max(1e-300).ln();
        Tail { ln: (0..TAIL_SIZE).map(at).collect() }
    }

    fn ln_p(&self, z: f64) -> f64 {
        let place = ((z - TAIL_FROM) / TAIL_STEP).clamp(0.0, TAIL_SIZE as f64 - 1.001);
        let i = place as usize;
        let part = place - i as f64;
        self.ln[i] * (1.0 - part) + self.ln[i + 1] * part
    }

    /// The z with P(|mean| ≥ exp z) = `p` under the average of t distributions with these (weight, ln scale).
    fn point(&self, parts: &[(f64, f64)], p: f64) -> f64 {
        let at = |z: f64| parts.iter().map(|&(w, s)| w * self.ln_p(z - s).exp()).sum::<f64>().ln() - p.ln();
        // The tail of an average lies between those of its parts: the answer does too.
        let alone = self.invert(p.ln());
        let (low, high) = parts.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |b, x| (b.0.min(x.1), b.1.max(x.1)));
        let (mut a, mut b) = (alone + low - 0.01, alone + high + 0.01);
        let (mut fa, mut fb) = (at(a), at(b));
        // Regula falsi in the Illinois form: ln P is nearly straight in z, so a few steps do.
        for _ in 0..40 {
            if b - a < 1e-4 || fa <= 0.0 || fb >= 0.0 {
                break;
            }
            let c = (a * fb - b * fa) / (fb - fa);
            let fc = at(c);
            if fc.abs() < 1e-3 {
                return c;
            }
            if fc > 0.0 {
                (a, fa) = (c, fc);
                fb *= 0.5;
            } else {
                (b, fb) = (c, fc);
                fa *= 0.5;
            }
        }
        // Where it did not settle, the wider of the two.
        b
    }

    fn invert(&self, ln_p: f64) -> f64 {
        let i = self.ln.partition_point(|&v| v > ln_p).clamp(1, TAIL_SIZE - 1);
        let (above, below) = (self.ln[i - 1], self.ln[i]);
        let part = if above > below { ((above - ln_p) / (above - below)).clamp(0.0, 1.0) } else { 0.0 };
        TAIL_FROM + TAIL_STEP * (i as f64 - 1.0 + part)
    }
}

/// ln of the 5 % point and ln of the ratio of the 0.01 % to the 5 % point of t, over ln df from 0 to ln 1000.
fn t_points() -> &'static [(f64, f64)] {
    static POINTS: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    POINTS.get_or_init(|| {
        (0..T_POINTS)
            .map(|i| {
                let df = (i as f64 * T_STEP).exp();
                let near = t_critical(NEAR, df).ln();
                (near, t_critical(FAR, df).ln() - near)
            })
            .collect()
    })
}

const T_POINTS: usize = 140;
const T_STEP: f64 = 0.05;

/// The degrees of freedom of the t whose points are this far apart (in ln); at least 1.
fn degrees(ratio: f64) -> f64 {
    let points = t_points();
    let i = points.partition_point(|p| p.1 > ratio);
    if i == 0 {
        return 1.0;
    }
    if i == points.len() {
        return ((T_POINTS - 1) as f64 * T_STEP).exp();
    }
    let part = (points[i - 1].1 - ratio) / (points[i - 1].1 - points[i].1);
    ((i as f64 - 1.0 + part) * T_STEP).exp()
}

/// The 5 % point of t for 1 ≤ df, from the table.
fn t_critical_cached(df: f64) -> f64 {
    let points = t_points();
    let place = (df.max(1.0).ln() / T_STEP).min(points.len() as f64 - 1.001);
    let i = place as usize;
    let part = place - i as f64;
    (points[i].0 * (1.0 - part) + points[i + 1].0 * part).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    fn ar(rng: &mut Rng, phi: f64, n: usize) -> Vec<f64> {
        let mut s = rng.normal();
        (0..n)
            .map(|_| {
                let x = s;
                s = phi * s + (1.0 - phi * phi).sqrt() * rng.normal();
                x
            })
            .collect()
    }

    /// Mean standard error and share of series whose 95 % interval misses the true mean.
    fn trial(phi: f64, n: usize) -> (f64, f64) {
        let (mut rng, mut d, times) = (Rng::new(7), Dependence::new(), 300);
        let (mut se, mut missed) = (0.0, 0.0);
        for _ in 0..times {
            let x = ar(&mut rng, phi, n);
            let s = d.spread(&x).unwrap();
            let mean = x.iter().sum::<f64>() / n as f64;
            se += s.se / times as f64;
            missed += f64::from(t_two_sided(mean / s.se, s.df) < 0.05) / times as f64;
        }
        (se, missed)
    }

    #[test]
    fn drifting_samples_are_not_believed_at_a_bounded_price_for_independent_ones() {
        // Caution about a drift that may hide in the noise doubles the standard error of 60 independent samples: docs/method.md.
        let (se, missed) = trial(0.0, 60);
        assert!(se < 2.2 / 60f64.sqrt() && missed < 0.05, "{se} {missed}");
        for (phi, n) in [(0.5, 8), (0.5, 60), (0.9, 20), (0.9, 60), (0.9, 120)] {
            let (_, missed) = trial(phi, n);
            assert!(missed < 0.09, "phi {phi}, n {n}: missed {missed}");
        }
    }

    #[test]
    fn the_units_do_not_matter() {
        let x = ar(&mut Rng::new(3), 0.6, 40);
        let mut d = Dependence::new();
        let one = d.spread(&x).unwrap();
        let other = d.spread(&x.iter().map(|v| 1e200 * v + 3e200).collect::<Vec<_>>()).unwrap();
        assert!((other.se / 1e200 / one.se - 1.0).abs() < 1e-6 && (other.df - one.df).abs() < 1e-3 * one.df);
    }

    #[test]
    fn nothing_to_go_by() {
        let mut d = Dependence::new();
        assert_eq!(d.spread(&[1.0, 2.0, 3.0]), None);
        assert_eq!(d.spread(&[0.1 + 0.2, 0.3, 0.3, 0.3]), None);
        assert_eq!(d.spread(&[1.0, f64::NAN, 3.0, 4.0]), None);
        assert!(d.spread(&[0.0, 0.0, 0.0, 1.0]).is_some());
    }

    #[test]
    fn the_tables_agree_with_the_functions() {
        for df in [1.0, 2.3, 7.0, 30.0, 200.0] {
            assert!((t_critical_cached(df) / t_critical(NEAR, df) - 1.0).abs() < 2e-3);
            let ratio = (t_critical(FAR, df) / t_critical(NEAR, df)).ln();
            assert!((degrees(ratio) / df - 1.0).abs() < 2e-2, "{df}");
        }
        let tail = Tail::new(9.0);
        let z = tail.point(&[(1.0, 0.0)], 0.01);
        assert!((z.exp() / t_critical(0.01, 9.0) - 1.0).abs() < 5e-3);
    }
}
