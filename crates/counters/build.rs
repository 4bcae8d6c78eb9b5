//! Reads `counters/*.txt`, fails with file and line where one cannot be used, and writes the columns and the metrics of the table `pmu` as
//! declarations.

#[path = "src/formula.rs"]
#[allow(dead_code, reason = "the library evaluates, which is not done here")]
mod formula;
#[path = "src/read.rs"]
#[allow(dead_code, reason = "the library uses more of it")]
mod read;

use read::{Direction, Group, Metric};
use std::fmt::Write;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../counters");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    files.sort();
    let mut texts = "/// Name and text of each file.\npub(crate) const FILES: &[(&str, &str)] = &[\n".to_owned();
    let mut groups = Vec::new();
    for path in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let _ = writeln!(texts, "    ({name:?}, include_str!({:?})),", path.canonicalize()?.display().to_string());
        match read::read(&format!("counters/{name}.txt"), &std::fs::read_to_string(path)?) {
            Ok(group) => groups.push(group),
            Err(why) => println!("cargo::error={why}"),
        }
    }
    texts.push_str("];\n");
    texts.push_str(&columns(&groups));
    match metrics(&groups) {
        Ok(metrics) => texts.push_str(&metrics),
        Err(why) => println!("cargo::error={why}"),
    }
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join("counters.rs"), texts)
}

/// The columns of all groups, each once.
fn columns(groups: &[Group]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut out = "/// The columns of the table `pmu`.\npub const COLUMNS: &[model::Column] = &[\n    \
                   model::Column::number(\"cpu\", \"CPU number\"),\n    \
                   model::Column::label(\"group\", \"the counters that run at the same time; ratios are of one group\"),\n"
        .to_owned();
    for (name, help) in groups.iter().flat_map(|group| &group.columns) {
        if !seen.contains(&name.as_str()) {
            seen.push(name);
            // Work is counted by these two; the others say something as ratios only, which the metrics are.
            let compared = match name.as_str() {
                "cycles" | "instructions" => "",
                _ => ".compared(model::Compare::Never)",
            };
            let _ = writeln!(out, "    model::Column::counter({name:?}, model::Unit::None, {help:?}){compared},");
        }
    }
    out.push_str("];\n");
    out
}

/// The metrics of all groups, each once.
fn metrics(groups: &[Group]) -> Result<String, String> {
    let mut seen: Vec<&Metric> = Vec::new();
    let mut out = "/// The metrics of the table `pmu`.\npub const METRICS: &[model::Derived] = &[\n".to_owned();
    for (group, metric) in groups.iter().flat_map(|group| group.metrics.iter().map(move |metric| (group, metric))) {
        if let Some(other) = seen.iter().find(|other| other.name == metric.name) {
            if other.formula != metric.formula {
                return Err(format!("counters/{}.txt: {} is another metric elsewhere", group.name, metric.name));
            }
            continue;
        }
        seen.push(metric);
        let (num, den) = metric.formula.ratio().ok_or_else(|| {
            format!("counters/{}.txt: {}: no sum of columns divided by another", group.name, metric.name)
        })?;
        let polarity = match metric.direction {
            Direction::Better => "Better",
            Direction::Worse => "Worse",
            Direction::Neutral => "Neutral",
        };
        let (unit, compare) = if metric.unit == "ratio" { ("ratio", "Difference") } else { ("", "Ratio") };
        let same = if metric.same_cpu { " Only comparable between CPUs of one kind." } else { "" };
        let per = if unit.is_empty() { format!(" ({})", metric.unit) } else { String::new() };
        let help = format!("{}{per}.{same}", metric.help.trim_end_matches('.'));
        let _ = writeln!(
            out,
            "    model::Derived {{ name: {:?}, unit: {unit:?}, help: {help:?}, num: &{num:?}, den: model::Den::Columns(&{den:?}), \
             polarity: model::Polarity::{polarity}, compare: model::Compare::{compare}, floor: {:?} }},",
            metric.name, metric.floor
        );
    }
    out.push_str("];\n");
    Ok(out)
}
