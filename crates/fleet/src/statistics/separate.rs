//! Which metrics separate one band from the other hosts. The host is the unit: samples within a recording are not.
//!
//! Ranks only (Mann and Whitney's U), so that one host far out decides nothing; q-values of Benjamini and Hochberg; and 999 permutations of
//! the bands, which say how many metrics would be listed by chance however they depend on each other. If as many as there are would be, by 1 in
//! 20, none is listed. Give means over the blocks of time by which the bands were not found.

use query::stats::fdr::benjamini_hochberg;
use query::stats::rank::{Effect, Samples, hodges_lehmann, mann_whitney};
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

/// What separates the band.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Separation {
    /// Of each line that differs the metric that tells most hosts apart, in that order.
    pub listed: Vec<Difference>,
    /// All metrics that could be asked, in the order asked; [`Difference::with`] is empty here.
    pub asked: Vec<Difference>,
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
}

/// Asks all `metrics` (a slice each, one place a host; NaN: lacks it) what separates the `sides`. Metrics that move together, whatever the bands are,
/// are one line and one test (Simes, "An improved Bonferroni procedure for multiple tests of significance", Biometrika 73, 1986): ten names for one
/// thing cost no more than one, and one of ten that differs alone is found as if it stood alone.
pub fn metrics(metrics: &[&[f64]], sides: &[Option<bool>], seed: u64) -> Separation {
    let hosts: Vec<(usize, bool)> = sides.iter().enumerate().filter_map(|(i, s)| Some((i, (*s)?))).collect();
    let one = hosts.iter().filter(|h| h.1).count();
    let numbered: Vec<usize> = (0..metrics.len()).collect();
    let mut asked: Vec<Difference> =
        super::parallel(&numbered, |&i| difference(i, metrics[i], &hosts)).into_iter().flatten().collect();
    let rows: Vec<Ranks> = super::parallel(&asked, |d| Ranks::new(metrics[d.metric], &hosts));
    let lines = together(&rows);
    let q = benjamini_hochberg(&lines.iter().map(|l| simes(l.iter().map(|&i| asked[i].p))).collect::<Vec<_>>());
    lines.iter().zip(&q).for_each(|(l, q)| l.iter().for_each(|&i| asked[i].q = *q));
    let mut separation = Separation {
        lines: lines.len(),
        chance: 1.0,
        hosts_needed: hosts_needed(one, hosts.len(), lines.len()),
        ..Separation::default()
    };
    let passed: Vec<&Vec<usize>> = lines.iter().zip(&q).filter(|l| *l.1 <= LEVEL).map(|l| l.0).collect();
    if !passed.is_empty() {
        separation.judge(&rows, &lines, &passed, &hosts, seed);
        if separation.chance <= SURE {
            let apart = |d: &Difference| (d.superiority - 0.5).abs();
            let before = |a: &Difference, b: &Difference| {
                apart(b).total_cmp(&apart(a)).then(a.p.total_cmp(&b.p)).then(a.metric.cmp(&b.metric))
            };
            separation.listed = passed
                .iter()
                .filter_map(|line| {
                    let mut line: Vec<&Difference> = line.iter().map(|&i| &asked[i]).collect();
                    line.sort_by(|a, b| before(a, b));
                    let (first, with) = line.split_first()?;
                    Some(Difference { with: with.iter().map(|d| d.metric).collect(), ..(*first).clone() })
                })
                .collect();
            separation.listed.sort_by(before);
        }
    }
    separation.asked = asked;
    separation
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

fn difference(metric: usize, values: &[f64], hosts: &[(usize, bool)]) -> Option<Difference> {
    let of = |side: bool| {
        let value = |h: &(usize, bool)| values.get(h.0).copied().filter(|v| v.is_finite());
        hosts.iter().filter(|h| h.1 == side).filter_map(value).collect::<Vec<f64>>()
    };
    let (one, rest) = (of(true), of(false));
    let test = mann_whitney(&one, &rest, Samples::Independent)?;
    let shift = hodges_lehmann(&rest, &one, Samples::Independent, 0.05)?;
    Some(Difference {
        metric,
        hosts: (one.len(), rest.len()),
        middles: (super::median(&one), super::median(&rest)),
        p: test.p,
        q: f64::NAN,
        superiority: test.statistic / (one.len() as f64 * rest.len() as f64),
        shift,
        with: Vec::new(),
    })
}

/// The ranks of one metric around their mean, doubled so that they are whole numbers; 0 for a host that lacks it.
struct Ranks {
    rank: Vec<i32>,
    square: f64,
}

impl Ranks {
    fn new(values: &[f64], hosts: &[(usize, bool)]) -> Ranks {
        let value = |place: usize| values.get(hosts[place].0).copied().unwrap_or(f64::NAN) + 0.0;
        let mut order: Vec<(f64, usize)> =
            (0..hosts.len()).map(|p| (value(p), p)).filter(|v| v.0.is_finite()).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let n = order.len() as i32;
        let mut rank = vec![0; hosts.len()];
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
    /// Draws bands at random and counts lines with a metric that lies as far out as the least of those that `passed`.
    fn judge(
        &mut self,
        rows: &[Ranks],
        lines: &[Vec<usize>],
        passed: &[&Vec<usize>],
        hosts: &[(usize, bool)],
        seed: u64,
    ) {
        // The smaller side is summed: what one has, the other lacks.
        let one = hosts.iter().filter(|h| h.1).count();
        let small = 2 * one <= hosts.len();
        let seen: Vec<u32> = (0..hosts.len()).filter(|&i| hosts[i].1 == small).map(|i| i as u32).collect();
        let furthest = |line: &[usize]| line.iter().map(|&i| rows[i].z2(&seen)).fold(0.0, f64::max);
        let least = passed.iter().map(|l| furthest(l)).fold(f64::INFINITY, f64::min) * (1.0 - 1e-12);
        let mut rng = Rng::new(seed);
        let mut deck: Vec<u32> = (0..hosts.len() as u32).collect();
        let drawn: Vec<Vec<u32>> = (0..PERMUTATIONS)
            .map(|_| {
                for i in 0..seen.len() {
                    let j = i + rng.below(deck.len() - i);
                    deck.swap(i, j);
                }
                deck[..seen.len()].to_vec()
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
        let as_many = counts.len() - counts.partition_point(|c| *c < passed.len());
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
