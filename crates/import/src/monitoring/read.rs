//! Files of monitoring systems, told by their content; several make one import.

use super::fleet::Fleet;
use super::parquet::Parquet;
use super::preset::Preset;
use super::{Asked, Monitored, csv, prometheus, sar, table};
use crate::{Error, Format, Input, input};
use std::borrow::Cow;
use std::io::Read;

/// A file in memory.
struct Content<'a> {
    input: &'a Input,
    bytes: Cow<'a, [u8]>,
    /// Where compressed data were cut short.
    note: Option<String>,
}

impl Content<'_> {
    fn stem(&self) -> String {
        stem(self.input)
    }
}

fn stem(input: &Input) -> String {
    input.stem().unwrap_or_else(|| "input".into())
}

/// Reads files of a monitoring system. None where the first is of something else.
///
/// # Errors
/// Where a file cannot be read, or nothing in them can be taken. Damage within is no error: it is in [`Monitored::notes`].
pub fn read(inputs: &[Input], asked: &Asked) -> Result<Option<Monitored>, Error> {
    let Some(first) = inputs.first() else { return Ok(None) };
    if first.path().is_dir() {
        return Ok(None);
    }
    let Some(format) = format(first, asked)? else { return Ok(None) };
    let fleet = match format {
        Format::Prometheus => answers(inputs, asked)?,
        Format::Sar => days(inputs, asked)?,
        _ => tables(inputs, asked)?,
    };
    Ok(Some(Monitored::new(format, first, fleet)?))
}

/// Answers of Prometheus.
fn answers(inputs: &[Input], asked: &Asked) -> Result<Fleet, Error> {
    let mut reader = prometheus::Reader::new(asked);
    let mut notes = Vec::new();
    let mut alone = None;
    for input in inputs {
        let content = load(input, asked)?;
        alone.get_or_insert(content.stem());
        if !prometheus::looks_like(&content.bytes) {
            notes.push(format!("{}: no answer of Prometheus; it is left out", input.name()));
            continue;
        }
        notes.extend(content.note.clone());
        reader.file(&content.bytes, &input.name(), &content.stem());
    }
    let mut fleet = reader.finish(&alone.unwrap_or_default());
    notes.into_iter().for_each(|note| fleet.note(note));
    Ok(fleet)
}

/// Files of sar, one a day as a rule.
fn days(inputs: &[Input], asked: &Asked) -> Result<Fleet, Error> {
    let mut fleet = Fleet::new("sar");
    for input in inputs {
        let mut content = load(input, asked)?;
        if sar::is_binary(&content.bytes) {
            match sar::converted(input) {
                Ok(json) => content.bytes = Cow::Owned(json),
                Err(why) if inputs.len() == 1 => return Err(input.unreadable(why)),
                Err(why) => {
                    fleet.note(format!("{}: {why}; it is left out", input.name()));
                    continue;
                }
            }
        }
        if !sar::looks_like(&content.bytes) {
            fleet.note(format!("{}: no file of sar; it is left out", input.name()));
            continue;
        }
        fleet_notes(&mut fleet, &content);
        sar::read(&content.bytes, &input.name(), &mut fleet);
    }
    Ok(fleet)
}

/// Tables, each with its own header.
fn tables(inputs: &[Input], asked: &Asked) -> Result<Fleet, Error> {
    let mut fleet = Fleet::new("table");
    for input in inputs {
        let unreadable = |why: String| input.unreadable(why);
        let preset = asked.preset.as_deref().map(Preset::named).transpose().map_err(unreadable)?;
        let read = if is_parquet(input) {
            match input.held() {
                Some(held) => parquet(bytes::Bytes::from(held.content.clone()), input, asked, preset, &mut fleet),
                None => {
                    let file = input::open(input.path()).map_err(|why| input.failed(why))?;
                    parquet(file, input, asked, preset, &mut fleet)
                }
            }
        } else {
            let content = load(input, asked)?;
            fleet_notes(&mut fleet, &content);
            text(&content, asked, preset, &mut fleet)
        };
        match read {
            Ok(()) => {}
            Err(why) if inputs.len() == 1 => return Err(unreadable(why)),
            Err(why) => fleet.note(format!("{}: {why}; it is left out", input.name())),
        }
    }
    Ok(fleet)
}

/// A table in Parquet.
fn parquet(
    from: impl ::parquet::file::reader::ChunkReader + 'static,
    input: &Input,
    asked: &Asked,
    preset: Option<Preset>,
    fleet: &mut Fleet,
) -> Result<(), String> {
    let grid = Parquet::open(from, preset.as_ref())?;
    let (name, stem) = (input.name(), stem(input));
    if grid.lists > 0 {
        fleet.note(format!(
            "{name}: {} columns are lists or groups of which nothing says what they are: left out",
            grid.lists
        ));
    }
    let preset = preset.unwrap_or_else(|| known(&grid.header()));
    table::read(&grid, (&name, &stem), asked, &preset, fleet)
}

fn fleet_notes(fleet: &mut Fleet, content: &Content<'_>) {
    content.note.iter().for_each(|note| fleet.note(note.clone()));
}

/// A table as text.
fn text(content: &Content<'_>, asked: &Asked, preset: Option<Preset>, fleet: &mut Fleet) -> Result<(), String> {
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
    table::read(&grid, (&content.input.name(), &content.stem()), &own, &preset, fleet)
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

fn is_parquet(input: &Input) -> bool {
    let mut start = [0; 4];
    match input.held() {
        Some(held) => held.content.starts_with(b"PAR1"),
        None => input::open(input.path()).and_then(|mut file| file.read_exact(&mut start)).is_ok() && &start == b"PAR1",
    }
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

/// What a file is; `None` of one that is of no monitoring system.
fn format(input: &Input, asked: &Asked) -> Result<Option<Format>, Error> {
    let look = match input.held() {
        Some(held) => Cow::Borrowed(held.content.get(..input::START as usize).unwrap_or(&held.content)),
        None => {
            let mut start = Vec::new();
            let file = input::open(input.path()).map_err(|why| input.failed(why))?;
            file.take(input::START).read_to_end(&mut start).map_err(|why| input.failed(why))?;
            Cow::Owned(input::start(&start))
        }
    };
    Ok(if prometheus::looks_like(&look) {
        Some(Format::Prometheus)
    } else if sar::looks_like(&look) || sar::is_binary(&look) {
        Some(Format::Sar)
    } else if is_parquet(input) || asked.is_table() || is_table(&look) {
        Some(Format::Table)
    } else {
        None
    })
}

/// The whole of a file.
fn load<'a>(input: &'a Input, asked: &Asked) -> Result<Content<'a>, Error> {
    let (bytes, early) = input.whole(asked.limit).map_err(|why| input.failed(why))?;
    let note = early.map(|why| format!("{}: {why}", input.name()));
    Ok(Content { input, bytes, note })
}
