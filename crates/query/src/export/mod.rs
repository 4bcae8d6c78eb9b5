//! Recordings as files for other tools: Parquet for data frames and lakes, OpenMetrics for databases of time series, CSV for everything else.
//!
//! Parquet is laid out as `TABLE/run=NAME/host=NAME/part-0.parquet`: each folder `TABLE` is a dataset of its own, partitioned as Hive does it, which
//! pandas, DuckDB, Spark and Trino read as it is; another run adds a folder. For very many runs there is a layout of few large files ([`lake()`]). CSV
//! is one file a table, all runs in it.
//!
//! Rows carry `t`, nanoseconds since the start of the recording, and `timestamp`, the wall-clock time. A table of states has one row for each
//! entity at each read, as in SQL ([`Form::Dense`]); for tables too large for that there is [`Form::Stored`]. Values are as stored; their
//! units stand in the metadata of the Parquet file (key `twinscope`) and in `.schema`.

mod csv;
mod lake;
pub mod openmetrics;
mod parquet;

pub use csv::csv;
pub use lake::lake;
pub use parquet::parquet;

use crate::{Error, Run};
use files::{Output, Rules};
use model::{Column, NULL, Table, Type};
use std::path::{Path, PathBuf};
use store::{Frame, Select};

/// Which rows of a table of states are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A row for each entity at each read of the table.
    #[default]
    Dense,
    /// A row only where something changed, as the recording stores it, and a column `gone`: 1 where the row says that the entity is no more.
    Stored,
}

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only these tables; empty for all.
    pub tables: Vec<String>,
    /// Which rows.
    pub form: Form,
    /// A table of one run with more rows than this is left out, and said so: an hour of 100 CPUs and 500 interrupt lines is 180 million
    /// dense rows, most of them equal to the row before.
    pub most_rows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { tables: Vec::new(), form: Form::Dense, most_rows: 50_000_000 }
    }
}

/// What an export did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The files, and the number of rows in each.
    pub files: Vec<(PathBuf, usize)>,
    /// Tables that were left out, and why.
    pub left_out: Vec<(String, String)>,
}

/// A part of a table: columns of equal length.
#[derive(Default)]
struct Batch {
    t: Vec<i64>,
    gone: Vec<bool>,
    /// The stored columns.
    columns: Vec<Vec<i64>>,
}

impl Batch {
    fn new(width: usize) -> Self {
        Batch { columns: vec![Vec::new(); width], ..Batch::default() }
    }

    fn clear(&mut self) {
        self.t.clear();
        self.gone.clear();
        self.columns.iter_mut().for_each(Vec::clear);
    }
}

/// So many rows are handed on at once, and those of one more entity at most.
const BATCH_ROWS: usize = 256 << 10;

/// Names of the columns that every file has before those of the table.
const LEADING: [&str; 2] = ["t", "timestamp"];

/// The stored columns of a table under names that differ, from each other and from those of the export.
fn columns(table: &Table, form: Form) -> Vec<(String, Column)> {
    let mut taken: Vec<String> = ["run", "host", "gone"].into_iter().chain(LEADING).map(str::to_owned).collect();
    if form == Form::Dense || table.events {
        taken.retain(|name| name != "gone");
    }
    let mut named = Vec::new();
    for column in table.stored() {
        let mut name = column.name.to_owned();
        while taken.iter().any(|t| t.eq_ignore_ascii_case(&name)) || name.is_empty() {
            name.push('_');
        }
        taken.push(name.clone());
        named.push((name, column));
    }
    named
}

/// Number of rows that [`batches`] will give.
fn count(frame: &Frame, form: Form) -> usize {
    if form == Form::Stored || frame.table.events {
        return frame.tick.len();
    }
    let ticks = |entity| frame.lives(entity).iter().map(|(ticks, _)| ticks.len()).sum::<usize>();
    frame.entities.iter().map(ticks).sum()
}

