//! `twinscope fleet summary`: one recording to the rows of its summary, for programs that write the folder themselves.

use crate::compare::window;
use crate::text::clean;
use ::fleet::summary::{Rows, lines, reduce};
use anyhow::{Context, Result, bail};
use clap::Args;
use compare::Choice;
use query::stats::Comparer;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Reduce one recording.
#[derive(Args, Debug)]
pub struct Summary {
    /// The recording, or - for standard input
    #[arg(value_name = "NAME.twin")]
    recording: PathBuf,

    /// What the summary calls the file; else NAME.twin
    #[arg(long, value_name = "NAME")]
    file: Option<String>,

    /// The window to reduce, as of `fleet add`
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = window)]
    window: Choice,
}

/// Prints the rows as lines of JSON (docs/fleet-format.md). Exit code 3 where the recording could not be read as a whole.
pub fn summary(options: &Summary) -> Result<u8> {
    let copy;
    let file: &Path = if options.recording.as_os_str() == "-" {
        // Recordings are read here and there, so that a stream is a file first.
        copy = Copy::of(&mut std::io::stdin().lock())?;
        &copy.0
    } else {
        &options.recording
    };
    let name = options.file.clone().unwrap_or_else(|| options.recording.display().to_string());
    let runs = query::open(&[file]).with_context(|| name.clone())?;
    let Some(run) = runs.first() else { bail!("{name}: no recording") };
    let mut rows = Rows::default();
    reduce(run, &name, &options.window, &mut Comparer::new(), &mut rows).with_context(|| name.clone())?;
    let mut out = std::io::stdout().lock();
    for line in lines(&rows) {
        writeln!(out, "{line}")?;
    }
    let damage = run.recording.damage();
    for damage in &damage {
        eprintln!("twinscope: {}: {}", clean(&name), clean(&damage.to_string()));
    }
    Ok(if damage.is_empty() { 0 } else { 3 })
}

/// A file that goes when it is no longer needed.
struct Copy(tempfile::TempPath);

impl Copy {
    fn of(from: &mut dyn Read) -> Result<Copy> {
        let mut file = tempfile::NamedTempFile::new().context("a file for the recording")?;
        std::io::copy(from, &mut file).with_context(|| file.path().display().to_string())?;
        Ok(Copy(file.into_temp_path()))
    }
}
