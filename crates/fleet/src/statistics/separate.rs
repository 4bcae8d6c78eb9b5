//! Which metrics separate one band from the other hosts. The host is the unit: samples within a recording are not.
//!
//! Ranks only (Mann and Whitney's U), so that one host far out decides nothing; q-values of Benjamini and Hochberg; and 999 permutations of
//! the bands, which say how many metrics would be listed by chance however they depend on each other. If as many as there are would be, by 1 in
//! 20, none is listed. Give means over the blocks of time by which the bands were not found.
//!
//! What is asked of all hosts are sums ([`Sums`]), and the values of what is listed: both can come from elsewhere ([`Columns`]). Correlations and
//! permutations look at all metrics of at most [`SOME`] hosts.

use query::stats::fdr::benjamini_hochberg;
use query::stats::rank::{Effect, Samples, hodges_lehmann, mann_whitney_summed};
use query::stats::rng::Rng;
use query::stats::special::ln_choose;

/// A line is listed up to this q-value: a little less than the 5 % of all that are listed that may be false.
pub const LEVEL: f64 = 0.04;

/// The least p-value times the number of lines, and the share of draws that list as many: no more than this.
const SURE: f64 = 0.05;

/// The probability of superiority (or of inferiority) from which on a metric separates; below it differs.
pub const SEPARATES: f64 = 0.9;

/// Rank correlation from which on metrics move together.
pub const TOGETHER: f64 = 0.9;

/// Permutations of the bands.
const PERMUTATIONS: usize = 999;

/// Hosts, at most, whose values of all metrics are looked at: for correlations, permutations and rules.
pub const SOME: usize = 2_000;

/// What the ranks of one metric add up to over the hosts of the two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Hosts of the band that have it, and of the others.
    pub hosts: (usize, usize),
    /// Twice the sum of the middle ranks, from 1, of those of the band.
    pub twice_ranks: i64,
    /// Σ (t³ − t) over groups of t equal values.
    pub ties: i64,
}

impl Sums {
    /// Those of `values`, one place a host.
    pub fn new(values: &[f64], sides: &[Option<bool>]) -> Sums {
        let mut known: Vec<(f64, bool)> =
            values.iter().zip(sides).filter_map(|(v, s)| Some((*v + 0.0, (*s)?))).filter(|v| v.0.is_finite()).collect();
        known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut sums, mut below) = (Sums::default(), 0);
        for group in known.chunk_by(|a, b| a.0 == b.0) {
            let (size, one) = (group.len() as i64, group.iter().filter(|v| v.1).count());
            sums.twice_ranks += one as i64 * (2 * below + size + 1);
            sums.ties += size * size * size - size;
            sums.hosts = (sums.hosts.0 + one, sums.hosts.1 + group.len() - one);
            below += size;
        }
        sums
    }

    /// The same with hosts that were not counted since their value is 0, where all that were are above: so many of the band, and of the others.
    #[must_use]
    pub fn with_zeros(self, zeros: (usize, usize)) -> Sums {
        let (one, all) = (zeros.0 as i64, (zeros.0 + zeros.1) as i64);
        Sums {
            hosts: (self.hosts.0 + zeros.0, self.hosts.1 + zeros.1),
            twice_ranks: self.twice_ranks + 2 * all * self.hosts.0 as i64 + one * (all + 1),
            ties: self.ties + all * all * all - all,
        }
    }

    /// The standardised sum of the centred ranks, squared: where `one` of `all` hosts are in the band, and those that lack it are in the middle.
    fn z2(&self, one: usize, all: usize) -> f64 {
        let n = (self.hosts.0 + self.hosts.1) as i64;
        let sum = self.twice_ranks - self.hosts.0 as i64 * (n + 1);
        let square = ((n * n * n - n - self.ties) / 3) as f64;
        let (k, all) = (one as f64, all as f64);
        let variance = k * (all - k) / (all * (all - 1.0)) * square;
        if variance > 0.0 { (sum as f64).powi(2) / variance } else { 0.0 }
    }
}

