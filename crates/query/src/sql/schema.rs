//! What there is to ask, in words: every table with its columns, units and help; and hints where a name was not found.

use super::spec::Spec;
use super::{FUNCTIONS, Session, catalogue, views};
use model::clean;
use std::fmt;

/// Where a table comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Recorded: one row for each read and entity, or for each event.
    Recorded,
    /// Rates of a recorded table.
    Rate,
    /// What the recordings say about themselves.
    Catalogue,
    /// A view of the standard library.
    View,
}

/// A column, documented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDoc {
    /// Its name.
    pub name: String,
    /// `integer`, `real` or `text`.
    pub ty: String,
    /// Its unit; empty for a plain number or a text.
    pub unit: String,
    /// One line: what it says.
    pub help: String,
}

/// A table or view, documented. Shown, it reads as a `create` statement with comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDoc {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub kind: TableKind,
    /// One line: what a row is.
    pub help: String,
    /// Its columns.
    pub columns: Vec<ColumnDoc>,
}

impl fmt::Display for TableDoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", clean(&self.name), clean(&self.help))?;
        let width = self.columns.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
        let units = self.columns.iter().map(|c| c.unit.chars().count()).max().unwrap_or(0);
        for column in &self.columns {
            let (name, unit) = (clean(&column.name), clean(&column.unit));
            let line = format!("  {name:width$}  {:7}  {unit:units$}  {}", column.ty, clean(&column.help));
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// All tables and views.
pub(crate) fn tables(specs: &[Spec], views: &[views::View]) -> Vec<TableDoc> {
    let recorded = specs.iter().map(|spec| TableDoc {
        name: spec.name.clone(),
        kind: if spec.rate { TableKind::Rate } else { TableKind::Recorded },
        help: match rates_of(spec, specs) {
            Some(rates) => format!("cumulative: use {rates} for what happened between reads; {}", spec.help),
            None => spec.help.clone(),
        },
        columns: spec
            .columns
            .iter()
            .map(|c| ColumnDoc { name: c.name.clone(), ty: c.ty.into(), unit: c.unit.into(), help: c.help.clone() })
            .collect(),
    });
    let views = views.iter().filter(|v| v.missing.is_none()).map(views::View::doc);
    recorded.chain(catalogue::docs()).chain(views).collect()
}

/// The name of the table of rates of a table that counts up.
fn rates_of<'a>(spec: &Spec, specs: &'a [Spec]) -> Option<&'a str> {
    let is_its = |other: &&Spec| other.rate && other.table == spec.table && !spec.totals.is_empty() && !spec.rate;
    specs.iter().find(is_its).map(|other| other.name.as_str())
}

/// What a statement adds up that is a total since the start in each row, so that the sum means nothing: a sentence each.
pub(crate) fn cautions(sql: &str, specs: &[Spec]) -> Vec<String> {
    let words = words(sql);
    let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    let mut said: Vec<String> = Vec::new();
    for at in 0..words.len() {
        let adds = ["sum", "total", "avg"].iter().find(|function| is(at, function));
        let Some(function) = adds.filter(|_| is(at + 1, "(")) else { continue };
        let inside: Vec<&str> = words.iter().skip(at + 2).take_while(|word| *word != ")").map(String::as_str).collect();
        // What another function or a question within makes of a column is not looked into.
        if inside.contains(&"(") {
            continue;
        }
        for spec in specs.iter().filter(|spec| words.iter().any(|word| word.eq_ignore_ascii_case(&spec.name))) {
            let Some(rates) = rates_of(spec, specs) else { continue };
            let column = inside.iter().find(|word| spec.totals.iter().any(|total| total.eq_ignore_ascii_case(word)));
            if let Some(column) = column {
                let name = &spec.name;
                let sentence = format!(
                    "{function}({column}): each row of {name} is a total since the start, so that this adds totals to totals; use {rates}, \
                     or max({column}) - min({column}) of each group"
                );
                if !said.contains(&sentence) {
                    said.push(sentence);
                }
            }
        }
    }
    said
}

