//! Quantiles of values that were counted in ranges, and how sure they are: of one side, and of two sides against each other.
//!
//! Within a range the values are taken to lie evenly. Values that come at the same time depend on each other (one pause of a program is in thousands of
//! answers), so what is resampled is time: circular blocks of stretches, each with all that was counted in it; of repeats, runs first and then blocks within
//! them. A block is as long as the caller asks at least, and as the rule of [`super::bootstrap::block_length`] asks for the share of values beyond the
//! quantile. Few blocks (or runs) spread too little when they are drawn: the logarithms of what is drawn are stretched by √(k ÷ (k − 1)) and by Student's
//! t over the normal quantile, with the degrees of freedom of Welch and Satterthwaite. Sums over time are made once, so a resample costs one
//! subtraction a block and range.
//!
//! Whether two quantiles are equal is also asked without them: the shares of values beyond the point halfway between both are compared by
//! [`super::compare`], which allows for load that drifts. The less sure of both answers counts. One run a side that lies plainly apart from the other, tenth by
//! tenth of its time ([`super::separation`]), is sure by that: the smaller p-value then counts twice (Bonferroni).

use super::bootstrap::{Bootstrap, FEWEST_BLOCKS, Interval, block_length};
use super::compare::{Comparer, Options, welch};
use super::rng::Rng;
use super::separation::of_stretches;
use super::series::Series;
use super::special::{t_critical, t_two_sided};

/// A quantile is compared where at least so many values are expected beyond it.
const FEWEST_BEYOND: f64 = 10.0;

/// Parts that a run is cut into to see whether it lies apart from another, at most, and the stretches that each has at least.
const PARTS: usize = 10;
const STRETCHES: usize = 2;

/// How far apart plainly is: the nearer quartiles of the parts, one over the other.
const APART: f64 = 4.0 / 3.0;

/// The two-sided 5 % point of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// A range of values and how many lie in it.
pub type Counted = (f64, f64, f64);

/// Ranges in ascending order, each once.
pub fn merged(mut ranges: Vec<Counted>) -> Vec<Counted> {
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ranges.dedup_by(|next, kept| {
        let same = next.0 == kept.0 && next.1 == kept.1;
        kept.2 += if same { next.2 } else { 0.0 };
        same
    });
    ranges
}

/// The value below which a share `q` of the values lie that were counted in these ranges, which ascend, each once: linear within a range. `None` where nothing was
/// counted or `q` is not in 0..=1.
pub fn quantile(ranges: &[Counted], q: f64) -> Option<f64> {
    let total: f64 = ranges.iter().map(|r| r.2).sum();
    if !(total > 0.0 && total.is_finite() && (0.0..=1.0).contains(&q)) {
        return None;
    }
    let (wanted, mut before, mut end) = (q * total, 0.0, None);
    for &(low, high, count) in ranges.iter().filter(|r| r.2 > 0.0) {
        if before + count >= wanted {
            return Some(low + (high - low) * ((wanted - before) / count).clamp(0.0, 1.0));
        }
        before += count;
        // The last one, where sums differ by rounding.
        end = Some(high);
    }
    end
}

/// What one run counted, in stretches of time that are equally long.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    stretches: usize,
    /// Stretches that a block has at least.
    block: usize,
    /// Counts by range, of all stretches before the first, before the second … and of all.
    sums: Vec<f64>,
}

/// What was counted of one side, by range and stretch of time: one run, or repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Lower and upper ends, ascending.
    ranges: Vec<(f64, f64)>,
    runs: Vec<Run>,
}

/// Two quantiles against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// That of the baseline.
    pub baseline: f64,
    /// That of the other.
    pub other: f64,
    /// The interval of that of the baseline, and of the other; `None` as below, of one side alone.
    pub intervals: [Option<Interval>; 2],
    /// Other ÷ baseline with its interval; `None` where too little was counted to say how sure it is.
    pub ratio: Option<Interval>,
    /// p-value of "no difference"; `None` where there is no interval.
    pub p: Option<f64>,
}

