//! Files of monitoring systems, told by their content; several make one import.

use super::fleet::Fleet;
use super::parquet::Parquet;
use super::preset::Preset;
use super::{Asked, Monitored, csv, prometheus, sar, table};
use crate::{Error, Format, input};
use std::io::Read;
use std::path::{Path, PathBuf};

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

    fn stem(&self) -> String {
        stem(&self.path)
    }
}

/// The name of a file without what stands for its kind: the name of what has none.
fn stem(path: &Path) -> String {
    if is_standard(path) {
        return "input".into();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { "input".into() } else { stem.to_owned() }
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
    let Some((format, start)) = format(first, asked)? else { return Ok(None) };
    let fleet = match format {
        Format::Prometheus => answers(inputs, &start, asked)?,
        Format::Sar => days(inputs, &start, asked)?,
        _ => tables(inputs, &start, asked)?,
    };
    Ok(Some(Monitored::new(format, first, fleet)?))
}

/// Answers of Prometheus.
fn answers(inputs: &[PathBuf], start: &[u8], asked: &Asked) -> Result<Fleet, Error> {
    let mut reader = prometheus::Reader::new(asked);
    let mut notes = Vec::new();
    let mut alone = None;
    for path in inputs {
        let content = load(path, start, asked)?;
        alone.get_or_insert(content.stem());
        if !prometheus::looks_like(&content.bytes) {
            notes.push(format!("{}: no answer of Prometheus; it is left out", content.name()));
            continue;
        }
        notes.extend(content.note.clone());
        reader.file(&content.bytes, &content.name(), &content.stem());
    }
    let mut fleet = reader.finish(&alone.unwrap_or_default());
    notes.into_iter().for_each(|note| fleet.note(note));
    Ok(fleet)
}

/// Files of sar, one a day as a rule.
fn days(inputs: &[PathBuf], start: &[u8], asked: &Asked) -> Result<Fleet, Error> {
    let mut fleet = Fleet::new("sar");
    for path in inputs {
        let mut content = load(path, start, asked)?;
        if sar::is_binary(&content.bytes) {
            let unreadable = |why: String| Error::Unreadable { path: path.clone(), why };
            match sar::converted(path) {
                Ok(json) => content.bytes = json,
                Err(why) if inputs.len() == 1 => return Err(unreadable(why)),
                Err(why) => {
                    fleet.note(format!("{}: {why}; it is left out", path.display()));
                    continue;
                }
            }
        }
        if !sar::looks_like(&content.bytes) {
            fleet.note(format!("{}: no file of sar; it is left out", content.name()));
            continue;
        }
        fleet_notes(&mut fleet, &content);
        sar::read(&content.bytes, &content.name(), &mut fleet);
    }
    Ok(fleet)
}

/// Tables, each with its own header.
fn tables(inputs: &[PathBuf], start: &[u8], asked: &Asked) -> Result<Fleet, Error> {
    let mut fleet = Fleet::new("table");
    for path in inputs {
        let unreadable = |why: String| Error::Unreadable { path: path.clone(), why };
        let preset = asked.preset.as_deref().map(Preset::named).transpose().map_err(unreadable)?;
        let read = if is_parquet(path) {
            let file = input::open(path).map_err(|why| Error::Io { path: path.clone(), why })?;
            let (name, stem) = (path.display().to_string(), stem(path));
            Parquet::open(file, preset.as_ref()).and_then(|grid| {
                if grid.lists > 0 {
                    fleet.note(format!("{name}: {} columns are lists or groups (histograms): left out", grid.lists));
                }
                let preset = preset.unwrap_or_else(|| known(&grid.header()));
                table::read(&grid, (&name, &stem), asked, &preset, &mut fleet)
            })
        } else {
            let content = load(path, start, asked)?;
            fleet_notes(&mut fleet, &content);
            text(&content, asked, preset, &mut fleet)
        };
        match read {
            Ok(()) => {}
            Err(why) if inputs.len() == 1 => return Err(unreadable(why)),
            Err(why) => fleet.note(format!("{}: {why}; it is left out", path.display())),
        }
    }
    Ok(fleet)
}

fn fleet_notes(fleet: &mut Fleet, content: &Content) {
    content.note.iter().for_each(|note| fleet.note(note.clone()));
}

/// A table as text.
fn text(content: &Content, asked: &Asked, preset: Option<Preset>, fleet: &mut Fleet) -> Result<(), String> {
    let none = "no table: no text, or no second column";
    let (preset, grid) = match preset {
        Some(preset) => {
            let grid = csv::Text::of(&content.bytes, &preset, asked.separator).ok_or(none)?;
            (preset, grid)
        }
        None => laid_out(&content.bytes, asked.separator).ok_or(none)?,
    };
    let mut own = asked.clone();
    if own.midnight == 0 {
        own.midnight = grid.day.unwrap_or(0) * 86_400;
    }
    table::read(&grid, (&content.name(), &content.stem()), &own, &preset, fleet)
}

/// The preset that knows a text by its header, and the table as that reads it; else as it is.
fn laid_out(bytes: &[u8], separator: Option<u8>) -> Option<(Preset, csv::Text<'_>)> {
    let of = |preset: Preset| {
        let grid = csv::Text::of(bytes, &preset, separator)?;
        preset.knows(&grid.header()).then_some((preset, grid))
    };
    let known = Preset::all().into_iter().find_map(of);
    known.or_else(|| Some((Preset::default(), csv::Text::of(bytes, &Preset::default(), separator)?)))
}

/// The preset that knows a header.
fn known(header: &[String]) -> Preset {
    Preset::all().into_iter().find(|preset| preset.knows(header)).unwrap_or_default()
}

fn is_parquet(path: &Path) -> bool {
    let mut start = [0; 4];
    !is_standard(path)
        && input::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && &start == b"PAR1"
}

/// Whether a text that nobody said anything about is a table: a preset knows its header, or it has a column of times, and it is of no profiler.
fn is_table(bytes: &[u8]) -> bool {
    let Some((preset, grid)) = laid_out(bytes, None) else { return false };
    // PerfSpect's own metrics have a reader of their own.
    if !preset.name.is_empty() {
        return preset.name != "perfspect";
    }
    table::has_times(&grid) && (table::names_time(&grid) || !crate::is_of_profiler(bytes))
}

/// What a file is; of the standard input, with what was read of it to tell.
fn format(path: &Path, asked: &Asked) -> Result<Option<(Format, Vec<u8>)>, Error> {
    let io = |why| Error::Io { path: path.to_owned(), why };
    let mut start = Vec::new();
    if is_standard(path) {
        start = input::plain(std::io::stdin().lock(), asked.limit).map_err(io)?.0;
    } else {
        input::open(path).map_err(io)?.take(input::START).read_to_end(&mut start).map_err(io)?;
    }
    let look = &input::start(&start);
    let format = if prometheus::looks_like(look) {
        Some(Format::Prometheus)
    } else if sar::looks_like(look) || (sar::is_binary(look) && !is_standard(path)) {
        Some(Format::Sar)
    } else if is_parquet(path) || asked.is_table() || is_table(look) {
        Some(Format::Table)
    } else {
        None
    };
    if format.is_none() && is_standard(path) {
        let why = "the standard input is read for answers of Prometheus, tables and sar only: give other files by name";
        return Err(Error::Unreadable { path: path.to_owned(), why: why.into() });
    }
    Ok(format.map(|format| (format, if is_standard(path) { start } else { Vec::new() })))
}

/// The whole of a file; `start` is what was read of the standard input before.
fn load(path: &Path, start: &[u8], asked: &Asked) -> Result<Content, Error> {
    if is_standard(path) {
        return Ok(Content { path: path.to_owned(), bytes: start.to_vec(), note: None });
    }
    let (bytes, early) = input::whole(path, asked.limit).map_err(|why| Error::Io { path: path.to_owned(), why })?;
    let note = early.map(|why| format!("{}: {why}", path.display()));
    Ok(Content { path: path.to_owned(), bytes, note })
}
