//! A cell of the budget, and what all that make and judge cells share: the two sides, and a wait with the state that it is taken to be.

use super::ledger::Working;
use super::state::State;
use super::waits::Waiting;
use compare::{PerSide, Side};
use lexicon::Roles;
use model::Window;
use query::Run;
use std::collections::BTreeSet;

/// Time spent in one state at one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The state, see [`State::name`].
    pub state: Option<State>,
    /// Name of the process.
    pub comm: String,
    /// Name of the thread, `#` for digits.
    pub thread: String,
    /// Of a wait, the kernel function or system call that it waited in.
    pub what: String,
    /// Of a wait, the process that ended it.
    pub waker: String,
    /// Of a lock, what it is called: its name, else its kind and address.
    pub lock: String,
    /// What the lock is called in findings, see [`super::locks`]; nothing for those of the kernel.
    pub lock_name: String,
    /// Of kernel time, what asked for it: the name of a system call, `page fault`, `interrupt`, `switch`, or nothing.
    pub request: String,
    /// The innermost function.
    pub function: String,
    /// Its program or library.
    pub module: String,
    /// Its kind of code: native, kernel, jit …, and `spin` in a loop that waits.
    pub kind: String,
    /// The innermost function of the program that does not belong to a library of the system.
    pub caller: String,
    /// All functions, outermost first, each between two semicolons.
    pub path: String,
    /// Of the time in this state.
    pub fraction: PerSide<f64>,
    /// Samples or waits that it stands on; 0 where that is not known.
    pub samples: PerSide<f64>,
    /// Whether it is of threads that keep house.
    pub aside: bool,
    /// Of CPU time, the function below which it grew, see [`super::focus`].
    pub focus: String,
    /// Whether that function hardly ran on the fast side.
    pub fresh: bool,
    /// Of the path, how many functions at its end are the kernel's.
    pub kernel: usize,
    /// The roles of all functions of the stack, and of the thread by its name.
    pub roles: Roles,
    /// The roles of the innermost function.
    pub own_roles: Roles,
    /// What its code says of what it waits for.
    pub(crate) waits: Waiting,
}

/// The two sides: for each run, which it belongs to.
pub(crate) struct Sides<'a> {
    pub(crate) runs: &'a [&'a Run],
    pub(crate) windows: &'a [&'a Window],
    pub(crate) side: &'a [Side],
    pub(crate) own: &'a BTreeSet<String>,
    pub(crate) working: &'a Working,
}

/// A wait with its time on both sides, and the state that it is taken to be, where that is not its own.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) cell: Cell,
    pub(super) weights: [f64; 2],
    pub(super) to: Option<State>,
}

impl Seen {
    /// The state that it is taken to be.
    pub(super) fn state(&self) -> Option<State> {
        self.to.or(self.cell.state)
    }
}
