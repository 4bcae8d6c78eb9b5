//! SQL over the datasets of a folder: each is a virtual table of its name. A part is decoded when a statement comes to it, and only the columns
//! that are used; row groups that cannot hold the metric, host or other text that is asked for are passed over.

use crate::folder::{Batch, DATASETS, Damage, Dataset, Folder, Type};
use query::Error;
use query::sql::{Clock, Row, connection, only_read};
use rusqlite::types::Null;
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor,
    VTabKind,
};
use rusqlite::{Connection, ffi};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_int};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The name under which the tables are made; users never see it.
const MODULE: &CStr = c"summaries";

/// A folder, open for questions.
#[derive(Debug)]
pub struct Session {
    db: Connection,
    clock: Clock,
    shared: Arc<Shared>,
}

/// The folder, and what was wrong with parts of it.
#[derive(Debug)]
struct Shared {
    folder: Folder,
    damage: Mutex<Vec<Damage>>,
}

impl Session {
    /// Opens a folder for questions.
    ///
    /// # Errors
    /// Where SQLite refuses, which means that memory is short.
    pub fn new(folder: &Folder) -> Result<Session, Error> {
        let shared = Arc::new(Shared { folder: folder.clone(), damage: Mutex::default() });
        let opened = connection().and_then(|(mut db, clock)| {
            const READ_ONLY: Module<Summaries> = Module::read_only_module();
            db.create_module(MODULE, &READ_ONLY, Some(Arc::clone(&shared)))?;
            for (number, dataset) in DATASETS.iter().enumerate() {
                db.execute_batch(&format!("create virtual table {} using summaries({number})", dataset.name))?;
            }
            only_read(&mut db)?;
            Ok((db, clock))
        });
        let (db, clock) = opened.map_err(|e| plain(&e))?;
        Ok(Session { db, clock, shared })
    }

