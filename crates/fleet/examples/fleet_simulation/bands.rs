//! Tables of bands.

use crate::{Options, percent, seed};
use fleet::statistics::bands::{self, Ask, Values};
use fleet::statistics::shown::{HOSTS, SHARES};
use fleet::statistics::synthetic::{self, EQUAL, Metric, Shape};

/// Metrics that are asked by default: the pace, CPU time, CPU use, run-queue wait, states.
const ASKED: usize = 12;

/// Metrics of which any may divide the hosts.
const ANY: usize = 300;

/// Noise from block to block, a fraction of the level.
const NOISE: f64 = 0.05;

/// Fleets without bands.
pub fn equal(options: &Options) {
    let sizes = [24, 64, 200, 1000];
    println!("Fleets in which a band is named, in %: by {ASKED} metrics asked; by the first alone.\n");
    println!("| hosts are spread | {} |", sizes.map(|n| format!("{n} hosts")).join(" | "));
    println!("|---|{}", "---|".repeat(sizes.len()));
    for shape in EQUAL {
        let cells = sizes.map(|n| {
            let (mut any, mut first) = (0, 0);
            for f in 0..options.fleets {
                let mut rng = seed(options, n, f);
                let made: Vec<Metric> = (0..ASKED).map(|_| synthetic::metric(shape, n, NOISE, &mut rng)).collect();
                let values: Vec<Values> = made.iter().map(|m| m.values("")).collect();
                let answer = bands::ask(&values, &Ask::default());
                any += usize::from(!answer.bandings.is_empty());
                first += usize::from(answer.bandings.iter().any(|b| b.metrics[0] == 0));
            }
            format!("{}; {}", percent(any, options.fleets), percent(first, options.fleets))
        });
        println!("| {} | {} |", shape.title(), cells.join(" | "));
    }
    let cells = sizes.map(|n| {
        let mut any = 0;
        for f in 0..options.fleets {
            let mut rng = seed(options, n, f);
            let made: Vec<Metric> = (0..ANY)
                .map(|m| synthetic::metric(EQUAL[m % EQUAL.len()], n, [0.02, 0.05, 0.2][m % 3], &mut rng))
                .collect();
            let values: Vec<Values> = made.iter().map(|m| m.values("")).collect();
            any += usize::from(!bands::ask(&values, &Ask { by_any: true, ..Ask::default() }).bandings.is_empty());
        }
        percent(any, options.fleets)
    });
    println!("| all of these, by any of {ANY} metrics | {} |", cells.join(" | "));
}

/// Fleets with bands.
pub fn planted(options: &Options) {
    let sizes = [24, 32, 64, 128, 512];
    println!(
        "Bands found by the first of {ASKED} metrics, in %; with the right number of them; hosts in the right band of those decided; undecided.\n"
    );
    println!("| hosts are spread | {} |", sizes.map(|n| format!("{n} hosts")).join(" | "));
    println!("|---|{}", "---|".repeat(sizes.len()));
    for shape in [Shape::OneInEight, Shape::Three(5.0), Shape::Halves(4.0)] {
        let cells = sizes.map(|n| {
            let truth = shape.bands(n);
            let many = 1 + truth.iter().copied().max().unwrap_or(0);
            let (mut found, mut exact, mut right, mut wrong, mut undecided) = (0, 0, 0, 0, 0);
            for f in 0..options.fleets {
                let mut rng = seed(options, n, f);
                let m = synthetic::metric(shape, n, NOISE, &mut rng);
                let of = bands::find(&m.values(""), 0.04, options.seed);
                found += usize::from(of.banded());
                if of.bands.len() == many {
                    exact += 1;
                    for (i, band) in of.of.iter().enumerate() {
                        if of.undecided.contains(&i) {
                            undecided += 1;
                        } else if *band == Some(truth[i]) {
                            right += 1;
                        } else {
                            wrong += 1;
                        }
                    }
                }
            }
            format!(
                "{}; {}; {}; {}",
                percent(found, options.fleets),
                percent(exact, options.fleets),
                percent(right, right + wrong),
                percent(undecided, exact * n)
            )
        });
        println!("| {} | {} |", shape.title(), cells.join(" | "));
    }
}

/// The distances of `statistics/shown.rs`: the least, in steps of 0.1, at which bands are found in 80 % of fleets; by halving.
pub fn shown(options: &Options) {
    for n in HOSTS {
        let row = SHARES.map(|share| {
            let found = |distance: f64| {
                let fleets: Vec<usize> = (0..options.fleets).collect();
                let hits = fleets.iter().filter(|&&f| {
                    let mut rng = seed(options, n, f);
                    let m = synthetic::metric(Shape::Two(share, distance), n, NOISE / 2.0, &mut rng);
                    bands::find(&m.values(""), 0.04, options.seed).banded()
                });
                hits.count() as f64 >= 0.8 * options.fleets as f64
            };
            let (mut low, mut high) = (20, 120);
            if !found(0.1 * f64::from(high)) {
                return "f64::INFINITY".to_string();
            }
            while high - low > 1 {
                let middle = (low + high) / 2;
                if found(0.1 * f64::from(middle)) { high = middle } else { low = middle }
            }
            format!("{:.1}", 0.1 * f64::from(high))
        });
        println!("    [{}], // {n} hosts", row.join(", "));
    }
}
