//! Writes a recording: rows are thinned and buffered, committed to the tail, and sealed into segments.

use crate::catalogue::Segment;
use crate::in_place::{Database, Moved};
use crate::pack::{self, Packer};
use crate::segment::{self, Block};
use crate::thin::Thinner;
use crate::{Error, catalogue, schema, sum, tail};
use files::{Aside, Rules};
use model::{Chart, Coverage, Fact, Manifest, Mark, Rows, Symbols, Table, Type};
use parquet::errors::ParquetError;
use rusqlite::{Connection, OpenFlags, params};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The tail is sealed when it holds this much, or when it is this old.
const SEAL_BYTES: usize = 1 << 20;

/// It is also sealed when the strings of its rows hold this much: they are kept in memory until then.
const SEAL_TEXT: usize = 2 << 20;

/// What a string costs beside its bytes: its places in two tables and the allocator's share.
const TEXT_COST: usize = 96;

/// Disk space held back so that a recording can be sealed when the disk is full.
const RESERVE: u64 = 4 << 20;

/// A table of the recording being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId(u32);

struct Open {
    table: &'static Table,
    texts: Vec<bool>,
    thinner: Thinner,
    thinned: Vec<i64>,
}

/// Something that was declared.
enum Declared {
    Source { name: String, title: String, interval: i64, charts: Vec<u8> },
    Table { id: i64, source: String, table: &'static Table },
}

/// Rows that were on their way when a dictionary was begun anew come so much later at most, nanoseconds.
const STRAGGLERS: i64 = 5_000_000_000;

/// The time of the first row in any segment that is no dictionary's; `None` where there is none.
fn oldest_row(db: &Connection, dictionaries: &[i64]) -> rusqlite::Result<Option<i64>> {
    let ids: Vec<String> = dictionaries.iter().map(ToString::to_string).collect();
    let oldest = format!("select min(t_from) from segment where table_id not in ({})", ids.join(", "));
    db.query_row(&oldest, [], |row| row.get(0))
}

/// An open recording. Dropped without [`Writer::finish`], it is left as a kill would leave it: readable up to the last commit.
pub struct Writer {
    path: PathBuf,
    db: Database,
    /// The file, where it comes to its place when it is finished, and whether it may replace another there.
    aside: Option<(Aside, bool)>,
    /// Unlinked file whose space is given back when the disk is full.
    reserve: Option<File>,
    tables: Vec<Open>,
    /// How many sources there are, and what the file does not have yet of what was declared: it is packed and written together.
    sources: i64,
    declared: Vec<Declared>,
    generation: i64,
    tick: i64,
    /// What the next commit adds to the tail, and the time of its first row.
    pending: Vec<u8>,
    pending_t: i64,
    /// Strings of this generation that the file has, and those that the next commit must add.
    written: HashSet<i64>,
    new_symbols: Vec<i64>,
    tail_bytes: usize,
    /// Bytes of the strings of this generation.
    text_bytes: usize,
    tail_from: i64,
    seal_every: i64,
    bytes: u64,
    /// When dictionaries were begun anew, and which: see [`Writer::renewed`].
    renewals: VecDeque<i64>,
    renewed: Vec<i64>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("path", &self.path).field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl Writer {
    /// Creates the file, under its name, so that it can be read and asked while it is written. `seal_every` is the age, in
    /// nanoseconds, at which the tail is sealed. With `replace`, a file that is there gives way once the new one has been begun:
    /// not at its end, for who asks a recorder of this name must reach the one that runs.
    ///
    /// # Errors
    /// [`Error::Exists`] where the file exists and `replace` is not set, [`Error::InUse`] where it is being recorded; what no file
    /// may replace, such as a link or a device; else what the system says.
    pub fn create(path: &Path, replace: bool, seal_every: i64) -> Result<Self, Error> {
        let rules = Rules { replace, recording: true, ..Rules::default() };
        files::check(path, &rules).map_err(|why| placed(path, why))?;
        let db = if path.symlink_metadata().is_ok() { over(path, &rules)? } else { fresh(path)? };
        Ok(Writer::with(path, db, None, seal_every))
    }

    /// Creates the file under another name in its folder; [`Writer::finish`] brings it to its place. Dropped before, nothing of it
    /// is left. None of `inputs` is written over.
    ///
    /// # Errors
    /// As [`Writer::create`].
    pub fn aside(path: &Path, replace: bool, inputs: &[PathBuf], seal_every: i64) -> Result<Self, Error> {
        let rules = Rules { replace, recording: true, inputs, ..Rules::default() };
        let aside = Aside::create(path, &rules).map_err(|why| placed(path, why))?;
        if replace && is_in_use(path) {
            return Err(Error::InUse { path: path.to_owned() });
        }
        let db = begin(aside.path()).map_err(|why| nothing_recorded(path, why))?;
        Ok(Writer::with(path, db, Some((aside, replace)), seal_every))
    }

    fn with(path: &Path, db: Connection, aside: Option<(Aside, bool)>, seal_every: i64) -> Self {
        Writer {
            path: path.to_owned(),
            db: db.into(),
            aside,
            reserve: reserve(path),
            tables: Vec::new(),
            sources: 0,
            declared: Vec::new(),
            generation: 0,
            tick: 0,
            pending: Vec::new(),
            pending_t: 0,
            written: HashSet::new(),
            new_symbols: Vec::new(),
            tail_bytes: 0,
            text_bytes: 0,
            tail_from: 0,
            seal_every,
            bytes: 0,
            renewals: VecDeque::new(),
            renewed: Vec::new(),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of rows committed so far, before sealing.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How often it has sealed: what was put before is in segments once this has grown.
    pub fn generation(&self) -> i64 {
        self.generation
    }

    fn of(&self) -> impl Fn(rusqlite::Error) -> Error + use<> {
        let (path, is_aside) = (self.path.clone(), self.aside.is_some());
        move |e| if is_aside { nothing_recorded(&path, e) } else { Error::of(&path, e) }
    }

    /// Declares a source, the interval at which it is read in nanoseconds, and its default charts. The file has it with what is written next.
    pub fn source(&mut self, name: &str, title: &str, interval: i64, charts: &[Chart]) {
        let charts = catalogue::encode_charts(charts);
        self.declared.push(Declared::Source { name: name.into(), title: title.into(), interval, charts });
    }

    /// Declares a table of `source`. The file has it with what is written next.
    pub fn define(&mut self, source: &str, table: &'static Table) -> TableId {
        let id = self.tables.len() as u32;
        self.declared.push(Declared::Table { id: i64::from(id), source: source.into(), table });
        let columns = table.stored();
        self.tables.push(Open {
            table,
            texts: columns.iter().map(|c| c.ty == Type::Text).collect(),
            thinner: Thinner::new(table.width(), table.label_width()),
            thinned: Vec::new(),
        });
        TableId(id)
    }

    /// Writes what was declared since the last time.
    fn declare(&mut self) -> Result<(), Error> {
        if self.declared.is_empty() {
            return Ok(());
        }
        let sources = self.sources;
        let write = || -> rusqlite::Result<i64> {
            let transaction = self.db.unchecked_transaction()?;
            let mut packer = Packer::new(&transaction, None)?;
            let mut source_id = sources;
            for declared in &self.declared {
                match declared {
                    Declared::Source { name, title, interval, charts } => {
                        source_id += 1;
                        let charts = packer.add([source_id, 0], charts)?;
                        transaction
                            .prepare_cached("insert into source values (?, ?, ?, ?, ?)")?
                            .execute(params![source_id, name, title, interval, charts])?;
                    }
                    Declared::Table { id, source, table } => {
                        let definition = packer.add([*id, 0], &catalogue::encode(table))?;
                        transaction
                            .prepare_cached("insert into table_definition values (?, ?, ?, ?)")?
                            .execute(params![id, table.name, source, definition])?;
                    }
                }
            }
            packer.finish()?;
            transaction.commit().map(|()| source_id)
        };
        self.sources = write().map_err(self.of())?;
        self.declared.clear();
        Ok(())
    }

    /// Buffers what one read of a table gave at `t`. No rows means that the table was not read.
    pub fn put(&mut self, id: TableId, t: i64, rows: &Rows) {
        let Some(open) = self.tables.get_mut(id.0 as usize) else { return };
        if rows.is_empty() || rows.width != open.table.width() {
            return;
        }
        open.thinned.clear();
        if open.table.events {
            open.thinned.extend_from_slice(&rows.cells);
        } else {
            open.thinner.thin(&rows.cells, &mut open.thinned);
        }
        if open.texts.contains(&true) {
            for row in open.thinned.chunks_exact(rows.width) {
                for (&cell, _) in row.iter().zip(&open.texts).filter(|(c, text)| **text && **c >= 0) {
                    if self.written.insert(cell) {
                        self.new_symbols.push(cell);
                    }
                }
            }
        }
        if self.pending.is_empty() {
            self.pending_t = t;
        }
        tail::encode(&mut self.pending, id.0, t, rows.width, &open.thinned);
    }

    /// Commits what was buffered, and seals when the tail has grown or aged enough. `symbols` are the strings that the cells refer to.
    ///
    /// # Errors
    /// After [`Error::DiskFull`] what was buffered is lost; call [`Writer::finish`].
    pub fn commit(&mut self, symbols: &Symbols) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.declare()?;
        let of = self.of();
        let pending = std::mem::take(&mut self.pending);
        let transaction = self.db.unchecked_transaction().map_err(&of)?;
        {
            let mut insert = transaction.prepare_cached("insert or replace into symbol values (?, ?)").map_err(&of)?;
            for cell in self.new_symbols.drain(..) {
                let text = symbols.text(cell).unwrap_or("");
                self.text_bytes += text.len() + TEXT_COST;
                insert.execute(params![cell, text]).map_err(&of)?;
            }
            let mut insert = transaction.prepare_cached("insert into tail values (?, ?, ?)").map_err(&of)?;
            insert.execute(params![self.tick, self.pending_t, sum::add([self.tick, 0], &pending)]).map_err(&of)?;
        }
        transaction.commit().map_err(&of)?;
        if self.tail_bytes == 0 {
            self.tail_from = self.pending_t;
        }
        self.tick += 1;
        self.tail_bytes += pending.len();
        self.bytes += pending.len() as u64;
        let t = self.pending_t;
        self.pending = pending;
        self.pending.clear();
        if self.tail_bytes >= SEAL_BYTES || self.text_bytes >= SEAL_TEXT || t - self.tail_from >= self.seal_every {
            self.seal(symbols)?;
        }
        Ok(())
    }

    /// Turns the tail into segments.
    pub fn seal(&mut self, symbols: &Symbols) -> Result<(), Error> {
        self.declare()?;
        let of = self.of();
        let mut reads: Vec<Gathered> = self.tables.iter().map(|_| Gathered::default()).collect();
        {
            let mut select = self.db.prepare_cached("select tick, bytes from tail order by tick").map_err(&of)?;
            let mut rows = select.query([]).map_err(&of)?;
            while let Some(row) = rows.next().map_err(&of)? {
                let tick = row.get(0).map_err(&of)?;
                let bytes = row.get_ref(1).and_then(|b| Ok(b.as_blob()?)).map_err(&of)?;
                let bytes = sum::check([tick, 0], bytes).map_err(|why| Error::Corrupt {
                    what: format!("{}: tail, commit {tick}", self.path.display()),
                    why,
                })?;
                for chunk in tail::decode(bytes).0 {
                    if let Some(gathered) = reads.get_mut(chunk.table as usize) {
                        gathered.add(chunk.t, chunk.width, &chunk.cells);
                    }
                }
            }
        }
        let transaction = self.db.unchecked_transaction().map_err(&of)?;
        let mut packer = Packer::new(&transaction, Some(self.generation)).map_err(&of)?;
        for (id, (open, gathered)) in (0..).zip(self.tables.iter().zip(reads)) {
            gathered.seal(&transaction, (id, open.table), self.generation, symbols, Some(&mut packer), &of)?;
        }
        packer.finish().map_err(&of)?;
        empty_tail(&transaction, self.tick).map_err(&of)?;
        transaction.commit().map_err(&of)?;
        self.generation += 1;
        self.tail_bytes = 0;
        self.text_bytes = 0;
        self.written.clear();
        self.new_symbols.clear();
        self.tables.iter_mut().for_each(|open| open.thinner.restart());
        give_back();
        Ok(())
    }

    /// Says that rows from `t` on, or a moment later, refer to nothing that these dictionaries were told before `t`:
    /// [`Writer::forget_before`] may delete that with the last rows of before.
    pub fn renewed(&mut self, dictionaries: &[TableId], t: i64) {
        self.renewed = dictionaries.iter().map(|id| i64::from(id.0)).collect();
        self.renewals.push_back(t);
    }

    /// Deletes the segments that end before `t`, and the marks: the flight recorder's way to stay small. Dictionaries are kept, for what comes later refers
    /// to them, but for what was told before they were begun anew ([`Writer::renewed`]).
    pub fn forget_before(&mut self, t: i64) -> Result<(), Error> {
        let of = self.of();
        let transaction = self.db.unchecked_transaction().map_err(&of)?;
        let mut gone = 0;
        let ids = |dictionary: bool| {
            let tables = self.tables.iter().enumerate().filter(move |(_, open)| open.table.dictionary == dictionary);
            tables.map(|(id, _)| id as i64)
        };
        for id in ids(false) {
            gone += transaction
                .prepare_cached("delete from segment where table_id = ? and t_to < ?")
                .and_then(|mut s| s.execute(params![id, t]))
                .map_err(&of)?;
        }
        let marks = transaction
            .prepare_cached("delete from mark where t < ?")
            .and_then(|mut s| s.execute(params![t]))
            .map_err(&of)?;
        if gone > 0 {
            let dictionaries: Vec<i64> = ids(true).collect();
            let oldest = oldest_row(&transaction, &dictionaries).map_err(&of)?.unwrap_or(self.tail_from);
            while let Some(&from) = self.renewals.front().filter(|t| t.saturating_add(STRAGGLERS) <= oldest) {
                self.renewals.pop_front();
                for id in &self.renewed {
                    let delete = "delete from segment where table_id = ? and t_to < ?";
                    transaction.prepare_cached(delete).and_then(|mut s| s.execute(params![id, from])).map_err(&of)?;
                }
            }
            pack::forget(&transaction, &dictionaries).map_err(&of)?;
            let tick = transaction.query_row("select tick from sealed", [], |r| r.get(0)).map_err(&of)?;
            note_sealed(&transaction, tick).map_err(&of)?;
        }
        transaction.commit().map_err(&of)?;
        if gone + marks > 0 {
            self.vacuum()?;
        }
        Ok(())
    }

    fn vacuum(&self) -> Result<(), Error> {
        let mut statement = self.db.prepare_cached("pragma incremental_vacuum").map_err(self.of())?;
        let mut rows = statement.query([]).map_err(self.of())?;
        while rows.next().map_err(self.of())?.is_some() {}
        Ok(())
    }

    /// Writes the manifest anew.
    pub fn manifest(&mut self, manifest: &Manifest) -> Result<(), Error> {
        self.declare()?;
        let of = self.of();
        let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(manifest) else { return Ok(()) };
        let transaction = self.db.unchecked_transaction().map_err(&of)?;
        {
            let mut insert =
                transaction.prepare_cached("insert or replace into manifest values (?, ?)").map_err(&of)?;
            for (key, value) in fields {
                insert.execute(params![key, value.to_string()]).map_err(&of)?;
            }
        }
        transaction.commit().map_err(&of)
    }

    /// Adds properties of the host; a later value replaces an earlier one.
    pub fn facts(&mut self, facts: &[Fact]) -> Result<(), Error> {
        self.declare()?;
        let of = self.of();
        let transaction = self.db.unchecked_transaction().map_err(&of)?;
        {
            let mut insert = transaction.prepare_cached("insert or replace into fact values (?, ?, ?)").map_err(&of)?;
            for fact in facts {
                insert.execute(params![fact.category, fact.name, fact.value]).map_err(&of)?;
            }
        }
        transaction.commit().map_err(&of)
    }

    /// Adds what could and could not be read; a later word on the same item replaces an earlier one.
    pub fn coverage(&mut self, coverage: &[Coverage]) -> Result<(), Error> {
        self.declare()?;
        let of = self.of();
        let transaction = self.db.unchecked_transaction().map_err(&of)?;
        {
            let mut insert =
                transaction.prepare_cached("insert or replace into coverage values (?, ?, ?, ?, ?)").map_err(&of)?;
            for c in coverage {
                insert.execute(params![c.source, c.item, c.status.as_str(), c.why, c.remedy]).map_err(&of)?;
            }
        }
        transaction.commit().map_err(&of)
    }

    /// Adds a mark.
    pub fn mark(&mut self, mark: &Mark) -> Result<(), Error> {
        self.db.execute("insert into mark values (?, ?)", params![mark.t, mark.text]).map(drop).map_err(self.of())
    }

    /// Copies the recording as it is now, sealed, to another file; recording goes on.
    pub fn snapshot(&mut self, to: &Path, manifest: &Manifest, symbols: &Symbols) -> Result<(), Error> {
        self.commit(symbols)?;
        self.seal(symbols)?;
        self.manifest(manifest)?;
        let io = |why: std::io::Error| placed(to, why);
        // Under another name first: whoever waits for the file must find it whole, and a failure must leave none.
        let rules = Rules { recording: true, ..Rules::default() };
        let part = Aside::create(to, &rules).map_err(io)?;
        let name = real(part.path()).map_err(io)?;
        let no_text = || io(std::io::Error::new(std::io::ErrorKind::InvalidInput, "the name is not UTF-8"));
        self.db.execute("vacuum into ?", [name.to_str().ok_or_else(no_text)?]).map_err(|e| Error::of(to, e))?;
        part.place(&rules).map(drop).map_err(io)
    }

    /// Gives back the disk space that was held back, so that what was recorded can be sealed on a full disk.
    pub fn release_reserve(&mut self) {
        if let Some(file) = self.reserve.take() {
            // Closing an unlinked file frees its space; a failure leaves nothing that could be done.
            let _ = file.set_len(0);
        }
    }

    /// Commits, seals, writes the manifest, and leaves a single file without a write-ahead log, in its place.
    ///
    /// # Errors
    /// On a full disk the tail may stay unsealed; the file is complete and readable all the same. [`Error::Moved`] where it is whole, but lies
    /// elsewhere.
    pub fn finish(mut self, manifest: &Manifest, symbols: &Symbols) -> Result<(), Error> {
        self.release_reserve();
        let committed = self.commit(symbols);
        let sealed = self.seal(symbols);
        let said = match committed.as_ref().err().or(sealed.as_ref().err()) {
            None => self.manifest(manifest),
            // A recording that lacks its end must not say that it came to it.
            Some(why) => self.manifest(&Manifest { ended: Some(format!("stopped: {why}")), ..manifest.clone() }),
        };
        let vacuumed = self.vacuum();
        let moved = self.db.moved();
        if moved.is_none() {
            without_log(&self.db);
        }
        committed.and(sealed).and(said).and(vacuumed)?;
        if let Some(moved) = moved {
            return Err(self.finish_elsewhere(moved));
        }
        let Some((aside, replace)) = self.aside.take() else { return Ok(()) };
        drop(self.db);
        let rules = Rules { replace, recording: true, durable: true, ..Rules::default() };
        aside.place(&rules).map(drop).map_err(|why| placed(&self.path, why))
    }

    /// Finishes a recording whose folder was renamed, or that was removed.
    fn finish_elsewhere(self, moved: Moved) -> Error {
        let Writer { path, db, .. } = self;
        drop(db);
        match moved {
            Moved::To(to) => match open(&to) {
                Ok(db) => {
                    without_log(&db);
                    Error::Moved { path, to }
                }
                Err(why) => Error::of(&to, why),
            },
            Moved::Removed => {
                let why = std::io::Error::new(std::io::ErrorKind::NotFound, "it was removed while it was recorded");
                Error::Io { path, why }
            }
        }
    }
}

/// Leaves no -wal file behind, unless a reader is at it just now: then the last reader does it.
fn without_log(db: &Connection) {
    let _ = db.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get::<_, String>(0));
}

/// What the tail held is in segments now; `tick` is the number of the next commit.
pub(crate) fn empty_tail(db: &Connection, tick: i64) -> rusqlite::Result<()> {
    db.execute_batch("delete from tail; delete from symbol;")?;
    note_sealed(db, tick)
}

/// Writes down which segments there are, and the first commit that is in none of them: a reader can tell when one is lost.
pub(crate) fn note_sealed(db: &Connection, tick: i64) -> rusqlite::Result<()> {
    let list = Segment::list(db)?;
    db.prepare_cached("update sealed set segments = ?, sum = ?, tick = ?")?
        .execute(params![list.len() as i64, Segment::sum(&list), tick])
        .map(drop)
}

/// Hands memory that is free again back to the system: a seal needs much for a moment, and glibc would keep it for ever (malloc_trim(3)).
fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no pointer, and touches only memory that the allocator holds as free.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// What SQLite may keep in addition to a database's file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Why a file cannot come to its place.
pub(crate) fn placed(path: &Path, why: std::io::Error) -> Error {
    match why.kind() {
        std::io::ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
        _ => Error::Io { path: path.to_owned(), why },
    }
}

fn nothing_recorded(path: &Path, why: rusqlite::Error) -> Error {
    match Error::of(path, why) {
        Error::DiskFull { path } => {
            let why = std::io::Error::new(std::io::ErrorKind::StorageFull, "disk full; nothing was written");
            Error::Io { path, why }
        }
        other => other,
    }
}

/// A new database at `path`.
fn fresh(path: &Path) -> Result<Connection, Error> {
    files::create_new(path).map_err(|why| placed(path, why))?;
    begin(path).map_err(|why| {
        // What is there holds nothing and would be in the way of the next try; that it cannot be removed adds nothing to why.
        for ending in [""].into_iter().chain(BESIDE) {
            let _ = std::fs::remove_file(with_ending(path, ending));
        }
        nothing_recorded(path, why)
    })
}

/// A new database in the place of a file that is there. Until it has been begun, the file stays.
fn over(path: &Path, rules: &Rules<'_>) -> Result<Connection, Error> {
    if is_in_use(path) {
        return Err(Error::InUse { path: path.to_owned() });
    }
    let aside = Aside::create(path, rules).map_err(|why| placed(path, why))?;
    let begun = begin(aside.path()).and_then(|db| {
        // A database that is renamed must be one file, and closed.
        db.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get::<_, String>(0))?;
        db.close().map_err(|(_, why)| why)
    });
    begun.map_err(|why| nothing_recorded(path, why))?;
    // Logs of what was there would be taken for the new one's.
    for ending in BESIDE {
        let name = with_ending(path, ending);
        match std::fs::remove_file(&name) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => return Err(Error::Io { path: name, why }),
            _ => {}
        }
    }
    aside.place(rules).map_err(|why| placed(path, why))?;
    open(path).and_then(|db| with_log(&db).map(|()| db)).map_err(|why| Error::of(path, why))
}

