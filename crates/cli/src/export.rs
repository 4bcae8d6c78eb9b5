//! `twinscope export`: tables as Parquet, CSV or OpenMetrics, for other tools.

use crate::compare::window;
use crate::progress::{Progress, names};
use crate::{output, text};
use anyhow::Result;
use clap::{Args, ValueEnum};
use compare::Choice;
use model::Window;
use query::Run;
use query::export::openmetrics::Part;
use query::export::{Exported, Form, Options};
use std::path::PathBuf;
use std::time::Duration;

/// What is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Parquet in folders that pandas, DuckDB, Spark and Trino read as partitions
    Parquet,
    /// One CSV file per table and run
    Csv,
    /// One text with all numeric metrics and their times, for Prometheus and other databases of time series (docs/exports.md)
    Openmetrics,
}

/// How Parquet files are laid out.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Layout {
    /// TABLE/run=NAME/host=NAME/part-0.parquet: a file for each table and recording
    #[default]
    Runs,
    /// TABLE/day=2026-11-24/part-….parquet: large files with the rows of all recordings, `run` and `host` as columns
    Lake,
}

/// Write tables as Parquet, CSV or OpenMetrics.
#[derive(Args, Debug)]
pub struct Export {
    /// The format
    #[arg(value_enum)]
    format: Format,

    /// Recordings
    #[arg(required = true, value_name = "NAME.twin")]
    recordings: Vec<PathBuf>,

    /// The folder to write into, created if needed; of OpenMetrics the file. `export`, or `export.om`, by default
    #[arg(short, long, value_name = "PLACE", value_parser = recorder::result())]
    output: Option<PathBuf>,

    /// Only these tables
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    only: Vec<String>,

    /// Write only rows that changed, as the recording stores them
    #[arg(long)]
    stored: bool,

    /// Of OpenMetrics, the window, as in `compare`: auto, whole, busy, or FROM..TO with times or marks; the whole recording
    /// by default
    #[arg(long, value_name = "WINDOW", value_parser = window)]
    window: Option<Choice>,

    /// Of OpenMetrics, one sample in this time at most
    #[arg(long, value_name = "TIME", value_parser = recorder::duration)]
    every: Option<Duration>,

    /// How Parquet files are laid out
    #[arg(long, value_enum, default_value_t = Layout::Runs)]
    layout: Layout,
}

/// Exports. Exit code 3 where a table was left out.
pub fn export(options: &Export) -> Result<u8> {
    let runs = query::open(&options.recordings)?;
    for name in &options.only {
        if !runs.iter().any(|r| r.recording.table(name).is_some()) {
            return Err(
                recorder::Usage(format!("no recording has a table {name:?}; `twinscope info` lists them")).into()
            );
        }
    }
    if matches!(options.format, Format::Openmetrics) {
        return openmetrics(options, &runs);
    }
    if options.window.is_some() || options.every.is_some() {
        return Err(
            recorder::Usage("--window and --every are for openmetrics; other formats have all rows".into()).into()
        );
    }
    let form = if options.stored { Form::Stored } else { Form::Dense };
    let wanted = Options { tables: options.only.clone(), form, ..Options::default() };
    if matches!((options.format, options.layout), (Format::Csv, Layout::Lake)) {
        return Err(recorder::Usage("--layout lake is of Parquet files".into()).into());
    }
    let output = options.output.clone().unwrap_or_else(|| "export".into());
    if files::is_stream(&output) {
        let why = "parquet and csv are folders of files, which no stream can hold; name a folder with -o";
        return Err(recorder::Usage(why.into()).into());
    }
    let progress = Progress::new(&format!("exporting {}", names(&options.recordings)));
    let done = match options.format {
        Format::Parquet if matches!(options.layout, Layout::Lake) => query::export::lake(&runs, &output, &wanted)?,
        Format::Parquet => query::export::parquet(&runs, &output, &wanted)?,
        Format::Csv | Format::Openmetrics => query::export::csv(&runs, &output, &wanted)?,
    };
    drop(progress);
    let rows: usize = done.files.iter().map(|(_, rows)| rows).sum();
    println!("{}: {} files, {rows} rows", crate::text::path(&output), done.files.len());
    Ok(said(&done))
}

/// Says what was left out. Returns the exit code.
fn said(done: &Exported) -> u8 {
    for (table, why) in &done.left_out {
        eprintln!("twinscope: {}: left out: {}", text::clean(table), text::clean(why));
    }
    if done.left_out.is_empty() { 0 } else { 3 }
}

/// Writes one text. Exit code 3 where a table that was asked for by name is left out.
fn openmetrics(options: &Export, runs: &[Run]) -> Result<u8> {
    let choice = options.window.clone().unwrap_or(Choice::Whole);
    let windows: Vec<Window> = runs.iter().map(|run| compare::choose(run, &choice)).collect::<Result<_, _>>()?;
    let parts: Vec<Part<'_>> = runs.iter().zip(&windows).map(|(run, window)| Part { run, window }).collect();
    let wanted = Options { tables: options.only.clone(), ..Options::default() };
    let every = options.every.map_or(0, |every| i64::try_from(every.as_nanos()).unwrap_or(i64::MAX));
    let output = options.output.clone().unwrap_or_else(|| "export.om".into());
    let write =
        |file: &mut dyn std::io::Write| Ok(query::export::openmetrics::openmetrics(&parts, &wanted, every, file)?);
    let progress = Progress::new(&format!("exporting {}", names(&options.recordings)));
    let (mut done, _) = output::write_by(&output, "OpenMetrics text", write)?;
    drop(progress);
    let samples: usize = done.files.iter().map(|(_, samples)| samples).sum();
    output::tell(&output, &format!("{}: {samples} samples", output.display()));
    // That events have no numbers over time goes without saying where nobody asked for them.
    done.left_out.retain(|(table, _)| options.only.contains(table));
    Ok(said(&done))
}
