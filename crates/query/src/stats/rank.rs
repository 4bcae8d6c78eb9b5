//! Rank tests and effects of two samples: what they say does not depend on how far out the extremes are.
//!
//! All of them assume independent samples. Samples of one run are not: give [`Samples::effective`] sizes (from
//! [`super::dependence`]) and the variances grow as if there were only so many; the exact tables are then not used.

use super::special::{normal_quantile, normal_two_sided, t_critical, t_two_sided};

/// How many samples the two sides are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Samples {
    /// Each counts: separate runs or operations.
    Independent,
    /// The baseline and the other are worth this many independent ones.
    Effective(f64, f64),
}

impl Samples {
    /// The effective sizes of a dependent baseline and other.
    pub fn effective(baseline: f64, other: f64) -> Samples {
        Samples::Effective(baseline, other)
    }

    /// By how much the variances of the two sides grow, never below 1.
    fn inflation(self, n: f64, m: f64) -> (f64, f64) {
        let by = |size: f64, worth: f64| if worth > 0.0 { (size / worth).max(1.0) } else { f64::INFINITY };
        match self {
            Samples::Independent => (1.0, 1.0),
            Samples::Effective(a, b) => (by(n, a), by(m, b)),
        }
    }
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The statistic, as its author defines it.
    pub statistic: f64,
    /// Two-sided p-value.
    pub p: f64,
}

/// An effect with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

fn clean(x: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = x.iter().copied().filter(|v| v.is_finite()).map(|v| v + 0.0).collect();
    x.sort_by(f64::total_cmp);
    x
}

/// Mid-ranks of the sorted `x` within the union with the sorted `y`, and Σ (t³ − t) over groups of ties in the union.
fn ranks(x: &[f64], y: &[f64]) -> (Vec<f64>, f64) {
    let mid = |v: f64, of: &[f64]| (of.partition_point(|a| *a < v) + of.partition_point(|a| *a <= v)) as f64 / 2.0;
    let ranks = x.iter().map(|&v| mid(v, x) + mid(v, y) + 0.5).collect();
    let mut all: Vec<f64> = x.iter().chain(y).copied().collect();
    all.sort_by(f64::total_cmp);
    let ties = all.chunk_by(|a, b| a == b).map(|g| g.len() as f64).map(|t| t * t * t - t).sum();
    (ranks, ties)
}

/// Largest product of sizes for which the exact distribution of U is counted.
const EXACT: usize = 2500;

/// Mann and Whitney's U of `x` ("On a test of whether one of two random variables is stochastically larger than the other",
/// 1947). Exact without ties for small samples, else normal with the corrections for ties and continuity, as SciPy's
/// `mannwhitneyu` computes both. `None` where a side is empty.
pub fn mann_whitney(x: &[f64], y: &[f64], samples: Samples) -> Option<Test> {
    let (x, y) = (clean(x), clean(y));
    let (n, m) = (x.len() as f64, y.len() as f64);
    if x.is_empty() || y.is_empty() {
        return None;
    }
    let (r, ties) = ranks(&x, &y);
    let u = r.iter().sum::<f64>() - n * (n + 1.0) / 2.0;
    if samples == Samples::Independent {
        return mann_whitney_summed(x.len(), y.len(), u, ties);
    }
    Some(normal_u((n, m), u, ties, samples.inflation(n, m)))
}

/// The same of independent samples that were ranked elsewhere: `n` and `m` of them, U of the first, and Σ (t³ − t) over groups of ties.
pub fn mann_whitney_summed(n: usize, m: usize, u: f64, ties: f64) -> Option<Test> {
    if n == 0 || m == 0 {
        return None;
    }
    let sizes = (n as f64, m as f64);
    if ties == 0.0 && n.saturating_mul(m) <= EXACT {
        return Some(Test { statistic: u, p: exact_u(n, m, u.max(sizes.0 * sizes.1 - u) as usize) });
    }
    Some(normal_u(sizes, u, ties, (1.0, 1.0)))
}

