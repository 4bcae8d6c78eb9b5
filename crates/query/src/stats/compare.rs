//! The one place where two sides of a metric are compared: how large the difference is, and how sure.

use super::bootstrap::Bootstrap;
use super::dependence::{Dependence, LONGEST, SHORTEST, Spread};
use super::quantile::Sorted;
use super::series::{Series, scale};
use super::special::{ln_choose, t_critical, t_two_sided};

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Probability that an interval leaves out the truth: 0.05 for 95 % intervals.
    pub alpha: f64,
    /// The bootstrap, run where p is at most `bootstrap_below`: it can widen an interval and raise p, never the reverse.
    pub bootstrap: Bootstrap,
    /// See `bootstrap`. 0 switches it off.
    pub bootstrap_below: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { alpha: 0.05, bootstrap: Bootstrap::default(), bootstrap_below: 0.01 }
    }
}

/// One side of a comparison. Values are in the unit of the metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Σ numerators ÷ Σ denominators; with several runs, the average of the runs' means. `None` where nothing was measured.
    pub mean: Option<f64>,
    /// Weighted median of the samples.
    pub median: Option<f64>,
    /// Weighted 99th percentile of the samples.
    pub p99: Option<f64>,
    /// Samples that count.
    pub samples: usize,
    /// Samples that were gaps.
    pub missing: usize,
    /// Runs that hold samples.
    pub runs: usize,
    /// Standard error of the mean.
    pub se: f64,
    /// As many independent samples (with several runs: runs) would make the mean as sure.
    pub n_eff: f64,
}

/// Why two sides could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCompared {
    /// Nothing was measured in the baseline, in the other, or in both.
    NothingMeasured {
        /// The baseline has nothing.
        baseline: bool,
        /// The other has nothing.
        other: bool,
    },
    /// A single run with fewer samples than [`SHORTEST`].
    TooFewSamples {
        /// Samples in the shorter side.
        samples: usize,
    },
    /// Numbers too large to calculate with.
    OutOfRange,
}

impl std::fmt::Display for NotCompared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotCompared::NothingMeasured { baseline: true, other: true } => f.write_str("not measured in either run"),
            NotCompared::NothingMeasured { baseline: true, .. } => f.write_str("not measured in the baseline"),
            NotCompared::NothingMeasured { .. } => f.write_str("not measured in the other run"),
            NotCompared::TooFewSamples { samples } => {
                write!(
                    f,
                    "too few samples: {samples}, and {SHORTEST} are needed on either side; record for longer or more often"
                )
            }
            NotCompared::OutOfRange => f.write_str("the numbers are too large to calculate with"),
        }
    }
}

/// What the certainty rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The samples within one run a side.
    Samples,
    /// The differences between repeated runs.
    Runs,
    /// Both sides never changed: only the number of samples speaks.
    Constant,
}

/// What a comparison says. Everything but the sides is `None` where it could not be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The baseline.
    pub baseline: Side,
    /// The other.
    pub other: Side,
    /// Other − baseline, in the unit of the metric.
    pub difference: Option<f64>,
    /// The interval of the difference.
    pub difference_interval: Option<(f64, f64)>,
    /// Difference ÷ |baseline|. `None` where the baseline is 0.
    pub change: Option<f64>,
    /// Lower end of the interval of `change`; `None` where it has no bound because the baseline may be 0.
    pub low: Option<f64>,
    /// Upper end of the same.
    pub high: Option<f64>,
    /// p-value of "no difference", before it is set against how many metrics were compared.
    pub p: Option<f64>,
    /// The smaller of the sides' `n_eff`.
    pub n_eff: f64,
    /// What p and the interval rest on.
    pub basis: Basis,
    /// Whether the bootstrap had its say.
    pub bootstrapped: bool,
    /// Why there is no answer.
    pub not_compared: Option<NotCompared>,
    /// How many standard errors an interval reaches.
    critical: f64,
}

/// Compares metrics; keeps tables that depend on lengths alone, so use one for all metrics of a pair.
#[derive(Clone, Debug, Default)]
pub struct Comparer {
    dependence: Dependence,
}

/// Mean of one side with its error.
#[derive(Clone, Copy, Debug)]
struct Mean {
    mean: f64,
    spread: Spread,
    /// No sample of it differs from another.
    constant: bool,
}

impl Comparer {
    /// A comparer with no tables yet.
    pub fn new() -> Comparer {
        Comparer::default()
    }

