//! The memory of HotSpot JVMs, read as it is: no agent, no tool of the JDK, no stop. The JVM goes on while it is read, so what changed meanwhile is left
//! out, and nothing in it is trusted.
//!
//! `tables` are what the JVM says of its own structures. With them `pending` finds who waits for which monitor, `data` what lies at an address.

mod data;
mod header;
mod name;
mod pending;
mod tables;
mod version;

pub(crate) use data::{Data, Kind, SecondarySupers};
pub(crate) use pending::{Machine, Pending};
pub(crate) use tables::EXPORTED;

use crate::stacks::Stacks;
use crate::threads::memory::Trouble;

/// Why a JVM is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Trouble(Trouble),
    /// It is still starting: what is asked for has no value yet.
    Starting,
    /// What the JVM does not tell.
    Missing(&'static str),
}

impl From<Trouble> for Unknown {
    fn from(trouble: Trouble) -> Self {
        Unknown::Trouble(trouble)
    }
}

/// Where a process has the tables: the addresses of [`EXPORTED`]. `None` where it has mapped no `libjvm.so`, or is gone.
///
/// # Errors
/// In words: its library cannot be read, or does not export them.
pub(crate) fn exported(pid: u32, stacks: &Stacks) -> Option<Result<[u64; EXPORTED.len()], String>> {
    let found = stacks.exported(pid, "libjvm.so", &EXPORTED)?;
    Some(found.and_then(|found| {
        let mut exported = [0; EXPORTED.len()];
        for ((place, found), name) in exported.iter_mut().zip(found).zip(EXPORTED) {
            *place = found.ok_or_else(|| format!("its library does not export {name}"))?;
        }
        Ok(exported)
    }))
}
