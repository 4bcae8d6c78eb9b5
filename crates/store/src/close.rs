//! Finishes a recording whose recorder was cut off: what lies in its tail becomes segments, as the recorder would have made of it.

use crate::door::{self, Access};
use crate::writer::{Gathered, empty_tail};
use crate::{Error, Recording};
use model::{NULL, Symbols, Type};
use std::path::Path;
use std::time::Duration;

/// So long another program may take to let go of the file.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// Finishes a recording. Nothing of it is lost; its manifest says that it was cut off.
///
/// # Errors
/// Where its recorder, or anyone else, has it open, where it is damaged, or may not be written.
pub fn close(path: &Path) -> Result<(), Error> {
    let of = |e| Error::of(path, e);
    let corrupt = |why: String| Error::Corrupt { what: path.display().to_string(), why };
    let db = door::open(path, Access::Write)?.db;
    db.busy_timeout(PATIENCE).map_err(of)?;
    let mode: String = db.query_row("pragma journal_mode", [], |row| row.get(0)).map_err(of)?;
    // Only who is alone can do without the log (sqlite.org/wal.html, "Activating And Configuring WAL Mode"). Where there is none, for
    // the file system cannot share memory, a recorder writes once a second.
    let alone = match db.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get::<_, String>(0)) {
        Ok(now) => now == "delete" && (mode == "wal" || !is_recent(path)),
        Err(rusqlite::Error::SqliteFailure(why, _)) if why.code == rusqlite::ErrorCode::DatabaseBusy => false,
        Err(error) => return Err(of(error)),
    };
    if !alone {
        return Err(Error::InUse { path: path.to_owned() });
    }
    let recording = Recording::open(path)?;
    if let Some(damage) = recording.damage().first() {
        return Err(corrupt(format!("it was cut off and is damaged: {}: {}", damage.what, damage.why)));
    }
    let (mut symbols, mut tables) = (Symbols::default(), Vec::new());
    for (id, table) in recording.tables_by_number() {
        let columns = table.stored();
        let mut gathered = Gathered::default();
        for chunk in recording.open_chunks(id).iter().filter(|chunk| chunk.width == columns.len()) {
            let of_text = columns.iter().map(|column| column.ty == Type::Text).cycle();
            let cells = chunk.cells.iter().zip(of_text).map(|(&cell, is_text)| match is_text {
                true => recording.tail_text(cell).map_or(NULL, |text| symbols.cell(text)),
                false => cell,
            });
            gathered.add(chunk.t, chunk.width, &cells.collect::<Vec<_>>());
        }
        tables.push((id, table, gathered));
    }
    // Who reads a file without a log keeps others from writing it.
    drop(recording);
    let transaction = db.unchecked_transaction().map_err(of)?;
    let one = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(of);
    let generation = one("select coalesce(max(generation), -1) + 1 from segment")?;
    let tick = one("select max(tick, (select coalesce(max(tick), -1) + 1 from tail)) from sealed")?;
    for (id, table, gathered) in tables {
        gathered.seal(&transaction, (id, table), generation, &symbols, None, of)?;
    }
    empty_tail(&transaction, tick).map_err(of)?;
    transaction.execute("insert or replace into manifest values ('ended', '\"cut off\"')", []).map_err(of)?;
    transaction.commit().map_err(of)
}

/// Whether the file was written a moment ago.
fn is_recent(path: &Path) -> bool {
    let written = std::fs::metadata(path).and_then(|about| about.modified()).ok();
    written.and_then(|at| at.elapsed().ok()).is_some_and(|ago| ago < Duration::from_secs(10))
}
