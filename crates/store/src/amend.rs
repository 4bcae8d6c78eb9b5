//! Adds to a finished recording what was not known where it was made. Everything else of it stays as it is.

use crate::catalogue::Segment;
use crate::writer::note_sealed;
use crate::{Error, Recording, segment};
use model::{Column, NULL, Symbols};
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;

/// The rows of one segment of a table, to be read and changed.
#[derive(Debug)]
pub struct Cells<'a> {
    columns: &'a [Column],
    cells: &'a mut [Vec<i64>],
    symbols: &'a mut Symbols,
}

impl Cells<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.first().map_or(0, Vec::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == column)
    }

    /// A number; [`NULL`] where there is none.
    pub fn number(&self, column: &str, row: usize) -> i64 {
        let cells = self.place(column).and_then(|at| self.cells.get(at));
        cells.and_then(|cells| cells.get(row)).copied().unwrap_or(NULL)
    }

    /// A text.
    pub fn text(&self, column: &str, row: usize) -> Option<&str> {
        self.symbols.text(self.number(column, row))
    }

    /// Puts a text in the place of what is there.
    pub fn set_text(&mut self, column: &str, row: usize, text: &str) {
        let Some(at) = self.place(column) else { return };
        if let Some(cell) = self.cells.get_mut(at).and_then(|cells| cells.get_mut(row)) {
            *cell = self.symbols.cell(text);
        }
    }
}

/// Changes the rows of a table, segment by segment: `edit` says whether it changed any. All of it takes effect at once, or nothing does.
///
/// # Errors
/// Where the recording is not finished, is damaged in this table, or may not be written. Then it is as it was.
pub fn amend(path: &Path, table: &str, mut edit: impl FnMut(&mut Cells<'_>) -> bool) -> Result<(), Error> {
    let recording = Recording::open(path)?;
    let why = "it is still being recorded, or was cut off; only a finished recording can be added to";
    if recording.is_unfinished() {
        return Err(Error::Corrupt { what: path.display().to_string(), why: why.into() });
    }
    let Some((id, columns)) = recording.stored(table) else { return Ok(()) };
    drop(recording);
    let of = |e| Error::of(path, e);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(of)?;
    let transaction = db.unchecked_transaction().map_err(of)?;
    let segments = transaction
        .prepare(Segment::SELECT)
        .and_then(|mut s| s.query_map([], Segment::of)?.collect::<Result<Vec<_>, _>>())
        .map_err(of)?;
    let mut changed = false;
    for of_table in segments.iter().filter(|s| s.table == i64::from(id)) {
        let corrupt = |why: String| Error::Corrupt { what: format!("{}: table {table}", path.display()), why };
        let bytes: Vec<u8> =
            transaction.query_row("select bytes from segment where id = ?", [of_table.id], |r| r.get(0)).map_err(of)?;
        let mut symbols = Symbols::default();
        let wanted = vec![true; columns.len()];
        let mut block = segment::decode(&bytes, &columns, &wanted, &mut symbols).map_err(corrupt)?;
        if !edit(&mut Cells { columns: &columns, cells: &mut block.columns, symbols: &mut symbols }) {
            continue;
        }
        let bytes = segment::encode(&columns, &block, &symbols).map_err(|e| corrupt(e.to_string()))?;
        transaction.execute("update segment set bytes = ? where id = ?", params![bytes, of_table.id]).map_err(of)?;
        changed = true;
    }
    if changed {
        let tick = transaction.query_row("select tick from sealed", [], |r| r.get(0)).map_err(of)?;
        note_sealed(&transaction, tick).map_err(of)?;
        transaction.commit().map_err(of)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Select, Writer};
    use model::{Manifest, Rows, Table, Unit};

    static PLACES: Table = Table::wide(
        "place",
        "a place",
        &[
            Column::number("number", "its number"),
            Column::fact("name", "its name"),
            Column::fact_number("offset", Unit::None, "where"),
        ],
    )
    .of_entries();

    fn recording(finished: bool) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.twin");
        let mut writer = Writer::create(&path, false, 1_000_000_000).unwrap();
        writer.source("places", "places", 1, &[]).unwrap();
        let id = writer.define("places", &PLACES).unwrap();
        let mut symbols = Symbols::default();
        let known = symbols.cell("known");
        for part in 0..3 {
            let mut rows = Rows { width: 3, ..Rows::default() };
            for number in part * 100..part * 100 + 100 {
                rows.cells.extend([number, if number % 2 == 0 { known } else { NULL }, number * 7]);
            }
            writer.put(id, part, &rows);
            writer.commit(&symbols).unwrap();
            writer.seal(&symbols).unwrap();
        }
        let ended = finished.then(|| "duration over".to_owned());
        let manifest = Manifest { ended, ..Manifest::default() };
        writer.finish(&manifest, &symbols).unwrap();
        (folder, path)
    }

    fn names(path: &Path) -> Vec<(i64, Option<String>, i64)> {
        let recording = Recording::open(path).unwrap();
        let frame = recording.load("place", &Select::default()).unwrap();
        assert!(recording.damage().is_empty(), "{:?}", recording.damage());
        let (name, offset) = (frame.column("name").unwrap(), frame.column("offset").unwrap());
        let row = |e: &crate::Entity| {
            let at = e.rows.start;
            (e.labels[0], frame.symbols.text(name[at]).map(str::to_owned), offset[at])
        };
        frame.entities.iter().map(row).collect()
    }

    #[test]
    fn what_was_not_known_is_added_and_all_else_stays() {
        let (_folder, path) = recording(true);
        let mut before = names(&path);
        amend(&path, "place", |rows| {
            let mut any = false;
            for row in 0..rows.len() {
                if rows.text("name", row).is_none() && rows.number("number", row) < 200 {
                    let name = format!("found {}", rows.number("offset", row));
                    rows.set_text("name", row, &name);
                    any = true;
                }
            }
            any
        })
        .unwrap();
        for (number, name, offset) in &mut before {
            if name.is_none() && *number < 200 {
                *name = Some(format!("found {offset}"));
            }
        }
        assert_eq!(names(&path), before);
        assert_eq!(before.iter().filter(|(_, name, _)| name.is_none()).count(), 50);
    }

    #[test]
    fn what_is_not_finished_or_may_not_be_written_is_left_alone() {
        let (_folder, path) = recording(false);
        let before = std::fs::read(&path).unwrap();
        let said = amend(&path, "place", |_| true).unwrap_err().to_string();
        assert!(said.contains("only a finished recording"), "{said}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let (_folder, path) = recording(true);
        assert!(amend(&path, "no such table", |_| true).is_ok());
        let before = names(&path);
        amend(&path, "place", |_| false).unwrap();
        assert_eq!(names(&path), before);
    }
}
