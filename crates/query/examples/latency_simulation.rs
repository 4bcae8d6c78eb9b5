//! How often quantiles of latency are called different: of equal runs, and where they are. For docs/method.md:
//! `cargo run --release -p twinscope-query --example latency_simulation 40`.

use clap::Parser;
use query::stats::fdr::benjamini_hochberg;
use query::stats::histogram::Histogram;
use query::stats::{Options, rng::Rng};

/// What is compared.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// A server: 200 requests in each stretch, around a level that varies by a share `drift` with autocorrelation `phi`; `slow` of them take ten times as long.
/// How many do varies with the load too, and in one stretch of a hundred it is a fifth.
#[derive(Clone, Copy)]
struct Server {
    stretches: usize,
    phi: f64,
    drift: f64,
    /// Times as long as usual.
    times: f64,
    slow: f64,
}

fn run(rng: &mut Rng, server: Server) -> Histogram {
    let edge = |i: u32| 2f64.powf(f64::from(i) / 16.0);
    let mut histogram = Histogram::new((0..16 * 40).map(|i| (edge(i), edge(i + 1))).collect());
    let Server { stretches, phi, drift, times, slow } = server;
    let (mut level, mut tail, mut counts) = (rng.normal(), rng.normal(), Vec::new());
    for stretch in 0..stretches {
        level = phi * level + (1.0 - phi * phi).sqrt() * rng.normal();
        tail = phi * tail + (1.0 - phi * phi).sqrt() * rng.normal();
        let share = if rng.uniform() < 0.01 { 0.2 } else { slow * (10.0 * drift * tail).exp() };
        for _ in 0..200 {
            let long = if rng.uniform() < share { 10.0 } else { 1.0 };
            let time = 1e6 * times * long * (drift * level + 0.3 * rng.normal()).exp();
            counts.push((stretch, (time.log2() * 16.0) as usize, 1.0));
        }
    }
    histogram.add(stretches, 4, counts);
    histogram
}

/// How often quantiles of latency are called different: of equal runs, and where they are
#[derive(Parser)]
struct Arguments {
    /// Pairs of runs for each line
    #[arg(default_value_t = 40)]
    pairs: u64,
}

fn main() {
    let Arguments { pairs } = Arguments::parse();
    for stretches in [20, 60, 120] {
        for phi in [0.7, 0.95] {
            let usual = Server { stretches, phi, drift: 0.05, times: 1.0, slow: 0.004 };
            let varied = Server { drift: 0.1, ..usual };
            for (what, a, b) in [
                ("equal, 5 %", usual, usual),
                ("equal, 10 %", varied, varied),
                ("1.2 times as long", usual, Server { times: 1.2, ..usual }),
                ("1.5 times as long", usual, Server { times: 1.5, ..usual }),
                ("six times as many slow", usual, Server { slow: 0.024, ..usual }),
            ] {
                let differs = |seed: &u64| {
                    let mut rng = Rng::new(1 + 7 * seed);
                    let (a, b) = (run(&mut rng, a), run(&mut rng, b));
                    let found = a.compare(&b, &QUANTILES, &Options::default());
                    let q = benjamini_hochberg(&found.iter().map(|c| c.p.unwrap_or(f64::NAN)).collect::<Vec<_>>());
                    let far = |low: f64, high: f64| low > 1.05 || high < 0.95;
                    found.iter().zip(q).any(|(c, q)| q <= 0.01 && c.ratio.is_some_and(|r| far(r.low, r.high)))
                };
                let found = (0..pairs).filter(differs).count();
                println!("{stretches} stretches, autocorrelation {phi}, {what}: {found} of {pairs}");
            }
        }
    }
}
