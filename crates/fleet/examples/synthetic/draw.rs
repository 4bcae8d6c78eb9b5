//! What hosts that never were are like: drawn from a seed, the same however they are written.

use query::stats::rng::Rng;

/// Metrics of a group that move together.
const TOGETHER: usize = 4;

/// Metrics that differ between the bands.
const TRUE: usize = 10;

/// Facts of a host.
const FACTS: usize = 260;

/// Functions of its profile, in summaries.
const FUNCTIONS: usize = 40;

/// When recordings begin, ns since 1970 UTC.
pub const START: i64 = 1_790_000_000_000_000_000;

/// How long they are, s.
pub const SECONDS: i64 = 60;

/// A fleet to draw.
pub struct Fleet {
    /// How many hosts.
    pub hosts: usize,
    /// How many metrics, the pace among them.
    pub metrics: usize,
    /// Whether one host in eight is fast.
    pub banded: bool,
    /// Equal seeds give equal hosts.
    pub seed: u64,
}

/// A host.
pub struct Host {
    /// Its number, from 0.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Work per second.
    pub pace: f64,
    /// Levels of its metrics but for the pace.
    pub levels: Vec<f64>,
    /// Share of each function in its time on a CPU.
    pub functions: Vec<f64>,
}

impl Fleet {
    /// Its hosts, one after another.
    pub fn hosts(&self) -> impl Iterator<Item = Host> {
        let (mut rng, banded, metrics) = (Rng::new(self.seed), self.banded, self.metrics);
        (0..self.hosts).map(move |number| {
            let fast = banded && rng.uniform() < 0.125;
            // The fast ones are alike, the others spread.
            let pace = if fast { 2500.0 * (1.0 + 0.02 * rng.normal()) } else { 1000.0 * (0.2 * rng.normal()).exp() };
            let mut common = 0.0;
            let mut level = |metric: usize| {
                if metric.is_multiple_of(TOGETHER) {
                    common = rng.normal();
                }
                let differs = metric.is_multiple_of(TOGETHER * 8) && metric / (TOGETHER * 8) < TRUE;
                let shift = if fast && differs { 2.5 } else { 0.0 };
                100.0 * (0.1 * (0.95 * common + 0.3 * rng.normal() + shift)).exp()
            };
            let levels = (0..metrics.saturating_sub(1)).map(&mut level).collect();
            let functions = (0..FUNCTIONS).map(|_| 0.025 * (0.05 * rng.normal()).exp()).collect();
            Host { number, name: format!("host-{number:05}"), pace, levels, functions }
        })
    }
}

impl Host {
    /// Its facts: category, name, value.
    pub fn facts(&self) -> impl Iterator<Item = (&'static str, String, String)> {
        let zone = self.number % 3;
        (0..FACTS).map(move |fact| {
            let value = match fact {
                0 => "kernel 6.1".to_owned(),
                1 => format!("{zone}"),
                _ => format!("{}", fact * 7),
            };
            ("sysctl", format!("name{fact:03}"), value)
        })
    }

    /// What its own noise is drawn from, apart from what makes it.
    pub fn noise(&self) -> Rng {
        Rng::new(self.number as u64 ^ 0x6e6f_6973_6500_0000)
    }
}

/// Which table a metric is in, and its name there.
pub fn named(metric: usize) -> (String, String) {
    (format!("table{}", metric / 20), format!("metric{metric:04}"))
}
