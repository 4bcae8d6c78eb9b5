//! Separation: whether nearly all of one run lies beyond nearly all of another, stretch by stretch.
//!
//! The t-test of [`super::compare`] must allow for a drift that is as long as the run, and so can hardly be sure of anything that it saw
//! once. This test asks less and answers plainly where the difference is plain: the runs are cut into at most ten stretches each, and the
//! means of the stretches are ranked (Mann and Whitney 1947, exact). Stretches absorb dependence that is shorter than they are; against
//! what is longer stands the gap that the caller asks for between the nearer quartiles of both runs.

use super::Series;
use super::quantile::quantile;
use super::rank::{Samples, mann_whitney};
use super::special::t_critical;

/// Stretches of a run, at most.
const MOST: usize = 10;

/// Stretches of a run, at least.
const FEWEST: usize = 5;

/// Samples of a stretch, at least.
const SAMPLES: usize = 3;

/// How far two runs lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// p-value of "the stretches of both runs are alike".
    pub p: f64,
    /// The nearer quartile of the higher run over that of the lower one: 2 where a quarter of the higher run's stretches may lie below twice
    /// the level that a quarter of the lower run's lie above. Below 1 where they overlap; infinite where the lower run has nothing.
    pub gap: f64,
    /// 95 % interval of the change, a fraction of the baseline, from the logarithms of the stretches (Welch's t); `None` where one is not positive.
    pub change: Option<(f64, f64)>,
}

/// Compares the stretches of two runs. `None` where a run is too short for five stretches of three samples.
pub fn separation(baseline: &Series, other: &Series) -> Option<Separation> {
    between(stretches(baseline, FEWEST, SAMPLES)?, stretches(other, FEWEST, SAMPLES)?)
}

/// The same where each sample is a stretch by itself, such as what a workload says that it did in a second. Four of them are the fewest
/// that can be sure of anything: 2 ÷ C(8, 4) is 0.03. `None` where there are fewer.
pub fn of_stretches(baseline: &Series, other: &Series) -> Option<Separation> {
    between(stretches(baseline, 4, 1)?, stretches(other, 4, 1)?)
}

fn between(a: Vec<f64>, b: Vec<f64>) -> Option<Separation> {
    let p = mann_whitney(&a, &b, Samples::Independent)?.p;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (lower, higher) = if mean(&a) <= mean(&b) { (&a, &b) } else { (&b, &a) };
    let equal = |x: &[f64]| vec![1.0; x.len()];
    let (top, bottom) = (quantile(lower, &equal(lower), 0.75)?, quantile(higher, &equal(higher), 0.25)?);
    let gap = match (top, bottom) {
        (t, b) if t <= 0.0 && b > 0.0 => f64::INFINITY,
        (t, b) if t > 0.0 => b / t,
        _ => 0.0,
    };
    Some(Separation { p, gap, change: change(&a, &b) })
}

/// The means of equal stretches, at least `fewest` of at least `samples`.
fn stretches(series: &Series, fewest: usize, samples: usize) -> Option<Vec<f64>> {
    let count = (series.len() / samples).min(MOST);
    if count < fewest {
        return None;
    }
    let (means, _) = series.coarsened(count).points();
    (means.len() >= fewest).then_some(means)
}

fn change(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    let logs = |x: &[f64]| x.iter().map(|v| (*v > 0.0).then(|| v.ln())).collect::<Option<Vec<f64>>>();
    let moments = |x: &[f64]| {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        (mean, x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0) / n, n)
    };
    let ((ma, va, na), (mb, vb, nb)) = (moments(&logs(a)?), moments(&logs(b)?));
    let variance = va + vb;
    let freedom = if variance > 0.0 {
        variance.powi(2) / (va.powi(2) / (na - 1.0) + vb.powi(2) / (nb - 1.0))
    } else {
        na + nb - 2.0
    };
    let reach = t_critical(0.05, freedom) * variance.sqrt();
    let (low, high) = ((mb - ma - reach).exp() - 1.0, (mb - ma + reach).exp() - 1.0);
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(level: f64, spread: f64, n: usize) -> Series {
        Series::even(&(0..n).map(|i| level + spread * ((i * 7919 % 101) as f64 / 50.0 - 1.0)).collect::<Vec<_>>())
    }

    #[test]
    fn plain_differences_are_plain() {
        let found = separation(&series(10.0, 1.0, 50), &series(50.0, 10.0, 50)).unwrap();
        assert!(found.p < 2e-5 && found.gap > 3.0, "{found:?}");
        let (low, high) = found.change.unwrap();
        assert!(low > 3.0 && high < 5.0, "{found:?}");
        let down = separation(&series(50.0, 10.0, 30), &series(10.0, 1.0, 30)).unwrap();
        assert!(down.change.unwrap().1 < -0.7 && down.gap > 3.0);
    }

    #[test]
    fn equal_and_short_runs_are_not_apart() {
        let same = separation(&series(10.0, 3.0, 60), &series(10.1, 3.0, 60)).unwrap();
        assert!(same.gap < 1.1, "{same:?}");
        assert_eq!(separation(&series(1.0, 0.1, 14), &series(9.0, 0.1, 60)), None);
        assert!(of_stretches(&series(1.0, 0.1, 5), &series(4.0, 0.4, 6)).unwrap().p < 0.01);
        assert_eq!(of_stretches(&series(1.0, 0.1, 3), &series(4.0, 0.4, 6)), None);
        let burst = Series::even(&[&[0.0; 49][..], &[500.0]].concat());
        assert!(separation(&Series::even(&[0.0; 50]), &burst).unwrap().gap < 1.0, "one spike is no level");
    }

    #[test]
    fn nothing_against_something() {
        let found = separation(&Series::even(&[0.0; 40]), &series(10.0, 1.0, 40)).unwrap();
        assert!(found.gap.is_infinite() && found.change.is_none() && found.p < 1e-4);
    }
}
