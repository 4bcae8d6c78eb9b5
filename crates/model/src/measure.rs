//! What a table says of itself beyond its columns, so that nobody has to know it by name: that its rows can be drawn as call trees, and that its
//! columns are states which a thread's time is divided among.

use crate::{Table, Unit};
use serde::{Deserialize, Serialize};

/// How a state of a thread bears on the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// On a CPU. Samples tell which code.
    OnCpu,
    /// Kept from a CPU, or from the use of one: run queue, quota, steal.
    Stretch,
    /// Blocked on something that the work needs.
    Wait,
    /// Blocked for a time that the thread asked for: no loss unless the work waits for it.
    Sleep,
    /// Waiting for work: no loss.
    Rest,
}

impl StateKind {
    /// Whether threads are blocked in it, so that waits tell where.
    pub fn is_blocked(self) -> bool {
        matches!(self, StateKind::Wait | StateKind::Sleep | StateKind::Rest)
    }
}

/// A state that a thread can be in, declared with the column that holds the time in it ([`crate::Column::state`]): its name is the column's, and so
/// are its title and help. The states of a table divide all of a thread's time; such a table is a ledger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// What threads do in it, in a sentence: "waiting for locks".
    pub words: &'static str,
    /// How it bears on the work.
    pub kind: StateKind,
    /// What it is drawn in on a light page and on a dark one, `#rrggbb`.
    pub color: [&'static str; 2],
}

/// Where a bucket of a histogram ends; it begins where the one before it ends, the first at 0, and the last is open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// The upper bound; of the last bucket what it is drawn up to.
    pub end: f64,
    /// Its unit.
    pub unit: Unit,
}

/// The other party of a row: who ended the wait, who held the lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Other {
    /// The column of its stack.
    pub stack: &'static str,
    /// The column of its name.
    pub name: &'static str,
    /// Who it is, in words: "who held the lock".
    pub who: &'static str,
}

/// Columns that say which lock a row is about. One without a name of its own is called after the code that takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Locks {
    /// The column of its name; empty where it has none.
    pub name: &'static str,
    /// The column of its kind.
    pub kind: &'static str,
    /// The column of its address, which means nothing in another run; empty where it has none.
    pub address: &'static str,
    /// Kinds that are locks; empty: all.
    pub only: &'static [&'static str],
}

/// What makes rows with a stack a call tree: the column that they are weighed by. It stands in a table's declaration ([`Table::measured`]) and is
/// all that `flame` and the report need to draw it. Whose row it is, the columns `comm` (process), `thread`, `pid` and `tid` say, as far as the
/// table has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// The word for it on the command line and in links, unique over all tables and different from all states: `cpu`, `faults`.
    pub id: &'static str,
    /// As a heading: "Page faults".
    pub title: &'static str,
    /// One line: what is weighed, by whose stack.
    pub help: &'static str,
    /// The column of the weight.
    pub weight: &'static str,
    /// The column of the stack's number.
    pub stack: &'static str,
    /// Whose stack it is, in words: "who waited".
    pub who: &'static str,
    /// The column of the time at which the row happened; empty: it is about the stretch since the read before.
    pub at: &'static str,
    /// Whether it divides the time of the ledger: that on a CPU, or with a `level` that in the states which the level names.
    pub ledger: bool,
    /// The label that is a level above the stacks; empty: none.
    pub level: &'static str,
    /// The labels that tell rows apart, but for those of who it was.
    pub labels: &'static [&'static str],
    /// More numbers of a row. They add up, or the greatest counts, as their columns fold.
    pub more: &'static [&'static str],
    /// The other party.
    pub other: Option<Other>,
    /// Which lock it is about; without a `level` that is the level.
    pub locks: Option<Locks>,
}

impl Measure {
    /// A measure of rows about the stretch since the read before, with their stack in the column `stack`.
    pub const fn new(id: &'static str, title: &'static str, weight: &'static str, help: &'static str) -> Self {
        Measure {
            id,
            title,
            help,
            weight,
            stack: "stack",
            who: "whose it was",
            at: "",
            ledger: false,
            level: "",
            labels: &[],
            more: &[],
            other: None,
            locks: None,
        }
    }

    /// Says whose stack it is, in words.
    pub const fn of(mut self, who: &'static str) -> Self {
        self.who = who;
        self
    }

    /// Rows happened at the time in this column.
    pub const fn at(mut self, column: &'static str) -> Self {
        self.at = column;
        self
    }

    /// It divides time of the ledger, see [`Measure::ledger`].
    pub const fn of_ledger(mut self) -> Self {
        self.ledger = true;
        self
    }

    /// Sets the labels that tell rows apart.
    pub const fn labels(mut self, labels: &'static [&'static str]) -> Self {
        self.labels = labels;
        self
    }

    /// Makes one of the labels a level above the stacks.
    pub const fn level(mut self, label: &'static str) -> Self {
        self.level = label;
        self
    }

    /// More numbers of a row.
    pub const fn more(mut self, columns: &'static [&'static str]) -> Self {
        self.more = columns;
        self
    }

    /// The other party of a row: the column of its stack, that of its name, and who it is in words.
    pub const fn other(mut self, stack: &'static str, name: &'static str, who: &'static str) -> Self {
        self.other = Some(Other { stack, name, who });
        self
    }

    /// Says which lock rows are about.
    pub const fn locks(mut self, locks: Locks) -> Self {
        self.locks = Some(locks);
        self
    }

    /// The unit of the weight in `table`.
    pub fn unit(&self, table: &Table) -> Unit {
        table.stored().iter().find(|c| c.name == self.weight).map_or(Unit::None, |c| c.unit)
    }
}
