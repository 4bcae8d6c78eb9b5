//! Small blobs that are compressed together. There are some two hundred of them in a recording, and they are alike: each by itself would repeat what
//! the others say, and leave half a page of the file empty.
//!
//! A pack is one row of table `pack`. In the place of a blob stands where it lies: a checksum, then pack, offset and length.

use crate::sum;
use rusqlite::{Connection, params};

/// The most bytes of a pack, uncompressed: a pack that is damaged takes with it what is in it, and to read one blob takes all of it.
const MOST: usize = 64 << 10;

/// A blob of more bytes has nothing from company.
pub(crate) const SMALL: usize = 16 << 10;

/// Bytes of what stands in the place of a blob. No blob has as few: a compressed one begins with zstd's magic number, or is longer.
const PLACE: usize = 16;

/// Of the frame header of zstd, as much as says how long its content is.
const FRAME_HEADER: usize = 18;

/// Puts blobs into packs.
pub(crate) struct Packer<'a> {
    db: &'a Connection,
    /// What the packs belong to.
    generation: Option<i64>,
    level: i32,
    /// The number of the next pack, and what will be in it.
    number: u32,
    content: Vec<u8>,
}

impl<'a> Packer<'a> {
    /// Packs of a generation of segments, which are deleted with it; or of declarations.
    pub(crate) fn new(db: &'a Connection, generation: Option<i64>) -> rusqlite::Result<Self> {
        let number = db.query_row("select coalesce(max(id), 0) + 1 from pack", [], |row| row.get(0))?;
        Ok(Packer { db, generation, level: crate::LEVEL, number, content: Vec::new() })
    }

    /// The same, packs that are hardly compressed, for a file that will be compressed as a whole.
    pub(crate) fn plain(db: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Packer { level: crate::PLAIN, ..Packer::new(db, None)? })
    }

    /// Adds a blob. Returns what stands in its place, in the row that `key` is of.
    pub(crate) fn add(&mut self, key: [i64; 2], blob: &[u8]) -> rusqlite::Result<Vec<u8>> {
        if !self.content.is_empty() && self.content.len() + blob.len() > MOST {
            self.write()?;
        }
        let place = [self.number, self.content.len() as u32, blob.len() as u32];
        self.content.extend_from_slice(blob);
        Ok(sum::add(key, &place.map(u32::to_le_bytes).concat()))
    }

    /// Writes the last pack.
    pub(crate) fn finish(mut self) -> rusqlite::Result<()> {
        if self.content.is_empty() { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> rusqlite::Result<()> {
        let bytes = crate::pack(&self.content, self.level)
            .map_err(|why| rusqlite::Error::ToSqlConversionFailure(Box::new(why)))?;
        self.db.prepare_cached("insert into pack values (?, ?, ?)")?.execute(params![
            self.number,
            self.generation,
            bytes
        ])?;
        self.number += 1;
        self.content.clear();
        Ok(())
    }
}

/// Whether this stands in the place of a blob.
pub(crate) fn is_place(stored: &[u8]) -> bool {
    stored.len() == PLACE && !stored.starts_with(&crate::ZSTD)
}

fn place(key: [i64; 2], stored: &[u8]) -> Result<[usize; 3], String> {
    let mut words = sum::check(key, stored)?
        .chunks_exact(4)
        .map(|word| word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word) as usize));
    let mut next = || words.next().unwrap_or(0);
    Ok([next(), next(), next()])
}

/// The blob that belongs in this place, uncompressed.
pub(crate) fn read(db: &Connection, key: [i64; 2], stored: &[u8]) -> Result<Vec<u8>, String> {
    let [number, offset, length] = place(key, stored)?;
    let mut select = db.prepare_cached("select bytes from pack where id = ?").map_err(|e| e.to_string())?;
    let bytes: Vec<u8> = select.query_row([number as i64], |r| r.get(0)).map_err(|e| format!("pack {number}: {e}"))?;
    // A single blob can be longer than a pack should be.
    let content = crate::unpack(&bytes, crate::segment::MOST_BYTES).map_err(|e| format!("pack {number}: {e}"))?;
    let blob = content.get(offset..).and_then(|rest| rest.get(..length));
    blob.map(<[u8]>::to_vec).ok_or_else(|| format!("pack {number} ends early"))
}

