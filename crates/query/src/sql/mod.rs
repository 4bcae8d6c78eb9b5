//! SQL over any number of recordings. SQLite is the front end; the recorded tables are virtual tables over the decoded columns.
//!
//! Each recorded table is an SQL table of its name, with a column `run` that says which recording a row is from and `t`, nanoseconds since
//! the start of that recording. A table of states has one row for each entity at each read, also where the recording left out what did
//! not change. Beside it stands `NAME_rate`: one row for each entity and each interval between two reads, counters per second, in base
//! units, with the derived metrics; see [`crate::series`] for what is measured and what is not. Tables of events are as recorded.
//!
//! A session only reads: it cannot write a file, attach one, or change a setting.

mod cache;
mod catalogue;
mod clock;
mod functions;
mod schema;
mod spec;
mod views;
mod vtab;

pub use clock::{Clock, USUAL_TIME, limit_time};
pub use functions::{FUNCTIONS, Function};
pub use rusqlite::types::Value;
pub use schema::{ColumnDoc, TableDoc, TableKind};

use crate::{Error, Run};
use cache::{Shared, Source};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Statement};
use spec::Spec;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::Recording;

/// Recordings, open for questions.
#[derive(Debug)]
pub struct Session {
    db: Connection,
    clock: Clock,
    shared: Arc<Shared>,
    specs: Arc<Vec<Spec>>,
    notes: Vec<String>,
    views: Vec<views::View>,
}

/// A statement, ready to be run.
#[derive(Debug)]
pub struct Query<'s> {
    session: &'s Session,
    sql: String,
    statement: Statement<'s>,
    /// Of its time.
    left: Duration,
}

/// A row of an answer.
pub type Row = Vec<Value>;

