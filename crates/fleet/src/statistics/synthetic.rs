//! Fleets drawn at random, planted or not: for tests, and for the tables of docs/method.md.

use query::stats::rng::Rng;

/// How the hosts of a fleet are spread by one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Normal, 10 % wide.
    Normal,
    /// Lognormal with a deviation of the logarithm of 0.5.
    Lognormal,
    /// Student's t with 3 degrees of freedom, 5 % wide.
    T3,
    /// Exponential.
    Exponential,
    /// Uniform from 100 to 200.
    Uniform,
    /// Evenly from 100 to 200, host by host.
    Gradient,
    /// Normal, and so many hosts each at 12 deviations on alternating sides.
    Strays(usize),
    /// One in eight fast within 8 %; the rest 2.5 times slower and spread over 25 %.
    OneInEight,
    /// Three bands of a third each, so many deviations apart.
    Three(f64),
    /// Two halves, so many deviations apart.
    Halves(f64),
    /// Two bands of equal width, so many deviations apart; the first has this share of the hosts.
    Two(f64, f64),
}

/// Shapes without bands, as the tables list them.
pub const EQUAL: [Shape; 8] = [
    Shape::Normal,
    Shape::Lognormal,
    Shape::T3,
    Shape::Exponential,
    Shape::Uniform,
    Shape::Gradient,
    Shape::Strays(1),
    Shape::Strays(2),
];

impl Shape {
    /// As the tables name it.
    pub fn title(self) -> String {
        match self {
            Shape::Normal => "normal".into(),
            Shape::Lognormal => "lognormal".into(),
            Shape::T3 => "t(3)".into(),
            Shape::Exponential => "exponential".into(),
            Shape::Uniform => "uniform".into(),
            Shape::Gradient => "a gradient".into(),
            Shape::Strays(1) => "normal, one stray at 12 SD".into(),
            Shape::Strays(n) => format!("normal, {n} strays at 12 SD"),
            Shape::OneInEight => "one in eight tight, the rest 2.5 times slower and wide".into(),
            Shape::Three(d) => format!("three bands {d} SD apart"),
            Shape::Halves(d) => format!("half and half, {d} SD apart"),
            Shape::Two(share, d) => format!("{share} of the hosts {d} SD apart"),
        }
    }

    /// The bands that the hosts really are in.
    pub fn bands(self, hosts: usize) -> Vec<usize> {
        let of = |first: f64| {
            let many = ((hosts as f64 * first).round() as usize).max(1);
            (0..hosts).map(|i| usize::from(i >= many)).collect()
        };
        match self {
            Shape::OneInEight => of(0.125),
            Shape::Halves(_) => of(0.5),
            Shape::Two(share, _) => of(share),
            Shape::Three(_) => (0..hosts).map(|i| (3 * i / hosts).min(2)).collect(),
            _ => vec![0; hosts],
        }
    }

    /// The true level of each host.
    fn levels(self, hosts: usize, rng: &mut Rng) -> Vec<f64> {
        let bands = self.bands(hosts);
        let apart = |d: f64, i: usize, z: f64| 100.0 * (0.1 * (z + d * bands[i] as f64)).exp();
        (0..hosts)
            .map(|i| {
                let z = rng.normal();
                match self {
                    Shape::Normal => 100.0 + 10.0 * z,
                    Shape::Lognormal => (0.5 * z).exp(),
                    Shape::T3 => {
                        let chi: f64 = (0..3).map(|_| rng.normal().powi(2)).sum();
                        100.0 + 5.0 * z / (chi / 3.0).sqrt()
                    }
                    Shape::Exponential => 100.0 * rng.exponential(),
                    Shape::Uniform => 100.0 + 100.0 * rng.uniform(),
                    Shape::Gradient => 100.0 + 100.0 * i as f64 / hosts as f64,
                    Shape::Strays(n) if i < n => {
                        if i % 2 == 0 {
                            220.0
                        } else {
                            10.0
                        }
                    }
                    Shape::Strays(_) => 100.0 + 10.0 * z,
                    Shape::OneInEight if bands[i] == 0 => 100.0 * (0.08 * z).exp(),
                    Shape::OneInEight => 250.0 * (0.25 * z).exp(),
                    Shape::Three(d) | Shape::Halves(d) | Shape::Two(_, d) => apart(d, i, z),
                }
            })
            .collect()
    }
}

