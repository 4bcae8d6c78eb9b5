//! Hosts that never were, to try the program on fleets of any size: as a folder of summaries, or as recordings that `fleet add` reduces to one.
//!
//! usage: cargo run --release -p twinscope-fleet --example synthetic -- FLEET [--hosts 5000] [--metrics 1200] [--bands no|eighth] [--seed 1]
//!        cargo run --release -p twinscope-fleet --example synthetic -- --twin DIR [--hosts 200] …
//!
//! With `eighth` one host in eight is 2.5 times as fast, and ten metrics differ with it. Metrics come in groups of four that move together. Hosts of one
//! seed are the same both ways; their recordings are of a minute, with a value each second. At most 500 are written as recordings.

mod draw;
mod recordings;
mod summaries;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use draw::Fleet;
use std::path::PathBuf;

/// Recordings that are written at most: each takes half a megabyte.
const MOST: usize = 500;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Bands {
    No,
    /// One host in eight is fast
    Eighth,
}

/// Hosts that never were, to try the program on fleets of any size
#[derive(Parser)]
struct Options {
    /// The folder of summaries
    #[arg(value_name = "FLEET", required_unless_present = "recordings", value_parser = output())]
    summaries: Option<PathBuf>,

    /// Write recordings into this folder
    #[arg(long = "twin", value_name = "DIR", value_parser = output())]
    recordings: Option<PathBuf>,

    /// How many [default: 5000, as recordings 200]
    #[arg(long, value_name = "N")]
    hosts: Option<usize>,

    /// Metrics of each host
    #[arg(long, value_name = "N", default_value_t = 1200)]
    metrics: usize,

    #[arg(long, value_enum, default_value_t = Bands::Eighth)]
    bands: Bands,

    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn output() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(files::plain_name)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let hosts = options.hosts.unwrap_or(if options.recordings.is_some() { 200 } else { 5000 });
    if options.recordings.is_some() && hosts > MOST {
        let why = format!("--twin writes {MOST} recordings at most: name a folder of summaries for more");
        Options::command().error(ErrorKind::ValueValidation, why).exit();
    }
    let fleet = Fleet { hosts, metrics: options.metrics, banded: options.bands == Bands::Eighth, seed: options.seed };
    if let Some(folder) = &options.summaries {
        summaries::write(&fleet, folder)?;
    }
    if let Some(folder) = &options.recordings {
        recordings::write(&fleet, folder)?;
    }
    Ok(())
}
