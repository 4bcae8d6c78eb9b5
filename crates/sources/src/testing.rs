//! Help for the tests of sources: plays a fixture and shows the rows as text.

use crate::{Scope, Source};
use host::Host;
pub use host::testing::host_of;
use model::{Coverage, Fact, NULL, Out, Rows, Symbols, Type, Unavailable, real_of};

/// What one read of a source gave.
pub struct Played {
    /// For each table, its rows as text: cells separated by one space, `-` for nothing, texts in quotes when they hold a space.
    pub tables: Vec<(&'static str, Vec<String>)>,
    /// What it said about parts that it could not read.
    pub coverage: Vec<Coverage>,
    /// The facts it found.
    pub facts: Vec<Fact>,
    /// Whether the read failed.
    pub error: Option<Unavailable>,
}

impl Played {
    /// The rows of a table.
    pub fn rows(&self, table: &str) -> &[String] {
        &self.tables.iter().find(|(name, _)| *name == table).expect("a table of the source").1
    }

    /// The row of a table that begins with `start`.
    pub fn row(&self, table: &str, start: &str) -> &str {
        self.rows(table)
            .iter()
            .find(|r| r.starts_with(start))
            .unwrap_or_else(|| panic!("no row {start:?} in {:#?}", self.rows(table)))
    }
}

/// The recorded host `name` under `fixtures/hosts`.
pub fn fixture(name: &str) -> Host {
    Host::fixture(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/hosts/").to_owned() + name)
}

/// Opens `source` on `host` and reads it once for each frame in `frames`.
pub fn play(source: &Source, host: &Host, frames: u32) -> Result<Vec<Played>, Unavailable> {
    host.set_frame(0, 0);
    let mut reader = (source.open)(host, &Scope::default())?;
    let mut symbols = Symbols::default();
    let mut all = Vec::new();
    for frame in 0..frames.max(1) {
        host.set_frame(frame, u64::from(frame) * 1_000_000_000);
        let mut rows = vec![Rows::default(); source.tables.len()];
        let (mut coverage, mut facts) = (Vec::new(), Vec::new());
        let mut out = Out::new(source.name, source.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        let error = reader.read(host, &mut out).err();
        let tables = source
            .tables
            .iter()
            .zip(&rows)
            .map(|(table, rows)| {
                let columns = table.stored();
                let lines = rows.iter().map(|row| {
                    let cells = row.iter().zip(&columns).map(|(&cell, column)| match column.ty {
                        _ if cell == NULL => "-".to_owned(),
                        Type::Int => cell.to_string(),
                        Type::Real => real_of(cell).map_or("-".to_owned(), |v| v.to_string()),
                        Type::Text => match symbols.text(cell) {
                            Some(text) if text.contains(' ') || text.is_empty() => format!("{text:?}"),
                            Some(text) => text.to_owned(),
                            None => "?".to_owned(),
                        },
                    });
                    cells.collect::<Vec<_>>().join(" ")
                });
                (table.name, lines.collect())
            })
            .collect();
        all.push(Played { tables, coverage, facts, error });
    }
    Ok(all)
}

/// Opens and reads `source` on a host with hostile content in each of its files; it may fail but must not panic.
pub fn survives(source: &Source, content: &str) {
    let files: Vec<(String, &str)> = source.reads.iter().map(|path| (path.replace('*', "1"), content)).collect();
    // Where a pattern is the folder of another, only the deeper one can be a file.
    let is_folder =
        |path: &str| files.iter().any(|(p, _)| p.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
    let files: Vec<(&str, &str)> =
        files.iter().filter(|(p, _)| !is_folder(p)).map(|(path, content)| (path.as_str(), *content)).collect();
    let (_dir, host) = host_of(&files);
    if let Ok(played) = play(source, &host, 2) {
        drop(played);
    }
}