/// Many metrics, or functions, of all hosts, wherever their values are.
pub trait Columns {
    /// Why they cannot be had.
    type Error;
    /// What their ranks add up to, in order.
    ///
    /// # Errors
    /// Where they cannot be had.
    fn sums(&mut self, sides: &[Option<bool>]) -> Result<Vec<Sums>, Self::Error>;
    /// The values of some of them on all hosts, one place a host; NaN: lacks it.
    ///
    /// # Errors
    /// Where they cannot be had.
    fn whole(&mut self, which: &[usize]) -> Result<Vec<Vec<f64>>, Self::Error>;
    /// The values of all of them on these hosts, in their order.
    ///
    /// # Errors
    /// Where they cannot be had.
    fn some(&mut self, hosts: &[usize]) -> Result<Vec<Vec<f64>>, Self::Error>;
}

/// Values in memory, a slice a metric.
#[derive(Clone, Copy, Debug)]
pub struct Slices<'a>(pub &'a [&'a [f64]]);

impl Columns for Slices<'_> {
    type Error = std::convert::Infallible;

    fn sums(&mut self, sides: &[Option<bool>]) -> Result<Vec<Sums>, Self::Error> {
        Ok(super::parallel(self.0, |values| Sums::new(values, sides)))
    }

    fn whole(&mut self, which: &[usize]) -> Result<Vec<Vec<f64>>, Self::Error> {
        Ok(which.iter().map(|&i| self.0.get(i).map_or_else(Vec::new, |values| values.to_vec())).collect())
    }

    fn some(&mut self, hosts: &[usize]) -> Result<Vec<Vec<f64>>, Self::Error> {
        Ok(self.0.iter().map(|values| at(values, hosts)).collect())
    }
}

/// The values of these hosts.
pub fn at(values: &[f64], hosts: &[usize]) -> Vec<f64> {
    hosts.iter().map(|&i| values.get(i).copied().unwrap_or(f64::NAN)).collect()
}

/// Where each host stands: in the band that is asked about, among the others, or neither. `None` in `of`, and the `undecided`, are neither.
pub fn sides(of: &[Option<usize>], band: usize, undecided: &[usize]) -> Vec<Option<bool>> {
    let mut sides: Vec<Option<bool>> = of.iter().map(|o| o.map(|o| o == band)).collect();
    undecided.iter().for_each(|&i| sides.iter_mut().skip(i).take(1).for_each(|s| *s = None));
    sides
}

/// How one metric differs between the band and the other hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its place in what was asked.
    pub metric: usize,
    /// Hosts of the band that have it, and of the others.
    pub hosts: (usize, usize),
    /// Medians of the band and of the others, in the metric's unit.
    pub middles: (f64, f64),
    /// Two-sided p-value of "no difference".
    pub p: f64,
    /// The share of false ones among all lines that are listed if the one with this metric is.
    pub q: f64,
    /// The probability that a host of the band has the greater value; ties count half.
    pub superiority: f64,
    /// By how much a host of the band exceeds another (Hodges and Lehmann), in the metric's unit, with its 95 % interval.
    pub shift: Effect,
    /// Metrics that are listed too and move with this one.
    pub with: Vec<usize>,
}

impl Difference {
    /// Whether it tells nearly all hosts of the band from nearly all others.
    pub fn separates(&self) -> bool {
        self.superiority.max(1.0 - self.superiority) >= SEPARATES
    }
}

/// What the ranks of one metric say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// Its place in what was asked.
    pub metric: usize,
    /// What its ranks add up to.
    pub sums: Sums,
    /// Two-sided p-value of "no difference".
    pub p: f64,
    /// The share of false ones among all lines that are listed if the one with this metric is.
    pub q: f64,
    /// The probability that a host of the band has the greater value; ties count half.
    pub superiority: f64,
}

impl Tested {
    /// `None` where a side has no host with it.
    fn new(metric: usize, sums: Sums) -> Option<Tested> {
        let (one, rest) = sums.hosts;
        let (n, m) = (one as f64, rest as f64);
        let u = sums.twice_ranks as f64 / 2.0 - n * (n + 1.0) / 2.0;
        let test = mann_whitney_summed(one, rest, u, sums.ties as f64)?;
        Some(Tested { metric, sums, p: test.p, q: f64::NAN, superiority: test.statistic / (n * m) })
    }

