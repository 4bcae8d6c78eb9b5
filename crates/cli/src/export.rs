//! `twinscope export`: tables as Parquet or CSV, for other tools.

use crate::text;
use anyhow::Result;
use clap::{Args, ValueEnum};
use query::export::{Form, Options};
use std::path::PathBuf;

/// What is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Parquet in folders that pandas, DuckDB, Spark and Trino read as partitions
    Parquet,
    /// One CSV file per table and run
    Csv,
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

/// Write tables as Parquet or CSV.
#[derive(Args, Debug)]
pub struct Export {
    /// The format
    #[arg(value_enum)]
    format: Format,

    /// Recordings
    #[arg(required = true, value_name = "NAME.twin")]
    recordings: Vec<PathBuf>,

    /// The folder to write into; created if needed
    #[arg(short, long, value_name = "DIR", default_value = "export")]
    output: PathBuf,

    /// Only these tables
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    only: Vec<String>,

    /// Write only rows that changed, as the recording stores them
    #[arg(long)]
    stored: bool,

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
    let form = if options.stored { Form::Stored } else { Form::Dense };
    let wanted = Options { tables: options.only.clone(), form, ..Options::default() };
    if let (Format::Csv, Layout::Lake) = (options.format, options.layout) {
        return Err(recorder::Usage("--layout lake is of Parquet files".into()).into());
    }
    let done = match options.format {
        Format::Parquet if matches!(options.layout, Layout::Lake) => {
            query::export::lake(&runs, &options.output, &wanted)?
        }
        Format::Parquet => query::export::parquet(&runs, &options.output, &wanted)?,
        Format::Csv => query::export::csv(&runs, &options.output, &wanted)?,
    };
    let rows: usize = done.files.iter().map(|(_, rows)| rows).sum();
    println!("{}: {} files, {rows} rows", options.output.display(), done.files.len());
    for (table, why) in &done.left_out {
        eprintln!("twinscope: {}: left out: {}", text::clean(table), text::clean(why));
    }
    Ok(if done.left_out.is_empty() { 0 } else { 3 })
}