/// Its normal approximation, with variances that grow by so much on the two sides.
fn normal_u((n, m): (f64, f64), u: f64, ties: f64, (a, b): (f64, f64)) -> Test {
    let all = n + m;
    // Of the variance of U the part m comes from x and the part n from y.
    let inflation = (a * m + b * n) / all;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)).max(1.0)) * inflation;
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    Test { statistic: u, p: if variance > 0.0 { normal_two_sided(z).min(1.0) } else { 1.0 } }
}

/// 2 P(U ≥ u) by counting: the number of ways to get each U follows from choosing the place of the greatest value.
fn exact_u(n: usize, m: usize, u: usize) -> f64 {
    // ways[k] as a probability: generating function ∏ (1 − q^(m+i)) / (1 − q^i), normalised step by step.
    let size = n * m + 1;
    let mut ways = vec![0.0f64; size];
    ways[0] = 1.0;
    for i in 1..=n {
        for k in (m + i..size).rev() {
            ways[k] -= ways[k - m - i];
        }
        for k in i..size {
            ways[k] += ways[k - i];
        }
        let scale = i as f64 / (m + i) as f64;
        ways.iter_mut().for_each(|w| *w *= scale);
    }
    (2.0 * ways[u.min(size - 1)..].iter().sum::<f64>()).clamp(0.0, 1.0)
}

/// Brunner and Munzel's test that neither side tends to greater values ("The nonparametric Behrens-Fisher problem",
/// Biometrical Journal 42, 2000); unlike U it stays valid when the spreads differ. The statistic is positive where `y` is
/// greater. `None` with fewer than two samples a side. Where all of one side lies beyond the other, the variance is 0 and p is
/// that of U.
pub fn brunner_munzel(x: &[f64], y: &[f64], samples: Samples) -> Option<Test> {
    let (x, y) = (clean(x), clean(y));
    let (n, m) = (x.len() as f64, y.len() as f64);
    if x.len() < 2 || y.len() < 2 {
        return None;
    }
    let part = |x: &[f64], y: &[f64]| {
        let size = x.len() as f64;
        let (r, _) = ranks(x, y);
        let mean = r.iter().sum::<f64>() / size;
        // Ranks within the own side of sorted values with ties: mid-ranks again.
        let (own, _) = ranks(x, &[]);
        let s: f64 = r.iter().zip(&own).map(|(r, o)| (r - o - mean + (size + 1.0) / 2.0).powi(2)).sum();
        (mean, s / (size - 1.0))
    };
    let ((mean_x, sx), (mean_y, sy)) = (part(&x, &y), part(&y, &x));
    let (a, b) = samples.inflation(n, m);
    let (vx, vy) = (n * sx * a, m * sy * b);
    let statistic = n * m * (mean_y - mean_x) / ((n + m) * (vx + vy).sqrt());
    if vx + vy <= 0.0 {
        let p = if mean_x == mean_y { 1.0 } else { mann_whitney(&x, &y, samples)?.p };
        return Some(Test { statistic: if mean_x == mean_y { 0.0 } else { statistic }, p });
    }
    let df = (vx + vy).powi(2) / (vx * vx / (n / a - 1.0).max(1.0) + vy * vy / (m / b - 1.0).max(1.0));
    Some(Test { statistic, p: t_two_sided(statistic, df) })
}