    /// With what its values say.
    fn difference(&self, values: &[f64], sides: &[Option<bool>], with: Vec<usize>) -> Option<Difference> {
        let of = |side: bool| {
            let known = values.iter().zip(sides).filter(|(v, s)| **s == Some(side) && v.is_finite());
            known.map(|(v, _)| *v).collect::<Vec<f64>>()
        };
        let (one, rest) = (of(true), of(false));
        Some(Difference {
            metric: self.metric,
            hosts: self.sums.hosts,
            middles: (super::median(&one), super::median(&rest)),
            p: self.p,
            q: self.q,
            superiority: self.superiority,
            shift: hodges_lehmann(&rest, &one, Samples::Independent, 0.05)?,
            with,
        })
    }
}

/// How one metric (one place a host; NaN: lacks it) differs, by itself. `None` where a side has no host with it.
pub fn difference(values: &[f64], sides: &[Option<bool>]) -> Option<Difference> {
    Tested::new(0, Sums::new(values, sides))?.difference(values, sides, Vec::new())
}

/// What separates the band.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Separation {
    /// Of each line that differs the metric that tells most hosts apart, in that order.
    pub listed: Vec<Difference>,
    /// All metrics that could be asked, in the order asked.
    pub asked: Vec<Tested>,
    /// How many lines were tested: metrics that move together are one.
    pub lines: usize,
    /// How many lines would be listed at the same p-value if the bands were drawn at random: the mean.
    pub by_chance: f64,
    /// The same, as many as are not exceeded in 95 of 100 draws.
    pub by_chance_high: usize,
    /// How many draws in a whole list as many or more (a p-value); 1 where nothing passed the q-values.
    pub chance: f64,
    /// Where so few hosts are there that nothing could be listed whatever they say: how many are needed at this share.
    pub hosts_needed: Option<usize>,
    /// The hosts whose values of all metrics were looked at, ascending: all that are on a side, or [`SOME`] of them, evenly by the first metric.
    pub some: Vec<usize>,
}

/// Asks all `metrics` (a slice each, one place a host; NaN: lacks it) what separates the `sides`: see [`columns`].
pub fn metrics(metrics: &[&[f64]], sides: &[Option<bool>], seed: u64) -> Separation {
    match columns(&mut Slices(metrics), sides, seed) {
        Ok(separation) => separation,
        Err(never) => match never {},
    }
}

/// Asks all columns what separates the `sides`. Metrics that move together, whatever the bands are, are one line and one test (Simes, "An improved
/// Bonferroni procedure for multiple tests of significance", Biometrika 73, 1986): ten names for one thing cost no more than one, and one of ten
/// that differs alone is found as if it stood alone.
///
/// # Errors
/// Where values cannot be had.
pub fn columns<C: Columns>(of: &mut C, sides: &[Option<bool>], seed: u64) -> Result<Separation, C::Error> {
    let hosts: Vec<usize> = (0..sides.len()).filter(|&i| sides[i].is_some()).collect();
    let one = sides.iter().filter(|s| **s == Some(true)).count();
    let sums = of.sums(sides)?;
    let mut asked: Vec<Tested> = sums.into_iter().enumerate().filter_map(|(i, sums)| Tested::new(i, sums)).collect();
    let some = some_of(of, &hosts, asked.first().map(|t| t.metric))?;
    let values = if asked.is_empty() { Vec::new() } else { of.some(&some)? };
    let none = Vec::new();
    let rows: Vec<Ranks> = super::parallel(&asked, |t| Ranks::new(values.get(t.metric).unwrap_or(&none), some.len()));
    drop(values);
    let lines = together(&rows);
    let q = benjamini_hochberg(&lines.iter().map(|l| simes(l.iter().map(|&i| asked[i].p))).collect::<Vec<_>>());
    lines.iter().zip(&q).for_each(|(l, q)| l.iter().for_each(|&i| asked[i].q = *q));
    let mut separation = Separation {
        lines: lines.len(),
        chance: 1.0,
        hosts_needed: hosts_needed(one, hosts.len(), lines.len()),
        some,
        ..Separation::default()
    };
    let passed: Vec<&Vec<usize>> = lines.iter().zip(&q).filter(|l| *l.1 <= LEVEL).map(|l| l.0).collect();
    if !passed.is_empty() {
        let furthest = |line: &&Vec<usize>| {
            let least_side = one.min(hosts.len() - one);
            line.iter().map(|&i| asked[i].sums.z2(least_side, hosts.len())).fold(0.0, f64::max)
        };
        let least = passed.iter().map(furthest).fold(f64::INFINITY, f64::min) * (1.0 - 1e-12);
        separation.judge(&rows, &lines, (passed.len(), least), (one, hosts.len()), seed);
        if separation.chance <= SURE {
            separation.listed = listed(of, &asked, &passed, sides)?;
        }
    }
    separation.asked = asked;
    Ok(separation)
}

