//! Files that are written in one piece: a report, a flame graph.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file as [`write_by`] does.
pub(crate) fn write(path: &Path, bytes: &[u8], what: &str) -> Result<()> {
    write_by(path, what, |file| Ok(file.write_all(bytes)?))
}

/// Has a file written beside its place first: a disk that fills must not leave half of it where a whole one was. `what` is what it holds, for the error.
pub(crate) fn write_by<T>(path: &Path, what: &str, by: impl FnOnce(&mut BufWriter<File>) -> Result<T>) -> Result<T> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let write = || {
        let mut file = BufWriter::new(File::create(&part)?);
        let written = by(&mut file)?;
        file.flush()?;
        std::fs::rename(&part, path)?;
        Ok(written)
    };
    let written: Result<T> = write();
    if written.is_err() {
        // What is left of it is of no use; that it cannot be removed adds nothing to why.
        let _ = std::fs::remove_file(&part);
    }
    written.with_context(|| format!("{}: the {what} could not be written", path.display()))
}

/// Says where a page is and how large, and opens it in the browser where that is asked for.
pub(crate) fn written(path: &Path, bytes: usize, open: bool) {
    println!("{} ({})", crate::text::path(path), query::human(bytes as f64, "B"));
    if open {
        let opened = std::process::Command::new("xdg-open").arg(path).status();
        if !opened.is_ok_and(|s| s.success()) {
            eprintln!("twinscope: no browser could be started with xdg-open; open the file yourself");
        }
    }
}
