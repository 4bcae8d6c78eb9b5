//! Which metrics separate one band from the other hosts. The host is the unit: samples within a recording are not.
//!
//! Ranks only (Mann and Whitney's U), so that one host far out decides nothing; q-values of Benjamini and Hochberg; and 999 permutations of
//! the bands, which say how many metrics would be listed by chance however they depend on each other. If as many as there are would be, by 1 in
//! 20, none is listed. Give means over the blocks of time by which the bands were not found.

use query::stats::fdr::benjamini_hochberg;
use query::stats::rank::{Effect, Samples, hodges_lehmann, mann_whitney};
use query::stats::rng::Rng;
use query::stats::special::ln_choose;

/// A metric is listed up to this q-value, and where its permutations say no more.
pub const LEVEL: f64 = 0.05;

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
    /// The share of false ones among all that are listed at this p-value.
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
    /// One of each group that moves together, those that tell most hosts apart first.
    pub listed: Vec<Difference>,
    /// All metrics that could be asked, in the order asked; [`Difference::with`] is empty here.
    pub asked: Vec<Difference>,
    /// How many metrics are listed, with those that move with others.
    pub count: usize,
    /// How many would be listed at the same p-value if the bands were drawn at random: the mean.
    pub by_chance: f64,
    /// The same, as many as are not exceeded in 95 of 100 draws.
    pub by_chance_high: usize,
    /// How many draws in a whole list as many or more (a p-value); 1 where nothing passed the q-values.
    pub chance: f64,
    /// Where so few hosts are there that nothing could be listed whatever they say: how many are needed at this share.
    pub hosts_needed: Option<usize>,
}

/// Asks all `metrics` (a slice each, one place a host; NaN: lacks it) what separates the `sides`.
pub fn metrics(metrics: &[&[f64]], sides: &[Option<bool>], seed: u64) -> Separation {
    let hosts: Vec<(usize, bool)> = sides.iter().enumerate().filter_map(|(i, s)| Some((i, (*s)?))).collect();
    let one = hosts.iter().filter(|h| h.1).count();
    let numbered: Vec<usize> = (0..metrics.len()).collect();
    let mut asked: Vec<Difference> =
        super::parallel(&numbered, |&i| difference(i, metrics[i], &hosts)).into_iter().flatten().collect();
    let mut separation = Separation { chance: 1.0, ..Separation::default() };
    let q = benjamini_hochberg(&asked.iter().map(|d| d.p).collect::<Vec<_>>());
    asked.iter_mut().zip(q).for_each(|(d, q)| d.q = q);
    separation.hosts_needed = hosts_needed(one, hosts.len(), asked.len());
    let passed: Vec<usize> = (0..asked.len()).filter(|&i| asked[i].q <= LEVEL).collect();
    if !passed.is_empty() {
        let rows: Vec<Ranks> = super::parallel(&asked, |d| Ranks::new(metrics[d.metric], &hosts));
        separation.judge(&rows, &passed, &hosts, seed);
        if separation.chance <= LEVEL {
            separation.count = passed.len();
            separation.listed = together(&asked, &rows, &passed);
        }
    }
    separation.asked = asked;
    separation
}

/// How many hosts it takes, at this share, until the least p-value that there can be, times the number of metrics, is 0.05. `None` where there
/// are enough, or nothing is asked.
pub fn hosts_needed(one: usize, all: usize, metrics: usize) -> Option<usize> {
    let enough = |one: usize, all: usize| {
        let least = std::f64::consts::LN_2 - ln_choose(all as u64, one as u64);
        least + (metrics as f64).ln() <= LEVEL.ln()
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

    fn correlation(&self, other: &Ranks) -> f64 {
        let product: f64 = self.rank.iter().zip(&other.rank).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        product / (self.square * other.square).sqrt()
    }
}

impl Separation {
    /// Draws bands at random and counts what would be listed.
    fn judge(&mut self, rows: &[Ranks], passed: &[usize], hosts: &[(usize, bool)], seed: u64) {
        // The smaller side is summed: what one has, the other lacks.
        let one = hosts.iter().filter(|h| h.1).count();
        let small = 2 * one <= hosts.len();
        let seen: Vec<u32> = (0..hosts.len()).filter(|&i| hosts[i].1 == small).map(|i| i as u32).collect();
        let least = passed.iter().map(|&i| rows[i].z2(&seen)).fold(f64::INFINITY, f64::min) * (1.0 - 1e-12);
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
        let chunks: Vec<&[Ranks]> = rows.chunks(rows.len().div_ceil(16).max(1)).collect();
        let parts = super::parallel(&chunks, |rows| {
            let mut counts = vec![0usize; PERMUTATIONS];
            for row in *rows {
                counts.iter_mut().zip(&drawn).for_each(|(c, d)| *c += usize::from(row.z2(d) >= least));
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

/// Puts metrics that move together into one line, named by the one that tells most hosts apart.
fn together(asked: &[Difference], rows: &[Ranks], passed: &[usize]) -> Vec<Difference> {
    let mut order = passed.to_vec();
    let apart = |i: usize| (asked[i].superiority - 0.5).abs();
    order.sort_by(|&a, &b| apart(b).total_cmp(&apart(a)).then(asked[a].p.total_cmp(&asked[b].p)).then(a.cmp(&b)));
    let mut listed = Vec::new();
    while !order.is_empty() {
        let first = order.remove(0);
        let near = super::parallel_by(&order, 64, |&i| rows[first].correlation(&rows[i]).abs() >= TOGETHER);
        let mut with = Vec::new();
        let mut near = near.into_iter();
        order.retain(|&i| {
            let is = near.next().unwrap_or(false);
            if is {
                with.push(asked[i].metric);
            }
            !is
        });
        listed.push(Difference { with, ..asked[first].clone() });
    }
    listed
}
