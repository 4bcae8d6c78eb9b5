//! `twinscope fleet add`: recordings to summaries.

use crate::compare::window;
use crate::progress::Progress;
use crate::text::clean;
use ::fleet::{Added, Folder};
use anyhow::{Context, Result};
use clap::Args;
use compare::Choice;
use recorder::Usage;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How deep folders of recordings are looked through.
const DEEPEST: usize = 32;

/// Reduce recordings to summaries.
#[derive(Args, Debug)]
pub struct Add {
    /// The folder of summaries; made where it is not there
    #[arg(value_name = "FLEET", value_parser = recorder::output())]
    folder: PathBuf,

    /// Recordings, folders with recordings, or @LIST: a file that names one a line
    #[arg(required = true, value_name = "NAME.twin")]
    recordings: Vec<PathBuf>,

    /// The window to reduce: auto, whole, busy, or FROM..TO with times or marks, as of `compare`
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = window)]
    window: Choice,
}

/// Adds and tells. Exit code 3 where a recording could not be read as a whole.
pub fn add(options: &Add) -> Result<u8> {
    let mut files = Vec::new();
    for path in &options.recordings {
        gather(path, &mut files)?;
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    if files.is_empty() {
        return Err(Usage("no .twin file is there".into()).into());
    }
    let folder = Folder::open_or_make(&options.folder)?;
    let progress = Progress::of("adding", files.len(), "recordings");
    let report = ::fleet::add(&folder, &files, &options.window, &|_| progress.done());
    drop(progress);
    let report = report?;
    let mut incomplete = false;
    for (file, added) in &report.files {
        match added {
            Added::Failed { why } => {
                incomplete = true;
                eprintln!("twinscope: {}; it is left out", clean(why));
            }
            Added::Reduced { damage } => {
                for damage in damage {
                    incomplete = true;
                    eprintln!("twinscope: {}: {}", clean(&file.display().to_string()), clean(damage));
                }
            }
            Added::Known => {}
        }
    }
    let known = match report.known() {
        0 => String::new(),
        known => format!(", {known} were there"),
    };
    println!("{}: {} added{known}", crate::text::path(&options.folder), recordings(report.reduced()));
    Ok(if incomplete { 3 } else { 0 })
}

/// A number of recordings in words.
pub(super) fn recordings(number: usize) -> String {
    format!("{number} {}", if number == 1 { "recording" } else { "recordings" })
}

/// The recordings that a word of the command line names, those of a folder in the order of their names.
pub(super) fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if let Some(list) = path.to_str().and_then(|text| text.strip_prefix('@')) {
        let text = files::foreign::text(Path::new(list)).with_context(|| list.to_owned())?;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            gather(Path::new(line), files)?;
        }
        return Ok(());
    }
    if path.is_dir() {
        return below(path, 0, files);
    }
    files.push(path.to_owned());
    Ok(())
}

fn below(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect())
        .with_context(|| folder.display().to_string())?;
    entries.sort();
    for entry in entries {
        // Not by a link, which may lead back up.
        if entry.is_dir() && !entry.is_symlink() && depth < DEEPEST {
            below(&entry, depth + 1, files)?;
        } else if entry.extension().is_some_and(|end| end == "twin") {
            files.push(entry);
        }
    }
    Ok(())
}
