//! Opens the database of a recording, which anybody may have written. A view, a trigger or an expression in its schema would be a program that runs
//! wherever the file is looked at, so nothing is read before the schema is known to be a recording's; what is read then has limits.

use crate::{Error, schema, segment};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Instructions of SQLite's machine between two looks at what is left.
const LOOK: i32 = 10_000;

/// Looks that one statement may take: some 3 million rows. No statement that reads foreign rows sorts them: that would cost more for each.
const STATEMENT: i64 = 5000;

/// Looks until the schema is read and checked.
const SCHEMA: i64 = 200;

/// Objects of a schema at most. The first format had 15.
const MOST_OBJECTS: i32 = 64;

/// Bytes of the text of one object at most.
const MOST_SQL: i32 = 4096;

/// Bytes that a recorder may have written between the look at the file and the moment as of which it is read.
const SINCE: u64 = 1 << 20;

/// What stands next to a database while it is written.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading, as of the moment when it was opened.
    Read,
    /// Changing it.
    Write,
}

/// A database that is a recording by its schema.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) db: Connection,
    /// Looks that are left to the statement that runs: counted, so that it is the same on a busy machine.
    looks: Arc<AtomicI64>,
    /// Bytes that a statement may answer with: those of the file and its log.
    most: u64,
}

impl Opened {
    /// Has each row of a query looked at. Pages of a database can be made to stand in many places, so there is a limit to what one can answer.
    ///
    /// # Errors
    /// In words: SQLite's, or that it takes more than a recording needs.
    pub(crate) fn each(
        &self,
        sql: &str,
        mut row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), String> {
        let mut bytes = 0;
        let mut read = || -> rusqlite::Result<()> {
            let mut select = self.db.prepare(sql)?;
            let columns = select.column_count();
            let mut rows = select.query([])?;
            while let Some(next) = rows.next()? {
                for column in 0..columns {
                    let cell = next.get_ref(column)?.as_bytes_or_null().ok().flatten();
                    bytes += cell.map_or(1, |cell| cell.len() as u64);
                }
                if bytes > self.most {
                    break;
                }
                row(next)?;
            }
            Ok(())
        };
        self.looks.store(STATEMENT, Ordering::Relaxed);
        let done = read();
        // What looks up single rows cannot take long.
        self.looks.store(i64::MAX, Ordering::Relaxed);
        match done {
            Ok(()) if bytes > self.most => Err("there is more than the file can hold".into()),
            other => other.map_err(|why| why.to_string()),
        }
    }
}

/// Opens a recording. For reading, one transaction is begun that lasts as long as the connection.
pub(crate) fn open(path: &Path, access: Access) -> Result<Opened, Error> {
    let of = |e| Error::of(path, e);
    let not = |why: String| Error::NotARecording { path: path.to_owned(), why };
    let mut bytes = length_of(path)?;
    if bytes == 0 && log_of(path).is_none() {
        return Err(not("it is empty".into()));
    }
    for companion in COMPANIONS {
        let name = beside(path, companion);
        match length_of(&name) {
            Ok(more) => bytes += more,
            Err(Error::Io { why, .. }) if why.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let looks = Arc::new(AtomicI64::new(SCHEMA));
    let db = connect(path, access, &looks)?;
    let number = |pragma: &str| db.query_row(&format!("pragma {pragma}"), [], |row| row.get::<_, i64>(0)).map_err(of);
    if number("application_id")? != schema::APPLICATION_ID {
        return Err(not("it is another program's database".into()));
    }
    let format = number("user_version")?;
    if format > schema::FORMAT {
        return Err(Error::TooNew { path: path.to_owned(), found: format, known: schema::FORMAT });
    }
    if access == Access::Read {
        // Everything is read as of now.
        db.execute_batch("begin").map_err(of)?;
    }
    match objects(&db).map_err(of)?.as_slice() {
        // The first page alone, as it is before the first checkpoint: all else is in the log.
        [] => {
            return Err(not("all of it is in its -wal file, which is not there: the recorder was still at it or was killed; copy both files".into()));
        }
        objects => {
            if let Some(foreign) = objects.iter().find_map(Object::foreign) {
                return Err(not(format!("its schema holds what no recording has: {foreign}")));
            }
        }
    }
    // Only now: with it, SQLite reads nothing of a file that was cut off. The transaction holds what was read of it before.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(of)?;
    // What reads rows one by one cannot take long, and what reads many is bounded by itself; all changes together are one bounded piece of work.
    looks.store(if access == Access::Read { i64::MAX } else { STATEMENT }, Ordering::Relaxed);
    Ok(Opened { db, looks, most: bytes.saturating_add(SINCE).min(segment::MOST_BYTES as u64) })
}

/// The size of a file that SQLite is about to open by itself.
fn length_of(path: &Path) -> Result<u64, Error> {
    let io = |why| Error::Io { path: path.to_owned(), why };
    let about = std::fs::metadata(path).map_err(io)?;
    if about.is_dir() {
        return Err(Error::NotARecording { path: path.to_owned(), why: "it is a folder".into() });
    }
    files::foreign::check_regular(path)
        .map(|()| about.len())
        .map_err(|why| Error::NotARecording { path: path.to_owned(), why: why.to_string() })
}

/// A connection that trusts nothing of the file. A finished recording on a file system that cannot be written is opened as immutable; with rows in a
/// write-ahead log, which that would leave out, it is refused.
fn connect(path: &Path, access: Access, looks: &Arc<AtomicI64>) -> Result<Connection, Error> {
    let mode = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let confined = |db: Connection| confine(db, access, looks);
    // Who may not even open the file for reading hears that from the system, in plainer words than SQLite's.
    let opened = files::foreign::open(path).map_err(|why| Error::Io { path: path.to_owned(), why })?;
    drop(opened);
    let refused = match Connection::open_with_flags(path, flags).and_then(confined) {
        Ok(db) => return Ok(db),
        Err(error) => error,
    };
    let cannot_write = matches!(refused.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly));
    if access == Access::Write || !cannot_write {
        return Err(Error::of(path, refused));
    }
    if log_of(path).is_some() {
        return Err(Error::InLog { path: path.to_owned() });
    }
    let mut escaped = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => escaped.push(*byte as char),
            _ => escaped.push_str(&format!("%{byte:02x}")),
        }
    }
    escaped.push_str("?immutable=1");
    Connection::open_with_flags(escaped, flags | OpenFlags::SQLITE_OPEN_URI)
        .and_then(confined)
        .map_err(|e| Error::of(path, e))
}

