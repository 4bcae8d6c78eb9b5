//! `twinscope fleet info`: what a folder of summaries holds.

use super::add::recordings;
use crate::text::{self, clean};
use ::fleet::folder::{DATASETS, RECORDING};
use ::fleet::{Damage, Folder};
use anyhow::Result;
use clap::Args;
use model::utc;
use query::human;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Show what a folder of summaries holds.
#[derive(Args, Debug)]
pub struct Info {
    /// The folder of summaries
    #[arg(value_name = "FLEET")]
    folder: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was wrong with parts of a folder, on standard error. Returns the exit code.
pub(super) fn say_damage(damage: &[Damage]) -> u8 {
    for damage in damage {
        eprintln!("twinscope: {}", clean(&damage.to_string()));
    }
    if damage.is_empty() { 0 } else { 3 }
}

/// Prints it. Exit code 3 where a part could not be read.
pub fn info(options: &Info) -> Result<u8> {
    let folder = Folder::open(&options.folder)?;
    let (mut hosts, mut labels, mut ids) = (BTreeSet::new(), BTreeMap::<String, BTreeSet<String>>::new(), 0);
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let place = |name: &str| RECORDING.place(name).unwrap_or(0);
    let (host, start, label) = (place("host"), place("start"), place("labels"));
    let damage = folder.read(&RECORDING, &["host", "start", "labels"], &[], |batch| {
        ids += batch.len();
        for row in 0..batch.len() {
            hosts.extend(batch.text(row, host).map(str::to_owned));
            if let Some(start) = batch.columns.get(start).and_then(|values| values.int(row)) {
                (first, last) = (first.min(start), last.max(start));
            }
            let pairs: Option<BTreeMap<String, String>> =
                batch.text(row, label).and_then(|text| serde_json::from_str(text).ok());
            for (name, value) in pairs.into_iter().flatten() {
                labels.entry(name).or_default().insert(value);
            }
        }
    })?;
    let mut sizes = Vec::new();
    for dataset in DATASETS {
        let parts = folder.parts(dataset)?;
        let bytes: u64 = parts.iter().filter_map(|path| Some(path.metadata().ok()?.len())).sum();
        let mut rows = 0;
        let key = dataset.columns.first().map_or("", |c| c.name);
        // What is wrong with them was said, or will be when they are asked.
        folder.read(dataset, &[key], &[], |batch| rows += batch.len())?;
        sizes.push((dataset, parts.len(), rows, bytes));
    }
    let bytes: u64 = sizes.iter().map(|s| s.3).sum();
    if options.json {
        let datasets: Vec<_> = sizes
            .iter()
            .map(|(of, parts, rows, bytes)| json!({"dataset": of.name, "parts": parts, "rows": rows, "bytes": bytes}))
            .collect();
        let about = json!({
            "recordings": ids, "hosts": hosts.len(), "bytes": bytes, "labels": labels, "datasets": datasets,
            "first": (ids > 0).then_some(first), "last": (ids > 0).then_some(last),
        });
        println!("{}", serde_json::to_string_pretty(&about)?);
        return Ok(say_damage(&damage));
    }
    let per = if ids > 0 { format!(", {} each", human(bytes as f64 / ids as f64, "B")) } else { String::new() };
    let of = if hosts.len() == 1 { "one host".to_owned() } else { format!("{} hosts", hosts.len()) };
    println!("{} of {of}, {}{per}", recordings(ids), human(bytes as f64, "B"));
    if ids > 0 {
        println!("begun from {} to {}", utc(first), utc(last));
    }
    for (name, values) in &labels {
        let some: Vec<String> = values.iter().take(6).map(|value| clean(value)).collect();
        let more = if values.len() > 6 { format!(" and {} more", values.len() - 6) } else { String::new() };
        println!("label {}: {}{more}", clean(name), some.join(", "));
    }
    let mut out = text::table(&["dataset", "a row is", "parts", "rows", "size"], &[false, false, true, true, true]);
    for (dataset, parts, rows, bytes) in sizes {
        let numbers = [parts.to_string(), rows.to_string(), human(bytes as f64, "B")];
        out.add_row([dataset.name.to_owned(), dataset.help.to_owned()].into_iter().chain(numbers));
    }
    println!("{}", text::trimmed(&out));
    Ok(say_damage(&damage))
}
