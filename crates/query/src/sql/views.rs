//! The standard library: shared views, each in a file of `stdlib/` whose header documents it and each of its columns.
//!
//! ```sql
//! -- view NAME: what a row is
//! --   column [unit]: what it says
//! select …
//! ```

use super::schema::{ColumnDoc, TableDoc, TableKind};
use super::spec::quoted;
use rusqlite::Connection;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../stdlib/", $name, ".sql")))),*]
    };
}

/// The files of the standard library, in the order in which they are created: a view comes after those it reads.
pub(crate) const FILES: &[(&str, &str)] = files![
    "cpu_total",
    "cpu_balance",
    "scheduler_total",
    "interrupt_total",
    "softirq_total",
    "memory_use",
    "disk_summary",
    "filesystem_summary",
    "network_summary",
    "process_identity",
    "process_use",
    "cpu_function",
    "frame_role",
    "code_line",
    "code_footprint",
    "function_cycles",
    "wait_state",
    "wait_place",
    "lock_summary",
    "fact_difference",
    "missing",
];

/// A view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) help: String,
    /// Name, unit, help.
    pub(crate) columns: Vec<(String, String, String)>,
    pub(crate) sql: String,
    /// Why it cannot be asked for here.
    pub(crate) missing: Option<String>,
}

impl View {
    /// Its documentation.
    pub(crate) fn doc(&self) -> TableDoc {
        let column = |(name, unit, help): &(String, String, String)| ColumnDoc {
            name: name.clone(),
            ty: String::new(),
            unit: unit.clone(),
            help: help.clone(),
        };
        TableDoc {
            name: self.name.clone(),
            kind: TableKind::View,
            help: self.help.clone(),
            columns: self.columns.iter().map(column).collect(),
        }
    }
}

/// Reads a file of the standard library.
///
/// # Errors
/// In words, where the header is not as described above.
pub(crate) fn parse(text: &str) -> Result<View, String> {
    let mut lines = text.lines();
    let head =
        lines.next().and_then(|l| l.strip_prefix("-- view ")).ok_or("does not begin with \"-- view NAME: …\"")?;
    let (name, help) = head.split_once(": ").ok_or("the first line has no \": \"")?;
    let mut columns = Vec::new();
    let mut sql = String::new();
    for line in lines {
        match line.strip_prefix("-- ") {
            Some(doc) if sql.is_empty() => {
                let (column, help) = doc.trim().split_once(": ").ok_or_else(|| format!("no \": \" in {line:?}"))?;
                let (column, unit) = match column.split_once(" [") {
                    Some((column, unit)) => (column, unit.trim_end_matches(']')),
                    None => (column, ""),
                };
                columns.push((column.to_owned(), unit.to_owned(), help.to_owned()));
            }
            _ => {
                sql.push_str(line);
                sql.push('\n');
            }
        }
    }
    let sql = sql.trim().trim_end_matches(';').to_owned();
    if !(sql.starts_with("select") || sql.starts_with("with")) {
        return Err("the header is not followed by a select".into());
    }
    Ok(View { name: name.to_owned(), help: help.to_owned(), columns, sql, missing: None })
}

/// Creates the views whose tables are there. The others are kept with what they lack; one that cannot be created for another
/// reason is said in `notes`.
pub(crate) fn create(db: &Connection, notes: &mut Vec<String>) -> Vec<View> {
    let mut views = Vec::new();
    for (file, text) in FILES {
        let mut view = match parse(text) {
            Ok(view) => view,
            Err(why) => {
                notes.push(format!("stdlib/{file}.sql: {why}; the view is left out"));
                continue;
            }
        };
        if let Err(error) = db.prepare(&view.sql) {
            view.missing = Some(match error {
                rusqlite::Error::SqlInputError { msg, .. } => msg,
                other => other.to_string(),
            });
        } else if let Err(error) = db.execute_batch(&format!("create view {} as {}", quoted(&view.name), view.sql)) {
            notes.push(format!("view {}: {error}; it is left out", view.name));
            view.missing = Some(error.to_string());
        }
        views.push(view);
    }
    views
}

#[cfg(test)]
mod tests;
