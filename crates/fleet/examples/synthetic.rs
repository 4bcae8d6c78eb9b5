//! A folder of summaries of hosts that never were, to try the program on fleets of any size.
//!
//! usage: cargo run --release -p twinscope-fleet --example synthetic -- FLEET [--hosts 5000] [--metrics 1200] [--bands no|eighth] [--seed 1]
//!
//! With `eighth` one host in eight is 2.5 times as fast, and ten metrics differ with it. Metrics come in groups of four that move together.

use fleet::Folder;
use fleet::folder::Cell;
use fleet::summary::Rows;
use query::stats::rng::Rng;
use std::path::PathBuf;

/// Metrics of a group that move together.
const TOGETHER: usize = 4;

/// Metrics that differ between the bands.
const TRUE: usize = 10;

/// Hosts of a part.
const PART: usize = 1000;

/// Slices of the course of the pace.
const SLICES: i64 = 60;

struct Options {
    folder: PathBuf,
    hosts: usize,
    metrics: usize,
    banded: bool,
    seed: u64,
}

fn options() -> Result<Options, String> {
    let mut all = std::env::args().skip(1);
    let mut options = Options { folder: PathBuf::new(), hosts: 5000, metrics: 1200, banded: true, seed: 1 };
    while let Some(word) = all.next() {
        let mut value = || all.next().ok_or(format!("{word}: a value is missing"));
        let number = |text: String| text.parse::<usize>().map_err(|e| format!("{text}: {e}"));
        match word.as_str() {
            "--hosts" => options.hosts = number(value()?)?,
            "--metrics" => options.metrics = number(value()?)?,
            "--seed" => options.seed = number(value()?)? as u64,
            "--bands" => options.banded = value()? == "eighth",
            _ => options.folder = word.into(),
        }
    }
    if options.folder.as_os_str().is_empty() { Err("name a folder".into()) } else { Ok(options) }
}

/// A value with its halves and error: noise of the recording is a hundredth.
fn measured(level: f64, rng: &mut Rng) -> [Cell; 8] {
    let mut noisy = |part: f64| level * (1.0 + part * rng.normal());
    let (even, odd) = (noisy(0.014), noisy(0.014));
    let mean = (even + odd) / 2.0;
    [
        60i64.into(),
        mean.into(),
        (0.01 * level).into(),
        (0.08 * level).into(),
        mean.into(),
        (1.2 * level).into(),
        even.into(),
        odd.into(),
    ]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options()?;
    let folder = Folder::open_or_make(&options.folder)?;
    let mut rng = Rng::new(options.seed);
    let mut rows = Rows::default();
    for host in 0..options.hosts {
        let fast = options.banded && rng.uniform() < 0.125;
        let (name, id) = (Cell::from(&*format!("host-{host:05}")), Cell::from(&*format!("{host:016x}")));
        let start = 1_790_000_000_000_000_000_i64;
        rows.recording.push(&[
            name.clone(),
            id.clone(),
            "run".into(),
            "synthetic.twin".into(),
            start.into(),
            60.0.into(),
            0i64.into(),
            60_000_000_000i64.into(),
            "whole recording".into(),
            Cell::Null,
            "requests".into(),
            60_000.0.into(),
            "boot".into(),
            "{}".into(),
            "0.1.0".into(),
            Cell::Null,
        ]);
        // The fast ones are alike, the others spread.
        let pace = if fast { 2500.0 * (1.0 + 0.02 * rng.normal()) } else { 1000.0 * (0.2 * rng.normal()).exp() };
        let put = |metric: &str, values: [Cell; 8], rows: &mut Rows| {
            let mut row: Vec<Cell> = vec![metric.into(), "{}".into(), "second".into(), name.clone(), id.clone()];
            row.extend(values);
            rows.metric.push(&row);
        };
        put("work.done", measured(pace, &mut rng), &mut rows);
        let mut common = 0.0;
        for metric in 0..options.metrics.saturating_sub(1) {
            if metric % TOGETHER == 0 {
                common = rng.normal();
            }
            let shift = if fast && metric % (TOGETHER * 8) == 0 && metric / (TOGETHER * 8) < TRUE { 2.5 } else { 0.0 };
            let level = 100.0 * (0.1 * (0.95 * common + 0.3 * rng.normal() + shift)).exp();
            put(&format!("table{}.metric{metric:04}", metric / 20), measured(level, &mut rng), &mut rows);
        }
        for slice in 0..SLICES {
            let from = start + slice * 1_000_000_000;
            let mean = pace * (1.0 + 0.05 * rng.normal());
            let (metric, labels, per) = ("work.done".into(), "{}".into(), "second".into());
            let (slice, from, to) = (slice.into(), from.into(), (from + 1_000_000_000).into());
            rows.slice.push(&[metric, labels, per, name.clone(), id.clone(), slice, from, to, mean.into()]);
        }
        for fact in 0..260 {
            let value = match fact {
                0 => "kernel 6.1".to_owned(),
                1 => format!("{}", host % 3),
                _ => format!("{}", fact * 7),
            };
            let (category, fact) = ("sysctl".into(), Cell::from(&*format!("name{fact:03}")));
            rows.fact.push(&[category, fact, name.clone(), id.clone(), Cell::from(&*value), Cell::Null]);
        }
        for function in 0..40 {
            let share = 0.025 * (0.05 * rng.normal()).exp();
            let (state, function, module) = ("cpu".into(), Cell::from(&*format!("f{function}")), "server".into());
            let (own, seconds) = (Cell::from(share), Cell::from(50.0));
            rows.place.push(&[state, function, module, name.clone(), id.clone(), own.clone(), own, seconds]);
        }
        if (host + 1) % PART == 0 || host + 1 == options.hosts {
            if host < PART {
                for metric in std::iter::once("work.done".to_owned())
                    .chain((0..options.metrics.saturating_sub(1)).map(|m| format!("table{}.metric{m:04}", m / 20)))
                {
                    let better = if metric == "work.done" { Cell::from("more") } else { Cell::Null };
                    let metric = Cell::from(&*metric);
                    let (unit, floor) = (Cell::from("1/s"), Cell::from(0.0));
                    rows.declared.push(&[metric, unit, Cell::Null, better, 1i64.into(), floor, "synthetic".into()]);
                }
            }
            folder.add(&rows)?;
            rows = Rows::default();
        }
    }
    Ok(())
}