    /// Compares the repeats of `other` with those of `baseline`: one series for each run of the same command.
    ///
    /// One run a side: the error comes from the samples ([`super::dependence`]) and holds for *these two runs*; what
    /// differs from run to run cannot be known. Two or more runs on a side: the error comes from the runs.
    pub fn compare(&mut self, baseline: &[Series], other: &[Series], options: &Options) -> Comparison {
        let mut out = Comparison {
            baseline: summary(baseline),
            other: summary(other),
            difference: None,
            difference_interval: None,
            change: None,
            low: None,
            high: None,
            p: None,
            n_eff: 0.0,
            basis: Basis::Samples,
            bootstrapped: false,
            not_compared: None,
            critical: 0.0,
        };
        let empty = |s: &Side| s.samples == 0;
        if empty(&out.baseline) || empty(&out.other) {
            out.not_compared =
                Some(NotCompared::NothingMeasured { baseline: empty(&out.baseline), other: empty(&out.other) });
            return out;
        }
        let all = || baseline.iter().chain(other);
        let (unit, per) = all().fold((0.0f64, 0.0f64), |(u, p), s| {
            (s.num.iter().fold(u, |m, v| m.max(v.abs())), s.den.iter().fold(p, |m, v| m.max(*v)))
        });
        let (unit, per) = (scale(&[unit]), scale(&[per]));
        let scaled = |side: &[Series]| -> Vec<Series> {
            side.iter().filter(|s| s.mean().is_some()).map(|s| s.scaled(unit, per).coarsened(LONGEST)).collect()
        };
        let (b, o) = (scaled(baseline), scaled(other));
        let back = unit / per;
        if b.is_empty() || o.is_empty() || !back.is_finite() || back == 0.0 {
            out.not_compared = Some(NotCompared::OutOfRange);
            return out;
        }
        let shortest = |side: &[Series]| if side.len() == 1 { side[0].len() } else { SHORTEST };
        let samples = shortest(&b).min(shortest(&o));
        if samples < SHORTEST {
            out.not_compared = Some(NotCompared::TooFewSamples { samples });
            return out;
        }
        let each = self.of_runs(&b.iter().chain(&o).collect::<Vec<_>>());
        let (mut mb, mut mo) = (over_runs(&each[..b.len()]), over_runs(&each[b.len()..]));
        let single = b.len() == 1 && o.len() == 1;
        out.basis = if mb.constant && mo.constant {
            Basis::Constant
        } else if single {
            Basis::Samples
        } else {
            Basis::Runs
        };
        borrow(&mut mb, &mut mo, &b, &o);
        self.conclude(&mut out, (&mb, &b), (&mo, &o), back, options);
        out
    }

    /// One series by itself. What of its error its own samples tell: nothing, and an error of 0, where there are fewer than
    /// [`SHORTEST`] or all are equal.
    pub fn alone(&mut self, series: &Series) -> Side {
        let mut side = summary(std::slice::from_ref(series));
        let (unit, per) = (scale(&series.num), scale(&series.den));
        let series = series.scaled(unit, per).coarsened(LONGEST);
        if let [mean] = self.of_runs(&[&series]).as_slice()
            && series.len() >= SHORTEST
        {
            (side.se, side.n_eff) = (mean.spread.se * unit / per, mean.spread.n_eff);
        }
        side
    }

