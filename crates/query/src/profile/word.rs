//! What can be asked of a recording, by word: the measures that its tables declare, the states of its ledger, and all of the ledger's time. Which
//! tables and columns that is, the declarations say.

use crate::Run;
use model::{Locks, Measure, NULL, Symbols, Table};

/// The word for all that divides the ledger's time: on a CPU and blocked, each state a level of its own.
pub const ALL: &str = "all";

/// What a word stands for in a recording.
#[derive(Clone, Debug)]
pub struct Known {
    /// The word.
    pub word: String,
    /// As a heading.
    pub title: String,
    /// The base unit of the weights; `1` for counts.
    pub unit: &'static str,
    /// Who the other party is, in words, where rows have the stack of one.
    pub other: Option<&'static str>,
}

/// The level between the root and the processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Level {
    None,
    /// One frame of this name.
    Word(&'static str),
    /// By this column.
    Column(&'static str),
    /// By lock.
    Lock(Locks),
}

/// Which rows of which table make a measure.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) table: &'static Table,
    pub(super) measure: &'static Measure,
    pub(super) level: Level,
    /// Only rows with this text in the column of the level.
    pub(super) only: Option<String>,
}

impl Rows {
    fn new(table: &'static Table, measure: &'static Measure) -> Rows {
        let level = match measure.locks {
            _ if !measure.level.is_empty() => Level::Column(measure.level),
            Some(locks) => Level::Lock(locks),
            None => Level::None,
        };
        Rows { table, measure, level, only: None }
    }
}

/// The tables of a run that declare a measure, with it: those of the ledger first, and of these the one of time on a CPU.
pub fn measured(run: &Run) -> Vec<(&'static Table, &'static Measure)> {
    let mut found: Vec<_> = run.recording.tables().filter_map(|(_, table)| Some((table, table.measure?))).collect();
    found.sort_by_key(|(_, measure)| (!measure.ledger, !measure.level.is_empty()));
    found
}

/// The measure whose level is the states of the ledger.
fn by_state(run: &Run) -> Option<(&'static Table, &'static Measure)> {
    measured(run).into_iter().find(|(_, measure)| measure.ledger && !measure.level.is_empty())
}

/// A state of the ledger in which threads are blocked: what threads do in it, in words, where that is declared.
fn state(run: &Run, word: &str) -> Option<Option<&'static str>> {
    let (table, measure) = by_state(run)?;
    let declared = run.recording.tables().flat_map(|(_, table)| table.states()).find(|(column, _)| column.name == word);
    match declared {
        Some((_, state)) if state.kind.is_blocked() => Some(Some(state.words)),
        Some(_) => None,
        None => states(run, table, measure).iter().any(|state| state == word).then_some(None),
    }
}

/// The states that rows name, in order.
fn states(run: &Run, table: &Table, measure: &Measure) -> Vec<String> {
    let mut symbols = Symbols::default();
    let mut cells: Vec<i64> = Vec::new();
    run.recording.scan(table.name, &[measure.level], None, &mut symbols, |batch| {
        for &cell in batch.column(0) {
            if cell != NULL && !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    });
    let mut states: Vec<String> = cells.iter().filter_map(|&cell| symbols.text(cell).map(str::to_owned)).collect();
    states.sort();
    states
}

/// Which rows a word asks for; none where it means nothing in this recording.
pub(super) fn rows(run: &Run, word: &str) -> Vec<Rows> {
    let measured = measured(run);
    if let Some((table, measure)) = measured.iter().find(|(_, measure)| measure.id == word) {
        return vec![Rows::new(table, measure)];
    }
    if word == ALL {
        let of = |(table, measure): &(&'static Table, &'static Measure)| {
            let rows = Rows::new(table, measure);
            match rows.level {
                Level::None => Rows { level: Level::Word(measure.id), ..rows },
                _ => rows,
            }
        };
        return measured.iter().filter(|(_, measure)| measure.ledger).map(of).collect();
    }
    match by_state(run) {
        Some((table, measure)) if state(run, word).is_some() => {
            vec![Rows { only: Some(word.to_owned()), level: Level::None, ..Rows::new(table, measure) }]
        }
        _ => Vec::new(),
    }
}

/// Whether a run has a table for what a word asks for.
pub fn has(run: &Run, word: &str) -> bool {
    !rows(run, word).is_empty()
}

/// What a word stands for in a run; `None` where it means nothing there.
pub fn known(run: &Run, word: &str) -> Option<Known> {
    let rows = rows(run, word);
    let first = rows.first()?;
    let title = if word == ALL {
        "Thread time".to_owned()
    } else if first.only.is_none() {
        first.measure.title.to_owned()
    } else {
        let words = state(run, word).flatten();
        let of = first.measure.title;
        words.map_or_else(|| format!("{of} in state {word}"), |words| format!("{of} {words}"))
    };
    let unit = match first.measure.unit(first.table).base() {
        "" => "1",
        unit => unit,
    };
    let other = first.measure.other.map(|other| other.who);
    Some(Known { word: word.to_owned(), title, unit, other })
}

/// What can be asked of a recording: the words for which it has rows.
pub fn words(run: &Run) -> Vec<String> {
    let sizes = run.recording.sizes();
    let there = |table: &Table| sizes.iter().any(|(name, _, rows, _)| *name == table.name && *rows > 0);
    let mut found: Vec<String> = Vec::new();
    let mut of_ledger = 0;
    let (ledger, others): (Vec<_>, Vec<_>) =
        measured(run).into_iter().filter(|(table, _)| there(table)).partition(|(_, measure)| measure.ledger);
    for (table, measure) in ledger {
        of_ledger += 1;
        found.push(measure.id.to_owned());
        if !measure.level.is_empty() {
            found.extend(states(run, table, measure));
        }
    }
    if of_ledger > 1 {
        found.push(ALL.to_owned());
    }
    found.extend(others.iter().map(|(_, measure)| measure.id.to_owned()));
    found
}
