//! Causes: each is a file, `causes/ID.sql`: a header that says what it is, and questions to the budget of lost time and the recorded tables.
//!
//! ```sql
//! -- cause ID: title
//! -- layer: scheduling
//! -- page: pages of the report to look at besides, the most telling first; without it, those of its layer
//! -- needs: tables that it cannot do without, or columns of them (table.column); one of several: a|b
//! -- against: whether it needs a run to compare with (yes, no)
//! -- yields: causes that get the time that both claim, by their identifiers; `all`: it comes after all others
//! -- before: causes that yield to this one, as if they said so themselves
//! -- says: one sentence; {name} and {name:unit} stand for columns of `given` and of `tells`, and for `subject`, `slow` and `against`,
//! --   {name:fn} for a function, {name:lock} for a lock, {name:path} for a path; [[a part]] is left out where one of its columns is null;
//! --   lines that begin with further spaces go on with the one before. A subject that is code without a name, `[postgres]`, is followed by who calls it
//! -- evidence: a line, left out where one of its columns is null; may be repeated, as those below
//! -- check: how to see it by hand
//! -- try: what to do about it
//! -- experiment: KIND NAME: VALUES, what an experiment varies, see [`Experiment`]
//! -- see: a reference
//! -- tail: a part of the time of slow requests that is its own ([`crate::tail::PARTS`]), or `helper NAME`: time of threads with that name; may be repeated
//! -- tail-says: the sentence for it, with {more:s}, and {thread}, {helper}, {backend}: those with most of that time
//! -- when:
//! select … as score, …       one row; score says how well this is met, 0 to 1; without a row it is not met
//! -- claims:
//! select subject, cell, part, … from budget, given …
//! -- tells:
//! select subject, … from claimed, given …
//! ```
//!
//! `when` may be left out where nothing but the cells themselves tells; its answer is the table `given`. A row of `claims` claims the part `part`
//! (0 to 1) of cell `cell` of the budget, times the score, for the finding `subject`; its rows are the table `claimed`. `tells` may be left out; it
//! answers one row for each subject, or one without `subject` for all of them, with columns for the words. `slow` and `against` are known without it:
//! the time of the cells claimed, per unit of work. A row of `claims` whose cell is null claims nothing: the finding is a note. Lines `-- test …` at
//! the end of the file are cases with the rows that the questions find in them; every cause that comes with the program has some, for what it claims
//! and for what it does not.

mod ask;
pub(crate) mod counted;
mod cut;
mod footprint;
pub(crate) mod instructions;
mod jvm;
mod order;
mod parse;
pub(crate) mod sharing;
pub(crate) mod speed;
mod tables;
pub(crate) mod totals;
mod words;

pub(crate) use ask::ask;
pub use ask::{Claim, Found};
pub(crate) use order::Order;
pub use parse::parse;
pub(crate) use tables::{Measure, OfRun, Tables};

use std::fmt;
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/causes.rs"));

/// A cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// Its identifier: stable.
    pub id: String,
    /// What it is, in a few words.
    pub title: String,
    /// Where it lies: scheduling, kernel, io, code, jvm …
    pub layer: String,
    /// Pages of the report to look at besides, by their identifiers ([`model::Page::id`]).
    pub pages: Vec<String>,
    /// Tables that a recording must hold; `a|b`: either.
    pub needs: Vec<String>,
    /// Whether it is about a difference, and one run alone says nothing of it.
    pub against: bool,
    /// Causes to which it gives way: of what both claim they get theirs first.
    pub yields: Vec<String>,
    /// Causes that give way to it.
    pub before: Vec<String>,
    /// Whether it gives way to all others, and to what follows from them: it only says which code it is.
    pub last: bool,
    /// The sentence of a finding.
    pub says: String,
    /// Lines of evidence.
    pub evidence: Vec<String>,
    /// How to see it by hand.
    pub check: Vec<String>,
    /// What to do about it.
    pub advice: Vec<String>,
    /// What an experiment varies.
    pub experiment: Vec<Experiment>,
    /// References.
    pub see: Vec<String>,
    /// Parts of the time of slow requests that are its own.
    pub tail: Vec<Tail>,
    /// The sentence for these.
    pub tail_says: String,
    /// Question: how well is it met? Empty where nothing but the cells tells.
    pub when: String,
    /// Question: which cells does it claim?
    pub claims: String,
    /// Question: what is there to say? May be empty.
    pub tells: String,
    /// Whether it comes with the program.
    pub built_in: bool,
    /// The file, of one that does not.
    pub file: Option<PathBuf>,
}

