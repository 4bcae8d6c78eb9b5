//! Puts the questions of a cause to the recordings, and reads its answers.

use super::words::{CALLED_BY, Columns, alone, fill};
use super::{Cause, Faulty};
use crate::Error;
use crate::budget::Budget;
use compare::Side;
use lexicon::Role;
use query::Session;
use query::sql::Value;
use std::collections::{BTreeMap, HashMap};

/// A part of a cell that a finding claims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// Number of the cell.
    pub cell: usize,
    /// The part, 0 to 1.
    pub part: f64,
}

/// One finding of a cause, before it is known what is left for it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What it is about: a lock, a function, a system call …
    pub subject: String,
    /// In a sentence.
    pub says: String,
    /// Lines of evidence.
    pub evidence: Vec<String>,
    /// What to do about it, line by line: advice for a runtime only where that runtime is.
    pub advice: Vec<String>,
    /// What it claims; nothing for a note.
    pub claims: Vec<Claim>,
}

/// What a cause finds.
///
/// # Errors
/// Where its questions cannot be asked, or its answers are not of the form described in the module.
pub(crate) fn ask(session: &mut Session, cause: &Cause, budget: &Budget) -> Result<Vec<Found>, Error> {
    let Some((score, given)) = given(session, cause)? else { return Ok(Vec::new()) };
    let mut found = claimed(session, cause, budget, score)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let told = told(session, cause)?;
    // Causes speak of a unit of work; what it is is known here.
    let per = format!("per {}", budget.unit.name());
    let said = |template: &str, columns: &Columns| {
        let template = template.replace("per unit of work", &per);
        if budget.single { fill(&alone(&template), columns) } else { fill(&template, columns) }
    };
    for one in &mut found {
        let time = |side: Side| {
            let of = |claim: &Claim| claim.part * budget.times(claim.cell)[side];
            Value::Real(one.claims.iter().map(of).sum())
        };
        let mut columns = given.clone();
        columns.insert("subject".into(), Value::Text(one.subject.clone()));
        columns.insert("slow".into(), time(Side::Slow));
        columns.insert("against".into(), time(Side::Baseline));
        if let Some(caller) = called_by(one, budget) {
            columns.insert(CALLED_BY.into(), Value::Text(caller));
        }
        for more in told.iter().filter(|(of, _)| of.as_ref().is_none_or(|of| *of == one.subject)).map(|(_, c)| c) {
            columns.extend(more.clone());
        }
        one.says = said(&cause.says, &columns).unwrap_or_else(|| format!("{}: {}", cause.title, one.subject));
        one.evidence = cause.evidence.iter().filter_map(|line| said(line, &columns)).collect();
        one.advice = cause.advice.iter().filter_map(|line| said(line, &columns)).collect();
    }
    Ok(found)
}

/// What calls code that is known by its module only, `[postgres]`: the innermost function with a name of its own, no library's, below which at least half of
/// what the finding claims lies.
fn called_by(one: &Found, budget: &Budget) -> Option<String> {
    let place = one.subject.strip_prefix("taken in ").unwrap_or(&one.subject);
    if !place.starts_with('[') {
        return None;
    }
    let claims = one.claims.iter().filter_map(|claim| {
        let times = budget.times(claim.cell);
        let more = if budget.single { times.slow } else { (times.slow - times.baseline).max(0.0) };
        let cell = budget.cells.get(claim.cell).filter(|_| more > 0.0)?;
        Some((&*cell.path, claim.part * more))
    });
    innermost_caller(claims, place).map(str::to_owned)
}

/// Of paths such as `;main;work;[lib];` with the time below them: the innermost function that says more than the place does and calls it in half of the time.
fn innermost_caller<'p>(claims: impl Iterator<Item = (&'p str, f64)>, place: &str) -> Option<&'p str> {
    let says_more = |name: &str| {
        let roles = lexicon::roles(name, "", "");
        !name.is_empty() && !name.starts_with('[') && !roles.has(Role::Library) && !roles.has(Role::Entry)
    };
    // Of each caller: the time, and the same times how deep it stands.
    let (mut callers, mut all) = (BTreeMap::<&str, (f64, f64)>::new(), 0.0);
    for (path, time) in claims {
        all += time;
        let names: Vec<&str> = path.split(';').collect();
        let Some(at) = names.iter().rposition(|name| *name == place) else { continue };
        // Of what calls itself, the innermost.
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        seen.extend(names.iter().take(at).enumerate().map(|(depth, name)| (*name, depth)));
        for (name, depth) in seen.into_iter().filter(|(name, _)| says_more(name)) {
            let of = callers.entry(name).or_default();
            *of = (of.0 + time, of.1 + time * depth as f64);
        }
    }
    let calls_half = callers.into_iter().filter(|(_, (time, _))| *time > 0.0 && *time >= 0.5 * all);
    calls_half.max_by(|a, b| (a.1.1 / a.1.0).total_cmp(&(b.1.1 / b.1.0))).map(|(name, _)| name)
}

