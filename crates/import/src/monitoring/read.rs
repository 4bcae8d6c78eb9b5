//! Files of monitoring systems, told by their content; several make one import.

use super::{Asked, Monitored, prometheus};
use crate::{Error, Format};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of one file, after decompression.
const MOST: u64 = 8 << 30;

/// A file in memory.
struct Content {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Where compressed data were cut short.
    note: Option<String>,
}

impl Content {
    /// What it is called in messages.
    fn name(&self) -> String {
        if is_standard(&self.path) { "standard input".into() } else { self.path.display().to_string() }
    }

    /// Its name without what stands for its kind: the name of what has none.
    fn stem(&self) -> String {
        if is_standard(&self.path) {
            return "query".into();
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if stem.is_empty() { "query".into() } else { stem.to_owned() }
    }
}

/// Whether a path stands for the standard input.
fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads files of a monitoring system. None where the first is of something else.
///
/// # Errors
/// Where a file cannot be read, or nothing in them can be taken. Damage within is no error: it is in [`Monitored::notes`].
pub fn read(inputs: &[PathBuf], asked: &Asked) -> Result<Option<Monitored>, Error> {
    let Some(first) = inputs.first() else { return Ok(None) };
    if first.is_dir() {
        return Ok(None);
    }
    let Some(format) = format(first)? else { return Ok(None) };
    let first = load(first, &format.1)?;
    let monitored = match format.0 {
        Format::Prometheus => {
            let mut reader = prometheus::Reader::new(asked);
            reader.file(&first.bytes, &first.name(), &first.stem());
            let mut notes = Vec::from_iter(first.note.clone());
            for input in inputs.iter().skip(1) {
                let next = load(input, &[])?;
                if !prometheus::looks_like(&next.bytes) {
                    notes.push(format!("{}: no answer of Prometheus; it is left out", next.name()));
                    continue;
                }
                notes.extend(next.note.clone());
                reader.file(&next.bytes, &next.name(), &next.stem());
            }
            let mut fleet = reader.finish(&first.stem());
            notes.into_iter().for_each(|note| fleet.note(note));
            Monitored::new(Format::Prometheus, &first.path, fleet)?
        }
        _ => return Ok(None),
    };
    Ok(Some(monitored))
}

/// What a file is; of the standard input, with what was read of it to tell.
fn format(path: &Path) -> Result<Option<(Format, Vec<u8>)>, Error> {
    let io = |why| Error::Io { path: path.to_owned(), why };
    let mut start = Vec::new();
    if is_standard(path) {
        std::io::stdin().lock().take(MOST).read_to_end(&mut start).map_err(io)?;
    } else {
        File::open(path).map_err(io)?.take(64 << 10).read_to_end(&mut start).map_err(io)?;
    }
    let mut plain = Vec::new();
    if start.starts_with(&[0x1f, 0x8b]) {
        // Of the start of a file the end is missing.
        let _ = flate2::read::MultiGzDecoder::new(start.as_slice()).take(64 << 10).read_to_end(&mut plain);
    }
    let look = if plain.is_empty() { &start } else { &plain };
    let format = prometheus::looks_like(look).then_some(Format::Prometheus);
    if format.is_none() && is_standard(path) {
        let why = "the standard input is read for answers of Prometheus, tables and sar only: give other files by name";
        return Err(Error::Unreadable { path: path.to_owned(), why: why.into() });
    }
    Ok(format.map(|format| (format, if is_standard(path) { start } else { Vec::new() })))
}

/// The whole of a file; `start` is what was read of the standard input before.
fn load(path: &Path, start: &[u8]) -> Result<Content, Error> {
    let io = |why| Error::Io { path: path.to_owned(), why };
    let mut bytes = start.to_vec();
    if !is_standard(path) {
        File::open(path).map_err(io)?.take(MOST).read_to_end(&mut bytes).map_err(io)?;
    }
    let mut note = None;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        if let Err(why) = flate2::read::MultiGzDecoder::new(bytes.as_slice()).take(MOST).read_to_end(&mut plain) {
            if plain.is_empty() {
                return Err(io(why));
            }
            note = Some(format!("{}: the compressed data end early ({why}); what came before is kept", path.display()));
        }
        bytes = plain;
    }
    Ok(Content { path: path.to_owned(), bytes, note })
}
