//! Hosts that never were as a folder of summaries.

use crate::draw::{Fleet, Host, SECONDS, START, named};
use fleet::Folder;
use fleet::folder::Cell;
use fleet::summary::Rows;
use query::stats::rng::Rng;
use std::path::Path;

/// Hosts of a part.
const PART: usize = 1000;

/// Writes them.
pub fn write(fleet: &Fleet, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let folder = Folder::open_or_make(folder)?;
    let mut rows = Rows::default();
    for host in fleet.hosts() {
        add(&host, &mut rows);
        let done = host.number + 1;
        if done % PART == 0 || done == fleet.hosts {
            if done <= PART {
                declare(fleet, &mut rows);
            }
            folder.add(&rows)?;
            rows = Rows::default();
        }
    }
    Ok(())
}

/// A value with its halves and error: noise of the recording is a hundredth.
fn measured(level: f64, rng: &mut Rng) -> [Cell; 8] {
    let mut noisy = |part: f64| level * (1.0 + part * rng.normal());
    let (even, odd) = (noisy(0.014), noisy(0.014));
    let mean = (even + odd) / 2.0;
    [
        SECONDS.into(),
        mean.into(),
        (0.01 * level).into(),
        (0.08 * level).into(),
        mean.into(),
        (1.2 * level).into(),
        even.into(),
        odd.into(),
    ]
}

fn full_name(metric: usize) -> String {
    let (table, name) = named(metric);
    format!("{table}.{name}")
}

fn add(host: &Host, rows: &mut Rows) {
    let mut rng = host.noise();
    let (name, id) = (Cell::from(&*host.name), Cell::from(&*format!("{:016x}", host.number)));
    let mut about = vec![name.clone(), id.clone(), "run".into(), "synthetic.twin".into(), START.into()];
    about.extend([(SECONDS as f64).into(), 0i64.into(), (SECONDS * 1_000_000_000).into(), "whole recording".into()]);
    about.extend([Cell::Null, "requests".into(), (host.pace * SECONDS as f64).into(), "boot".into()]);
    about.extend([Cell::Null, Cell::Null, "{}".into(), "0.1.0".into(), Cell::Null]);
    rows.recording.push(&about);
    let mut put = |metric: &str, level: f64| {
        let mut row: Vec<Cell> = vec![metric.into(), "{}".into(), "second".into(), name.clone(), id.clone()];
        row.extend(measured(level, &mut rng));
        rows.metric.push(&row);
    };
    put("work.done", host.pace);
    host.levels.iter().enumerate().for_each(|(metric, level)| put(&full_name(metric), *level));
    for slice in 0..SECONDS {
        let from = START + slice * 1_000_000_000;
        let mean = host.pace * (1.0 + 0.05 * rng.normal());
        let (metric, labels, per) = ("work.done".into(), "{}".into(), "second".into());
        let (slice, from, to) = (slice.into(), from.into(), (from + 1_000_000_000).into());
        rows.slice.push(&[metric, labels, per, name.clone(), id.clone(), slice, from, to, mean.into()]);
    }
    for (category, fact, value) in host.facts() {
        let (fact, value) = (Cell::from(&*fact), Cell::from(&*value));
        rows.fact.push(&[category.into(), fact, name.clone(), id.clone(), value, Cell::Null]);
    }
    for (function, share) in host.functions.iter().enumerate() {
        let (state, function, module) = ("cpu".into(), Cell::from(&*format!("f{function}")), "server".into());
        let (own, seconds) = (Cell::from(*share), Cell::from(50.0));
        rows.place.push(&[state, function, module, name.clone(), id.clone(), own.clone(), own, seconds]);
    }
}

fn declare(fleet: &Fleet, rows: &mut Rows) {
    let all = (0..fleet.metrics.saturating_sub(1)).map(full_name);
    for metric in std::iter::once("work.done".to_owned()).chain(all) {
        let better = if metric == "work.done" { Cell::from("more") } else { Cell::Null };
        let (metric, unit, floor) = (Cell::from(&*metric), Cell::from("1/s"), Cell::from(0.0));
        rows.declared.push(&[metric, unit, Cell::Null, better, 1i64.into(), floor, "synthetic".into()]);
    }
}