/// Quantiles as they were drawn: logarithms less that of the estimate, one list for each quantile, and how many blocks or runs they were drawn from.
struct Drawn {
    logs: Vec<Vec<f64>>,
    units: f64,
}

impl Drawn {
    /// By how much draws of so few must be spread.
    fn spread(&self) -> f64 {
        (self.units / (self.units - 1.0)).sqrt()
    }

    /// The variance of the logarithm of quantile `at`.
    fn variance(&self, at: usize) -> f64 {
        let logs = self.logs.get(at).map_or(&[][..], Vec::as_slice);
        let n = logs.len().max(1) as f64;
        let mean = logs.iter().sum::<f64>() / n;
        logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / n * self.spread().powi(2)
    }
}

/// The interval around an estimate whose logarithm is off by `logs`, times `stretch`. Sorts them.
fn around(estimate: f64, logs: &mut [f64], stretch: f64, alpha: f64) -> Interval {
    logs.sort_by(f64::total_cmp);
    let at = |q: f64| logs.get(((q * logs.len() as f64) as usize).min(logs.len().saturating_sub(1))).copied();
    let end = |q: f64| estimate * (at(q).unwrap_or(0.0) * stretch).exp();
    Interval { estimate, low: end(alpha / 2.0).min(estimate), high: end(1.0 - alpha / 2.0).max(estimate) }
}

/// How much farther than the normal quantile that of Student's t reaches.
fn reach(alpha: f64, df: f64) -> f64 {
    t_critical(alpha, df.max(1.0)) / NORMAL
}

impl Histogram {
    /// Of `ranges`, which ascend.
    pub fn new(ranges: Vec<(f64, f64)>) -> Self {
        Histogram { ranges, runs: Vec::new() }
    }

    /// Adds a run of so many `stretches` of which a block has `block` at least. `counts` are its numbers, each with its stretch and range, in any
    /// order.
    pub fn add(&mut self, stretches: usize, block: usize, counts: impl IntoIterator<Item = (usize, usize, f64)>) {
        let width = self.ranges.len();
        let mut sums = vec![0.0; (stretches + 1) * width];
        for (stretch, range, count) in counts {
            if stretch < stretches
                && range < width
                && let Some(sum) = sums.get_mut((stretch + 1) * width + range)
            {
                *sum += count;
            }
        }
        for at in width..sums.len() {
            let before = sums.get(at - width).copied().unwrap_or(0.0);
            if let Some(sum) = sums.get_mut(at) {
                *sum += before;
            }
        }
        self.runs.push(Run { stretches, block: block.max(1), sums });
    }

