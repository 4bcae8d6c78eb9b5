//! What each source costs here: microseconds for one read, and milliseconds per second at an interval of one second.
//!
//! ```text
//! cargo run --release -p twinscope-sources --example read_cost [-- [--root FOLDER] SOURCE…]
//! ```
//!
//! `--root` reads the `/proc` and `/sys` of another folder, such as a simulated large machine; what the kernel does to make
//! the text is then not in the numbers.

use clap::Parser;
use clap::builder::PossibleValuesParser;
use host::Host;
use model::{Out, Rows, Symbols};
use sources::{ALL, Pace, Scope, Source};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What each source costs here
#[derive(Parser)]
struct Options {
    /// Read the `/proc` and `/sys` of this folder
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,

    /// Only these sources
    #[arg(value_name = "SOURCE", value_parser = PossibleValuesParser::new(ALL.iter().map(|source| source.name)))]
    wanted: Vec<String>,
}

fn main() {
    let Options { root, wanted } = Options::parse();
    let host = root.map_or_else(Host::live, Host::at);
    println!(
        "{:16} {:>9} {:>9} {:>9} {:>6} {:>9} {:>8}",
        "source", "open µs", "first µs", "read µs", "rows", "pace", "ms/s"
    );
    let mut sum = 0.0;
    for source in ALL.iter().filter(|s| wanted.is_empty() || wanted.iter().any(|w| w == s.name)) {
        match cost(source, &host) {
            Ok(per_second) => sum += per_second,
            Err(why) => println!("{:16} {why}", source.name),
        }
    }
    println!("{:16} {:>64.3}", "all", sum);
}

/// Prints the cost of one source, and returns milliseconds per second.
fn cost(source: &Source, host: &Host) -> Result<f64, model::Unavailable> {
    let start = Instant::now();
    let mut reader = (source.open)(host, &Scope::default())?;
    let open = start.elapsed();
    let at_least = reader.at_least();
    let (mut symbols, mut coverage, mut facts) = (Symbols::default(), Vec::new(), Vec::new());
    let mut rows = vec![Rows::default(); source.tables.len()];
    let mut times: Vec<Duration> = Vec::new();
    let begin = Instant::now();
    while times.len() < 3 || (times.len() < 300 && begin.elapsed() < Duration::from_millis(500)) {
        for table in &mut rows {
            table.cells.clear();
        }
        let mut out = Out::new(source.name, source.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        let start = Instant::now();
        reader.read(host, &mut out)?;
        times.push(start.elapsed());
    }
    let first = times.first().copied().unwrap_or_default();
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let (pace, every) = match source.pace {
        Pace::Once => ("once".to_owned(), f64::INFINITY),
        Pace::Tick if at_least == 0 => ("tick".to_owned(), 1.0),
        Pace::Tick => (format!("{at_least} s"), at_least as f64),
        Pace::AtLeast(seconds) => (format!("{} s", seconds.max(at_least)), seconds.max(at_least).max(1) as f64),
    };
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let per_second = micros(median) / 1e3 / every;
    let count: usize = rows.iter().map(Rows::len).sum();
    println!(
        "{:16} {:>9.0} {:>9.0} {:>9.1} {count:>6} {pace:>9} {per_second:>8.3}",
        source.name,
        micros(open),
        micros(first),
        micros(median),
    );
    Ok(per_second)
}
