//! How throughput grows with N threads, clients or CPUs: the Universal Scalability Law, and where it does not hold.
//!
//! X(N) = λ N ÷ (1 + σ (N − 1) + κ N (N − 1)) (Gunther, "Guerrilla capacity planning", 2007): λ is the throughput of one, σ the
//! share of the work that is done by one at a time, κ what each pays for each other. Turned round, N ÷ X = a + b (N − 1) +
//! c N (N − 1) with a = 1 ÷ λ, b = σ ÷ λ, c = κ ÷ λ: linear, and none of the three below 0. So the best fit is one of four, with
//! b and c free or 0, and each is the solution of a small linear system (Lawson and Hanson, "Solving least squares problems",
//! 1974, ch. 23): nothing is searched. Weights are those of a constant relative error.
//!
//! Intervals leave out one block at a time (the jackknife of Tukey 1958, with Student's t): a block has all points under the same
//! conditions, so blocks are what was repeated. They are those of the fit without bounds, cut at 0; the bounded fit hardly moves
//! where it lies on a bound, and would make them too short.

use query::stats::special::{f_upper, t_critical};

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The estimate.
    pub estimate: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How the work grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It is the same for all N, or what comes in is as much as can be done: the Universal Scalability Law.
    Same,
    /// It grows with N: Gustafson's law (1988), X(N) = λ (N − α (N − 1)). α is reported as σ.
    GrowsWithN,
}

/// Which law it is, by what is not 0 in the best fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// All of it in proportion to N.
    Linear,
    /// Amdahl's: only σ.
    Amdahl,
    /// The Universal Scalability Law: κ, with or without σ.
    Universal,
    /// Gustafson's.
    Gustafson,
}

/// What is known of a peak, where more N means less throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// There is one, surely, below twice the largest N. `high` may be that.
    At(Value),
    /// There is none up to this N, twice the largest that was measured.
    NoneUpTo(f64),
    /// The sweep does not tell whether there is one below this N, twice the largest that was measured.
    NotKnown(f64),
}

/// The law of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Which.
    pub law: Law,
    /// Throughput of one.
    pub lambda: Value,
    /// Contention: the share that is done by one at a time.
    pub sigma: Value,
    /// Coherency: what each pays for each other. `None` where there are fewer than three different N, or the work grows with N.
    pub kappa: Option<Value>,
    /// Where throughput is highest.
    pub peak: Peak,
    /// For each N: what the law says, and ln(measured ÷ that).
    pub points: Vec<(f64, f64)>,
    /// The p-value of "it is this law", against the scatter of the repeats (F-test of the lack of fit); `None` where there are no
    /// more points than parameters, or fewer than two blocks.
    pub lack_of_fit: Option<f64>,
}

/// Below this p-value of [`Fit::lack_of_fit`] the law is not said.
pub const LACK: f64 = 0.01;

/// No law is refused where it is nowhere further off than this.
const NEAR: f64 = 0.01;

impl Fit {
    /// Whether the repeats say that the law does not hold, and it is off by more than 1 % somewhere.
    pub fn does_not_fit(&self) -> bool {
        self.lack_of_fit.is_some_and(|p| p < LACK) && self.points.iter().any(|(_, off)| off.abs() > NEAR)
    }
}