    fn row<'a>(&self, run: &'a Run, before: usize) -> &'a [f64] {
        let width = self.ranges.len();
        run.sums.get(before * width..(before + 1) * width).unwrap_or_default()
    }

    /// All that was counted, range by range.
    fn counted(&self) -> Vec<Counted> {
        let mut all: Vec<Counted> = self.ranges.iter().map(|&(low, high)| (low, high, 0.0)).collect();
        for run in &self.runs {
            for (into, count) in all.iter_mut().zip(self.row(run, run.stretches)) {
                into.2 += count;
            }
        }
        all
    }

    /// How many values were counted.
    pub fn count(&self) -> f64 {
        self.counted().iter().map(|r| r.2).sum()
    }

    /// The value below which a share `q` of them lie. `None` where nothing was counted or `q` is not in 0..=1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        quantile(&self.counted(), q)
    }

    /// The same in each stretch of the first run that counted at least `fewest` values, in time.
    pub fn by_stretch(&self, q: f64, fewest: f64) -> Vec<f64> {
        let Some(run) = self.runs.first() else { return Vec::new() };
        let one = |stretch: usize| {
            let (before, after) = (self.row(run, stretch), self.row(run, stretch + 1));
            let counted = self.ranges.iter().zip(before.iter().zip(after));
            let counted: Vec<Counted> = counted.map(|(&(low, high), (b, a))| (low, high, a - b)).collect();
            let enough = counted.iter().map(|r| r.2).sum::<f64>() >= fewest;
            if enough { quantile(&counted, q) } else { None }
        };
        (0..run.stretches).filter_map(one).collect()
    }

    /// The quantile in each of the parts of one run, as even as its stretches allow. Empty of repeats.
    fn by_part(&self, q: f64) -> Vec<f64> {
        let [run] = self.runs.as_slice() else { return Vec::new() };
        let parts = (run.stretches / STRETCHES).min(PARTS);
        let one = |part: usize| {
            let (from, to) = (part * run.stretches / parts, (part + 1) * run.stretches / parts);
            let mut counted: Vec<Counted> = self.ranges.iter().map(|&(low, high)| (low, high, 0.0)).collect();
            self.add_between(run, from, to, &mut counted);
            quantile(&counted, q)
        };
        (0..parts).filter_map(one).collect()
    }

    /// The p-value of "no difference" by the parts of both sides; `None` where they do not lie apart.
    fn apart(&self, other: &Histogram, q: f64) -> Option<f64> {
        let [a, b] = [self, other].map(|side| Series::even(&side.by_part(q)));
        of_stretches(&a, &b).filter(|s| s.gap >= APART).map(|s| s.p)
    }

    /// The share of values beyond `x`, stretch by stretch, of each run.
    fn beyond(&self, x: f64) -> Vec<Series> {
        // What of each range lies beyond.
        let part = |&(low, high): &(f64, f64)| {
            if high > low { ((high - x) / (high - low)).clamp(0.0, 1.0) } else { f64::from(u8::from(low > x)) }
        };
        let parts: Vec<f64> = self.ranges.iter().map(part).collect();
        let of = |run: &Run| {
            let sums = (0..=run.stretches).map(|before| {
                let row = self.row(run, before);
                (row.iter().zip(&parts).map(|(n, part)| n * part).sum::<f64>(), row.iter().sum::<f64>())
            });
            let sums: Vec<(f64, f64)> = sums.collect();
            // Differences of sums: rounding is no count.
            let new = |a: f64, b: f64| if b - a > 1e-9 * b { b - a } else { 0.0 };
            let (num, den): (Vec<f64>, Vec<f64>) =
                sums.iter().zip(sums.iter().skip(1)).map(|(a, b)| (new(a.0, b.0), new(a.1, b.1))).unzip();
            Series::ratio(&num, &den)
        };
        self.runs.iter().map(of).collect()
    }

    /// Draws quantiles. `None` where a run has too few blocks to choose from.
    fn draw(&self, quantiles: &[f64], estimates: &[f64], boot: &Bootstrap, rng: &mut Rng) -> Option<Drawn> {
        let mut lengths: Vec<usize> = self.runs.iter().map(|run| run.block).collect();
        for &x in estimates {
            for (length, series) in lengths.iter_mut().zip(self.beyond(x)) {
                let mean = series.mean().unwrap_or(0.0);
                *length = (*length).max(block_length(&series.influence(mean)).0.round() as usize);
            }
        }
        let mut plan: Vec<(&Run, usize)> = Vec::with_capacity(self.runs.len());
        for (run, length) in self.runs.iter().zip(lengths) {
            let length = length.min(run.stretches / FEWEST_BLOCKS);
            if length == 0 {
                return None;
            }
            plan.push((run, length));
        }
        let units = match plan.as_slice() {
            [] => return None,
            [(run, length)] => run.stretches.div_ceil(*length),
            several => several.len(),
        };
        let (mut counted, mut logs) = (self.counted(), vec![Vec::with_capacity(boot.resamples); quantiles.len()]);
        for _ in 0..boot.resamples.max(1) {
            counted.iter_mut().for_each(|range| range.2 = 0.0);
            for _ in 0..plan.len() {
                let Some((run, length)) = plan.get(rng.below(plan.len())) else { continue };
                for _ in 0..run.stretches.div_ceil(*length) {
                    let start = rng.below(run.stretches);
                    let end = start + length;
                    self.add_between(run, start, end.min(run.stretches), &mut counted);
                    if end > run.stretches {
                        self.add_between(run, 0, end - run.stretches, &mut counted);
                    }
                }
            }
            for ((logs, &q), estimate) in logs.iter_mut().zip(quantiles).zip(estimates) {
                // Nothing was counted in what was drawn: it says nothing.
                logs.push(quantile(&counted, q).map_or(0.0, |x| (x.max(1e-300) / estimate).ln()));
            }
        }
        Some(Drawn { logs, units: units as f64 })
    }

    fn add_between(&self, run: &Run, from: usize, to: usize, into: &mut [Counted]) {
        for ((into, before), after) in into.iter_mut().zip(self.row(run, from)).zip(self.row(run, to)) {
            into.2 += (after - before).max(0.0);
        }
    }

    /// Estimates of quantiles, none of them 0; `None` where nothing was counted.
    fn estimates(&self, quantiles: &[f64]) -> Option<Vec<f64>> {
        let counted = self.counted();
        quantiles.iter().map(|&q| quantile(&counted, q).map(|x| x.max(1e-300))).collect()
    }

    /// The interval of quantile `at`, as it was drawn.
    fn interval(&self, drawn: &Drawn, at: usize, q: f64, estimate: f64, alpha: f64) -> Option<Interval> {
        let mut logs = drawn.logs.get(at)?.clone();
        let stretch = drawn.spread() * reach(alpha, drawn.units - 1.0);
        (self.count() * (1.0 - q) >= FEWEST_BEYOND).then(|| around(estimate, &mut logs, stretch, alpha))
    }

    /// Quantiles, each with its interval: `None` instead of one for which too little was counted, and of all where there are too few blocks.
    pub fn intervals(&self, quantiles: &[f64], boot: &Bootstrap) -> Vec<Option<Interval>> {
        let none = vec![None; quantiles.len()];
        let Some(estimates) = self.estimates(quantiles) else { return none };
        let Some(drawn) = self.draw(quantiles, &estimates, boot, &mut Rng::new(boot.seed)) else { return none };
        let each = quantiles.iter().zip(estimates).enumerate();
        each.map(|(at, (&q, estimate))| self.interval(&drawn, at, q, estimate, boot.alpha)).collect()
    }

    /// Compares quantiles of two sides. Empty where one of them counted nothing.
    pub fn compare(&self, other: &Histogram, quantiles: &[f64], options: &Options) -> Vec<Compared> {
        let Some((a, b)) = self.estimates(quantiles).zip(other.estimates(quantiles)) else { return Vec::new() };
        let boot = &options.bootstrap;
        let mut rng = Rng::new(boot.seed);
        let drawn = [self.draw(quantiles, &a, boot, &mut rng), other.draw(quantiles, &b, boot, &mut rng)];
        let fewest = self.count().min(other.count());
        let mut comparer = Comparer::new();
        let mut found = Vec::with_capacity(quantiles.len());
        for (at, ((&q, &baseline), &other_value)) in quantiles.iter().zip(&a).zip(&b).enumerate() {
            let [da, db] = &drawn;
            let of = |side: &Histogram, drawn: &Option<Drawn>, estimate| {
                side.interval(drawn.as_ref()?, at, q, estimate, boot.alpha)
            };
            let intervals = [of(self, da, baseline), of(other, db, other_value)];
            let mut one = Compared { baseline, other: other_value, intervals, ratio: None, p: None };
            if let (Some(da), Some(db), true) = (da, db, fewest * (1.0 - q) >= FEWEST_BEYOND)
                && let (Some(la), Some(lb)) = (da.logs.get(at), db.logs.get(at))
            {
                let (va, vb) = (da.variance(at), db.variance(at));
                let df = welch(va, da.units - 1.0, vb, db.units - 1.0);
                let (sa, sb) = (da.spread(), db.spread());
                let mut logs: Vec<f64> = la.iter().zip(lb).map(|(a, b)| sb * b - sa * a).collect();
                let ratio = other_value / baseline;
                one.ratio = Some(around(ratio, &mut logs, reach(boot.alpha, df), boot.alpha));
                let error = (va + vb).sqrt();
                let drawn = if ratio == 1.0 {
                    1.0
                } else if error > 0.0 {
                    t_two_sided(ratio.ln() / error, df)
                } else {
                    0.0
                };
                let halfway = (baseline.ln() * 0.5 + other_value.ln() * 0.5).exp();
                let shares = comparer.compare(&self.beyond(halfway), &other.beyond(halfway), options).p;
                let p = shares.map(|p| p.max(drawn));
                one.p = p.map(|p| self.apart(other, q).map_or(p, |apart| (2.0 * apart.min(p)).min(1.0)));
            }
            found.push(one);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen ranges to each power of two.
    fn ranges() -> Vec<(f64, f64)> {
        let edge = |i: i32| 2f64.powf(f64::from(i) / 16.0);
        (16 * 10..16 * 34).map(|i| (edge(i), edge(i + 1))).collect()
    }

    /// `stretches` of a run with 200 values each around `middle`, whose level drifts with autocorrelation `phi`; a share `tail` is ten times as long.
    fn counts(seed: u64, stretches: usize, middle: f64, tail: f64, phi: f64) -> Vec<(usize, usize, f64)> {
        let (mut rng, mut level, mut found) = (Rng::new(seed), 0.0, Vec::new());
        for stretch in 0..stretches {
            level = phi * level + (1.0 - phi * phi).sqrt() * rng.normal();
            for _ in 0..200 {
                let long = if rng.uniform() < tail { 10.0 } else { 1.0 };
                let x = middle * long * (0.1 * level + 0.3 * rng.normal()).exp();
                found.push((stretch, (x.log2() * 16.0) as usize - 160, 1.0));
            }
        }
        found
    }

    fn one(seed: u64, middle: f64, tail: f64, phi: f64) -> Histogram {
        let mut h = Histogram::new(ranges());
        h.add(150, 15, counts(seed, 150, middle, tail, phi));
        h
    }

    const WANTED: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

    #[test]
    fn quantiles_lie_within_their_range() {
        let ranges = [(0.0, 10.0, 2.0), (10.0, 20.0, 0.0), (20.0, 40.0, 2.0)];
        assert_eq!(quantile(&ranges, 0.25), Some(5.0));
        assert_eq!(quantile(&ranges, 0.5), Some(10.0));
        assert_eq!(quantile(&ranges, 0.75), Some(30.0));
        assert_eq!((quantile(&ranges, 0.0), quantile(&ranges, 1.0)), (Some(0.0), Some(40.0)));
        assert_eq!((quantile(&ranges, 1.5), quantile(&ranges, f64::NAN), quantile(&[], 0.5)), (None, None, None));
        assert_eq!(quantile(&[(1.0, 2.0, f64::INFINITY)], 0.5), None);
        assert_eq!(merged(vec![(5.0, 6.0, 1.0), (1.0, 2.0, 3.0), (5.0, 6.0, 4.0)]), [(1.0, 2.0, 3.0), (5.0, 6.0, 5.0)]);
    }

    #[test]
    fn a_quantile_is_that_of_the_values() {
        let h = one(1, 1e6, 0.0, 0.0);
        let p50 = h.quantile(0.5).unwrap();
        assert!((p50 / 1e6 - 1.0).abs() < 0.02, "{p50}");
        let found = h.intervals(&WANTED, &Bootstrap::default());
        let i = found[0].unwrap();
        assert!(i.low < i.estimate && i.estimate < i.high && i.high / i.low < 1.1, "{i:?}");
        assert_eq!(found, h.intervals(&WANTED, &Bootstrap::default()), "equal seeds");
        assert!(h.by_stretch(0.5, 100.0).len() == 150 && h.by_stretch(0.5, 201.0).is_empty());
    }

    #[test]
    fn a_shifted_tail_is_found_and_the_middle_is_not() {
        let found = one(1, 1e6, 0.004, 0.5).compare(&one(2, 1e6, 0.03, 0.5), &WANTED, &Options::default());
        let p99 = found[2];
        assert!(p99.ratio.unwrap().low > 1.5 && p99.p.unwrap() < 0.01, "{p99:?}");
        assert!(found[0].ratio.unwrap().low < 1.05 && found[0].p.unwrap() > 0.05, "{:?}", found[0]);
    }

    #[test]
    fn equal_sides_seldom_differ_however_their_load_drifts() {
        for phi in [0.0, 0.7, 0.95] {
            let differs = |seed: u64| {
                let (a, b) = (one(100 + seed, 1e6, 0.01, phi), one(900 + seed, 1e6, 0.01, phi));
                let found = a.compare(&b, &WANTED, &Options::default());
                let sure = |c: &Compared| {
                    c.p.is_some_and(|p| p <= 0.0025) && c.ratio.is_some_and(|r| r.low > 1.05 || r.high < 1.0 / 1.05)
                };
                found.iter().any(sure)
            };
            let found = (0..12).filter(|&seed| differs(seed)).count();
            assert!(found <= 1, "{phi}: {found} of 12");
        }
    }

    #[test]
    fn repeats_are_judged_by_how_they_differ() {
        let side = |seed: u64, middles: [f64; 3]| {
            let mut h = Histogram::new(ranges());
            for (i, middle) in middles.into_iter().enumerate() {
                h.add(40, 4, counts(seed + i as u64, 40, middle, 0.01, 0.5));
            }
            h
        };
        // Wild runs: what one of them shows is no evidence.
        let wild = side(1, [1e6, 1.5e6, 2.0e6]).compare(&side(10, [1.4e6, 2.2e6, 1.6e6]), &[0.5], &Options::default());
        assert!(wild[0].p.unwrap() > 0.05 && wild[0].ratio.unwrap().low < 1.0, "{wild:?}");
        let tame = side(1, [1e6, 1.02e6, 0.98e6]).compare(&side(10, [2e6, 2.1e6, 1.95e6]), &[0.5], &Options::default());
        assert!(tame[0].p.unwrap() < 0.05 && tame[0].ratio.unwrap().low > 1.5, "{tame:?}");
    }

    #[test]
    fn too_little_has_no_interval() {
        let mut short = Histogram::new(ranges());
        short.add(4, 1, counts(1, 4, 1e6, 0.0, 0.0));
        assert_eq!(short.intervals(&[0.5], &Bootstrap::default()), [None]);
        let found = short.compare(&one(1, 1e6, 0.0, 0.0), &[0.5], &Options::default());
        assert!(found[0].ratio.is_none() && found[0].p.is_none() && found[0].baseline > 0.0, "{found:?}");
        let empty = Histogram::new(ranges());
        assert_eq!((empty.intervals(&[0.5], &Bootstrap::default()), empty.count()), (vec![None], 0.0));
        assert!(empty.compare(&short, &[0.5], &Options::default()).is_empty());
        // Of 800 values none is known to lie beyond p99.9.
        let mut few = Histogram::new(ranges());
        few.add(50, 5, counts(1, 50, 1e6, 0.0, 0.0).into_iter().filter(|c| c.0 % 10 == 0));
        let found = few.intervals(&[0.5, 0.999], &Bootstrap::default());
        assert!(found[0].is_some() && found[1].is_none(), "{found:?}");
    }
}