/// The names and marks of a statement, without texts and comments.
fn words(sql: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let after = |at: Option<usize>, length: usize| at.map_or("", |at| rest.get(at + length..).unwrap_or_default());
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        rest = match c {
            '\'' => after(rest.get(1..).unwrap_or_default().find('\'').map(|at| at + 1), 1),
            _ if rest.starts_with("--") => after(rest.find('\n'), 1),
            _ if rest.starts_with("/*") => after(rest.find("*/"), 2),
            c if is_name(c) => {
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let (word, rest) = rest.split_at(end);
                words.push(word.to_owned());
                rest
            }
            c => {
                if matches!(c, '(' | ')') {
                    words.push(c.to_string());
                }
                rest.get(c.len_utf8()..).unwrap_or_default()
            }
        };
    }
    words
}

/// What may help someone whose statement failed; empty where nothing does.
pub(crate) fn hint(why: &str, session: &Session, rest: Option<&str>) -> String {
    let after = |prefix: &str| why.strip_prefix(prefix).map(|name| name.trim().to_owned());
    if let Some(name) = after("no such table: ") {
        if let Some(missing) = session.views.iter().find(|v| v.name == name).and_then(|v| v.missing.as_ref()) {
            return format!("view {name} of the standard library needs what these recordings do not hold: {missing}");
        }
        let tables = session.schema();
        let near = nearest(&name, tables.iter().map(|t| t.name.as_str()));
        return said("the tables nearest to it are", &near, "list them with .schema");
    }
    if let Some(name) = after("no such column: ") {
        let name = name.rsplit('.').next().unwrap_or_default().to_owned();
        let columns: Vec<(String, String)> = session
            .schema()
            .into_iter()
            .flat_map(|t| t.columns.into_iter().map(move |c| (c.name, t.name.clone())))
            .collect();
        let near = nearest(&name, columns.iter().map(|(c, _)| c.as_str()));
        let near = near
            .into_iter()
            .filter_map(|n| columns.iter().find(|(c, _)| *c == n).map(|(c, t)| format!("{c} (of {t})")));
        return said("the columns nearest to it are", &near.collect::<Vec<_>>(), "list them with .schema TABLE");
    }
    if let Some(name) = after("no such function: ") {
        let near = nearest(&name, FUNCTIONS.iter().map(|f| f.name));
        return said("the functions nearest to it are", &near, "");
    }
    match rest {
        Some(rest) if why.contains("syntax error") && !rest.trim().is_empty() => {
            format!("at: {}", rest.trim().chars().take(40).collect::<String>())
        }
        _ => String::new(),
    }
}

fn said(what: &str, names: &[String], more: &str) -> String {
    match (names, more) {
        ([], more) => more.to_owned(),
        (names, "") => format!("{what}: {}", names.join(", ")),
        (names, more) => format!("{what}: {}; {more}", names.join(", ")),
    }
}

/// Up to three names that are much like `name`.
fn nearest<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = all
        .filter_map(|other| {
            let candidate = other.to_lowercase();
            let contained = lower.len() > 2 && (candidate.contains(&lower) || lower.contains(&candidate));
            let steps = if contained { 1 } else { distance(&lower, &candidate) };
            (steps <= 1 + lower.chars().count() / 3).then_some((steps, other))
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().take(3).map(|(_, other)| other.to_owned()).collect()
}

/// The number of letters to add, drop or change (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, &above) in b.iter().zip(row.iter().skip(1)) {
            left = (corner + usize::from(x != *y)).min(left + 1).min(above + 1);
            corner = above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_statements() {
        let words = words("select sum(p.\"x\") /* sum(y) */ from a -- sum(z)\nwhere b = 'it''s (' and größe > 1.5");
        assert_eq!(words.join(" "), "select sum ( p x ) from a where b and größe 1 5");
    }

    #[test]
    fn near_names() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(nearest("proces", ["process", "cpu", "process_rate"].into_iter()), ["process", "process_rate"]);
        assert_eq!(nearest("x", ["process", "cpu"].into_iter()), Vec::<String>::new());
    }
}