/// Fits the law to throughput by block and point ([`crate::designs::sweep::complete`]; 1 ÷ value where time was measured). `n`
/// are the points' threads, clients or CPUs, at least 1. `None` with fewer than two different N or two blocks, and where a
/// number is not positive or there are not as many in each block as in `n`.
pub fn fit(n: &[f64], blocks: &[Vec<f64>], work: Work) -> Option<Fit> {
    let sound = |x: &f64| x.is_finite() && *x > 0.0;
    let whole = blocks.iter().all(|b| b.len() == n.len() && b.iter().all(sound));
    if blocks.len() < 2 || !whole || n.iter().any(|n| !n.is_finite() || *n < 1.0) {
        return None;
    }
    let mut different = n.to_vec();
    different.sort_by(f64::total_cmp);
    different.dedup();
    let most = *different.last()?;
    if different.len() < 2 {
        return None;
    }
    let logs: Vec<Vec<f64>> = blocks.iter().map(|b| b.iter().map(|x| x.ln()).collect()).collect();
    let terms = if work == Work::Same && different.len() > 2 { 3 } else { 2 };
    let model = Model { n, terms, work };
    let all = mean(&logs, None);
    let bounded = model.best(&all)?;
    let free = model.solve(&all, &[true; 3])?;
    let left: Vec<[f64; 3]> =
        (0..logs.len()).map(|out| model.solve(&mean(&logs, Some(out)), &[true; 3])).collect::<Option<_>>()?;
    let jackknife = Jackknife { free, left };
    let value = |of: &dyn Fn(&[f64; 3]) -> f64, least: f64| {
        let (low, high) = jackknife.interval(of);
        let estimate = of(&bounded);
        Value { estimate, low: low.max(least).min(estimate), high: high.max(least).max(estimate) }
    };
    let kappa = (terms == 3).then(|| value(&|t| t[2] / t[0], 0.0));
    let fitted: Vec<f64> = n.iter().map(|n| model.throughput(&bounded, *n)).collect();
    let points: Vec<(f64, f64)> = fitted.iter().zip(&all).map(|(f, log)| (*f, log - f.ln())).collect();
    let (lambda, sigma, law, peak);
    match work {
        Work::Same => {
            lambda = value(&|t| 1.0 / t[0], 0.0);
            sigma = value(&|t| t[1] / t[0], 0.0);
            law = match (bounded[1] > 0.0, bounded[2] > 0.0) {
                (_, true) => Law::Universal,
                (true, false) => Law::Amdahl,
                (false, false) => Law::Linear,
            };
            peak = if terms == 3 { peak_of(&bounded, 2.0 * most, &jackknife) } else { Peak::NotKnown(2.0 * most) };
        }
        Work::GrowsWithN => {
            lambda = value(&|t| t[0], 0.0);
            sigma = value(&|t| 1.0 - t[1] / t[0], f64::NEG_INFINITY);
            law = Law::Gustafson;
            peak = Peak::NoneUpTo(2.0 * most);
        }
    }
    let active = bounded.iter().filter(|t| **t > 0.0).count();
    let lack_of_fit = lack_of_fit(&logs, &points, n, different.len(), active);
    Some(Fit { law, lambda, sigma, kappa, peak, points, lack_of_fit })
}

/// The terms of the fit without bounds, and of those that leave out a block.
struct Jackknife {
    free: [f64; 3],
    left: Vec<[f64; 3]>,
}

impl Jackknife {
    /// The 95 % interval of a quantity.
    fn interval(&self, of: &dyn Fn(&[f64; 3]) -> f64) -> (f64, f64) {
        let count = self.left.len() as f64;
        let values: Vec<f64> = self.left.iter().map(of).collect();
        let centre = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() * (count - 1.0) / count;
        let reach = t_critical(0.05, count - 1.0) * variance.sqrt();
        (of(&self.free) - reach, of(&self.free) + reach)
    }
}

/// The means of the logarithms over all blocks but one.
fn mean(logs: &[Vec<f64>], without: Option<usize>) -> Vec<f64> {
    let kept: Vec<&Vec<f64>> = logs.iter().enumerate().filter(|(i, _)| Some(*i) != without).map(|(_, b)| b).collect();
    let points = kept.first().map_or(0, |b| b.len());
    (0..points).map(|p| kept.iter().filter_map(|b| b.get(p)).sum::<f64>() / kept.len() as f64).collect()
}