    /// The mean of each run with its error.
    fn of_runs(&mut self, runs: &[&Series]) -> Vec<Mean> {
        let means: Vec<f64> = runs.iter().map(|r| r.mean().unwrap_or(0.0)).collect();
        let influences: Vec<Vec<f64>> = runs.iter().zip(&means).map(|(r, m)| r.influence(*m)).collect();
        let spreads = self.dependence.spreads(&influences.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let of = |(i, spread): (usize, Option<Spread>)| {
            let mean = means[i];
            // Influences of a constant ratio are rounding, not error.
            match spread.filter(|s| s.se > 1e-12 * mean.abs()) {
                Some(spread) => Mean { mean, spread, constant: false },
                None => Mean { mean, spread: Spread { se: 0.0, df: 1.0, n_eff: runs[i].len() as f64 }, constant: true },
            }
        };
        spreads.into_iter().enumerate().map(of).collect()
    }

    fn conclude(
        &self,
        out: &mut Comparison,
        (mb, b): (&Mean, &[Series]),
        (mo, o): (&Mean, &[Series]),
        back: f64,
        options: &Options,
    ) {
        let difference = mo.mean - mb.mean;
        let (vb, vo) = (mb.spread.se.powi(2), mo.spread.se.powi(2));
        let se = (vb + vo).sqrt();
        let df = welch(vb, mb.spread.df, vo, mo.spread.df);
        let same = difference.abs() <= 1e-12 * mb.mean.abs().max(mo.mean.abs());
        let least = least_p(b, o, out.basis);
        let mut p = if same {
            1.0
        } else if se > 0.0 {
            t_two_sided(difference / se, df).max(least)
        } else {
            least
        };
        // At the ratio seen, the baseline's error weighs as much as the ratio; the fewer degrees of freedom rule.
        let ratio = mo.mean / mb.mean;
        let df_ratio = if ratio.is_finite() { welch(vb * ratio * ratio, mb.spread.df, vo, mo.spread.df) } else { df };
        let critical = t_critical(options.alpha, df.min(df_ratio));
        let reach = if se > 0.0 { critical * se } else { 0.0 };
        let (mut low, mut high) = (difference - reach, difference + reach);
        let mut change = (mb.mean != 0.0).then(|| fieller(mb.mean, vb, mo.mean, vo, critical)).flatten();
        if let ([b], [o]) = (b, o)
            && p <= options.bootstrap_below
            && let Some(two) = options.bootstrap.two(b, o)
        {
            out.bootstrapped = true;
            low = low.min(two.difference.studentised.low);
            high = high.max(two.difference.studentised.high);
            // The least that resampling can say is no evidence of more.
            if two.p > 1.5 / (options.bootstrap.resamples as f64 + 1.0) {
                p = p.max(two.p);
            }
            change = match (change, two.ratio) {
                (Some(c), Some(r)) => Some((c.0.min(r.low), c.1.max(r.high))),
                _ => None,
            };
        }
        let side = |side: &mut Side, m: &Mean| {
            side.se = m.spread.se * back;
            side.n_eff = m.spread.n_eff;
        };
        side(&mut out.baseline, mb);
        side(&mut out.other, mo);
        out.n_eff = mb.spread.n_eff.min(mo.spread.n_eff);
        let finite = |x: f64| x.is_finite().then_some(x);
        (out.baseline.mean, out.other.mean) = (finite(mb.mean * back), finite(mo.mean * back));
        let Some(scaled) = finite(difference * back) else {
            out.not_compared = Some(NotCompared::OutOfRange);
            return;
        };
        out.difference = Some(scaled);
        out.difference_interval = finite(low * back).zip(finite(high * back));
        out.change = (mb.mean != 0.0).then(|| difference / mb.mean.abs()).and_then(finite);
        if let (Some(estimate), Some((a, b))) = (out.change, change) {
            let (a, b) = if mb.mean > 0.0 { (a - 1.0, b - 1.0) } else { (1.0 - b, 1.0 - a) };
            (out.low, out.high) = (finite(a.min(estimate)), finite(b.max(estimate)));
        }
        out.critical = critical;
        out.p = Some(p);
    }
}

/// The mean of a side: of one run by its samples, of several by the runs.
fn over_runs(means: &[Mean]) -> Mean {
    if let [one] = *means {
        return one;
    }
    let k = means.len() as f64;
    let mean = means.iter().map(|m| m.mean).sum::<f64>() / k;
    let between = means.iter().map(|m| (m.mean - mean).powi(2)).sum::<f64>() / (k - 1.0);
    // Runs cannot be surer than their samples: luck may bring few runs close together.
    let within = means.iter().map(|m| m.spread.se.powi(2)).sum::<f64>() / k;
    let se = (between.max(within) / k).sqrt();
    let constant = se <= 1e-12 * mean.abs();
    Mean { mean, spread: Spread { se: if constant { 0.0 } else { se }, df: k - 1.0, n_eff: k }, constant }
}

/// A side that never changed holds no measure of its own error. Under "no difference" it has the other's: borrow it, scaled by the
/// samples (or runs) that each has. So too for a single run next to repeated ones: how runs differ, only the repeats say.
fn borrow(b: &mut Mean, o: &mut Mean, bs: &[Series], os: &[Series]) {
    let size = |s: &[Series]| s.iter().map(Series::len).sum::<usize>() as f64;
    let lend = |from: &Mean, ratio: f64| Spread { se: from.spread.se * ratio.sqrt(), ..from.spread };
    match (bs.len(), os.len()) {
        (1, k) if k > 1 && !o.constant && lend(o, k as f64).se > b.spread.se => b.spread = lend(o, k as f64),
        (k, 1) if k > 1 && !b.constant && lend(b, k as f64).se > o.spread.se => o.spread = lend(b, k as f64),
        _ if b.constant && !o.constant => b.spread = lend(o, (size(os) / size(bs)).clamp(0.1, 10.0)),
        _ if o.constant && !b.constant => o.spread = lend(b, (size(bs) / size(os)).clamp(0.1, 10.0)),
        _ => {}
    }
}

/// Degrees of freedom of the sum of two variances (Welch, Biometrika 34, 1947; Satterthwaite).
pub(super) fn welch(a: f64, df_a: f64, b: f64, df_b: f64) -> f64 {
    let most = a.max(b);
    if most <= 0.0 || !most.is_finite() {
        return df_a.min(df_b);
    }
    let (a, b) = (a / most, b / most);
    (a + b).powi(2) / (a * a / df_a + b * b / df_b)
}

/// The interval of other ÷ baseline that Fieller's theorem gives ("Some problems in interval estimation", JRSS B 16, 1954).
/// `None` where it is not bounded: the baseline may be 0.
fn fieller(b: f64, vb: f64, o: f64, vo: f64, critical: f64) -> Option<(f64, f64)> {
    let c2 = critical * critical;
    let a = b * b - c2 * vb;
    // Within a millionth of 0 the ends are rounding.
    if a.is_nan() || a <= 1e-6 * b * b {
        return None;
    }
    let root = (c2 * (vo * a + vb * o * o)).max(0.0).sqrt();
    let (low, high) = ((b * o - root) / a, (b * o + root) / a);
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// No comparison of two runs is surer than this: the share of ways to deal all episodes into two sides that part them as neatly,
/// 2 ÷ C(n + m, n).
///
/// An episode is a stretch on one side of the series' own mean (the runs of Wald and Wolfowitz, Annals of Mathematical
/// Statistics 11, 1940). Independent samples have about n/2 of them, and then this bound hardly ever binds. A level that switched
/// once or drifted has two, however many samples saw it, and no model of its noise should make it surer than that. A level that
/// holds still cannot be told from one that switches rarely; √n episodes are granted even so, or nothing that is steady could ever
/// be found to differ. Repeated runs are judged by t alone.
fn least_p(b: &[Series], o: &[Series], basis: Basis) -> f64 {
    if basis == Basis::Runs {
        return LEAST_P;
    }
    let count = |side: &[Series]| side.iter().map(episodes).sum::<u64>();
    let (b, o) = (count(b), count(o));
    (std::f64::consts::LN_2 - ln_choose(b + o, b)).exp().clamp(LEAST_P, 1.0)
}

/// p-values stay above 0: nothing measured is certain.
const LEAST_P: f64 = 1e-300;

fn episodes(series: &Series) -> u64 {
    let mean = series.mean().unwrap_or(0.0);
    let noise = 1e-12 * mean.abs();
    let above: Vec<bool> = series.influence(mean).into_iter().filter(|v| v.abs() > noise).map(|v| v > 0.0).collect();
    let switches = above.windows(2).filter(|w| w[0] != w[1]).count();
    (switches + 1).max((series.len() as f64).sqrt() as usize) as u64
}

fn summary(runs: &[Series]) -> Side {
    let (mut values, mut weights) = (Vec::new(), Vec::new());
    for run in runs {
        let (v, w) = run.points();
        values.extend(v);
        weights.extend(w);
    }
    let sorted = Sorted::new(&values, &weights);
    let full: Vec<f64> = runs.iter().filter_map(Series::mean).collect();
    Side {
        mean: (!full.is_empty()).then(|| full.iter().map(|m| m / full.len() as f64).sum()),
        median: sorted.quantile(0.5),
        p99: sorted.quantile(0.99),
        samples: runs.iter().map(Series::len).sum(),
        missing: runs.iter().map(Series::missing).sum(),
        runs: runs.iter().filter(|r| !r.is_empty()).count(),
        se: 0.0,
        n_eff: 0.0,
    }
}

/// The one rule for "large enough to matter": the whole interval lies beyond what is practically the same, which is
/// `min_relative` of the baseline and `min_absolute` in the unit of the metric. An interval that only leaves out 0 is sure
/// of a difference, not that it matters. (The region of practical equivalence: Lakens, "Equivalence tests", 2017.)
pub fn is_material(c: &Comparison, min_relative: f64, min_absolute: f64) -> bool {
    let (Some(difference), Some((low, high))) = (c.difference, c.difference_interval) else { return false };
    let (Some(b), Some(o)) = (c.baseline.mean, c.other.mean) else { return false };
    let sign = if difference > 0.0 { 1.0 } else { -1.0 };
    let nearest = if sign > 0.0 { low } else { -high };
    if !(nearest > 0.0 && nearest >= min_absolute) {
        return false;
    }
    // other − factor·baseline beyond 0: asks the same as the interval of the ratio does, and also where that has no bound.
    let factor = 1.0 + sign * min_relative * if b < 0.0 { -1.0 } else { 1.0 };
    let beyond = sign * (o - factor * b) - c.critical * c.other.se.hypot(factor * c.baseline.se);
    let resampled = if sign > 0.0 { c.low } else { c.high.map(|h| -h) };
    beyond > 0.0 && resampled.is_none_or(|r| r > min_relative)
}
