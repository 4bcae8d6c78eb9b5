//! Adds to a recording what was not known where it was made. Everything else of it stays as it is. One that was cut off is finished first.

use crate::catalogue::Segment;
use crate::close::close;
use crate::door::{self, Access};
use crate::writer::note_sealed;
use crate::{Error, Recording, segment};
use model::{Column, NULL, Symbols};
use rusqlite::params;
use std::collections::HashSet;
use std::path::Path;

/// The rows of one segment of a table, to be read and changed.
#[derive(Debug)]
pub struct Cells<'a> {
    columns: &'a [Column],
    cells: &'a mut [Vec<i64>],
    symbols: &'a mut Symbols,
    stands: &'a [bool],
}

impl<'a> Cells<'a> {
    pub(crate) fn new(
        columns: &'a [Column],
        cells: &'a mut [Vec<i64>],
        symbols: &'a mut Symbols,
        stands: &'a [bool],
    ) -> Self {
        Cells { columns, cells, symbols, stands }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.first().map_or(0, Vec::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the row counts: in a dictionary, only the last one of its labels does.
    pub fn stands(&self, row: usize) -> bool {
        self.stands.get(row).copied().unwrap_or(false)
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

    /// Puts a number in the place of what is there.
    pub fn set_number(&mut self, column: &str, row: usize, number: i64) {
        let Some(at) = self.place(column) else { return };
        if let Some(cell) = self.cells.get_mut(at).and_then(|cells| cells.get_mut(row)) {
            *cell = number;
        }
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
/// Where the recording is still being made, is damaged in this table, or may not be written. Then its rows are as they were.
pub fn amend(path: &Path, table: &str, mut edit: impl FnMut(&mut Cells<'_>) -> bool) -> Result<(), Error> {
    let mut recording = Recording::open(path)?;
    if recording.is_unfinished() {
        drop(recording);
        close(path)?;
        recording = Recording::open(path)?;
    }
    let is_dictionary = recording.table(table).is_some_and(|table| table.dictionary);
    let Some((id, columns)) = recording.stored(table) else { return Ok(()) };
    drop(recording);
    let of = |e| Error::of(path, e);
    let db = door::open(path, Access::Write)?.db;
    let transaction = db.unchecked_transaction().map_err(of)?;
    let segments = Segment::list(&transaction).map_err(of)?;
    let mut changed = false;
    let mut later: HashSet<Vec<i64>> = HashSet::new();
    for of_table in segments.iter().rev().filter(|s| s.table == i64::from(id)) {
        let corrupt = |why: String| Error::Corrupt { what: format!("{}: table {table}", path.display()), why };
        let bytes = of_table.bytes(&transaction).map_err(corrupt)?;
        let mut symbols = Symbols::default();
        let wanted = vec![true; columns.len()];
        let mut block = segment::decode(&bytes, &columns, &wanted, &mut symbols).map_err(corrupt)?;
        // The numbers of a dictionary's entries; what comes later stands for what was before.
        let labels: Vec<&Vec<i64>> =
            columns.iter().zip(&block.columns).filter(|(c, _)| c.is_label()).map(|(_, cells)| cells).collect();
        let mut stands = vec![true; block.tick.len()];
        for (row, stands) in stands.iter_mut().enumerate().rev().filter(|_| is_dictionary) {
            *stands = later.insert(labels.iter().filter_map(|cells| cells.get(row)).copied().collect());
        }
        let cells = &mut block.columns;
        if !edit(&mut Cells::new(&columns, cells, &mut symbols, &stands)) {
            continue;
        }
        let plain = segment::encode(&columns, &block, &symbols).map_err(|e| corrupt(e.to_string()))?;
        let bytes = segment::compress(&plain).map_err(|e| corrupt(e.to_string()))?;
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

    /// Three hundred places, of which every other has a name; all but the last hundred are sealed. The first one was told before without its place.
    fn written(path: &Path) -> (Writer, crate::TableId, Symbols) {
        let mut writer = Writer::create(path, false, 1_000_000_000).unwrap();
        writer.source("places", "places", 1, &[]);
        let id = writer.define("places", &PLACES);
        let mut symbols = Symbols::default();
        let known = symbols.cell("known");
        for part in 0..3 {
            let mut rows = Rows { width: 3, ..Rows::default() };
            if part == 0 {
                rows.cells.extend([0, NULL, NULL]);
                writer.put(id, 0, &rows);
                writer.commit(&symbols).unwrap();
                rows.cells.clear();
            }
            for number in part * 100..part * 100 + 100 {
                rows.cells.extend([number, if number % 2 == 0 { known } else { NULL }, number * 7]);
            }
            writer.put(id, part + 1, &rows);
            writer.commit(&symbols).unwrap();
            if part < 2 {
                writer.seal(&symbols).unwrap();
            }
        }
        (writer, id, symbols)
    }

    fn recording() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.twin");
        let (writer, _, symbols) = written(&path);
        let manifest = Manifest { ended: Some("duration over".into()), ..Manifest::default() };
        writer.finish(&manifest, &symbols).unwrap();
        (folder, path)
    }

    fn names(path: &Path) -> Vec<(i64, Option<String>, i64)> {
        let recording = Recording::open(path).unwrap();
        let frame = recording.load("place", &Select::default()).unwrap();
        assert!(recording.damage().is_empty(), "{:?}", recording.damage());
        let (name, offset) = (frame.column("name").unwrap(), frame.column("offset").unwrap());
        let row = |e: &crate::Entity| {
            assert_eq!(e.rows.len(), 1, "of an entry, the last row counts");
            let at = e.rows.start;
            (e.labels[0], frame.symbols.text(name[at]).map(str::to_owned), offset[at])
        };
        frame.entities.iter().map(row).collect()
    }

    #[test]
    fn what_was_not_known_is_added_and_all_else_stays() {
        let (_folder, path) = recording();
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
    fn a_row_that_another_took_the_place_of_is_not_shown_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.twin");
        let (mut writer, id, mut symbols) = written(&path);
        let known = symbols.cell("known");
        // The same place in another segment.
        writer.put(id, 9, &Rows { width: 3, cells: vec![1, known, 8] });
        writer.commit(&symbols).unwrap();
        writer.finish(&Manifest { ended: Some("x".into()), ..Manifest::default() }, &symbols).unwrap();
        let mut standing = 0;
        amend(&path, "place", |rows| {
            standing += (0..rows.len()).filter(|&row| rows.stands(row)).count();
            false
        })
        .unwrap();
        assert_eq!(standing, 300);
        assert_eq!(names(&path)[1], (1, Some("known".into()), 8));
    }

    #[test]
    fn what_was_cut_off_is_finished_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.twin");
        let (writer, ..) = written(&path);
        let said = amend(&path, "place", |_| true).unwrap_err().to_string();
        assert!(said.contains("still being recorded"), "{said}");
        // As a kill would leave it.
        drop(writer);
        let before = names(&path);
        assert_eq!(before.len(), 300);
        amend(&path, "place", |rows| {
            (0..rows.len()).for_each(|row| rows.set_text("name", row, "found"));
            true
        })
        .unwrap();
        let after = names(&path);
        assert!(after.iter().zip(&before).all(|(a, b)| (a.0, a.2) == (b.0, b.2) && a.1.as_deref() == Some("found")));
        assert_eq!(after.len(), before.len());
        assert_eq!(Recording::open(&path).unwrap().manifest().ended.as_deref(), Some("cut off"));
    }

    #[test]
    fn what_may_not_be_written_is_left_alone() {
        let (_folder, path) = recording();
        assert!(amend(&path, "no such table", |_| true).is_ok());
        let before = names(&path);
        amend(&path, "place", |_| false).unwrap();
        assert_eq!(names(&path), before);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(amend(&path, "place", |_| true).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), bytes[..bytes.len() / 2]);
    }
}