/// The lines that passed, each with the metric that tells most hosts apart.
fn listed<C: Columns>(
    of: &mut C,
    asked: &[Tested],
    passed: &[&Vec<usize>],
    sides: &[Option<bool>],
) -> Result<Vec<Difference>, C::Error> {
    let apart = |t: &Tested| (t.superiority - 0.5).abs();
    let before = |a: &&Tested, b: &&Tested| {
        apart(b).total_cmp(&apart(a)).then(a.p.total_cmp(&b.p)).then(a.metric.cmp(&b.metric))
    };
    let mut lines: Vec<Vec<&Tested>> = passed.iter().map(|line| line.iter().map(|&i| &asked[i]).collect()).collect();
    lines.iter_mut().for_each(|line| line.sort_by(before));
    lines.sort_by(|a, b| before(&a[0], &b[0]));
    let values = of.whole(&lines.iter().map(|line| line[0].metric).collect::<Vec<_>>())?;
    let each: Vec<(&Vec<&Tested>, &Vec<f64>)> = lines.iter().zip(&values).collect();
    let found = super::parallel(&each, |(line, values)| {
        line[0].difference(values, sides, line[1..].iter().map(|t| t.metric).collect())
    });
    Ok(found.into_iter().flatten().collect())
}

/// The hosts whose values of all metrics are looked at.
fn some_of<C: Columns>(of: &mut C, hosts: &[usize], first: Option<usize>) -> Result<Vec<usize>, C::Error> {
    let each = hosts.len().div_ceil(SOME).max(1);
    if each == 1 {
        return Ok(hosts.to_vec());
    }
    let values = match first {
        Some(first) => of.whole(&[first])?.into_iter().next().unwrap_or_default(),
        None => Vec::new(),
    };
    let ranks = Ranks::new(&at(&values, hosts), hosts.len());
    let mut order: Vec<usize> = (0..hosts.len()).collect();
    order.sort_by_key(|&i| (ranks.rank[i], i));
    let mut some: Vec<usize> = order.into_iter().step_by(each).map(|i| hosts[i]).collect();
    some.sort_unstable();
    Ok(some)
}

/// Simes' p-value of several.
fn simes(p: impl Iterator<Item = f64>) -> f64 {
    let mut p: Vec<f64> = p.collect();
    p.sort_by(f64::total_cmp);
    let n = p.len() as f64;
    p.iter().enumerate().map(|(i, p)| p * n / (i + 1) as f64).fold(1.0, f64::min)
}

/// How many hosts it takes, at this share, until the least p-value that there can be, times the number of metrics, is 0.05. `None` where there
/// are enough, or nothing is asked.
pub fn hosts_needed(one: usize, all: usize, metrics: usize) -> Option<usize> {
    let enough = |one: usize, all: usize| {
        let least = std::f64::consts::LN_2 - ln_choose(all as u64, one as u64);
        least + (metrics as f64).ln() <= SURE.ln()
    };
    if metrics == 0 || one == 0 || one >= all || enough(one, all) {
        return None;
    }
    let share = one as f64 / all as f64;
    (all..100_000).find(|&n| {
        let one = ((share * n as f64).round() as usize).clamp(1, n - 1);
        enough(one, n)
    })
}