/// Sets all limits, and reads the first page.
fn confine(mut db: Connection, access: Access, looks: &Arc<AtomicI64>) -> rusqlite::Result<Connection> {
    let left = Arc::clone(looks);
    db.progress_handler(LOOK, Some(move || left.fetch_sub(1, Ordering::Relaxed) <= 0))?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, segment::MOST_BYTES as i32),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, MOST_SQL),
        (Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS),
        (Limit::SQLITE_LIMIT_COLUMN, 32),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 32),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
    ] {
        db.set_limit(limit, most)?;
    }
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        // Of a file that was cut off, SQLite reads what is there only in this mode; on a connection that reads it lets nobody write.
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, access == Access::Read),
    ] {
        db.set_db_config(config, on)?;
    }
    db.execute_batch("pragma cell_size_check = on; pragma mmap_size = 0;")?;
    db.query_row("select count(*) from sqlite_master", [], |row| row.get::<_, i64>(0))?;
    Ok(db)
}

/// An entry of the schema.
struct Object {
    kind: String,
    name: String,
    table: String,
    /// Nothing for the index of a primary key.
    sql: Option<String>,
}

/// All entries. The schema's own table is asked by the name that nothing in a file can take.
fn objects(db: &Connection) -> rusqlite::Result<Vec<Object>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut select = db.prepare("select type, name, tbl_name, sql from main.sqlite_master")?;
    let row = |row: &rusqlite::Row<'_>| {
        let column = |at| Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_bytes_or_null()?.map(text));
        let or_empty = |at| Ok::<_, rusqlite::Error>(column(at)?.unwrap_or_default());
        Ok(Object { kind: or_empty(0)?, name: or_empty(1)?, table: or_empty(2)?, sql: column(3)? })
    };
    select.query_map([], row)?.collect()
}

impl Object {
    /// What it is, if no recording has it.
    fn foreign(&self) -> Option<String> {
        let is_known = match &self.sql {
            Some(sql) => schema::statements().any(|known| plain(known) == plain(sql)),
            // SQLite's own, for the unique columns of the first format.
            None => {
                self.kind == "index"
                    && self.name.starts_with("sqlite_autoindex_")
                    && schema::statements()
                        .any(|known| plain(known).starts_with(&format!("create table {} ", self.table)))
            }
        };
        let what = || {
            let what = format!("{} {}", self.kind, self.name);
            let start = format!("create {what} ");
            let other =
                if schema::statements().any(|known| plain(known).starts_with(&start)) { "another " } else { "" };
            format!("{other}{}", model::clean(&what).chars().take(80).collect::<String>())
        };
        (!is_known).then(what)
    }
}

/// A statement without what SQLite or a person may write in another way: blanks and letter case.
fn plain(sql: &str) -> String {
    sql.split_ascii_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

/// The name of a file next to a recording.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The write-ahead log of a recording, where it holds anything.
pub(crate) fn log_of(path: &Path) -> Option<PathBuf> {
    let log = beside(path, "-wal");
    std::fs::metadata(&log).is_ok_and(|about| about.len() > 0).then_some(log)
}