    /// The datasets as the questions of `fleet/` have them, in a database that takes further tables.
    #[cfg(test)]
    pub(crate) fn questions(folder: &Folder) -> rusqlite::Result<Connection> {
        const READ_ONLY: Module<Summaries> = Module::read_only_module();
        let shared = Arc::new(Shared { folder: folder.clone(), damage: Mutex::default() });
        let (db, _) = connection()?;
        db.create_module(MODULE, &READ_ONLY, Some(shared))?;
        for (number, dataset) in DATASETS.iter().enumerate() {
            let name = if dataset.name == "slice" { "stored_slice" } else { dataset.name };
            db.execute_batch(&format!("create virtual table {name} using summaries({number})"))?;
        }
        db.execute_batch(r#"create view slice as select *, "from" as begins, "to" as ends from stored_slice"#)?;
        Ok(db)
    }

    /// The names of the columns, and the rows, of a statement, handed to `take`.
    ///
    /// # Errors
    /// What is wrong with the statement, in SQLite's words, and with the names of the tables; that of `take`.
    pub fn ask<E: From<Error>>(
        &self,
        sql: &str,
        take: impl FnOnce(&[String], &mut dyn Iterator<Item = Result<Row, Error>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let said = |error: &rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => {
                let why = self.clock.said().unwrap_or_else(|| error.to_string());
                Error::Sql { why, hint: String::new() }
            }
            _ => plain(error),
        };
        let mut left = self.clock.whole();
        let mut statement = self.clock.step(&mut left, || self.db.prepare(sql)).map_err(|e| said(&e))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let width = columns.len();
        if width == 0 {
            let hint = "a folder of summaries answers select statements".to_owned();
            return Err(Error::Sql { why: "no question".into(), hint }.into());
        }
        let rows = statement.query_map([], move |row| (0..width).map(|i| row.get(i)).collect::<Result<Row, _>>());
        let mut rows = rows.map_err(|e| said(&e))?;
        let next = || self.clock.step(&mut left, || rows.next()).map(|row| row.map_err(|e| said(&e)));
        take(&columns, &mut std::iter::from_fn(next))
    }

    /// Parts that could not be read as a whole so far.
    pub fn damage(&self) -> Vec<Damage> {
        let mut damage = self.shared.damage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        damage.dedup();
        damage
    }
}

fn plain(error: &rusqlite::Error) -> Error {
    let why = match error {
        rusqlite::Error::SqlInputError { msg, .. } | rusqlite::Error::SqliteFailure(_, Some(msg)) => msg.clone(),
        other => other.to_string(),
    };
    let writes = ["not authorized", "authorization", "attempt to write"].iter().any(|words| why.starts_with(words));
    let only_reads = writes || why.ends_with(" may not be modified");
    if only_reads {
        return Error::Sql { why: "it only reads: it answers select statements".into(), hint: String::new() };
    }
    let names: Vec<&str> = DATASETS.iter().map(|dataset| dataset.name).collect();
    let unknown = why.starts_with("no such table");
    let hint = if unknown { format!("there are {}", names.join(", ")) } else { String::new() };
    Error::Sql { why, hint }
}

fn failed(why: impl Into<String>) -> rusqlite::Error {
    rusqlite::Error::ModuleError(why.into())
}

/// A virtual table.
#[repr(C)]
struct Summaries {
    base: ffi::sqlite3_vtab,
    dataset: &'static Dataset,
    shared: Arc<Shared>,
}

// SAFETY: `base` comes first, and the layout is C's.
unsafe impl<'vtab> VTab<'vtab> for Summaries {
    type Aux = Arc<Shared>;
    type Cursor = Cursor;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        args: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        let number = args.last().and_then(|a| std::str::from_utf8(a).ok()).and_then(|a| a.trim().parse::<usize>().ok());
        let dataset = number.and_then(|number| DATASETS.get(number).copied());
        let (Some(shared), Some(dataset)) = (aux, dataset) else { return Err(failed("no such dataset")) };
        db.config(VTabConfig::Innocuous)?;
        let column = |column: &crate::folder::Column| {
            let ty = match column.ty {
                Type::Text => "text",
                Type::Int => "integer",
                Type::Real | Type::Single => "real",
            };
            // `from` and `to` are words of SQL.
            format!("\"{}\" {ty}", column.name)
        };
        let columns: Vec<String> = dataset.columns.iter().map(column).collect();
        let declaration = format!("create table x({})", columns.join(", "));
        let declaration = CString::new(declaration).map_err(|e| failed(e.to_string()))?;
        let base = ffi::sqlite3_vtab::default();
        Ok((Cow::Owned(declaration), Summaries { base, dataset, shared: Arc::clone(shared) }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        let mut rows = 1e6;
        let mut pushed = Vec::new();
        let constraints: Vec<_> =
            info.constraints().map(|c| (c.column(), c.is_usable(), c.operator())).enumerate().collect();
        for (at, (column, usable, operator)) in constraints {
            let place = usize::try_from(column).ok().and_then(|place| self.dataset.columns.get(place));
            let is_text = place.is_some_and(|column| column.ty == Type::Text);
            let is_equal = matches!(operator, IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ);
            // Another collation finds more than equal bytes.
            if usable && is_text && is_equal && info.collation(at)?.eq_ignore_ascii_case("binary") {
                // The first column of the key is what a part is sorted by.
                rows *= if column == 0 { 1e-3 } else { 0.3 };
                pushed.push((at, column));
            }
        }
        let mut plan = format!("{:x}", info.col_used());
        for (argument, (at, column)) in pushed.iter().enumerate() {
            info.constraint_usage(*at).set_argv_index(argument as c_int + 1);
            plan.push_str(&format!(";{column}"));
        }
        info.set_idx_str(&plan);
        info.set_estimated_cost(rows + 1.0);
        info.set_estimated_rows(rows as i64 + 1);
        Ok(true)
    }

    fn open(&'vtab mut self) -> rusqlite::Result<Cursor> {
        Ok(Cursor {
            base: ffi::sqlite3_vtab_cursor::default(),
            dataset: self.dataset,
            shared: Arc::clone(&self.shared),
            wanted: Vec::new(),
            only: Vec::new(),
            parts: VecDeque::new(),
            batches: VecDeque::new(),
            row: 0,
            rowid: 0,
        })
    }
}

impl CreateVTab<'_> for Summaries {
    const KIND: VTabKind = VTabKind::Default;
}

/// A scan over the parts of a dataset.
#[repr(C)]
struct Cursor {
    base: ffi::sqlite3_vtab_cursor,
    dataset: &'static Dataset,
    shared: Arc<Shared>,
    /// Places of the columns that the statement uses.
    wanted: Vec<usize>,
    /// Texts that a row must have, by place of the column.
    only: Vec<(usize, String)>,
    /// Parts that were not read yet.
    parts: VecDeque<PathBuf>,
    /// Row groups of the part that was read last.
    batches: VecDeque<Batch>,
    row: usize,
    rowid: i64,
}

impl Cursor {
    /// Moves on until there is a row under the cursor, or none is left.
    fn settle(&mut self) {
        loop {
            if self.batches.front().is_some_and(|batch| self.row < batch.len()) {
                return;
            }
            self.row = 0;
            if self.batches.pop_front().is_some() {
                continue;
            }
            let Some(path) = self.parts.pop_front() else { return };
            let columns: Vec<&str> =
                self.wanted.iter().filter_map(|at| Some(self.dataset.columns.get(*at)?.name)).collect();
            let only: Vec<(&str, &str)> = self
                .only
                .iter()
                .filter_map(|(at, text)| Some((self.dataset.columns.get(*at)?.name, text.as_str())))
                .collect();
            let batches = &mut self.batches;
            let read = Folder::read_part(&path, self.dataset, &columns, &only, |batch| batches.push_back(batch));
            if let Err(damage) = read {
                self.shared.damage.lock().unwrap_or_else(PoisonError::into_inner).push(damage);
            }
        }
    }
}

// SAFETY: `base` comes first, and the layout is C's.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, _index: c_int, plan: Option<&str>, args: &Filters<'_>) -> rusqlite::Result<()> {
        let mut words = plan.unwrap_or_default().split(';');
        let used = words.next().and_then(|word| u64::from_str_radix(word, 16).ok()).unwrap_or(u64::MAX);
        self.wanted = (0..self.dataset.columns.len()).filter(|at| used >> (*at).min(63) & 1 == 1).collect();
        if self.wanted.is_empty() {
            // Rows are to be counted: any column tells how many there are.
            self.wanted.push(0);
        }
        self.only.clear();
        for (value, word) in args.iter().zip(words) {
            // What is of another type SQLite compares.
            if let (Ok(text), Ok(column)) = (value.as_str(), word.parse()) {
                self.only.push((column, text.to_owned()));
            }
        }
        let parts = self.shared.folder.parts(self.dataset).map_err(|e| failed(e.to_string()))?;
        (self.parts, self.row, self.rowid) = (parts.into(), 0, 0);
        self.batches.clear();
        self.settle();
        Ok(())
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.row += 1;
        self.rowid += 1;
        self.settle();
        Ok(())
    }

    fn eof(&self) -> bool {
        self.batches.is_empty() && self.parts.is_empty()
    }

    fn column(&self, ctx: &mut Context, i: c_int) -> rusqlite::Result<()> {
        use crate::folder::Cell;
        let (Some(batch), Ok(column)) = (self.batches.front(), usize::try_from(i)) else {
            return ctx.set_result(Null);
        };
        match batch.cell(self.row, column) {
            Cell::Null => ctx.set_result(Null),
            Cell::Text(text) => ctx.set_result(&*text),
            Cell::Int(number) => ctx.set_result(number),
            Cell::Real(number) => ctx.set_result(number),
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.rowid)
    }
}