/// The ranks of one metric around their mean, doubled so that they are whole numbers; 0 for a host that lacks it.
struct Ranks {
    rank: Vec<i32>,
    square: f64,
}

impl Ranks {
    /// Those of `values`, of so many hosts.
    fn new(values: &[f64], hosts: usize) -> Ranks {
        let mut order: Vec<(f64, usize)> =
            values.iter().take(hosts).enumerate().map(|(p, v)| (*v + 0.0, p)).filter(|v| v.0.is_finite()).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let n = order.len() as i32;
        let mut rank = vec![0; hosts];
        let mut below = 0;
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            let size = group.len() as i32;
            // The middle rank of the group, from 1, doubled, less the mean n + 1.
            group.iter().for_each(|g| rank[g.1] = 2 * below + size + 1 - (n + 1));
            below += size;
        }
        Ranks { square: rank.iter().map(|r| f64::from(*r).powi(2)).sum(), rank }
    }

    /// The standardised sum of the ranks of these hosts, squared.
    fn z2(&self, chosen: &[u32]) -> f64 {
        let sum: i64 = chosen.iter().map(|&i| i64::from(self.rank[i as usize])).sum();
        let (n, k) = (self.rank.len() as f64, chosen.len() as f64);
        let variance = k * (n - k) / (n * (n - 1.0)) * self.square;
        if variance > 0.0 { (sum as f64).powi(2) / variance } else { 0.0 }
    }
}

impl Separation {
    /// Draws bands at random, among the hosts of [`Separation::some`], and counts lines with a metric that lies as far out as `least`, the least of
    /// so many that `passed`. `one` of `all` hosts are in the band.
    fn judge(
        &mut self,
        rows: &[Ranks],
        lines: &[Vec<usize>],
        (passed, least): (usize, f64),
        (one, all): (usize, usize),
        seed: u64,
    ) {
        // The smaller side is summed: what one has, the other lacks. Of some hosts as large a share as of all.
        let (small, hosts) = (one.min(all - one), self.some.len());
        let small = if hosts == all {
            small
        } else {
            ((small as f64 * hosts as f64 / all as f64).round() as usize).clamp(1, hosts)
        };
        let mut rng = Rng::new(seed);
        let mut deck: Vec<u32> = (0..hosts as u32).collect();
        let drawn: Vec<Vec<u32>> = (0..PERMUTATIONS)
            .map(|_| {
                for i in 0..small {
                    let j = i + rng.below(deck.len() - i);
                    deck.swap(i, j);
                }
                deck[..small].to_vec()
            })
            .collect();
        let chunks: Vec<&[Vec<usize>]> = lines.chunks(lines.len().div_ceil(16).max(1)).collect();
        let parts = super::parallel(&chunks, |lines| {
            let mut counts = vec![0usize; PERMUTATIONS];
            let mut is = vec![false; PERMUTATIONS];
            for line in *lines {
                is.fill(false);
                for row in line.iter().map(|&i| &rows[i]) {
                    is.iter_mut().zip(&drawn).for_each(|(is, d)| *is = *is || row.z2(d) >= least);
                }
                counts.iter_mut().zip(&is).for_each(|(c, is)| *c += usize::from(*is));
            }
            counts
        });
        let mut counts: Vec<usize> = (0..PERMUTATIONS).map(|p| parts.iter().map(|c| c[p]).sum()).collect();
        counts.sort_unstable();
        let as_many = counts.len() - counts.partition_point(|c| *c < passed);
        self.chance = (1 + as_many) as f64 / (1 + PERMUTATIONS) as f64;
        self.by_chance = counts.iter().sum::<usize>() as f64 / PERMUTATIONS as f64;
        self.by_chance_high = counts[PERMUTATIONS * 95 / 100];
    }
}