/// Whether a recorder, or a reader of a recording that was cut off, has the file open. What is no database is not.
fn is_in_use(path: &Path) -> bool {
    let asked = || -> rusqlite::Result<bool> {
        let db = open(path)?;
        db.busy_timeout(crate::close::PATIENCE)?;
        let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        if db.query_row("pragma journal_mode", [], mode)? != "wal" {
            return Ok(false);
        }
        // Only who is alone can do without the log (sqlite.org/wal.html, "Activating And Configuring WAL Mode").
        match db.pragma_update_and_check(None, "journal_mode", "delete", mode) {
            Err(rusqlite::Error::SqliteFailure(why, _)) if why.code == rusqlite::ErrorCode::DatabaseBusy => Ok(true),
            now => Ok(now? == "wal"),
        }
    };
    asked().unwrap_or(false)
}

/// The path with the links in its folder followed, for [`open`].
fn real(path: &Path) -> std::io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default()))
}

/// Opens a file that is there, and is no link: by then somebody could have put one in its place.
pub(crate) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    Connection::open_with_flags(real(path).unwrap_or_else(|_| path.to_owned()), flags)
}

/// An empty database with the catalogue's tables, in an empty file that is there. Each transaction waits for the disk.
fn begin(path: &Path) -> rusqlite::Result<Connection> {
    let db = open(path)?;
    db.execute_batch(&format!(
        "pragma page_size = 1024; pragma auto_vacuum = incremental;
         begin; pragma application_id = {}; pragma user_version = {}; commit;",
        schema::APPLICATION_ID,
        schema::FORMAT
    ))?;
    with_log(&db)?;
    db.execute_batch(&format!("begin; {} commit;", schema::CREATE))?;
    Ok(db)
}