/// One metric of a fleet, as [`super::bands::Values`] refers to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    /// Means over the whole window.
    pub whole: Vec<f64>,
    /// Over the even blocks.
    pub even: Vec<f64>,
    /// Over the odd blocks.
    pub odd: Vec<f64>,
    /// Standard errors of the whole.
    pub error: Vec<f64>,
}

impl Metric {
    /// As what is asked for bands.
    pub fn values<'a>(&'a self, name: &'a str) -> super::bands::Values<'a> {
        super::bands::Values { name, whole: &self.whole, even: &self.even, odd: &self.odd, error: &self.error }
    }
}

/// Blocks of time of a recording.
const BLOCKS: usize = 12;

/// Dependence between neighbouring blocks.
const PHI: f64 = 0.5;

/// A recording of each host: its level, and noise of `noise` (a fraction of the level) from block to block, each depending on the one before.
pub fn recorded(levels: &[f64], noise: f64, rng: &mut Rng) -> Metric {
    let mut m = Metric::default();
    for level in levels {
        let mut state = rng.normal();
        let mut sums = [0.0; 2];
        for b in 0..BLOCKS {
            sums[b % 2] += level * (1.0 + noise * state);
            state = PHI * state + (1.0 - PHI * PHI).sqrt() * rng.normal();
        }
        let half = (BLOCKS / 2) as f64;
        m.even.push(sums[0] / half);
        m.odd.push(sums[1] / half);
        m.whole.push((sums[0] + sums[1]) / BLOCKS as f64);
        // The error of a mean of blocks that depend on each other.
        m.error.push(level * noise * ((1.0 + PHI) / (1.0 - PHI) / BLOCKS as f64).sqrt());
    }
    m
}

/// One metric of a fleet of this shape, the hosts in the order of [`Shape::bands`].
pub fn metric(shape: Shape, hosts: usize, noise: f64, rng: &mut Rng) -> Metric {
    let levels = shape.levels(hosts, rng);
    recorded(&levels, noise, rng)
}

/// Many metrics of a fleet: groups of ten share a cause of their own in each host (`correlation` between any two), and in one of every hundred,
/// `planted` times, the hosts of `side` lie `shift` deviations higher. One value a host and metric.
pub fn many(
    metrics: usize,
    planted: usize,
    shift: f64,
    correlation: f64,
    side: &[Option<bool>],
    rng: &mut Rng,
) -> Vec<Vec<f64>> {
    let mut cause = Vec::new();
    (0..metrics)
        .map(|m| {
            if m % 10 == 0 {
                cause = side.iter().map(|_| rng.normal()).collect();
            }
            let higher = if m % 100 == 5 && m / 100 < planted { shift } else { 0.0 };
            let value = |(c, s): (&f64, &Option<bool>)| {
                let own = correlation.sqrt() * c + (1.0 - correlation).sqrt() * rng.normal();
                own + if *s == Some(true) { higher } else { 0.0 }
            };
            cause.iter().zip(side).map(value).collect()
        })
        .collect()
}

/// A host in slices: `before` up to slice `at`, then `after`, with `noise` (a fraction of the level) that depends on the slice before by `phi`.
pub fn course(slices: usize, at: usize, levels: (f64, f64), noise: f64, phi: f64, rng: &mut Rng) -> Vec<f64> {
    let mut state = rng.normal();
    (0..slices)
        .map(|i| {
            let value = (if i < at { levels.0 } else { levels.1 }) * (1.0 + noise * state);
            state = phi * state + (1.0 - phi * phi).sqrt() * rng.normal();
            value
        })
        .collect()
}
