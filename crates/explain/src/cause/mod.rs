//! Causes: each is a file, `causes/ID.sql`, with a header that says what it is, and a question to the budget of lost time and the recorded tables.
//!
//! ```sql
//! -- cause ID: title
//! -- layer: scheduling
//! -- page: pages of the report to look at besides, the most telling first; without it, those of its layer
//! -- needs: tables that it cannot do without, or columns of them (table.column)
//! -- against: whether it needs a run to compare with (yes, no)
//! -- specific: 1 to 9; of two causes that claim the same time the more specific one gets it
//! -- says: one sentence; {name} and {name:unit} stand for columns of the answer, {name:fn} for a function, {name:lock} for a lock,
//! --   {name:path} for a path; [[a part]] is left out where one of its columns is null;
//! --   lines that begin with further spaces go on with the one before
//! -- evidence: a line, left out where one of its columns is null; may be repeated, as those below
//! -- check: how to see it by hand
//! -- try: what to do about it
//! -- experiment: what an experiment would vary
//! -- see: a reference
//! select subject, cell, part, … from budget …
//! ```
//!
//! A row of the answer claims the part `part` (0 to 1) of cell `cell` of the budget for the finding `subject`; its other columns are for the words. A
//! row whose cell is null claims nothing: the finding is a note. Lines `-- test …` at the end of the file are cases with the rows that the question finds
//! in them; every cause that comes with the program has some, for what it claims and for what it does not.

mod ask;
mod cut;
pub(crate) mod totals;
mod words;

pub use ask::{Claim, Found};
pub(crate) use ask::{Measure, OfRun, Tables, ask, own_code};

use model::Page;
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
    /// Tables that a recording must hold.
    pub needs: Vec<String>,
    /// Whether it is about a difference, and one run alone says nothing of it.
    pub against: bool,
    /// How precisely it names what is wrong: of two that claim the same time the higher gets it.
    pub specific: u8,
    /// The sentence of a finding.
    pub says: String,
    /// Lines of evidence.
    pub evidence: Vec<String>,
    /// How to see it by hand.
    pub check: Vec<String>,
    /// What to do about it.
    pub advice: Vec<String>,
    /// What an experiment would vary.
    pub experiment: Vec<String>,
    /// References.
    pub see: Vec<String>,
    /// The question.
    pub sql: String,
    /// Whether it comes with the program.
    pub built_in: bool,
    /// The file, of one that does not.
    pub file: Option<PathBuf>,
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
/// For the first file that cannot be used.
pub fn add(causes: &mut Vec<Cause>, folder: &Path) -> Result<(), Faulty> {
    let faulty = |path: &Path, why: String| Faulty { file: path.display().to_string(), why };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|e| faulty(folder, e.to_string()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "sql"))
        .collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|e| faulty(&path, e.to_string()))?;
        let cause = Cause { file: Some(path.clone()), ..parse(&text).map_err(|why| faulty(&path, why))? };
        if path.file_stem().is_none_or(|stem| *stem != *cause.id) {
            return Err(faulty(&path, format!("the file of cause {} must be called {}.sql", cause.id, cause.id)));
        }
        causes.retain(|known| known.id != cause.id);
        causes.push(cause);
    }
    Ok(())
}

/// Reads a file.
///
/// # Errors
/// In words, where it is not as described above.
pub fn parse(text: &str) -> Result<Cause, String> {
    let mut lines = text.lines().peekable();
    let head = lines
        .next()
        .and_then(|l| l.strip_prefix("-- cause "))
        .ok_or("it does not begin with \"-- cause ID: TITLE\"")?;
    let (id, title) = head.split_once(": ").ok_or("its first line has no \": \"")?;
    if id.is_empty() || !id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        return Err(format!("{id:?} is no identifier: small letters, digits and - are allowed"));
    }
    let mut cause = Cause { id: id.to_owned(), title: title.to_owned(), ..Cause::default() };
    let mut header: Vec<String> = Vec::new();
    while let Some(line) = lines.next_if(|l| l.starts_with("-- ")) {
        match (line.strip_prefix("--   "), header.last_mut()) {
            (Some(more), Some(before)) => *before = format!("{} {}", before.trim_end(), more.trim()),
            (Some(more), None) => return Err(format!("{more:?} goes on with nothing")),
            (None, _) => header.push(line.trim_start_matches("-- ").to_owned()),
        }
    }
    for line in &header {
        let (key, value) = line.split_once(": ").ok_or_else(|| format!("no \": \" in {line:?}"))?;
        let value = value.trim().to_owned();
        match key {
            "layer" if LAYERS.contains(&&*value) => cause.layer = value,
            "layer" => return Err(format!("{value:?} is no layer; there are {}", LAYERS.join(", "))),
            "page" => {
                cause.pages = value.split_whitespace().map(str::to_owned).collect();
                // What the page of the set-up holds is no chart's.
                let known: Vec<&str> = Page::ALL.iter().map(|page| page.id()).chain(["set-up"]).collect();
                if let Some(page) = cause.pages.iter().find(|page| !known.contains(&page.as_str())) {
                    return Err(format!("{page:?} is no page of the report; there are {}", known.join(", ")));
                }
            }
            "needs" => cause.needs.extend(value.split([' ', ',']).filter(|n| !n.is_empty()).map(str::to_owned)),
            "against" => cause.against = value == "yes",
            "specific" => {
                cause.specific =
                    value.parse().ok().filter(|n| (1..=9).contains(n)).ok_or("specific: expected 1 to 9")?;
            }
            "says" => cause.says = value,
            "evidence" => cause.evidence.push(value),
            "check" => cause.check.push(value),
            "try" => cause.advice.push(value),
            "experiment" => cause.experiment.push(value),
            "see" => cause.see.push(value),
            _ => {
                return Err(format!(
                    "{key:?} is not known; there are layer, page, needs, against, specific, says, evidence, check, try, experiment, see"
                ));
            }
        }
    }
    // The cases that test it follow, see `tests/cases.rs`.
    cause.sql = lines
        .take_while(|line| !line.starts_with("-- test "))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .trim_end_matches(';')
        .to_owned();
    if !(cause.sql.starts_with("select") || cause.sql.starts_with("with")) {
        return Err("the header is not followed by a select".into());
    }
    for (what, missing) in [
        ("layer", cause.layer.is_empty()),
        ("specific", cause.specific == 0),
        ("says", cause.says.is_empty()),
        ("check", cause.check.is_empty()),
        ("try", cause.advice.is_empty()),
    ] {
        if missing {
            return Err(format!("{what} is missing"));
        }
    }
    Ok(cause)
}

#[cfg(test)]
mod tests;
