//! A smaller copy of a recording: some of its tables, some of their rows, and fewer reads.

use crate::catalogue::{self, Segment};
use crate::close::close;
use crate::coarsen::coarsen;
use crate::door::{self, Access};
use crate::pack::Packer;
use crate::writer::{self, note_sealed, placed};
use crate::{Cells, Error, Recording, schema, segment, sum, tail};
use files::{Aside, Rules};
use model::Symbols;
use rusqlite::params;
use std::path::Path;

/// What of a recording is copied.
pub trait Keep {
    /// Whether a table is kept, by its name. One that is not kept is as if it had never been recorded.
    fn table(&mut self, name: &str) -> bool;

    /// Whether a row is kept. Rows of counters are differences to rows before them, and should all be kept.
    fn row(&mut self, table: &str, rows: &Cells<'_>, row: usize) -> bool;

    /// Changes cells of a table before its rows are chosen: rounds what is more precise than anyone asks.
    fn edit(&mut self, _table: &str, _rows: &mut Cells<'_>) {}

    /// The time, in nanoseconds, of which all reads of a table become one; none where all reads are kept. The numbers of events of a kind are
    /// added up: not for tables whose rows hold more than labels and amounts.
    fn stretch(&self, _table: &str) -> Option<i64> {
        None
    }
}

/// Copies of `from` what `keep` keeps into a new file. Its segments are stored without compression: who packs several such files together
/// compresses what they have in common. What the recording says of itself (manifest, coverage, facts, marks) is copied as it is; its charts
/// are not. A recording that was cut off is finished first.
///
/// # Errors
/// Where `from` is still being made or damaged in a table that is kept, or `to` exists or cannot be written.
pub fn extract(from: &Path, to: &Path, keep: &mut dyn Keep) -> Result<(), Error> {
    let mut recording = Recording::open(from)?;
    if recording.is_unfinished() {
        drop(recording);
        close(from)?;
        recording = Recording::open(from)?;
    }
    let corrupt = |what: &str, why: String| Error::Corrupt { what: format!("{}: {what}", from.display()), why };
    let rules = Rules { recording: true, ..Rules::default() };
    let aside = Aside::create(to, &rules).map_err(|why| placed(to, why))?;
    let of = |e| Error::of(to, e);
    let source = door::open(from, Access::Read)?;
    let db = writer::open(aside.path()).map_err(of)?;
    // The smallest pages: most tables of the copy hold little.
    db.pragma_update(None, "page_size", 512).map_err(of)?;
    db.pragma_update(None, "application_id", schema::APPLICATION_ID).map_err(of)?;
    db.pragma_update(None, "user_version", schema::FORMAT).map_err(of)?;
    let transaction = db.unchecked_transaction().map_err(of)?;
    transaction.execute_batch(schema::CREATE).map_err(of)?;
    for (table, columns) in [("manifest", 2), ("coverage", 5), ("fact", 3), ("mark", 2)] {
        let marks = vec!["?"; columns].join(", ");
        let mut insert = transaction.prepare(&format!("insert into {table} values ({marks})")).map_err(of)?;
        let copied = source.each(&format!("select * from {table}"), |row| {
            let values = (0..columns).map(|i| row.get::<_, rusqlite::types::Value>(i)).collect::<Result<Vec<_>, _>>();
            insert.execute(rusqlite::params_from_iter(values?)).map(drop)
        });
        copied.map_err(|why| corrupt(table, why))?;
    }
    let mut packer = Packer::plain(&transaction).map_err(of)?;
    for (number, (name, title, interval)) in (0i64..).zip(recording.sources()) {
        let charts = packer.add([number, 0], &catalogue::encode_charts(&[])).map_err(of)?;
        transaction
            .execute("insert into source values (?, ?, ?, ?, ?)", params![number, name, title, interval, charts])
            .map_err(of)?;
    }
    let mut kept = Vec::new();
    for (id, table) in recording.tables_by_number() {
        if keep.table(table.name) {
            let of_source: String = source
                .db
                .query_row("select source from table_definition where id = ?", [id], |row| row.get(0))
                .map_err(|e| Error::of(from, e))?;
            let definition = packer.add([i64::from(id), 0], &catalogue::encode(table)).map_err(of)?;
            transaction
                .execute(
                    "insert into table_definition values (?, ?, ?, ?)",
                    params![id, table.name, of_source, definition],
                )
                .map_err(of)?;
            kept.push((i64::from(id), table));
        }
    }
    packer.finish().map_err(of)?;
    for of_table in recording.segments() {
        let Some((_, table)) = kept.iter().find(|(id, _)| *id == of_table.table) else { continue };
        let columns = table.stored();
        let bytes = of_table.bytes(&source.db).map_err(|why| corrupt(table.name, why))?;
        let ticks = recording.ticks_of(of_table).map_err(|why| corrupt(table.name, why))?;
        let mut symbols = Symbols::default();
        let wanted = vec![true; columns.len()];
        let mut block =
            segment::decode(&bytes, &columns, &wanted, &mut symbols).map_err(|why| corrupt(table.name, why))?;
        let stands = vec![true; block.tick.len()];
        let mut rows = Cells::new(&columns, &mut block.columns, &mut symbols, &stands);
        keep.edit(table.name, &mut rows);
        let stay: Vec<bool> = (0..stands.len()).map(|row| keep.row(table.name, &rows, row)).collect();
        let mut stays = stay.iter();
        block.tick.retain(|_| stays.next().is_some_and(|stay| *stay));
        for cells in &mut block.columns {
            let mut stays = stay.iter();
            cells.retain(|_| stays.next().is_some_and(|stay| *stay));
        }
        let (block, ticks) = match keep.stretch(table.name) {
            Some(length) => coarsen(table, &columns, &block, &ticks, length),
            None => (block, ticks),
        };
        let plain = segment::encode(&columns, &block, &symbols).map_err(|e| corrupt(table.name, e.to_string()))?;
        let Segment { id, table, generation, from, to, .. } = *of_table;
        let ticks = sum::add([table, generation], &tail::encode_ticks(&ticks));
        transaction
            .execute(
                "insert into segment values (?, ?, ?, ?, ?, ?, ?, ?)",
                params![id, table, generation, from, to, block.tick.len() as i64, ticks, plain],
            )
            .map_err(of)?;
    }
    let tick: i64 =
        source.db.query_row("select tick from sealed", [], |row| row.get(0)).map_err(|e| Error::of(from, e))?;
    note_sealed(&transaction, tick).map_err(of)?;
    transaction.commit().map_err(of)?;
    db.close().map_err(|(_, why)| of(why))?;
    aside.place(&rules).map(drop).map_err(|why| placed(to, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Select, Writer};
    use model::{Column, Manifest, Rows, Table, Unit};

    static READINGS: Table = Table::wide(
        "reading",
        "a reading",
        &[Column::number("number", "its number"), Column::gauge("value", Unit::None, "what was read")],
    );
    static OTHERS: Table = Table::wide(
        "other",
        "another",
        &[Column::number("number", "its number"), Column::gauge("value", Unit::None, "what was read")],
    );

    struct Odd;

    impl Keep for Odd {
        fn table(&mut self, name: &str) -> bool {
            name == "reading"
        }

        fn row(&mut self, _: &str, rows: &Cells<'_>, row: usize) -> bool {
            rows.number("number", row) % 2 == 1
        }
    }

    fn values(recording: &Recording, table: &str) -> Vec<(i64, i64)> {
        let frame = recording.load(table, &Select::default()).unwrap();
        let value = frame.column("value").unwrap();
        frame.entities.iter().map(|e| (e.labels[0], value[e.rows.start])).collect()
    }

    #[test]
    fn what_is_kept_reads_as_before_and_the_rest_was_never_there() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.twin"), folder.path().join("b.twin"));
        let mut writer = Writer::create(&from, false, 1_000_000_000).unwrap();
        writer.source("readings", "readings", 1, &[]);
        let ids = [&READINGS, &OTHERS].map(|table| writer.define("readings", table));
        let symbols = Symbols::default();
        for t in 0..3 {
            for id in ids {
                let cells = (0..10).flat_map(|number| [number, number * 7 + t]).collect();
                writer.put(id, t, &Rows { width: 2, cells });
            }
            writer.commit(&symbols).unwrap();
        }
        let manifest = Manifest { name: "a run".into(), ended: Some("duration over".into()), ..Manifest::default() };
        writer.finish(&manifest, &symbols).unwrap();

        extract(&from, &to, &mut Odd).unwrap();
        let (before, after) = (Recording::open(&from).unwrap(), Recording::open(&to).unwrap());
        after.check();
        assert!(after.damage().is_empty(), "{:?}", after.damage());
        assert_eq!(after.manifest().name, "a run");
        assert_eq!(after.sources(), before.sources());
        assert!(after.table("other").is_none() && before.table("other").is_some());
        let odd: Vec<(i64, i64)> = values(&before, "reading").into_iter().filter(|(n, _)| n % 2 == 1).collect();
        assert_eq!(values(&after, "reading"), odd);
        assert_eq!(odd.len(), 5);
        assert!(matches!(extract(&from, &to, &mut Odd), Err(Error::Exists { .. })));
    }

    #[test]
    fn of_a_damaged_table_nothing_is_made_up() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.twin"), folder.path().join("b.twin"));
        let mut writer = Writer::create(&from, false, 1_000_000_000).unwrap();
        writer.source("readings", "readings", 1, &[]);
        let id = writer.define("readings", &READINGS);
        writer.put(id, 0, &Rows { width: 2, cells: vec![1, 2] });
        writer.finish(&Manifest { ended: Some("x".into()), ..Manifest::default() }, &Symbols::default()).unwrap();
        rusqlite::Connection::open(&from)
            .unwrap()
            .execute("delete from pack where generation is not null", [])
            .unwrap();
        let why = extract(&from, &to, &mut Odd).unwrap_err().to_string();
        assert!(why.contains("a.twin") && why.contains("reading"), "{why}");
    }
}
