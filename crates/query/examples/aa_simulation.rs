//! How often two equal runs list anything, and how often a real difference is found: the tables of docs/method.md.
//!
//! `cargo run --release -p twinscope-query --example aa_simulation [PAIRS [KIND]]`; with a KIND (the start of its name) only its row.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use clap::Parser;
use query::stats::{Comparer, Options, Series, rng::Rng};
use simulation::{KINDS, Kind, metric, pair};
use std::time::Instant;

const METRICS: usize = 300;

/// How often two equal runs list anything, and how often a real difference is found
#[derive(Parser)]
struct Arguments {
    /// Pairs of runs in each cell
    #[arg(default_value_t = 200)]
    pairs: usize,

    /// Only the kind of metric whose name begins so
    kind: Option<String>,
}

fn main() {
    let Arguments { pairs, kind: only } = Arguments::parse();
    let mut comparer = Comparer::new();
    println!(
        "A/A: {pairs} pairs a cell, {METRICS} metrics a pair. Pairs that list anything, in % (with Benjamini-Hochberg); share of p ≤ 0.05 in %.\n"
    );
    let lengths = [8, 12, 20, 30, 60, 120];
    println!("| kind of metric | {} |", lengths.map(|n| format!("n = {n}")).join(" | "));
    println!("|---|{}", "---|".repeat(lengths.len()));
    for kind in KINDS.into_iter().filter(|k| only.as_ref().is_none_or(|o| format!("{k:?}").starts_with(o))) {
        let cells = lengths.map(|n| {
            // Not the seeds that the constants were chosen on.
            let mut rng = Rng::new(1000 + n as u64);
            let (mut any, mut any_bh, mut small) = (0, 0, 0.0);
            for i in 0..pairs {
                let l = pair(&mut comparer, &mut rng, kind, 10_000 + i as u64, METRICS, n, 0, 1.0);
                any += usize::from(l.listed > 0);
                any_bh += usize::from(l.listed_bh > 0);
                small += 100.0 * l.small_p / pairs as f64;
            }
            let percent = |x: usize| 100.0 * x as f64 / pairs as f64;
            format!("{:.1} ({:.1}); {small:.1}", percent(any), percent(any_bh))
        });
        println!("| {kind:?} | {} |", cells.join(" | "));
    }

    if only.is_some() {
        return;
    }
    println!("\nPower: metrics found of those that changed, in %, for noise that is independent.\n");
    println!("| n | noise | change | alone | 1 of {METRICS} | 30 of {METRICS} |\n|---|---|---|---|---|---|");
    for n in [8, 12, 20, 30, 60, 120] {
        for (cv, factor) in [(0.05, 1.1), (0.05, 1.2), (0.1, 1.2), (0.1, 1.5), (0.3, 1.5), (0.3, 2.0)] {
            let found = [(1, 1), (METRICS, 1), (METRICS, 30)].map(|(m, changed)| {
                let mut rng = Rng::new(99);
                let times = if m == 1 { 400 } else { (pairs / 4).max(20) };
                let found: usize = (0..times)
                    .map(|i| pair(&mut comparer, &mut rng, Kind::Noise(cv), i as u64, m, n, changed, factor).found)
                    .sum();
                format!("{:.0}", 100.0 * found as f64 / (times * changed) as f64)
            });
            println!("| {n} | {:.0} % | +{:.0} % | {} |", cv * 100.0, (factor - 1.0) * 100.0, found.join(" | "));
        }
    }

    let mut rng = Rng::new(4);
    for (name, factor) in [("equal", 1.0), ("a third differs by 50 %", 1.5)] {
        let data: Vec<_> = (0..2000)
            .map(|i| {
                let by = if i % 3 == 0 { factor } else { 1.0 };
                let kind = KINDS[i % (KINDS.len() - 1)];
                let b = metric(&mut rng, kind, 60).iter().map(|x| x * by).collect::<Vec<_>>();
                (Series::even(&metric(&mut rng, kind, 60)), Series::even(&b))
            })
            .collect();
        let mut comparer = Comparer::new();
        let mut once = || {
            let begin = Instant::now();
            let resampled = data
                .iter()
                .filter(|(a, b)| {
                    let (a, b) = (std::slice::from_ref(a), std::slice::from_ref(b));
                    comparer.compare(a, b, &Options::default()).bootstrapped
                })
                .count();
            (begin.elapsed().as_secs_f64() * 1e3, resampled)
        };
        let times: Vec<(f64, usize)> = (0..5).map(|_| once()).collect();
        let best = times.iter().map(|t| t.0).fold(f64::INFINITY, f64::min);
        println!(
            "\nTime for 2,000 metrics × 60 samples × 2 runs ({name}): {best:.0} ms (best of 5), {} bootstrapped",
            times[0].1
        );
    }
}
