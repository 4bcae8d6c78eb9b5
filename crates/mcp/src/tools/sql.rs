//! `sql`: one statement that reads, bounded in time, memory and rows.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, read, window};
use query::Session;
use query::sql::{Row, Value as Cell};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Rows of an answer at most.
pub const MOST_ROWS: usize = 500;

/// The time that a statement may take.
pub const MOST_TIME: Duration = Duration::from_secs(10);

/// Bytes that SQLite may hold, for all statements of the process.
const MOST_MEMORY: u64 = 1 << 30;

pub(crate) const TOOL: Tool = Tool {
    name: "sql",
    title: "SQL",
    description: "Answers one select statement of SQLite over recordings; `schema` says what there is. Column `run` says which recording a row \
is from, `t` the time in nanoseconds since its start. With `against`, the recordings are those of `explain`, and the tables that causes ask \
(budget, the w_NAME views of the window …) are there too, so that the query of a cause can be run. It only reads; 10 s and 500 rows at \
most: aggregate in the statement.",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Recordings; with `against`, the slow ones
    recordings: Vec<String>,
    /// One select statement
    statement: String,
    /// The baseline, to ask the tables of `explain`
    #[serde(default)]
    against: Vec<String>,
    /// With `against`: auto, whole, busy, or FROM..TO; empty: auto
    #[serde(default)]
    window: String,
    /// Leave out so many rows at the beginning
    #[serde(default)]
    offset: u32,
    /// Answer so many rows at most (0: 100)
    #[serde(default)]
    limit: u32,
}

/// A session over recordings whose values are bounded.
pub(crate) fn session(context: &Context, recordings: &[String], work: &str) -> Result<Session, Failure> {
    query::sql::limit_memory(MOST_MEMORY).map_err(|error| error.to_string())?;
    Session::of(context.place.open(recordings, work)?).map_err(|error| error.to_string())
}

fn call(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let mut session = if args.against.is_empty() {
        session(context, &args.recordings, "")?
    } else {
        query::sql::limit_memory(MOST_MEMORY).map_err(|error| error.to_string())?;
        let all: Vec<String> = args.recordings.iter().chain(&args.against).cloned().collect();
        let runs = context.place.open(&all, "")?;
        let slow = args.recordings.len();
        explain::session(runs, slow, &window(&args.window)?).map_err(|error| error.to_string())?
    };
    session.limit_time(MOST_TIME);
    let page = Page::new(args.offset, args.limit, 100, MOST_ROWS);
    let (columns, rows, more) = rows(&session, &args.statement, page)?;
    let count = rows.len();
    let mut answer = Answer {
        what: "rows",
        items: rows.into_iter().map(|row| item(&row)).collect(),
        offset: page.offset,
        total: (!more).then_some(page.offset + count),
        ..Answer::default()
    }
    .line(columns.join("\t"))
    .field("columns", columns);
    for (run, damage) in session.damage() {
        answer = answer.line(format!("damaged: {run}: {damage}"));
    }
    if page.offset > 0 && count == 0 {
        return Err(format!("the answer has no more than {} rows", page.offset));
    }
    Ok(answer)
}

/// The rows of a page, and whether there are more.
pub(crate) fn rows(session: &Session, statement: &str, page: Page) -> Result<(Vec<String>, Vec<Row>, bool), Failure> {
    let mut query = session.query(statement).map_err(|error| error.to_string())?;
    let columns = query.columns();
    let mut rows = query.rows().map_err(|error| error.to_string())?.skip(page.offset);
    let mut found = Vec::new();
    while found.len() < page.limit {
        match rows.next() {
            Some(row) => found.push(row.map_err(|error| error.to_string())?),
            None => return Ok((columns, found, false)),
        }
    }
    let more = rows.next().transpose().map_err(|error| error.to_string())?.is_some();
    drop(rows);
    Ok((columns, found, more))
}

fn item(row: &Row) -> Item {
    let shown = |cell: &Cell| match cell {
        Cell::Null => "-".to_owned(),
        Cell::Integer(n) => n.to_string(),
        Cell::Real(x) => format!("{x}"),
        Cell::Text(text) => model::clean(text),
        Cell::Blob(bytes) => format!("<{} bytes>", bytes.len()),
    };
    let data = |cell: &Cell| match cell {
        Cell::Null => Value::Null,
        Cell::Integer(n) => json!(n),
        Cell::Real(x) => json!(x),
        Cell::Text(text) => json!(text),
        Cell::Blob(bytes) => json!(format!("<{} bytes>", bytes.len())),
    };
    let cells: Vec<String> = row.iter().map(shown).collect();
    Item { text: cells.join(" | "), value: Value::Array(row.iter().map(data).collect()) }
}