/// How a recording is written.
fn with_log(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("pragma cache_size = -1024; pragma synchronous = full;")?;
    // Where the file system has no shared memory SQLite answers with another mode, which is as safe and a little slower.
    db.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0)).map(drop)
}

/// Holds back disk space in the folder of the recording: a file without a name, which the kernel frees when this process ends
/// however it ends.
fn reserve(path: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    use std::os::fd::AsRawFd;
    let file = Aside::create(path, &Rules { replace: true, recording: true, ..Rules::default() })
        .ok()?
        .file()
        .try_clone()
        .ok()?;
    // SAFETY: the descriptor is open, and the call touches no memory of ours.
    #[cfg(target_os = "linux")]
    let done = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, RESERVE as libc::off_t) };
    // Elsewhere imports are written only, and these can be made anew.
    #[cfg(not(target_os = "linux"))]
    let done = -1;
    (done == 0).then_some(file)
}

/// The reads of one table since the last seal.
#[derive(Default)]
pub(crate) struct Gathered {
    ticks: Vec<i64>,
    width: usize,
    tick: Vec<i32>,
    cells: Vec<i64>,
}

impl Gathered {
    pub(crate) fn add(&mut self, t: i64, width: usize, cells: &[i64]) {
        self.width = width;
        let rows = cells.len() / width.max(1);
        self.tick.extend(std::iter::repeat_n(self.ticks.len() as i32, rows));
        self.ticks.push(t);
        self.cells.extend_from_slice(cells);
    }