/// What a blob takes of its pack, compressed; 0 where that cannot be said.
pub(crate) fn share(db: &Connection, key: [i64; 2], stored: &[u8]) -> i64 {
    let taken = || {
        let [number, _, length] = place(key, stored).ok()?;
        let mut select = db.prepare_cached("select length(bytes), substr(bytes, 1, ?) from pack where id = ?").ok()?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let (bytes, head) = select.query_row([FRAME_HEADER as i64, number as i64], row).ok()?;
        let content = zstd::zstd_safe::get_frame_content_size(&head).ok()??;
        i64::try_from(bytes as u64 * length as u64 / content.max(1)).ok()
    };
    taken().unwrap_or(0)
}

/// Deletes the packs of generations of which no segment is left, but for those of `kept` tables, whose segments are in no pack.
pub(crate) fn forget(db: &Connection, kept: &[i64]) -> rusqlite::Result<()> {
    let kept = kept.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    db.execute(
        &format!(
            "delete from pack where generation not in (select generation from segment where table_id not in ({kept}))"
        ),
        [],
    )
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(crate::schema::CREATE).unwrap();
        db
    }

    #[test]
    fn blobs_come_back_and_packs_stay_small() {
        let db = database();
        let blobs: Vec<Vec<u8>> = (0..40u8).map(|n| vec![n; 5000]).chain([vec![], vec![7; 2 * MOST]]).collect();
        let mut packer = Packer::new(&db, None).unwrap();
        let places: Vec<Vec<u8>> = (0..).zip(&blobs).map(|(n, blob)| packer.add([n, 0], blob).unwrap()).collect();
        packer.finish().unwrap();
        for (n, (place, blob)) in (0..).zip(places.iter().zip(&blobs)) {
            assert!(is_place(place));
            assert_eq!(&read(&db, [n, 0], place).unwrap(), blob);
            assert!(read(&db, [n + 1, 0], place).is_err(), "of another row");
            assert!(share(&db, [n, 0], place) < 200, "they are alike");
        }
        let packs: i64 = db.query_row("select count(*) from pack", [], |r| r.get(0)).unwrap();
        assert_eq!(packs, 40 * 5000 / MOST as i64 + 1 + 1);
        assert!(Packer::new(&db, None).unwrap().number > packs as u32);
    }

    #[test]
    fn damage_is_an_error() {
        let db = database();
        let mut packer = Packer::new(&db, Some(0)).unwrap();
        let mut stored = packer.add([1, 2], b"blob").unwrap();
        packer.finish().unwrap();
        db.execute("update pack set bytes = substr(bytes, 1, length(bytes) - 1)", []).unwrap();
        assert!(read(&db, [1, 2], &stored).unwrap_err().contains("zstd"));
        db.execute("delete from pack", []).unwrap();
        assert!(read(&db, [1, 2], &stored).is_err());
        assert_eq!(share(&db, [1, 2], &stored), 0);
        stored[5] ^= 1;
        assert!(read(&db, [1, 2], &stored).unwrap_err().contains("checksum"));
        assert!(!is_place(&crate::pack(b"abc", crate::LEVEL).unwrap()), "a compressed blob of as few bytes");
    }

    #[test]
    fn packs_go_with_their_segments() {
        let db = database();
        for generation in [None, Some(0), Some(1), Some(2)] {
            let mut packer = Packer::new(&db, generation).unwrap();
            packer.add([0, 0], b"x").unwrap();
            packer.finish().unwrap();
        }
        for (table, generation) in [(5, 0), (5, 1), (6, 1)] {
            let insert = "insert into segment values (null, ?, ?, 0, 0, 0, '', '')";
            db.execute(insert, [table, generation]).unwrap();
        }
        forget(&db, &[5]).unwrap();
        let left: Vec<Option<i64>> = db
            .prepare("select generation from pack order by id")
            .unwrap()
            .query_map([], |r| r.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(left, [None, Some(1)]);
    }

    /// Makes of a recording what the first version of the format had: each blob by itself.
    fn unpacked(path: &std::path::Path) {
        let db = Connection::open(path).unwrap();
        let rows = |sql: &str| -> Vec<([i64; 3], Vec<u8>)> {
            let mut select = db.prepare(sql).unwrap();
            let row = |r: &rusqlite::Row<'_>| Ok(([r.get(0)?, r.get(1)?, r.get(2)?], r.get(3)?));
            select.query_map([], row).unwrap().map(Result::unwrap).collect()
        };
        for ([id, key, other], stored) in rows("select id, id, 0, definition from table_definition") {
            let alone = crate::pack(&read(&db, [key, other], &stored).unwrap(), crate::LEVEL).unwrap();
            let summed = sum::add([id, 0], &alone);
            db.execute("update table_definition set definition = ? where id = ?", params![summed, id]).unwrap();
        }
        for ([id, key, other], stored) in rows("select id, id, 0, charts from source") {
            let alone = crate::pack(&read(&db, [key, other], &stored).unwrap(), crate::LEVEL).unwrap();
            db.execute("update source set charts = ? where id = ?", params![alone, id]).unwrap();
        }
        for ([id, key, other], stored) in rows("select id, table_id, generation, bytes from segment") {
            let alone = crate::pack(&read(&db, [key, other], &stored).unwrap(), crate::LEVEL).unwrap();
            db.execute("update segment set bytes = ? where id = ?", params![alone, id]).unwrap();
        }
        crate::writer::note_sealed(&db, 2).unwrap();
        db.execute_batch("drop table pack; pragma user_version = 1").unwrap();
    }

    #[test]
    fn recordings_of_the_first_version_are_read_and_amended() {
        use model::{Chart, ChartKind, Column, Manifest, Page, Rows, Symbols, Table, Unit};
        static NET: Table = Table::wide(
            "net",
            "interfaces",
            &[Column::label("name", "interface"), Column::counter("bytes", Unit::Bytes, "bytes")],
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.twin");
        let mut writer = crate::Writer::create(&path, false, i64::MAX).unwrap();
        let chart = Chart::new("id", Page::Disks, ChartKind::Line, "title", "read", "net", &["bytes"]);
        writer.source("network", "Interfaces", 1, &[chart]);
        let id = writer.define("network", &NET);
        let mut symbols = Symbols::default();
        for t in 0..2 {
            writer.put(id, t, &Rows { width: 2, cells: vec![symbols.cell("lo"), t] });
            writer.commit(&symbols).unwrap();
        }
        let manifest = Manifest { ended: Some("done".into()), ..Manifest::default() };
        writer.finish(&manifest, &symbols).unwrap();
        let shown = || {
            let recording = crate::Recording::open(&path).unwrap();
            recording.check();
            let frame = recording.load("net", &crate::Select::default()).unwrap();
            let name = frame.symbols.text(frame.entities[0].labels[0]).unwrap().to_owned();
            let size = recording.sizes()[0].3;
            assert_eq!((recording.damage(), size > 60), (vec![], true), "{size}");
            (recording.charts(), name, frame.column("bytes").unwrap().to_vec())
        };
        let now = shown();
        assert_eq!(now, (vec![chart], "lo".to_owned(), vec![0, 1]));
        unpacked(&path);
        assert_eq!(shown(), now);
        let rename = |rows: &mut crate::Cells<'_>| {
            (0..rows.len()).for_each(|row| rows.set_text("name", row, "eth0"));
            true
        };
        crate::amend(&path, "net", rename).unwrap();
        assert_eq!(shown().1, "eth0");
    }
}
