//! The Python functions that threads of CPython are in. Its stacks of machine code show calls of the interpreter's loop and nothing of what that runs.
//!
//! The functions are read in the kernel when a sample is taken (`python.bpf.c`) or a thread blocks (`threads/python_waits.h`): a look at the program's memory
//! afterwards would find what it does by then. What a code object is called does not change, so that is read here, once for each, and put among the frames of
//! machine code ([`insert`]).

#[cfg(not(feature = "bpf"))]
mod absent;
#[cfg(feature = "bpf")]
mod function;
#[cfg(feature = "bpf")]
mod known;
#[cfg(feature = "bpf")]
mod layout;
#[cfg(feature = "bpf")]
mod live;
mod place;
mod record;

use super::name::Row;
use super::{Stacks, State};
#[cfg(feature = "bpf")]
use host::bpf::Programs;
#[cfg(feature = "bpf")]
use model::Unavailable;
use std::collections::HashMap;

#[cfg(not(feature = "bpf"))]
pub(super) use absent::{Known, Pythons};
#[cfg(feature = "bpf")]
pub(super) use known::Known;
#[cfg(feature = "bpf")]
pub(super) use live::Pythons;
pub(super) use place::{Call, insert};
pub use record::PythonStack;

/// Functions that are kept; more have no frame.
#[cfg(feature = "bpf")]
const MOST: usize = 1 << 18;

/// What was counted of the stacks of Python threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Stacks that the kernel told, that it could not follow to their end, and that found no room.
    pub taken: u64,
    pub cut: u64,
    pub lost: u64,
    /// Nanoseconds that it took the threads that were sampled.
    pub spent: u64,
}

/// Functions by the number that [`super::trie::Place::Python`] has.
#[derive(Debug, Default)]
pub(super) struct Functions {
    rows: Vec<Row>,
    #[cfg_attr(not(feature = "bpf"), expect(dead_code, reason = "only eBPF finds functions"))]
    numbers: HashMap<Row, u32>,
}

impl Functions {
    /// The number of a function; `None` where there is no room.
    #[cfg(feature = "bpf")]
    pub fn number(&mut self, row: Row) -> Option<u32> {
        if let Some(&known) = self.numbers.get(&row) {
            return Some(known);
        }
        let next = u32::try_from(self.rows.len()).ok().filter(|_| self.rows.len() < MOST)?;
        self.rows.push(row.clone());
        self.numbers.insert(row, next);
        Some(next)
    }

    /// The frame of a function.
    pub fn row(&self, number: u32) -> Option<&Row> {
        self.rows.get(number as usize)
    }
}

impl Stacks {
    /// Has programs that include `bpf/python.h` told of the processes that run CPython.
    #[cfg(feature = "bpf")]
    pub(crate) fn tell_pythons(&self, programs: &Programs) -> Result<(), Unavailable> {
        self.state().pythons.add(programs)
    }

    /// What the kernel told of a thread of a process, with numbers of functions.
    pub(super) fn python_calls(&self, pid: u32, stack: PythonStack) -> Vec<Call> {
        let mut state = self.state();
        let State { pythons, functions, .. } = &mut *state;
        pythons.calls(functions, pid, stack)
    }
}