impl Cause {
    /// Its questions as one, which can be asked by hand: what it claims, with the score of `when`.
    pub fn query(&self) -> String {
        let given = if self.when.is_empty() { parse::ALWAYS } else { &self.when };
        let indented = |sql: &str| sql.lines().map(|line| format!("    {line}\n")).collect::<String>();
        let mut query = format!("with given as materialized (\n{}),\n", indented(given));
        query += &format!("claimed as materialized (\n{})\n", indented(&self.claims));
        query += "select given.score, claimed.* from claimed, given";
        query
    }

    /// All of its questions.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &str> {
        [&self.when, &self.claims, &self.tells].into_iter().map(String::as_str)
    }
}

/// A part of what slow requests take longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// A part, of [`crate::tail::PARTS`].
    Part(String),
    /// Time of threads with such a name, which goes before parts; `*` at its end stands for the rest.
    Helper(String),
}

impl Tail {
    /// Whether it is the time of a thread with this name.
    pub(crate) fn is_helper(&self, name: &str) -> bool {
        match self {
            Tail::Helper(wanted) => match wanted.strip_suffix('*') {
                Some(begin) => name.starts_with(begin),
                None => name == wanted,
            },
            Tail::Part(_) => false,
        }
    }
}

/// Fills a sentence with columns, see [`words::fill`].
pub(crate) fn fill_words(
    template: &str,
    columns: &std::collections::HashMap<String, query::sql::Value>,
) -> Option<String> {
    words::fill(template, columns)
}

/// Something that an experiment can vary, with values to try.
///
/// Its kind says how it is set: `setting`, a file of /proc/sys or /sys; `env`, an environment variable; `jvm`, an option of a JVM; `cpus`, how many
/// CPUs the program may use; `parameter`, an option of the program itself, which only its user knows how to set. A value `x2` is twice what it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// How it is set: one of [`Experiment::KINDS`].
    pub kind: String,
    /// What is set.
    pub name: String,
    /// The values to try.
    pub values: Vec<String>,
}

impl Experiment {
    /// The kinds.
    pub const KINDS: [&str; 5] = ["setting", "env", "jvm", "cpus", "parameter"];
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.kind, self.name, self.values.join(" "))
    }
}

/// A file of causes that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {why}")]
pub struct Faulty {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

/// The layers, in the order in which causes are listed.
pub const LAYERS: [&str; 5] = ["scheduling", "kernel", "io", "code", "jvm"];

/// The causes that come with the program.
pub fn built_in() -> Vec<Cause> {
    // That each can be read is tested; one that cannot is missing here, and the test names it.
    let mut causes: Vec<Cause> =
        FILES.iter().filter_map(|(_, text)| Some(Cause { built_in: true, ..parse(text).ok()? })).collect();
    let layer = |cause: &Cause| LAYERS.iter().position(|l| *l == cause.layer);
    causes.sort_by(|a, b| (layer(a), &a.id).cmp(&(layer(b), &b.id)));
    causes
}

/// Adds the causes of a folder: those of files that end in `.sql`. One with the identifier of another takes its place.
///
/// # Errors
/// For the first file that cannot be used, or that names a cause to yield to that is not there, or makes a circle of those that yield.
pub fn add(causes: &mut Vec<Cause>, folder: &Path) -> Result<(), Faulty> {
    let faulty = |path: &Path, why: String| Faulty { file: path.display().to_string(), why };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|e| faulty(folder, e.to_string()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "sql"))
        .collect();
    files.sort();
    for path in files {
        let text = files::foreign::text(&path).map_err(|e| faulty(&path, e.to_string()))?;
        let cause = Cause { file: Some(path.clone()), ..parse(&text).map_err(|why| faulty(&path, why))? };
        if path.file_stem().is_none_or(|stem| *stem != *cause.id) {
            return Err(faulty(&path, format!("the file of cause {} must be called {}.sql", cause.id, cause.id)));
        }
        causes.retain(|known| known.id != cause.id);
        causes.push(cause);
    }
    Order::of(causes).map(|_| ())
}

#[cfg(test)]
mod tests;
