//! `twinscope sql`: questions in SQL, from the command line, from a pipe or at a prompt.

use crate::text;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use query::sql::{FUNCTIONS, Row, TableKind, Value};
use query::{Error, Session};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// How an answer is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns
    Table,
    /// Comma-separated values with a header
    Csv,
    /// A list of objects
    Json,
}

/// How long a statement may run.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct TimeLimit {
    /// Stop a statement that computes for longer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = recorder::duration)]
    time_limit: std::time::Duration,
}

impl TimeLimit {
    /// Bounds the statements of this process: their time, and the memory that SQLite takes for all of them.
    pub(crate) fn set(self) -> Result<()> {
        query::sql::limit_time(self.time_limit);
        Ok(query::sql::limit_memory(MOST_MEMORY)?)
    }
}

/// Bytes that SQLite may take for statements.
const MOST_MEMORY: u64 = 4 << 30;

/// Ask recordings in SQL.
#[derive(Args, Debug)]
pub struct Sql {
    /// Recordings, then a statement or one of .schema [TABLE], .tables, .functions; without one, statements are read from
    /// standard input
    #[arg(required = true, value_name = "NAME.twin… STATEMENT")]
    words: Vec<String>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    #[command(flatten)]
    time: TimeLimit,
}

/// Answers. Returns the exit code.
pub fn sql(options: &Sql) -> Result<u8> {
    let (files, statement) = divided(&options.words);
    if files.is_empty() {
        return Err(recorder::Usage(
            "name a recording before the statement, such as: twinscope sql slow.twin 'select * from run'".into(),
        )
        .into());
    }
    options.time.set()?;
    let session = Session::open(&files)?;
    let format = if options.json { Format::Json } else { options.format };
    for note in session.notes() {
        text::note(note);
    }
    match statement {
        Some(statement) => answer(&session, &statement, format)?,
        None if std::io::stdin().is_terminal() => prompt(&session, format)?,
        None => {
            for statement in statements(std::io::stdin().lock())? {
                answer(&session, &statement, format)?;
            }
        }
    }
    let damage = session.damage();
    for (run, damage) in &damage {
        eprintln!("twinscope: {}: {}", text::clean(run), text::clean(&damage.to_string()));
    }
    Ok(if damage.is_empty() { 0 } else { 3 })
}

/// Recordings, and the statement behind them. A command with a dot takes the words that follow it, as a shell hands over `.schema wait`.
fn divided(words: &[String]) -> (Vec<PathBuf>, Option<String>) {
    let is_file = |word: &String| Path::new(word).exists();
    let is_command =
        |word: &String| COMMANDS.iter().any(|command| word.strip_prefix('.') == Some(*command)) && !is_file(word);
    let is_statement = |word: &&String| !is_file(word) && (word.starts_with('.') || word.contains(char::is_whitespace));
    let from = match words.iter().position(is_command) {
        Some(command) => command,
        None => words.len() - usize::from(words.last().is_some_and(|last| is_statement(&last))),
    };
    let (files, statement) = words.split_at(from);
    (files.iter().map(PathBuf::from).collect(), (!statement.is_empty()).then(|| statement.join(" ")))
}

/// What a word behind a dot asks for; `tables` is what SQLite's own shell calls `schema` without a table.
const COMMANDS: [&str; 3] = ["schema", "tables", "functions"];

/// The statements of a text: up to a semicolon at the end of a line; lines that begin with a dot stand alone.
fn statements(input: impl BufRead) -> Result<Vec<String>> {
    let (mut all, mut current) = (Vec::new(), String::new());
    for line in input.lines() {
        let line = line.context("standard input")?;
        let trimmed = line.trim();
        if current.trim().is_empty() && trimmed.starts_with('.') {
            all.push(trimmed.to_owned());
            continue;
        }
        current.push_str(&line);
        current.push('\n');
        if trimmed.ends_with(';') {
            all.push(std::mem::take(&mut current));
        }
    }
    if !current.trim().is_empty() {
        all.push(current);
    }
    Ok(all)
}