/// Hands the rows of a frame on, entity by entity.
fn batches<E>(frame: &Frame, form: Form, mut put: impl FnMut(&Batch) -> Result<(), E>) -> Result<(), E> {
    let labels = frame.table.label_width();
    let mut batch = Batch::new(labels + frame.values.len());
    let mut cells = Vec::new();
    for entity in &frame.entities {
        let before = batch.t.len();
        if form == Form::Stored || frame.table.events {
            let at = frame.tick.get(entity.rows.clone()).unwrap_or_default();
            batch.t.extend(at.iter().map(|&t| frame.ticks.get(t as usize).copied().unwrap_or(0)));
            batch.gone.extend_from_slice(frame.gone.get(entity.rows.clone()).unwrap_or_default());
            for (into, from) in batch.columns.iter_mut().skip(labels).zip(&frame.values) {
                into.extend_from_slice(from.get(entity.rows.clone()).unwrap_or_default());
            }
        } else {
            let lives = frame.lives(entity);
            for (ticks, _) in &lives {
                batch.t.extend_from_slice(frame.ticks.get(ticks.clone()).unwrap_or_default());
            }
            for (into, from) in batch.columns.iter_mut().skip(labels).zip(&frame.values) {
                for (ticks, _) in &lives {
                    crate::series::carried(frame, from, &lives, ticks.clone(), &mut cells);
                    into.extend_from_slice(&cells);
                }
            }
            batch.gone.resize(batch.t.len(), false);
        }
        let rows = batch.t.len() - before;
        for (into, &label) in batch.columns.iter_mut().zip(&entity.labels) {
            into.extend(std::iter::repeat_n(label, rows));
        }
        if batch.t.len() >= BATCH_ROWS {
            put(&batch)?;
            batch.clear();
        }
    }
    if batch.t.is_empty() { Ok(()) } else { put(&batch) }
}

/// The names of the tables to export, each once, in the order of the recordings.
fn tables<'a>(runs: impl Iterator<Item = &'a Run>, options: &Options) -> Result<Vec<&'static str>, Error> {
    let mut names: Vec<&'static str> = Vec::new();
    for (_, table) in runs.flat_map(|run| run.recording.tables()) {
        if !names.contains(&table.name) {
            names.push(table.name);
        }
    }
    if let Some(unknown) = options.tables.iter().find(|t| !names.contains(&t.as_str())) {
        return Err(Error::NoTable { table: unknown.clone(), tables: names.join(", ") });
    }
    names.retain(|name| options.tables.is_empty() || options.tables.iter().any(|t| t == name));
    Ok(names)
}

/// A table of a run, if it holds rows and is not too large; else why it is left out.
fn load(run: &Run, table: &str, options: &Options) -> Result<Option<Frame>, String> {
    let Some(frame) = run.recording.load(table, &Select::default()) else { return Ok(None) };
    match count(&frame, options.form) {
        0 => Ok(None),
        rows if rows > options.most_rows => Err(format!(
            "run {}: {rows} rows, more than {}; export it as stored, or allow more rows",
            run.name, options.most_rows
        )),
        _ => Ok(Some(frame)),
    }
}

/// A name as a part of a path: what could end the part, or means something to a file system, to Hive or to a shell, is written
/// as `%` and two digits, as Hive does it (FileUtils.escapePathName).
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        // Readers of lakes pass over what begins with a dot or a line.
        let hidden = i == 0 && matches!(c, '.' | '_');
        if hidden || c.is_ascii_control() || "\"#%'*/:=?\\{}[]^<>|".contains(c) {
            out.push_str(&format!("%{:02X}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

/// A partition's folder: `key=value`.
fn partition(key: &str, value: &str) -> String {
    // Hive's own name for a value that is not there.
    let value = if value.is_empty() { "__HIVE_DEFAULT_PARTITION__".to_owned() } else { escaped(value) };
    format!("{key}={value}")
}

/// Creates a file that must not be there, and the folders above it. It is there when it is finished.
fn create(path: &Path) -> Result<Output<'static>, Error> {
    let made = path.parent().map_or(Ok(()), files::make_folder).and_then(|()| Output::create(path, Rules::default()));
    made.map_err(|why| Error::Write { path: path.to_owned(), why })
}

/// A cell of a text column; `None` where nothing was read.
fn text<'f>(frame: &'f Frame, column: &Column, cell: i64) -> Option<&'f str> {
    (column.ty == Type::Text && cell != NULL).then(|| frame.symbols.text(cell)).flatten()
}

#[cfg(test)]
mod tests;
