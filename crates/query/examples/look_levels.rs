//! At which level one may look several times: the table of `stats/pairs/looks.rs`.
//! `cargo run --release -p twinscope-query --example look_levels`, a minute on one CPU.
//!
//! Sessions in which signs are random and the sizes come in an order of which each is as likely: the rank of the next size
//! among those so far is drawn, and its sign. Then the same for sizes that only grow and only fall.

use clap::Parser;
use query::stats::pairs::{looks, null};
use query::stats::rng::Rng;

/// Sessions that are drawn.
const SESSIONS: usize = 4_000_000;
/// Sessions of more than 60 blocks, which take longer.
const LONG: usize = 1_000_000;
/// P-values are counted in bins of a twentieth of a per cent.
const FINE: f64 = 2000.0;
const BINS: usize = 30_000;

#[derive(Clone, Copy, PartialEq)]
enum Sizes {
    Any,
    Grow,
    Fall,
}

/// For each number of blocks that can be the last: how many sessions have their least p-value of all looks in each bin.
fn simulate(sessions: usize, most: usize, sizes: Sizes) -> Vec<Vec<u32>> {
    let p: Vec<Vec<f64>> = (0..=most).map(null).collect();
    let plans: Vec<Vec<usize>> = (0..=most).map(looks::planned).collect();
    let mut least = vec![vec![0u32; BINS + 1]; most + 1];
    let mut rng = Rng::new(24);
    let mut signs: Vec<u8> = Vec::with_capacity(most);
    let mut seen = vec![1.0f64; most + 1];
    for _ in 0..sessions {
        signs.clear();
        let (mut plus, mut bits) = (0, 0);
        for n in 1..=most {
            let place = match sizes {
                Sizes::Any => rng.below(n),
                Sizes::Grow => n - 1,
                Sizes::Fall => 0,
            };
            if n % 64 == 1 {
                bits = rng.bits();
            }
            let sign = (bits & 1) as u8;
            bits >>= 1;
            // All above move up by one rank.
            plus += signs[place..].iter().map(|s| usize::from(*s)).sum::<usize>() + usize::from(sign) * (place + 1);
            signs.insert(place, sign);
            seen[n] = 2.0 * p[n].get(plus.min(n * (n + 1) / 2 - plus)).copied().unwrap_or(0.5);
            if let Some(p) = plans[n].iter().map(|look| seen[*look]).reduce(f64::min) {
                least[n][((-p.ln() * FINE) as usize).min(BINS)] += 1;
            }
        }
    }
    least
}

/// P(least p-value ≤ level) for the least p of each bin, from the smallest on.
fn together(bins: &[u32]) -> impl Iterator<Item = (f64, f64)> {
    let all: f64 = bins.iter().map(|n| f64::from(*n)).sum();
    let mut sum = 0.0;
    bins.iter().enumerate().rev().map(move |(bin, n)| {
        sum += f64::from(*n);
        ((-(bin as f64 + 1.0) / FINE).exp(), sum / all)
    })
}

/// At which level one may look several times: the table of `stats/pairs/looks.rs`
#[derive(Parser)]
struct Options {}

fn main() {
    Options::parse();
    let most = *looks::PLANNED.last().unwrap();
    let long = simulate(LONG, most, Sizes::Any);
    let short = simulate(SESSIONS, 60, Sizes::Any);
    let of = |blocks: usize| if blocks <= 60 { &short[blocks] } else { &long[blocks] };
    let grow = simulate(LONG, most, Sizes::Grow);
    let fall = simulate(LONG, most, Sizes::Fall);
    let level = |bins: &[u32]| together(bins).take_while(|(_, all)| *all <= 0.05).last().unwrap().0;
    let worth =
        |bins: &[u32]| together(bins).filter(|x| x.0 <= 0.05 && x.1 > 2e-4).map(|x| x.1 / x.0).fold(0.0, f64::max);
    let at = |bins: &[u32], level: f64| 100.0 * together(bins).take_while(|x| x.0 <= level).last().unwrap().1;
    println!(
        "blocks  level at 5 %  least of the last looks before  worth of all looks  wrong with the level in use: any order, growing, falling sizes"
    );
    for (i, &blocks) in looks::PLANNED.iter().enumerate() {
        let alike: Vec<usize> = (8..=most).filter(|n| looks::planned(*n).len() == i + 1).collect();
        let between = alike.iter().map(|n| level(of(*n))).fold(1.0, f64::min);
        let worth = alike.iter().map(|n| worth(of(*n))).fold(0.0, f64::max);
        let used = looks::level(blocks, 0.05);
        println!(
            "{blocks:>6}  {:.5}  {between:.5}  {worth:.2}  {used:.5}: {:.2} %, {:.2} %, {:.2} %",
            level(of(blocks)),
            at(of(blocks), used),
            at(&grow[blocks], used),
            at(&fall[blocks], used)
        );
    }
}