/// Where a − b − c N² of the fit changes its sign: there X has its peak. It is linear in the terms, so its interval at any N says
/// whether the peak lies below that N, and the interval of the peak is where it does not say (Fieller's way).
fn peak_of(bounded: &[f64; 3], most: f64, jackknife: &Jackknife) -> Peak {
    let rising = |n: f64| jackknife.interval(&|t| (t[0] - t[1] - t[2] * n * n) / t[0]);
    let (low, high) = rising(most);
    if low > 0.0 {
        return Peak::NoneUpTo(most);
    }
    let [a, b, c] = *bounded;
    let at = ((a - b).max(0.0) / c).sqrt();
    if high >= 0.0 || !at.is_finite() || at > most {
        return Peak::NotKnown(most);
    }
    // The greatest N at which it surely still rises, and the least at which it surely falls.
    let bisect = |mut inside: f64, mut outside: f64, holds: &dyn Fn(f64) -> bool| {
        for _ in 0..50 {
            let middle = 0.5 * (inside + outside);
            if holds(middle) { inside = middle } else { outside = middle }
        }
        inside
    };
    let low = if rising(0.0).0 > 0.0 { bisect(0.0, most, &|n| rising(n).0 > 0.0) } else { 0.0 };
    let high = bisect(most, 0.0, &|n| rising(n).1 < 0.0);
    Peak::At(Value { estimate: at, low: low.min(at), high: high.max(at) })
}

/// The law of some terms at some N.
struct Model<'a> {
    n: &'a [f64],
    /// 3, or 2 without κ.
    terms: usize,
    work: Work,
}

impl Model<'_> {
    /// What multiplies the terms.
    fn row(&self, n: f64) -> [f64; 3] {
        match self.work {
            Work::Same => [1.0, n - 1.0, n * (n - 1.0)],
            // X(N) = p + q (N − 1), with q = λ (1 − α).
            Work::GrowsWithN => [1.0, n - 1.0, 0.0],
        }
    }

    fn sum(&self, terms: &[f64; 3], n: f64) -> f64 {
        self.row(n).iter().zip(terms).map(|(x, t)| x * t).sum()
    }

    /// The throughput that these terms say.
    fn throughput(&self, terms: &[f64; 3], n: f64) -> f64 {
        match self.work {
            Work::Same => n / self.sum(terms, n),
            Work::GrowsWithN => self.sum(terms, n),
        }
    }

    /// What is linear in the terms.
    fn target(&self, log: f64, n: f64) -> f64 {
        match self.work {
            Work::Same => n / log.exp(),
            Work::GrowsWithN => log.exp(),
        }
    }

    /// The best fit whose terms are all at least 0.
    fn best(&self, logs: &[f64]) -> Option<[f64; 3]> {
        let sets = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
        let fits = sets.iter().filter(|s| self.terms == 3 || !s[2]).filter_map(|s| {
            let terms = self.solve(logs, s)?;
            let off = |(n, log): (&f64, &f64)| (self.target(*log, *n) / self.sum(&terms, *n) - 1.0).powi(2);
            let error: f64 = self.n.iter().zip(logs).map(off).sum();
            (terms[0] > 0.0 && terms.iter().all(|t| *t >= 0.0)).then_some((error, terms))
        });
        fits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, terms)| terms)
    }

    /// The least squares of relative errors with some of the terms free and the others 0: three rounds, each with the weights of
    /// the fit before. `None` where the points do not tell the terms apart.
    fn solve(&self, logs: &[f64], free: &[bool; 3]) -> Option<[f64; 3]> {
        let columns: Vec<usize> = (0..self.terms).filter(|i| free.get(*i).is_some_and(|f| *f)).collect();
        let mut terms: Option<[f64; 3]> = None;
        for _ in 0..3 {
            let mut system = vec![vec![0.0; columns.len() + 1]; columns.len()];
            for (&n, &log) in self.n.iter().zip(logs) {
                let y = self.target(log, n);
                // Far from the fit a weight could be anything: then it is that of what was measured.
                let fitted = terms.map_or(y, |t| self.sum(&t, n)).max(0.2 * y);
                let row = self.row(n);
                let row: Vec<f64> = columns.iter().filter_map(|c| row.get(*c)).map(|x| x / fitted).collect();
                for (line, left) in system.iter_mut().zip(&row) {
                    line.iter_mut()
                        .zip(row.iter().chain([&(y / fitted)]))
                        .for_each(|(cell, right)| *cell += left * right);
                }
            }
            let solution = eliminate(system)?;
            let mut found = [0.0; 3];
            columns.iter().zip(solution).for_each(|(c, x)| {
                if let Some(t) = found.get_mut(*c) {
                    *t = x;
                }
            });
            terms = Some(found);
        }
        terms.filter(|t| t.iter().all(|x| x.is_finite()))
    }
}