impl Session {
    /// Opens recordings under unique names (see [`crate::open`]).
    ///
    /// # Errors
    /// That of the first file that is no recording or cannot be read.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Error> {
        Self::of(crate::open(paths)?)
    }

    /// A session over recordings that are open already. Their names must differ.
    ///
    /// # Errors
    /// [`Error::Sql`] where SQLite refuses, which means that memory is short.
    pub fn of(runs: Vec<Run>) -> Result<Self, Error> {
        let (mut db, clock) = connection().map_err(setting_up)?;
        catalogue::create(&db, &runs).map_err(setting_up)?;
        let tables: Vec<&'static model::Table> =
            runs.iter().flat_map(|r| r.recording.tables().map(|(_, t)| t)).collect();
        let taken: HashSet<String> = catalogue::TABLES.iter().map(|t| t.name.to_owned()).collect();
        let (specs, mut notes) = spec::specs(tables.iter(), &taken);
        let specs = Arc::new(specs);
        let sources = runs.into_iter().map(|run| Source::new(run.name, run.recording)).collect();
        let shared = Arc::new(Shared::new(sources));
        vtab::create(&db, Arc::clone(&specs), Arc::clone(&shared)).map_err(setting_up)?;
        let views = views::create(&db, &mut notes);
        only_read(&mut db).map_err(setting_up)?;
        Ok(Session { db, clock, shared, specs, notes, views })
    }

    /// The names of the runs, in their order.
    pub fn runs(&self) -> Vec<&str> {
        self.shared.sources.iter().map(|s| s.name.as_str()).collect()
    }

    /// Has the recording of the run with this name looked at, if there is one.
    pub fn look(&self, run: &str, at: &mut dyn FnMut(&Recording)) {
        if let Some(source) = self.shared.sources.iter().find(|s| s.name == run) {
            at(&source.recording());
        }
    }

    /// Adds a table to the session, for questions that join what was computed with what was recorded. `columns` are names; a name that is
    /// taken is covered by the new table, and one that was defined before is replaced.
    ///
    /// # Errors
    /// [`Error::Sql`] where SQLite refuses.
    pub fn define(&mut self, table: &str, columns: &[&str], rows: impl IntoIterator<Item = Row>) -> Result<(), Error> {
        self.db.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).map_err(setting_up)?;
        let filled = self.fill(table, columns, rows).map_err(setting_up);
        self.db.execute_batch("pragma query_only = on;").map_err(setting_up)?;
        self.db.authorizer(Some(read_only)).map_err(setting_up)?;
        filled
    }

    /// Adds a view to the session: a question under a name. A name that is taken is covered by the view.
    ///
    /// # Errors
    /// [`Error::Sql`] where the question cannot be asked.
    pub fn define_view(&mut self, view: &str, sql: &str) -> Result<(), Error> {
        self.db.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).map_err(setting_up)?;
        let create = format!("pragma query_only = off; create temp view {} as {sql};", spec::quoted(view));
        let made = self.db.execute_batch(&create).map_err(setting_up);
        self.db.execute_batch("pragma query_only = on;").map_err(setting_up)?;
        self.db.authorizer(Some(read_only)).map_err(setting_up)?;
        made
    }

    fn fill(&self, table: &str, columns: &[&str], rows: impl IntoIterator<Item = Row>) -> rusqlite::Result<()> {
        let (table, names) = (spec::quoted(table), columns.iter().map(|c| spec::quoted(c)).collect::<Vec<_>>());
        let marks = vec!["?"; columns.len()].join(", ");
        self.db.execute_batch(&format!(
            "pragma query_only = off; drop table if exists temp.{table}; create temp table {table}({});",
            names.join(", ")
        ))?;
        let transaction = self.db.unchecked_transaction()?;
        let mut insert = transaction.prepare(&format!("insert into {table} values ({marks})"))?;
        for row in rows {
            insert.execute(rusqlite::params_from_iter(row))?;
        }
        drop(insert);
        transaction.commit()
    }

    /// What cannot be asked for as one would expect, and why: one line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What could not be read of the recordings so far: the run, and what was wrong. Damage shows as tables are first used.
    pub fn damage(&self) -> Vec<(String, store::Damage)> {
        let of = |s: &Source| s.recording().damage().into_iter().map(|d| (s.name.clone(), d)).collect::<Vec<_>>();
        self.shared.sources.iter().flat_map(of).collect()
    }

    /// Bounds the time of each statement, for this session alone.
    pub fn limit_time(&mut self, limit: Duration) {
        self.clock.limit(limit);
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// In plain words, with what is near to a name that was not found.
    pub fn query(&self, sql: &str) -> Result<Query<'_>, Error> {
        let mut left = self.clock.whole();
        let prepared = self.clock.step(&mut left, || self.db.prepare(sql));
        let statement = prepared.map_err(|e| self.plain(&e, sql))?;
        if statement.column_count() == 0 {
            return Err(no_question());
        }
        Ok(Query { session: self, sql: sql.to_owned(), statement, left })
    }

    /// The names of the columns, and all rows, of a statement.
    ///
    /// # Errors
    /// As [`Session::query`].
    pub fn all(&self, sql: &str) -> Result<(Vec<String>, Vec<Row>), Error> {
        let mut query = self.query(sql)?;
        let rows = query.rows()?.collect::<Result<_, _>>()?;
        Ok((query.columns(), rows))
    }

    /// Every table and view with its columns: recorded ones, rates, the catalogue, the standard library.
    pub fn schema(&self) -> Vec<TableDoc> {
        schema::tables(&self.specs, &self.views)
    }

    /// What a statement adds up that means nothing so: sums of totals, a sentence each.
    pub fn cautions(&self, sql: &str) -> Vec<String> {
        schema::cautions(sql, &self.specs)
    }

    /// SQLite's error in plain words.
    fn plain(&self, error: &rusqlite::Error, sql: &str) -> Error {
        let (why, at) = match error {
            rusqlite::Error::Empty => return no_question(),
            rusqlite::Error::SqlInputError { msg, offset, .. } => (msg.clone(), usize::try_from(*offset).ok()),
            rusqlite::Error::SqliteFailure(_, Some(msg)) => (msg.clone(), None),
            rusqlite::Error::MultipleStatement => ("more than one statement".into(), None),
            other => (other.to_string(), None),
        };
        const READS: &str = "a session only reads: it answers select statements";
        let why = match why.as_str() {
            w if w.starts_with("not authorized")
                || w.starts_with("authorization")
                || w.starts_with("attempt to write") =>
            {
                READS.into()
            }
            w if w.ends_with(" may not be modified") => READS.into(),
            "interrupted" => self.clock.said().unwrap_or(why),
            _ => why,
        };
        let hint = schema::hint(&why, self, at.and_then(|at| sql.get(at..)));
        Error::Sql { why, hint }
    }
}