fn prompt(session: &Session, format: Format) -> Result<()> {
    println!(
        "{}: statements end with a semicolon; .schema lists the tables, .functions the functions; Ctrl-D ends",
        text::clean(&session.runs().join(", "))
    );
    let mut editor = rustyline::DefaultEditor::new()?;
    let mut current = String::new();
    loop {
        let line = match editor.readline(if current.is_empty() { "twinscope> " } else { "       ...> " }) {
            Ok(line) => line,
            Err(rustyline::error::ReadlineError::Interrupted) if !current.is_empty() => {
                current.clear();
                continue;
            }
            Err(rustyline::error::ReadlineError::Interrupted | rustyline::error::ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        current.push_str(&line);
        current.push('\n');
        let whole = current.trim();
        if whole.is_empty() || !(whole.starts_with('.') || whole.ends_with(';')) {
            continue;
        }
        if matches!(whole, ".quit" | ".exit") {
            return Ok(());
        }
        // History that cannot be kept is no reason to refuse an answer.
        let _ = editor.add_history_entry(whole);
        if let Err(error) = answer(session, whole, format) {
            eprintln!("{}", text::error(&error));
        }
        current.clear();
    }
}

pub(crate) fn answer(session: &Session, statement: &str, format: Format) -> Result<()> {
    let statement = statement.trim();
    match statement.strip_prefix('.').map(|words| words.split_whitespace().collect::<Vec<_>>()).as_deref() {
        Some(["schema" | "tables"]) => overview(session),
        Some(["schema", tables @ ..]) => describe(session, tables),
        Some(["functions"]) => {
            let mut out = text::table(&["function", "what it gives"], &[false, false]);
            for f in FUNCTIONS {
                out.add_row([f.call, f.help]);
            }
            println!("{}", text::trimmed(&out));
            Ok(())
        }
        Some(_) => {
            Err(recorder::Usage(format!("{statement}: there are .schema [TABLE], .tables and .functions")).into())
        }
        None => select(session, statement, format),
    }
}

fn overview(session: &Session) -> Result<()> {
    let mut out = text::table(&["table", "what a row is"], &[false, false]);
    for table in session.schema().iter().filter(|t| t.kind != TableKind::Rate) {
        out.add_row([text::clean(&table.name), text::clean(&table.help)]);
    }
    println!(
        "{}\n\nEach recorded table NAME has a NAME_rate beside it: rates per second, in base units. `.schema TABLE` shows the columns.",
        text::trimmed(&out)
    );
    Ok(())
}

fn describe(session: &Session, names: &[&str]) -> Result<()> {
    let all = session.schema();
    for name in names {
        let table = all
            .iter()
            .find(|t| t.name == *name)
            .with_context(|| format!("there is no table {name:?}; .schema lists them"))?;
        print!("{table}");
    }
    Ok(())
}

fn select(session: &Session, statement: &str, format: Format) -> Result<()> {
    for caution in session.cautions(statement) {
        text::note(&caution);
    }
    let mut query = session.query(statement)?;
    let columns = query.columns();
    print(&columns, query.rows()?, format)
}

/// Prints the rows of an answer.
pub(crate) fn print(columns: &[String], rows: impl Iterator<Item = Result<Row, Error>>, format: Format) -> Result<()> {
    match format {
        Format::Table => as_table(columns, rows),
        Format::Csv => as_csv(columns, rows),
        Format::Json => as_json(columns, rows),
    }
}

fn as_table(columns: &[String], rows: impl Iterator<Item = Result<Row, Error>>) -> Result<()> {
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let number =
        |at: usize| rows.iter().filter_map(|r| r.get(at)).all(|v| !matches!(v, Value::Text(_) | Value::Blob(_)));
    let right: Vec<bool> = (0..columns.len()).map(number).collect();
    let header: Vec<String> = columns.iter().map(|c| text::clean(c)).collect();
    let mut out = text::table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &right);
    for row in &rows {
        out.add_row(row.iter().map(|v| text::clean(&shown(v))).collect::<Vec<_>>());
    }
    println!("{}", text::trimmed(&out));
    Ok(())
}

/// A value for people: at most six digits of a fraction.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::Integer(n) => n.to_string(),
        Value::Real(x) if *x == 0.0 || (1e-3..1e15).contains(&x.abs()) => {
            let text = format!("{x:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Value::Real(x) => format!("{x:e}"),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => format!("<{} bytes>", bytes.len()),
    }
}

fn as_csv(columns: &[String], rows: impl Iterator<Item = Result<Row, Error>>) -> Result<()> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(columns.iter().map(|name| model::csv_cell(name)))?;
    for row in rows {
        out.write_record(row?.iter().map(|value| match value {
            Value::Null => String::new(),
            Value::Integer(n) => n.to_string(),
            Value::Real(x) => x.to_string(),
            Value::Text(text) => model::csv_cell(text),
            Value::Blob(bytes) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
        }))?;
    }
    out.flush()?;
    Ok(())
}

fn as_json(columns: &[String], rows: impl Iterator<Item = Result<Row, Error>>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    write!(out, "[")?;
    for (i, row) in rows.enumerate() {
        let object: serde_json::Map<String, serde_json::Value> = columns
            .iter()
            .cloned()
            .zip(row?.into_iter().map(|value| match value {
                Value::Null => serde_json::Value::Null,
                Value::Integer(n) => n.into(),
                Value::Real(x) => x.into(),
                Value::Text(text) => text.into(),
                Value::Blob(bytes) => bytes.into(),
            }))
            .collect();
        write!(out, "{}\n  {}", if i > 0 { "," } else { "" }, serde_json::Value::Object(object))?;
    }
    writeln!(out, "\n]")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_a_semicolon() {
        let found = statements("select 1,\n 2;\n.schema cpu\nselect ';' as x;\nselect 3".as_bytes()).unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], ".schema cpu");
    }

    #[test]
    fn words_are_recordings_and_a_statement() {
        let words = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let (files, statement) = divided(&words);
            (files.len(), statement.unwrap_or_default())
        };
        assert_eq!(words(&["a.twin", "b.twin"]), (2, String::new()));
        assert_eq!(words(&["a.twin", "select 1"]), (1, "select 1".into()));
        assert_eq!(words(&["a.twin", ".schema wait"]), (1, ".schema wait".into()));
        assert_eq!(words(&["a.twin", "b.twin", ".schema", "wait", "cpu"]), (2, ".schema wait cpu".into()));
        assert_eq!(words(&["a.twin", ".tables"]), (1, ".tables".into()));
        assert_eq!(words(&["select 1"]), (0, "select 1".into()));
        assert_eq!(words(&[".schema", "wait"]), (0, ".schema wait".into()));
    }

    #[test]
    fn values_are_short() {
        assert_eq!(shown(&Value::Real(0.5)), "0.5");
        assert_eq!(shown(&Value::Real(1.0)), "1");
        assert_eq!(shown(&Value::Real(1e-9)), "1e-9");
        assert_eq!(shown(&Value::Null), "-");
    }
}