/// Gauss's elimination of a symmetric positive system, its right side in the last column. Columns are scaled first: N² and 1 lie
/// far apart.
fn eliminate(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = system.len();
    let scale: Vec<f64> =
        system.iter().enumerate().map(|(i, line)| line.get(i).copied().unwrap_or(0.0).sqrt()).collect();
    if scale.iter().any(|s| !s.is_finite() || *s <= 0.0) {
        return None;
    }
    for (line, s) in system.iter_mut().zip(&scale) {
        line.iter_mut().zip(scale.iter().chain([&1.0])).for_each(|(cell, t)| *cell /= s * t);
    }
    for i in 0..size {
        let pivot = system.get(i)?.clone();
        let head = *pivot.get(i)?;
        if head < 1e-10 {
            return None;
        }
        for (_, line) in system.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = line.get(i)? / head;
            line.iter_mut().zip(&pivot).for_each(|(cell, p)| *cell -= factor * p);
        }
    }
    system.iter().enumerate().map(|(i, line)| Some(line.last()? / line.get(i)? / scale.get(i)?)).collect()
}

/// The F-test of what the fit leaves over against what repeats scatter, blocks and points taken off.
fn lack_of_fit(logs: &[Vec<f64>], points: &[(f64, f64)], n: &[f64], different: usize, active: usize) -> Option<f64> {
    let count = logs.len() as f64;
    let spare = different.checked_sub(active).filter(|s| *s > 0)? as f64;
    let rest = (count - 1.0) * (n.len() as f64 - 1.0);
    if rest <= 0.0 {
        return None;
    }
    let means = mean(logs, None);
    let grand = means.iter().sum::<f64>() / means.len() as f64;
    let scatter: f64 = logs
        .iter()
        .map(|b| {
            let level = b.iter().sum::<f64>() / b.len() as f64 - grand;
            b.iter().zip(&means).map(|(x, m)| (x - m - level).powi(2)).sum::<f64>()
        })
        .sum();
    let left: f64 = points.iter().map(|(_, r)| r * r).sum::<f64>() * count;
    // Without any scatter and anything left there is nothing to divide.
    let f = (left / spare) / (scatter / rest);
    f.is_finite().then(|| f_upper(f, spare, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::stats::rng::Rng;

    fn usl(n: f64, lambda: f64, sigma: f64, kappa: f64) -> f64 {
        lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
    }

    fn blocks(n: &[f64], law: impl Fn(f64) -> f64, scatter: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Rng::new(seed);
        let mut block = || {
            let mood = scatter * rng.normal();
            n.iter().map(|n| law(*n) * (mood + scatter * rng.normal()).exp()).collect()
        };
        (0..10).map(|_| block()).collect()
    }

    #[track_caller]
    fn near(ours: f64, theirs: f64) {
        assert!((ours - theirs).abs() <= 2e-3 * theirs.abs() + 2e-6, "ours {ours}, theirs {theirs}");
    }

    #[test]
    fn the_same_numbers_as_a_general_least_squares() {
        // By NumPy's lstsq over the same four sets, reweighted as often.
        let cases: [(&[f64], &[f64], [f64; 3]); 4] = [
            (
                &[1., 2., 4., 8., 16.],
                &[1010.42, 1856.8, 3051.25, 4245.74, 5516.96],
                [1027.434, 0.1216009, 0.00072589687],
            ),
            (&[1., 2., 4., 8.], &[1013.48, 1929.45, 3634.24, 5184.6], [1002.7999, 0.0, 0.0097098639]),
            (
                &[1., 2., 3., 4., 6., 8.],
                &[1008.86, 1668.09, 2178.29, 2445.37, 2985.37, 3285.47],
                [1009.9268, 0.20713253, 0.00014452853],
            ),
            (&[1., 2., 4.], &[1018.13, 1944.06, 3637.67], [1015.0468, 0.039347746, 0.0]),
        ];
        for (n, x, [lambda, sigma, kappa]) in cases {
            let fit = fit(n, &[x.to_vec(), x.to_vec()], Work::Same).unwrap();
            near(fit.lambda.estimate, lambda);
            near(fit.sigma.estimate, sigma);
            near(fit.kappa.unwrap().estimate, kappa);
        }
    }

    #[test]
    fn exact_curves_come_back() {
        let n = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        for (sigma, kappa, law) in [(0.05, 0.001, Law::Universal), (0.2, 0.0, Law::Amdahl), (0.0, 0.01, Law::Universal)]
        {
            let fit = fit(&n, &blocks(&n, |n| usl(n, 1000.0, sigma, kappa), 0.0, 1), Work::Same).unwrap();
            near(fit.lambda.estimate, 1000.0);
            near(fit.sigma.estimate, sigma);
            near(fit.kappa.unwrap().estimate, kappa);
            assert!(fit.law == law || kappa == 0.0, "{fit:?}");
            assert!(!fit.does_not_fit());
        }
        let gustafson = blocks(&n, |n| 500.0 * (n - 0.3 * (n - 1.0)), 0.0, 1);
        let fit = fit(&n, &gustafson, Work::GrowsWithN).unwrap();
        near(fit.sigma.estimate, 0.3);
        near(fit.lambda.estimate, 500.0);
        assert_eq!((fit.law, fit.kappa, fit.peak), (Law::Gustafson, None, Peak::NoneUpTo(64.0)));
    }

    #[test]
    fn peaks_are_named_where_the_sweep_knows_them() {
        let n = [1.0, 2.0, 4.0, 8.0, 16.0];
        let peak = |sigma, kappa, n: &[f64]| {
            fit(n, &blocks(n, |n| usl(n, 1000.0, sigma, kappa), 0.02, 3), Work::Same).unwrap().peak
        };
        // At √(0.95 ÷ 0.01) = 9.7.
        let Peak::At(at) = peak(0.05, 0.01, &n) else { panic!("{:?}", peak(0.05, 0.01, &n)) };
        assert!(at.low < 9.7 && 9.7 < at.high && at.high < 12.0, "{at:?}");
        // At 218, far beyond; and at 31, where a sweep to 4 knows nothing of it.
        assert_eq!(peak(0.05, 0.00002, &n), Peak::NoneUpTo(32.0));
        assert!(!matches!(peak(0.05, 0.001, &n[..3]), Peak::At(_)));
        // Two points tell of no peak at all.
        let two = fit(&n[..2], &blocks(&n[..2], |n| usl(n, 1000.0, 0.1, 0.0), 0.02, 3), Work::Same).unwrap();
        assert_eq!((two.kappa, two.peak, two.lack_of_fit), (None, Peak::NotKnown(4.0), None));
    }

    #[test]
    fn a_step_does_not_fit() {
        let n = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0];
        // The second socket brings nothing until it is full.
        let step = |n: f64| 1000.0 * if n <= 8.0 { n } else { 8.0 + (n - 8.0) * 0.1 };
        assert!(fit(&n, &blocks(&n, step, 0.03, 5), Work::Same).unwrap().does_not_fit());
        let smooth = (0..40).filter(|seed| {
            fit(&n, &blocks(&n, |n| usl(n, 1000.0, 0.1, 0.003), 0.03, *seed), Work::Same).unwrap().does_not_fit()
        });
        assert!(smooth.count() <= 2);
    }

    #[test]
    fn what_cannot_be_fitted_is_none() {
        let b = vec![vec![1.0, 2.0], vec![1.0, 2.0]];
        assert!(fit(&[1.0, 2.0], &b, Work::Same).is_some());
        assert!(fit(&[1.0, 1.0], &b, Work::Same).is_none());
        assert!(fit(&[0.0, 2.0], &b, Work::Same).is_none());
        assert!(fit(&[1.0, 2.0, 3.0], &b, Work::Same).is_none());
        assert!(fit(&[1.0, 2.0], &b[..1], Work::Same).is_none());
        assert!(fit(&[1.0, 2.0], &[vec![1.0, 0.0], vec![1.0, 2.0]], Work::Same).is_none());
        assert!(fit(&[1.0, f64::NAN], &b, Work::Same).is_none());
        assert!(fit(&[], &[], Work::Same).is_none());
    }
}