/// Cliff's delta: P(y > x) − P(y < x), from −1 to 1, with the asymmetric interval that stays inside them (Cliff, "Dominance
/// statistics", Psychological Bulletin 114, 1993; Feng and Cliff, 2004). `None` with fewer than two samples a side.
pub fn cliff_delta(x: &[f64], y: &[f64], samples: Samples, alpha: f64) -> Option<Effect> {
    let (x, y) = (clean(x), clean(y));
    let (n, m) = (x.len() as f64, y.len() as f64);
    if x.len() < 2 || y.len() < 2 {
        return None;
    }
    let over = |v: f64, of: &[f64]| {
        let below = of.partition_point(|a| *a < v);
        (below as f64 - (of.len() - of.partition_point(|a| *a <= v)) as f64) / of.len() as f64
    };
    // dᵢ. for each y against all x, and d.ⱼ for each x against all y.
    let of_y: Vec<f64> = y.iter().map(|&v| over(v, &x)).collect();
    let of_x: Vec<f64> = x.iter().map(|&v| -over(v, &y)).collect();
    let delta = of_y.iter().sum::<f64>() / m;
    let spread = |d: &[f64]| d.iter().map(|v| (v - delta).powi(2)).sum::<f64>();
    let unequal = {
        let equal: usize = y.iter().map(|v| x.partition_point(|a| a <= v) - x.partition_point(|a| a < v)).sum();
        1.0 - equal as f64 / (n * m)
    };
    let (a, b) = samples.inflation(n, m);
    let each = n * m * (unequal - delta * delta);
    let unbiased = (m * m * spread(&of_y) * b + n * n * spread(&of_x) * a - each) / (n * m * (n - 1.0) * (m - 1.0));
    // The unbiased estimate may come out below 0; this floor is Cliff's.
    let variance = unbiased.max((1.0 - delta * delta) / (n * m - 1.0) * a.max(b));
    let df = (n / a + m / b - 2.0).max(1.0);
    let t = t_critical(alpha, df);
    let (square, centre) = (delta * delta, delta - delta.powi(3));
    let reach = t * variance.sqrt() * ((1.0 - square).powi(2) + t * t * variance).sqrt();
    let below = 1.0 - square + t * t * variance;
    let (mut low, mut high) = ((centre - reach) / below, (centre + reach) / below);
    if square >= 1.0 || !low.is_finite() || !high.is_finite() {
        // All on one side: what a run of successes of the smaller side's size leaves open.
        let open = 1.0 - 2.0 * alpha.powf(1.0 / (n / a).min(m / b).max(1.0));
        (low, high) = if delta > 0.0 { (open.max(-1.0), 1.0) } else { (-1.0, (-open).min(1.0)) };
    }
    Some(Effect { estimate: delta, low: low.clamp(-1.0, delta), high: high.clamp(delta, 1.0) })
}

/// Up to so many differences are sorted; of more the wanted ones are looked for.
const PAIRS: usize = 20_000;

/// Hodges and Lehmann's shift: the median of all y − x, with the interval that U gives (normal approximation; Hollander and
/// Wolfe, "Nonparametric statistical methods", §4.3). `None` where a side is empty. Of many pairs it is exact to rounding.
pub fn hodges_lehmann(x: &[f64], y: &[f64], samples: Samples, alpha: f64) -> Option<Effect> {
    let (x, y) = (clean(x), clean(y));
    let (n, m) = (x.len() as f64, y.len() as f64);
    if x.is_empty() || y.is_empty() {
        return None;
    }
    let pairs = x.len().checked_mul(y.len())?;
    let sorted = (pairs <= PAIRS).then(|| {
        let mut d: Vec<f64> = y.iter().flat_map(|b| x.iter().map(move |a| b - a)).collect();
        d.sort_by(f64::total_cmp);
        d
    });
    let at = |i: usize| match &sorted {
        Some(d) => d[i.min(pairs - 1)],
        None => difference(&x, &y, i.min(pairs - 1)),
    };
    // Halves before the sum: two extremes would overflow.
    let estimate = 0.5 * at((pairs - 1) / 2) + 0.5 * at(pairs / 2);
    let (a, b) = samples.inflation(n, m);
    let sd = (n * m / 12.0 * (n + m + 1.0) * (a * m + b * n) / (n + m)).sqrt();
    let cut = n * m / 2.0 + normal_quantile(alpha / 2.0) * sd;
    let first = if cut >= 1.0 { cut as usize - 1 } else { 0 };
    Some(Effect { estimate, low: at(first).min(estimate), high: at(pairs - 1 - first).max(estimate) })
}