impl Query<'_> {
    /// The names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.statement.column_names().map(str::to_owned).collect()
    }

    /// Runs the statement; each row is computed when it is asked for.
    ///
    /// # Errors
    /// Each row can fail, after which there are no more.
    pub fn rows(&mut self) -> Result<impl Iterator<Item = Result<Row, Error>> + '_, Error> {
        let width = self.statement.column_count();
        let (session, sql, mut left) = (self.session, self.sql.as_str(), self.left);
        let mut rows = self.statement.query([]).map_err(|e| session.plain(&e, sql))?;
        let (mut ended, mut bytes) = (false, 0);
        Ok(std::iter::from_fn(move || {
            if ended {
                return None;
            }
            if bytes > MOST_ANSWER {
                ended = true;
                let why = format!("the answer has more than {} MiB", MOST_ANSWER >> 20);
                let hint = "ask for less, such as sums or fewer rows; `twinscope export` writes whole tables".into();
                return Some(Err(Error::Sql { why, hint }));
            }
            let next = session.clock.step(&mut left, || match rows.next() {
                Ok(row) => row.map(|row| (0..width).map(|i| row.get(i)).collect::<Result<Row, _>>()),
                Err(error) => Some(Err(error)),
            });
            ended = !matches!(next, Some(Ok(_)));
            bytes += next.as_ref().and_then(|row| row.as_ref().ok()).map_or(0, size);
            next.map(|row| row.map_err(|e| session.plain(&e, sql)))
        }))
    }
}

fn no_question() -> Error {
    Error::Sql { why: "no question".into(), hint: "a session answers select statements".into() }
}

/// A failure before any question was asked.
fn setting_up(error: rusqlite::Error) -> Error {
    Error::Sql { why: error.to_string(), hint: String::new() }
}

/// Bytes of one value of a statement at most. SQLite looks at the clock between its instructions only, and one that searches a text in another
/// takes the product of both lengths: with a megabyte it takes seconds, with 64 it takes hours.
const MOST_VALUE: i32 = 1 << 20;

/// Bytes of a pattern of `like` and `glob`, which are searched in the same way.
const MOST_PATTERN: i32 = 1000;

/// Bytes that one statement may answer. Whoever asks mostly keeps all of it.
const MOST_ANSWER: usize = 512 << 20;

/// Bytes that a row takes in memory.
fn size(row: &Row) -> usize {
    let of = |value: &Value| match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 0,
    };
    size_of::<Row>() + row.iter().map(|value| size_of::<Value>() + of(value)).sum::<usize>()
}

/// A database in memory with the functions of [`FUNCTIONS`], for tables of any kind, and the clock that bounds its statements.
///
/// # Errors
/// Where SQLite refuses, which means that memory is short.
pub fn connection() -> rusqlite::Result<(Connection, Clock)> {
    let mut db = Connection::open_in_memory()?;
    db.execute_batch("pragma temp_store = memory; pragma trusted_schema = on;")?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_VALUE)?;
    db.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MOST_PATTERN)?;
    functions::register(&db)?;
    let clock = Clock::new(&mut db)?;
    Ok((db, clock))
}

/// Bounds the memory that SQLite holds, for all statements of this process: one that needs more fails. For programs that run statements of others.
///
/// # Errors
/// Where SQLite refuses.
pub fn limit_memory(bytes: u64) -> Result<(), Error> {
    let db = Connection::open_in_memory().map_err(setting_up)?;
    db.execute_batch(&format!("pragma hard_heap_limit = {bytes};")).map_err(setting_up)
}

/// From now on statements can read, and nothing else: no file, no change, no setting.
///
/// # Errors
/// Where SQLite refuses.
pub fn only_read(db: &mut Connection) -> rusqlite::Result<()> {
    db.execute_batch("pragma query_only = on;")?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    db.authorizer(Some(read_only))
}

/// Lets a statement read, and nothing else.
fn read_only(context: AuthContext<'_>) -> Authorization {
    const LOOKS: [&str; 6] =
        ["table_info", "table_xinfo", "table_list", "function_list", "pragma_list", "database_list"];
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => Authorization::Allow,
        AuthAction::Pragma { pragma_name, .. } if LOOKS.contains(&pragma_name.to_ascii_lowercase().as_str()) => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

#[cfg(test)]
mod tests;
