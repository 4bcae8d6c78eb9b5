//! What recordings carry of [`model::Measure`] and [`model::State`], and what stands for it in recordings of before, which do not say it.
//!
//! `older.json` holds what their tables would have said, by name: the declarations as they were when recordings began to carry them. It is as fixed as
//! those recordings are: a table that came later says everything itself, and is never added there.

use crate::catalogue::{leak, owned};
use model::{Bucket, Locks, Measure, Other, Page, State, StateKind, Table, intern};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) fn is_empty(text: &str) -> bool {
    text.is_empty()
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StateText {
    words: String,
    kind: StateKind,
    color: [String; 2],
}

/// Stands for a colour that is none.
const GREY: &str = "#808080";

impl StateText {
    pub(crate) fn of(state: &State) -> StateText {
        StateText { words: state.words.into(), kind: state.kind, color: state.color.map(Into::into) }
    }

    pub(crate) fn leak(self) -> &'static State {
        // What is no colour could be anything, and would be part of a page.
        let is_color = |text: &str| {
            text.strip_prefix('#').is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        let color = self.color.each_ref().map(|color| if is_color(color) { intern(color) } else { GREY });
        Box::leak(Box::new(State { words: intern(&self.words), kind: self.kind, color }))
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct OtherText {
    stack: String,
    name: String,
    who: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct LocksText {
    #[serde(default, skip_serializing_if = "is_empty")]
    name: String,
    kind: String,
    #[serde(default, skip_serializing_if = "is_empty")]
    address: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    only: Vec<String>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct MeasureText {
    id: String,
    title: String,
    help: String,
    weight: String,
    stack: String,
    who: String,
    #[serde(default, skip_serializing_if = "is_empty")]
    at: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ledger: bool,
    #[serde(default, skip_serializing_if = "is_empty")]
    level: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    more: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    other: Option<OtherText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    locks: Option<LocksText>,
}

impl MeasureText {
    pub(crate) fn of(measure: &Measure) -> MeasureText {
        let other = |o: Other| OtherText { stack: o.stack.into(), name: o.name.into(), who: o.who.into() };
        let locks = |l: Locks| LocksText {
            name: l.name.into(),
            kind: l.kind.into(),
            address: l.address.into(),
            only: owned(l.only),
        };
        MeasureText {
            id: measure.id.into(),
            title: measure.title.into(),
            help: measure.help.into(),
            weight: measure.weight.into(),
            stack: measure.stack.into(),
            who: measure.who.into(),
            at: measure.at.into(),
            ledger: measure.ledger,
            level: measure.level.into(),
            labels: owned(measure.labels),
            more: owned(measure.more),
            other: measure.other.map(other),
            locks: measure.locks.map(locks),
        }
    }

    pub(crate) fn leak(self) -> &'static Measure {
        let other = |o: OtherText| Other { stack: intern(&o.stack), name: intern(&o.name), who: intern(&o.who) };
        let locks = |l: LocksText| Locks {
            name: intern(&l.name),
            kind: intern(&l.kind),
            address: intern(&l.address),
            only: leak(&l.only),
        };
        Box::leak(Box::new(Measure {
            id: intern(&self.id),
            title: intern(&self.title),
            help: intern(&self.help),
            weight: intern(&self.weight),
            stack: intern(&self.stack),
            who: intern(&self.who),
            at: intern(&self.at),
            ledger: self.ledger,
            level: intern(&self.level),
            labels: leak(&self.labels),
            more: leak(&self.more),
            other: self.other.map(other),
            locks: self.locks.map(locks),
        }))
    }
}

/// What a column would have said.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct OlderColumn {
    title: String,
    bucket: Option<Bucket>,
    state: Option<StateText>,
}

/// What a table would have said.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct OlderTable {
    title: String,
    page: Option<Page>,
    scoped: bool,
    measure: Option<MeasureText>,
    columns: HashMap<String, OlderColumn>,
}

fn older() -> &'static HashMap<String, OlderTable> {
    static OLDER: OnceLock<HashMap<String, OlderTable>> = OnceLock::new();
    OLDER.get_or_init(|| serde_json::from_str(include_str!("older.json")).unwrap_or_default())
}

/// Fills in what an older recording does not say of a table. One that says any of it says all.
pub(crate) fn complete(table: &mut Table) {
    let says = !table.title.is_empty()
        || table.page.is_some()
        || table.scoped
        || table.measure.is_some()
        || table.columns.iter().any(|c| !c.title.is_empty() || c.bucket.is_some() || c.state.is_some());
    let Some(older) = older().get(table.name).filter(|_| !says) else { return };
    table.title = intern(&older.title);
    table.page = older.page;
    table.scoped = older.scoped;
    table.measure = older.measure.clone().map(MeasureText::leak);
    if !older.columns.is_empty() {
        let mut columns = table.columns.to_vec();
        for column in &mut columns {
            let Some(older) = older.columns.get(column.name) else { continue };
            column.title = intern(&older.title);
            column.bucket = older.bucket;
            column.state = older.state.clone().map(StateText::leak);
        }
        table.columns = columns.leak();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Column, Unit};

    #[test]
    fn older_recordings_say_it_by_their_tables_names() {
        assert!(!older().is_empty(), "older.json is read");
        const THREADS: Table = Table::wide(
            "thread_time",
            "threads",
            &[Column::label("comm", "process"), Column::counter("lock", Unit::Nanoseconds, "on a lock")],
        );
        const WAITS: Table = Table::wide("run_queue", "waits", &[Column::counter("b1", Unit::None, "waits")]);
        let (mut table, mut waits) = (THREADS, WAITS);
        complete(&mut table);
        let states: Vec<_> = table.states().map(|(column, state)| (column.name, column.title, state.words)).collect();
        assert_eq!(states, [("lock", "Lock", "waiting for locks")]);
        assert!(table.scoped && table.measure.is_none());
        complete(&mut waits);
        assert_eq!(waits.columns[0].bucket, Some(Bucket { end: 4096.0, unit: Unit::Nanoseconds }));
    }

    #[test]
    fn what_is_no_colour_does_not_get_through() {
        let text = r##"{"words": "w", "kind": "wait", "color": ["#12aBef", "url(//evil)"]}"##;
        let state = serde_json::from_str::<StateText>(text).unwrap().leak();
        assert_eq!(state.color, ["#12aBef", GREY]);
    }

    #[test]
    fn a_table_that_says_something_is_left_alone() {
        const MINE: Table = Table::wide("sample", "samples", &[Column::number("stack", "stack")]).titled("Mine");
        let mut table = MINE;
        complete(&mut table);
        assert_eq!(table, MINE);
    }
}