/// The `i`th smallest (from 0) of all y − x of sorted sides, by bisection: how many lie below a value takes one walk along both.
fn difference(x: &[f64], y: &[f64], i: usize) -> f64 {
    let (mut low, mut high) = (y[0] - x[x.len() - 1], y[y.len() - 1] - x[0]);
    let up_to = |t: f64| {
        // y − x ≤ t: the greater y, the greater x must be.
        let (mut from, mut count) = (0, 0);
        for b in y {
            while from < x.len() && b - x[from] > t {
                from += 1;
            }
            count += x.len() - from;
        }
        count
    };
    for _ in 0..60 {
        let middle = 0.5 * low + 0.5 * high;
        if middle <= low || middle >= high {
            break;
        }
        if up_to(middle) > i { high = middle } else { low = middle }
    }
    if up_to(low) > i { low } else { high }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_by_hand() {
        // 3 against 3, fully apart: 2 of 20 ways.
        let t = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], Samples::Independent).unwrap();
        assert_eq!(t.statistic, 0.0);
        assert!((t.p - 0.1).abs() < 1e-12);
        let h = hodges_lehmann(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], Samples::Independent, 0.05).unwrap();
        assert_eq!((h.estimate, h.low, h.high), (3.0, 1.0, 5.0));
        let c = cliff_delta(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], Samples::Independent, 0.05).unwrap();
        assert_eq!((c.estimate, c.high), (1.0, 1.0));
        assert!(c.low < 1.0);
    }

    #[test]
    fn of_many_pairs_the_shift_is_the_same() {
        let x: Vec<f64> = (0..150).map(|i| f64::from(i * 7919 % 1009)).collect();
        let y: Vec<f64> = (0..150).map(|i| f64::from(i * 104_729 % 1013) * 1.5).collect();
        let shift = hodges_lehmann(&x, &y, Samples::Independent, 0.05).unwrap();
        let mut d: Vec<f64> = y.iter().flat_map(|b| x.iter().map(move |a| b - a)).collect();
        d.sort_by(f64::total_cmp);
        assert!((shift.estimate - 0.5 * (d[11_249] + d[11_250])).abs() < 1e-9, "{shift:?}");
        assert!((difference(&clean(&x), &clean(&y), 0) - d[0]).abs() < 1e-9);
        assert!((difference(&clean(&x), &clean(&y), 22_499) - d[22_499]).abs() < 1e-9);
        let equal = hodges_lehmann(&[2.0; 300], &[5.0; 300], Samples::Independent, 0.05).unwrap();
        assert_eq!((equal.low, equal.estimate, equal.high), (3.0, 3.0, 3.0));
    }

    #[test]
    fn dependent_samples_are_worth_less() {
        let x: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
        let y: Vec<f64> = x.iter().map(|v| v + 2.0).collect();
        let few = Samples::effective(8.0, 8.0);
        let both = |f: fn(&[f64], &[f64], Samples) -> Option<Test>| {
            (f(&x, &y, Samples::Independent).unwrap().p, f(&x, &y, few).unwrap().p)
        };
        for (all, some) in [both(mann_whitney), both(brunner_munzel)] {
            assert!(all < 0.001 && some > 10.0 * all, "{all} {some}");
        }
        let wide = |s| {
            let c = cliff_delta(&x, &y, s, 0.05).unwrap();
            let h = hodges_lehmann(&x, &y, s, 0.05).unwrap();
            (c.high - c.low, h.high - h.low)
        };
        let (a, b) = (wide(Samples::Independent), wide(few));
        assert!(b.0 > a.0 && b.1 > a.1);
    }
}
