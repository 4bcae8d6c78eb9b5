//! The memory of HotSpot JVMs, read as it is: no agent, no tool of the JDK, no stop. The JVM goes on while it is read, so what changed meanwhile is left
//! out, and nothing in it is trusted.
//!
//! `tables` are what the JVM says of its own structures, and `way` keeps them for each process. With them `pending` finds who waits for which monitor,
//! `data` what lies at an address, `code` what code does and how stacks go on through it, `counters` what the JVM counts of itself, `flags` what its options came to, `internals` what it keeps in variables that
//! only its symbol table names, `objects` what is in fields of Java objects, and `roster` its threads.

mod attach;
mod code;
mod counters;
mod data;
mod flags;
mod header;
mod internals;
mod name;
mod objects;
mod pending;
mod roster;
mod tables;
#[cfg(test)]
pub(crate) mod testing;
mod threads;
mod version;
mod way;

pub(crate) use attach::{Attached, tmp_of};
pub(crate) use code::{Code, CodeHeap, CodeHeaps, Copy, End, Frames, Hot, HotHeap, JavaFrame, OSR, Run, Start};
pub(crate) use counters::Counters;
pub(crate) use data::{Data, Kind, Names, SecondarySupers};
pub(crate) use flags::{Flag, set as flags_set};
pub(crate) use internals::{Internals, Safepoint};
pub(crate) use pending::{Kind as PendingKind, Machine, Pending};
pub(crate) use roster::{JavaThread, Roster};
pub(crate) use way::{Way, Ways};

use crate::looking::Why;
use crate::memory::Trouble;

/// Why a JVM is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Trouble(Trouble),
    /// It is still starting: what is asked for has no value yet.
    Starting,
    /// What the JVM does not tell.
    Missing(&'static str),
    /// Its library cannot be read.
    Words(String),
}

impl From<Trouble> for Unknown {
    fn from(trouble: Trouble) -> Self {
        Unknown::Trouble(trouble)
    }
}

impl Unknown {
    /// Why looking is in vain; `None` for one that only has to be waited for.
    pub fn why(self) -> Option<Why> {
        match self {
            Unknown::Starting => None,
            Unknown::Trouble(trouble) => Some(trouble.into()),
            Unknown::Missing(what) => Some(Why::Words(format!("its JVM does not tell {what}"))),
            Unknown::Words(words) => Some(Why::Words(words)),
        }
    }
}