/// Hosts that correlations are taken from, at most.
const CORRELATED: usize = 1_000;

/// Metrics by groups that move together, in order: each goes with the first before it that stands for itself and has a rank correlation of 0.9
/// with it.
fn together(rows: &[Ranks]) -> Vec<Vec<usize>> {
    let Some(first) = rows.first() else { return Vec::new() };
    // Of many hosts some, evenly by the first metric.
    let mut some: Vec<usize> = (0..first.rank.len()).collect();
    some.sort_by_key(|&i| (first.rank[i], i));
    let each = some.len().div_ceil(CORRELATED).max(1);
    let some: Vec<usize> = some.into_iter().step_by(each).collect();
    let unit: Vec<Vec<f32>> = super::parallel_by(rows, 64, |r| {
        let length = some.iter().map(|&i| f64::from(r.rank[i]).powi(2)).sum::<f64>().sqrt().max(1.0);
        some.iter().map(|&i| (f64::from(r.rank[i]) / length) as f32).collect()
    });
    let at_once = 500_000 / some.len().max(1);
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let mut groups = Vec::new();
    while let Some((&first, rest)) = left.split_first() {
        let near = super::parallel_by(rest, at_once, |&i| f64::from(product(&unit[first], &unit[i])).abs() >= TOGETHER);
        let (with, others): (Vec<(usize, bool)>, _) = rest.iter().copied().zip(near).partition(|x| x.1);
        groups.push(std::iter::once(first).chain(with.into_iter().map(|w| w.0)).collect());
        left = others.into_iter().map(|o| o.0).collect();
    }
    groups
}

/// Σ a b, eight at a time.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;

    fn slices(x: &[Vec<f64>]) -> Vec<&[f64]> {
        x.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn what_differs_is_listed_once_with_what_moves_with_it() {
        let mut rng = Rng::new(8);
        let sides: Vec<Option<bool>> = (0..64).map(|i| Some(i < 8)).collect();
        let mut made = synthetic::many(300, 2, 4.0, 0.7, &sides, &mut rng);
        made.push(made[105].iter().map(|v| -2.0 * v).collect());
        made[7][0] = f64::NAN;
        let s = metrics(&slices(&made), &sides, 1);
        let mut found: Vec<usize> = s.listed.iter().map(|d| d.metric).collect();
        found.sort_unstable();
        assert_eq!(found, [5, 105]);
        let with = s.listed.iter().find(|d| d.metric == 105).unwrap();
        assert!(with.with == [300] && with.separates() && with.shift.low > 2.0 && with.shift.high < 6.0, "{with:?}");
        assert!(s.by_chance < 1.0 && s.chance <= 0.01 && s.hosts_needed.is_none() && s.asked.len() == 301, "{s:?}");
        // Nobody is asked where the sides are not known.
        assert!(metrics(&slices(&made), &[None; 64], 1).asked.is_empty());
        assert!(metrics(&[], &sides, 1).listed.is_empty());
    }

    #[test]
    fn too_few_hosts_say_how_many_it_takes() {
        assert_eq!(hosts_needed(3, 24, 1229), Some(35));
        assert_eq!(hosts_needed(8, 64, 1229), None);
        assert_eq!(hosts_needed(0, 64, 1229), None);
        let needed = hosts_needed(8, 16, 1229).unwrap();
        assert!((17..=20).contains(&needed), "{needed}");
        let sides: Vec<Option<bool>> = (0..12).map(|i| Some(i < 2)).collect();
        let made = synthetic::many(300, 1, 9.0, 0.7, &sides, &mut Rng::new(8));
        let s = metrics(&slices(&made), &sides, 1);
        assert!(s.listed.is_empty() && s.hosts_needed.is_some_and(|n| n > 20), "{s:?}");
    }

    #[test]
    fn sides_leave_out_who_is_not_known() {
        let of = [Some(0), Some(1), None, Some(1), Some(2)];
        assert_eq!(sides(&of, 1, &[3, 9]), [Some(false), Some(true), None, None, Some(false)]);
    }
}
