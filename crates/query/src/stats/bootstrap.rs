//! Block bootstrap: intervals for means and ratios of sums of series whose samples depend on each other, without a model.
//!
//! Circular blocks (Politis and Romano, "A circular block-resampling procedure for stationary data", 1992) of the automatic
//! length of Politis and White ("Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23, 2004)
//! with the correction of Patton, Politis and White (Econometric Reviews 28, 2009). Sums over all blocks are made once, so a
//! resample costs one addition a block.
//!
//! It is studentised: each resample is divided by its own standard error (Götze and Künsch, "Second-order correctness of the
//! blockwise bootstrap", Annals of Statistics 24, 1996). It needs some blocks to choose from: under [`FEWEST_BLOCKS`] there is
//! no answer, and [`super::dependence`] is what to use.

use super::rng::Rng;
use super::series::Series;

/// With fewer blocks than these there is no bootstrap.
pub const FEWEST_BLOCKS: usize = 5;

/// An interval around an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The statistic of the data.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How many resamples are drawn.
    pub resamples: usize,
    /// Equal seeds give equal intervals.
    pub seed: u64,
    /// Probability that an interval leaves out the truth.
    pub alpha: f64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { resamples: 999, seed: 0x7769_6e73_636f_7065, alpha: 0.05 }
    }
}

/// The two intervals of one statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// Quantiles of the resampled statistic.
    pub percentile: Interval,
    /// Quantiles of the resampled t statistic, turned around the estimate. The better one.
    pub studentised: Interval,
}

/// What two independent series say about each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Two {
    /// Other − baseline.
    pub difference: Intervals,
    /// Other ÷ baseline; `None` where the baseline is 0 or changes its sign among the resamples.
    pub ratio: Option<Interval>,
    /// Share of resampled |t| as great as the one seen (1 added to both counts): the p-value of "no difference".
    /// Never below 1 ÷ (resamples + 1).
    pub p: f64,
}

/// The automatic block lengths for `x`: for circular (or moving) blocks, and the mean one for the stationary bootstrap.
/// At least 1, at most min(3√n, n/3) rounded up. 1 for fewer than 3 samples or equal ones.
pub fn block_length(x: &[f64]) -> (f64, f64) {
    let n = x.len();
    if n < 3 || x.iter().any(|v| !v.is_finite()) {
        return (1.0, 1.0);
    }
    let size = n as f64;
    let scale = super::series::scale(x);
    let mean = x.iter().map(|v| v / scale).sum::<f64>() / size;
    let x: Vec<f64> = x.iter().map(|v| v / scale - mean).collect();
    let covariance = |lag: usize| x.iter().zip(x.iter().skip(lag)).map(|(a, b)| a * b).sum::<f64>() / size;
    let window = ((size.log10().sqrt().ceil()) as usize).max(5);
    let most = (size.sqrt().ceil() as usize + window).min(n - 1);
    let r: Vec<f64> = (0..=most).map(covariance).collect();
    if r[0] <= 1e-24 {
        return (1.0, 1.0);
    }
    // The first lag from which on a run of lags is not to be told from 0. The paper counts from the lag before; programs in use
    // (arch) count from this one.
    let negligible = 2.0 * (size.log10() / size).sqrt();
    let quiet = |m: usize| (m..m + window).all(|k| r.get(k).is_none_or(|v| (v / r[0]).abs() < negligible));
    let last = (0..most).find(|&m| quiet(m)).unwrap_or(most);
    let bandwidth = (2 * last.max(1)).min(most);
    let (mut slope, mut spectrum) = (0.0, r[0]);
    for (k, covariance) in r.iter().enumerate().take(bandwidth + 1).skip(1) {
        let at = k as f64 / bandwidth as f64;
        let taper = if at <= 0.5 { 1.0 } else { 2.0 * (1.0 - at) };
        slope += 2.0 * taper * k as f64 * covariance;
        spectrum += 2.0 * taper * covariance;
    }
    let most = (3.0 * size.sqrt()).min(size / 3.0).ceil().max(1.0);
    let length = |d: f64| {
        let b = (2.0 * slope * slope / d * size).cbrt();
        if b.is_nan() { 1.0 } else { b.clamp(1.0, most) }
    };
    let square = spectrum * spectrum;
    (length(4.0 / 3.0 * square), length(2.0 * square))
}

/// A series cut into all its circular blocks.
struct Blocks {
    sums: Vec<(f64, f64)>,
    mean: f64,
    /// Blocks in a resample.
    count: usize,
    /// Standard error of the mean by the same formula that resamples use.
    se: f64,
}

impl Blocks {
    fn new(series: &Series) -> Option<Blocks> {
        let mean = series.mean()?;
        let n = series.len();
        let length = (block_length(&series.influence(mean)).0.round() as usize).clamp(1, n);
        let count = n.div_ceil(length);
        if count < FEWEST_BLOCKS {
            return None;
        }
        let at = |i: usize| (series.num[i % n], series.den[i % n]);
        let mut sum = (0..length).map(at).fold((0.0, 0.0), |s, x| (s.0 + x.0, s.1 + x.1));
        let mut sums = Vec::with_capacity(n);
        for i in 0..n {
            sums.push(sum);
            let (out, new) = (at(i), at(i + length));
            sum = (sum.0 - out.0 + new.0, sum.1 - out.1 + new.1);
        }
        let (mut square, mut den) = (0.0, 0.0);
        for s in &sums {
            square += (s.0 - mean * s.1).powi(2);
            den += s.1;
        }
        let k = count as f64;
        let per_block = den / n as f64;
        let se = (square / n as f64 / k).sqrt() / per_block;
        (se > 1e-12 * mean.abs() && se.is_finite()).then_some(Blocks { sums, mean, count, se })
    }

