//! How often bands are found where there are none, and where there are some; the same of what separates, and of since when: the tables of
//! docs/method.md.
//!
//! `cargo run --release -p twinscope-fleet --example fleet_simulation -- [--fleets 200] [--seed N] [TABLE…]`; without a TABLE all but `shown`,
//! which makes the distances of `statistics/shown.rs`.

mod bands;
mod separate;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use query::stats::rng::Rng;
use std::time::Instant;

/// How often bands are found where there are none, and where there are some: the tables of docs/method.md
#[derive(Parser)]
pub struct Options {
    /// Fleets in each cell
    #[arg(long, value_name = "N", default_value_t = 200)]
    fleets: usize,

    #[arg(long, value_name = "N", default_value_t = 20_261_126)]
    seed: u64,

    /// Only these [default: all but `shown`]
    #[arg(value_name = "TABLE", value_parser = PossibleValuesParser::new(TABLES.map(|table| table.0)))]
    tables: Vec<String>,
}

type Table = (&'static str, fn(&Options));

const TABLES: [Table; 6] = [
    ("equal", bands::equal),
    ("bands", bands::planted),
    ("shown", bands::shown),
    ("separate", separate::separation),
    ("since", separate::since),
    ("time", separate::time),
];

fn seed(options: &Options, hosts: usize, fleet: usize) -> Rng {
    Rng::new(options.seed.wrapping_mul(1_000_003) ^ (hosts as u64) << 32 ^ fleet as u64)
}

fn percent(count: usize, of: usize) -> String {
    format!("{:.1}", 100.0 * count as f64 / of.max(1) as f64)
}

fn main() {
    let options = Options::parse();
    let asked = &options.tables;
    let wanted = |name: &str| if asked.is_empty() { name != "shown" } else { asked.iter().any(|a| a == name) };
    for (name, table) in TABLES.iter().filter(|t| wanted(t.0)) {
        let begin = Instant::now();
        println!("\n{name}, {} fleets a cell, seed {}\n", options.fleets, options.seed);
        table(&options);
        println!("\n{:.0} s", begin.elapsed().as_secs_f64());
    }
}