/// Asks `when`, and defines its answer as the table `given`: the score, and the columns. `None` where it is not met.
fn given(session: &mut Session, cause: &Cause) -> Result<Option<(f64, Columns)>, Error> {
    let sql = if cause.when.is_empty() { super::parse::ALWAYS } else { &cause.when };
    let (names, mut rows) = session.all(sql).map_err(|e| faulty(cause, format!("when: {e}")))?;
    let Some(at) = names.iter().position(|name| name == "score") else {
        return Err(faulty(cause, "when: its answer has no column score".into()));
    };
    if rows.len() > 1 {
        return Err(faulty(cause, format!("when: its answer has {} rows; one is expected, or none", rows.len())));
    }
    let Some(row) = rows.pop() else { return Ok(None) };
    let score = number(row.get(at)).unwrap_or(0.0).clamp(0.0, 1.0);
    let columns = names.iter().cloned().zip(row.iter().cloned()).collect();
    define(session, "given", &names, vec![row])?;
    Ok((score > 0.0).then_some((score, columns)))
}

/// Asks `claims`, and defines its answer as the table `claimed`: findings without words.
fn claimed(session: &mut Session, cause: &Cause, budget: &Budget, score: f64) -> Result<Vec<Found>, Error> {
    let (names, rows) = session.all(&cause.claims).map_err(|e| faulty(cause, format!("claims: {e}")))?;
    let place = |name: &str| names.iter().position(|n| n == name);
    let (Some(subject_at), Some(cell_at), Some(part_at)) = (place("subject"), place("cell"), place("part")) else {
        return Err(faulty(cause, "claims: its answer has no columns subject, cell and part".into()));
    };
    let cells = budget.cells.len();
    let mut found: Vec<Found> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for row in &rows {
        let Some(Value::Text(subject)) = row.get(subject_at) else { continue };
        let claim = match row.get(cell_at) {
            Some(Value::Integer(n)) => {
                let cell = usize::try_from(*n).ok().filter(|n| *n < cells);
                let part = number(row.get(part_at)).map(|part| score * part.clamp(0.0, 1.0)).filter(|part| *part > 0.0);
                let (Some(cell), Some(part)) = (cell, part) else { continue };
                Some(Claim { cell, part })
            }
            _ => None,
        };
        let at = *known.entry(subject.clone()).or_insert_with(|| {
            found.push(Found { subject: subject.clone(), ..Found::default() });
            found.len() - 1
        });
        if let Some(one) = found.get_mut(at) {
            one.claims.extend(claim);
        }
    }
    define(session, "claimed", &names, rows)?;
    Ok(found)
}

/// Asks `tells`: columns for the words, each with the subject that they are about, or for all.
fn told(session: &Session, cause: &Cause) -> Result<Vec<(Option<String>, Columns)>, Error> {
    if cause.tells.is_empty() {
        return Ok(Vec::new());
    }
    let (names, rows) = session.all(&cause.tells).map_err(|e| faulty(cause, format!("tells: {e}")))?;
    let subject = names.iter().position(|name| name == "subject");
    let of = |row: Vec<Value>| {
        let about = match subject.and_then(|at| row.get(at)) {
            Some(Value::Text(subject)) => Some(subject.clone()),
            _ => None,
        };
        (about, names.iter().cloned().zip(row).filter(|(name, _)| name != "subject").collect())
    };
    Ok(rows.into_iter().map(of).collect())
}

fn define(session: &mut Session, table: &str, names: &[String], rows: Vec<Vec<Value>>) -> Result<(), Error> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(session.define(table, &names, rows)?)
}

fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Real(x) => Some(*x).filter(|x| x.is_finite()),
        Value::Integer(n) => Some(*n as f64),
        _ => None,
    }
}

fn faulty(cause: &Cause, why: String) -> Error {
    let file = cause.file.as_ref().map_or_else(|| format!("cause {}", cause.id), |file| file.display().to_string());
    Error::Cause(Faulty { file, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::State;

    #[test]
    fn code_without_names_is_called_by_somebody() {
        for (path, expected) in [
            (";main;ExecScan;[postgres];[postgres];", Some("ExecScan")),
            (";main;work;[a.so];[postgres];memcpy;", Some("work")),
            (";_start;main;[postgres];", None),
            (";[postgres];", None),
            (";ExecScan;", None),
        ] {
            assert_eq!(innermost_caller([(path, 1.0)].into_iter(), "[postgres]"), expected, "{path}");
        }
        // Three callers of parts of it have one caller in common, and that has others.
        let paths = [
            (";main;run;ExecScan;[postgres];", 0.3),
            (";main;run;ExecScan;[postgres];slot_get;[postgres];", 0.3),
            (";main;run;ExecScan;[postgres];heap_get;[postgres];", 0.2),
            (";main;run;send;[postgres];", 0.2),
        ];
        assert_eq!(innermost_caller(paths.into_iter(), "[postgres]"), Some("ExecScan"));
    }

    #[test]
    fn who_calls_less_than_half_of_it_is_not_named() {
        let cell =
            |path: &str| crate::budget::Cell { state: Some(State::User), path: path.into(), ..Default::default() };
        let paths = [";main;scan;[lib];", ";main;sort;[lib];", ";main;hash;[lib];"];
        let times = |slow: [f64; 3]| {
            Budget::of_times(paths.into_iter().zip(slow).map(|(path, slow)| (cell(path), [slow, 1.0])).collect())
        };
        let claims = (0..3).map(|cell| Claim { cell, part: 1.0 }).collect();
        let one = Found { subject: "[lib]".into(), claims, ..Found::default() };
        assert_eq!(called_by(&one, &times([9.0, 3.0, 2.0])).as_deref(), Some("scan"));
        assert_eq!(called_by(&one, &times([4.0, 4.0, 3.0])), None);
        assert_eq!(called_by(&Found { subject: "lib".into(), ..one }, &times([9.0, 3.0, 2.0])), None);
    }
}
