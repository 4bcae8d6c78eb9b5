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

use draw::Fleet;
use std::path::PathBuf;

/// Recordings that are written at most: each takes half a megabyte.
const MOST: usize = 500;

struct Options {
    summaries: Option<PathBuf>,
    recordings: Option<PathBuf>,
    fleet: Fleet,
}

fn options() -> Result<Options, String> {
    let mut all = std::env::args().skip(1);
    let fleet = Fleet { hosts: 0, metrics: 1200, banded: true, seed: 1 };
    let mut options = Options { summaries: None, recordings: None, fleet };
    while let Some(word) = all.next() {
        let mut value = || all.next().ok_or(format!("{word}: a value is missing"));
        let number = |text: String| text.parse::<usize>().map_err(|e| format!("{text}: {e}"));
        match word.as_str() {
            "--hosts" => options.fleet.hosts = number(value()?)?,
            "--metrics" => options.fleet.metrics = number(value()?)?,
            "--seed" => options.fleet.seed = number(value()?)? as u64,
            "--bands" => options.fleet.banded = value()? == "eighth",
            "--twin" => options.recordings = Some(value()?.into()),
            _ => options.summaries = Some(word.into()),
        }
    }
    if options.fleet.hosts == 0 {
        options.fleet.hosts = if options.recordings.is_some() { 200 } else { 5000 };
    }
    if options.recordings.is_some() && options.fleet.hosts > MOST {
        return Err(format!("--twin writes {MOST} recordings at most: name a folder of summaries for more"));
    }
    if options.summaries.is_none() && options.recordings.is_none() {
        return Err("name a folder for the summaries, or one for recordings: --twin DIR".into());
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options()?;
    if let Some(folder) = &options.summaries {
        summaries::write(&options.fleet, folder)?;
    }
    if let Some(folder) = &options.recordings {
        recordings::write(&options.fleet, folder)?;
    }
    Ok(())
}