    /// Writes a segment, if anything was read: into a pack where it is small and there is one. Those of dictionaries are by themselves, for they are
    /// kept when others are deleted, and amended.
    pub(crate) fn seal(
        &self,
        db: &Connection,
        (id, table): (u32, &'static Table),
        generation: i64,
        symbols: &Symbols,
        packer: Option<&mut Packer<'_>>,
        of: impl Fn(rusqlite::Error) -> Error,
    ) -> Result<(), Error> {
        let (Some(&from), Some(&to)) = (self.ticks.first(), self.ticks.last()) else { return Ok(()) };
        let block = self.sorted(table);
        let corrupt =
            |why: ParquetError| Error::Corrupt { what: format!("table {}", table.name), why: why.to_string() };
        let plain = segment::encode(&table.stored(), &block, symbols).map_err(corrupt)?;
        let key = [i64::from(id), generation];
        let bytes = match packer {
            Some(packer) if plain.len() <= pack::SMALL && !table.dictionary => packer.add(key, &plain).map_err(&of)?,
            _ => segment::compress(&plain).map_err(corrupt)?,
        };
        let ticks = sum::add(key, &tail::encode_ticks(&self.ticks));
        let insert = "insert into segment (table_id, generation, t_from, t_to, row_count, ticks, bytes) values (?, ?, ?, ?, ?, ?, ?)";
        db.prepare_cached(insert)
            .and_then(|mut s| s.execute(params![id, generation, from, to, block.tick.len() as i64, ticks, bytes]))
            .map_err(of)?;
        Ok(())
    }

    /// The rows as columns, by entity in the order of first sight, then by time. Of an entry of a dictionary, the last row.
    fn sorted(&self, table: &Table) -> Block {
        let labels = table.label_width();
        let mut entities: HashMap<&[i64], u32> = HashMap::new();
        let row = |i: usize| self.cells.get(i * self.width..(i + 1) * self.width).unwrap_or_default();
        let mut order: Vec<(u32, u32)> = (0..self.tick.len())
            .map(|i| {
                let next = entities.len() as u32;
                let entity = *entities.entry(row(i).get(..labels).unwrap_or_default()).or_insert(next);
                (entity, i as u32)
            })
            .collect();
        order.sort_unstable();
        if table.dictionary {
            order.reverse();
            order.dedup_by_key(|&mut (entity, _)| entity);
            order.reverse();
        }
        let tick = order.iter().map(|&(_, i)| self.tick.get(i as usize).copied().unwrap_or(0)).collect();
        let columns = (0..self.width)
            .map(|c| order.iter().map(|&(_, i)| row(i as usize).get(c).copied().unwrap_or(model::NULL)).collect())
            .collect();
        Block { tick, columns }
    }
}
