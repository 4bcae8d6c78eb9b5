//! Metrics as machines make them, drawn at random: for the test and for the tables of docs/method.md.

use query::stats::{Comparer, Options, Series, fdr, is_material, rng::Rng};

/// What a metric does over time. The level is 1 unless the kind has its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Independent normal samples with this coefficient of variation.
    Noise(f64),
    /// Autocorrelation φ between samples and this coefficient of variation.
    Ar(f64, f64),
    /// A random walk with this step, from a level of 1 in both runs.
    Walk(f64),
    /// A random walk with this step hidden in noise of 10 %.
    HiddenWalk(f64),
    /// Switches between 0 and 1, and stays for this many samples on average.
    Bursts(f64),
    /// Independent Poisson counts with this mean.
    Counts(f64),
    /// Independent Pareto samples with this tail index (2 and less: no variance).
    Tail(f64),
    /// A sawtooth of this many samples, at a random phase, with noise of 5 %.
    Saw(f64),
    /// Independent in the baseline and autocorrelated with this φ in the other; variation of 20 % in both.
    Unlike(f64),
    /// Each metric draws one of the kinds above; half of them share a slow common cause within the run.
    Mixed,
}

/// All kinds, as the tables list them.
pub const KINDS: [Kind; 17] = [
    Kind::Noise(0.1),
    Kind::Noise(0.5),
    Kind::Ar(0.3, 0.2),
    Kind::Ar(0.6, 0.2),
    Kind::Ar(0.9, 0.2),
    Kind::Walk(0.03),
    Kind::HiddenWalk(0.02),
    Kind::Bursts(4.0),
    Kind::Bursts(15.0),
    Kind::Counts(0.2),
    Kind::Counts(3.0),
    Kind::Counts(100.0),
    Kind::Tail(1.5),
    Kind::Tail(3.0),
    Kind::Saw(20.0),
    Kind::Unlike(0.9),
    Kind::Mixed,
];

fn poisson(rng: &mut Rng, mean: f64) -> f64 {
    let (mut left, mut count) = (mean, 0.0);
    loop {
        left -= rng.exponential();
        if left < 0.0 {
            return count;
        }
        count += 1.0;
    }
}

/// One metric over `n` samples.
pub fn metric(rng: &mut Rng, kind: Kind, n: usize) -> Vec<f64> {
    match kind {
        Kind::Noise(cv) => (0..n).map(|_| 1.0 + cv * rng.normal()).collect(),
        Kind::Ar(phi, cv) => {
            let mut s = rng.normal();
            let step = |s: &mut f64, rng: &mut Rng| {
                *s = phi * *s + (1.0 - phi * phi).sqrt() * rng.normal();
                1.0 + cv * *s
            };
            (0..n).map(|_| step(&mut s, rng)).collect()
        }
        Kind::Walk(by) | Kind::HiddenWalk(by) => {
            let noise = if matches!(kind, Kind::HiddenWalk(_)) { 0.1 } else { 0.0 };
            let mut level = 1.0;
            (0..n)
                .map(|_| {
                    level += by * rng.normal();
                    level + noise * rng.normal()
                })
                .collect()
        }
        Kind::Bursts(stay) => {
            let mut on = rng.uniform() < 0.5;
            (0..n)
                .map(|_| {
                    on ^= rng.uniform() < 1.0 / stay;
                    f64::from(on)
                })
                .collect()
        }
        Kind::Counts(mean) => (0..n).map(|_| poisson(rng, mean)).collect(),
        Kind::Tail(index) => (0..n).map(|_| rng.uniform().powf(-1.0 / index)).collect(),
        Kind::Saw(period) => {
            let phase = rng.uniform() * period;
            (0..n).map(|t| 0.5 + ((t as f64 + phase) / period).fract() + 0.05 * rng.normal()).collect()
        }
        Kind::Unlike(_) => metric(rng, Kind::Noise(0.2), n),
        Kind::Mixed => {
            let kind = KINDS[rng.below(KINDS.len() - 1)];
            metric(rng, kind, n)
        }
    }
}

/// One run: `m` metrics of `n` samples. The kinds of a mixed run come from `seed`, so that both runs of a pair agree.
pub fn run(rng: &mut Rng, kind: Kind, seed: u64, m: usize, n: usize) -> Vec<Vec<f64>> {
    let mut kinds = Rng::new(seed);
    let common = metric(rng, Kind::Ar(0.8, 1.0), n);
    (0..m)
        .map(|_| {
            let of = if kind == Kind::Mixed { KINDS[kinds.below(KINDS.len() - 1)] } else { kind };
            let shared = if kind == Kind::Mixed && kinds.uniform() < 0.5 { 0.3 * kinds.normal() } else { 0.0 };
            let mut x = metric(rng, of, n);
            x.iter_mut().zip(&common).for_each(|(x, c)| *x += shared * (c - 1.0));
            x
        })
        .collect()
}

/// What one pair of runs lists.
pub struct Listed {
    /// Metrics listed by Benjamini and Yekutieli's q ≤ 0.05 and the region of practical equivalence of 5 %.
    pub listed: usize,
    /// The same by Benjamini and Hochberg's q.
    pub listed_bh: usize,
    /// Of the first `changed` metrics those that were listed.
    pub found: usize,
    /// Share of all p ≤ 0.05.
    pub small_p: f64,
}

/// Compares a run with another in which the first `changed` metrics are multiplied by `factor`.
#[allow(clippy::too_many_arguments)]
pub fn pair(
    comparer: &mut Comparer,
    rng: &mut Rng,
    kind: Kind,
    seed: u64,
    m: usize,
    n: usize,
    changed: usize,
    factor: f64,
) -> Listed {
    let a = run(rng, kind, seed, m, n);
    let of_other = if let Kind::Unlike(phi) = kind { Kind::Ar(phi, 0.2) } else { kind };
    let b = run(rng, of_other, seed, m, n);
    let results: Vec<_> = a
        .iter()
        .zip(&b)
        .enumerate()
        .map(|(i, (a, b))| {
            let by = if i < changed { factor } else { 1.0 };
            let b: Vec<f64> = b.iter().map(|x| x * by).collect();
            comparer.compare(&[Series::even(a)], &[Series::even(&b)], &Options::default())
        })
        .collect();
    let p: Vec<f64> = results.iter().map(|r| r.p.unwrap_or(f64::NAN)).collect();
    let list = |q: Vec<f64>| -> Vec<bool> {
        q.iter().zip(&results).map(|(&q, r)| q <= 0.05 && is_material(r, 0.05, 0.0)).collect()
    };
    let (by, bh) = (list(fdr::benjamini_yekutieli(&p)), list(fdr::benjamini_hochberg(&p)));
    let count = |l: &[bool]| l.iter().filter(|&&x| x).count();
    Listed {
        listed: count(&by),
        listed_bh: count(&bh),
        found: count(&by[..changed]),
        small_p: p.iter().filter(|&&p| p <= 0.05).count() as f64 / m.max(1) as f64,
    }
}