    /// The mean of a resample and its standard error.
    fn draw(&self, rng: &mut Rng) -> (f64, f64) {
        let (mut num, mut den, mut nn, mut nd, mut dd) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for _ in 0..self.count {
            let (a, b) = self.sums[rng.below(self.sums.len())];
            // Centred on the mean, or the squares would cancel for a level far from 0.
            let a = a - self.mean * b;
            num += a;
            den += b;
            nn += a * a;
            nd += a * b;
            dd += b * b;
        }
        if den <= 0.0 {
            return (self.mean, 0.0);
        }
        let off = num / den;
        let k = self.count as f64;
        let square = (nn - 2.0 * off * nd + off * off * dd).max(0.0);
        (self.mean + off, (square * k / (k - 1.0)).sqrt() / den)
    }
}

/// Turns resampled statistics and t values into intervals.
fn intervals(estimate: f64, se: f64, values: &mut [f64], t: &mut [f64], alpha: f64) -> Intervals {
    let ends = |x: &mut [f64]| {
        x.sort_by(f64::total_cmp);
        let at = |q: f64| x[((q * x.len() as f64) as usize).min(x.len() - 1)];
        (at(alpha / 2.0), at(1.0 - alpha / 2.0))
    };
    let around = |low: f64, high: f64| Interval { estimate, low: low.min(estimate), high: high.max(estimate) };
    let (low, high) = ends(values);
    let (t_low, t_high) = ends(t);
    Intervals { percentile: around(low, high), studentised: around(estimate - t_high * se, estimate - t_low * se) }
}

/// t of a resample; one with no spread of its own is as far off as can be.
fn t_of(off: f64, se: f64) -> f64 {
    if se > 0.0 {
        off / se
    } else if off == 0.0 {
        0.0
    } else {
        1e9f64.copysign(off)
    }
}

impl Bootstrap {
    /// Intervals for the mean of one series. `None` where it is constant or has too few blocks.
    pub fn one(&self, series: &Series) -> Option<Intervals> {
        let blocks = Blocks::new(series)?;
        let mut rng = Rng::new(self.seed);
        let (mut values, mut t): (Vec<f64>, Vec<f64>) = (0..self.resamples.max(1))
            .map(|_| {
                let (mean, se) = blocks.draw(&mut rng);
                (mean, t_of(mean - blocks.mean, se))
            })
            .unzip();
        Some(intervals(blocks.mean, blocks.se, &mut values, &mut t, self.alpha))
    }

    /// Intervals for the difference and the ratio of two independent series, and a p-value. `None` where either is constant
    /// or has too few blocks.
    pub fn two(&self, baseline: &Series, other: &Series) -> Option<Two> {
        let (b, o) = (Blocks::new(baseline)?, Blocks::new(other)?);
        let mut rng = Rng::new(self.seed);
        let (difference, se) = (o.mean - b.mean, b.se.hypot(o.se));
        let seen = (difference / se).abs();
        let (mut values, mut t, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut as_great = 0;
        for _ in 0..self.resamples.max(1) {
            let ((bm, bs), (om, os)) = (b.draw(&mut rng), o.draw(&mut rng));
            values.push(om - bm);
            let one = t_of(om - bm - difference, bs.hypot(os));
            as_great += usize::from(one.abs() >= seen);
            t.push(one);
            if bm * b.mean > 0.0 {
                ratios.push(om / bm);
            }
        }
        let ratio = (b.mean != 0.0 && ratios.len() == values.len()).then(|| {
            ratios.sort_by(f64::total_cmp);
            let at = |q: f64| ratios[((q * ratios.len() as f64) as usize).min(ratios.len() - 1)];
            let estimate = o.mean / b.mean;
            let (low, high) = (at(self.alpha / 2.0), at(1.0 - self.alpha / 2.0));
            Interval { estimate, low: low.min(estimate), high: high.max(estimate) }
        });
        let p = (1 + as_great) as f64 / (1 + values.len()) as f64;
        Some(Two { difference: intervals(difference, se, &mut values, &mut t, self.alpha), ratio, p })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mean_of_noise() {
        let mut rng = Rng::new(5);
        let x: Vec<f64> = (0..100).map(|_| 10.0 + rng.normal()).collect();
        let i = Bootstrap::default().one(&Series::even(&x)).unwrap();
        for i in [i.percentile, i.studentised] {
            let half = 0.5 * (i.high - i.low);
            assert!((0.13..0.30).contains(&half), "{half}");
        }
    }

    #[test]
    fn a_difference_is_seen_and_none_is_not() {
        let mut rng = Rng::new(6);
        let mut draw = |mean: f64| Series::even(&(0..60).map(|_| mean + rng.normal()).collect::<Vec<_>>());
        let (a, b, c) = (draw(10.0), draw(10.0), draw(13.0));
        let boot = Bootstrap::default();
        let same = boot.two(&a, &b).unwrap();
        assert!(same.p > 0.01 && same.ratio.unwrap().low < 1.0);
        let differ = boot.two(&a, &c).unwrap();
        assert!(differ.p <= 0.001 + 1e-9 && differ.ratio.unwrap().low > 1.1);
        assert_eq!(differ, boot.two(&a, &c).unwrap());
    }

    #[test]
    fn too_little_gives_no_answer() {
        let boot = Bootstrap::default();
        assert_eq!(boot.one(&Series::even(&[1.0, 2.0, 3.0, 4.0])), None);
        assert_eq!(boot.one(&Series::even(&[2.0; 50])), None);
        assert_eq!(boot.one(&Series::even(&[])), None);
    }
}
