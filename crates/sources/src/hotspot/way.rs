//! The way in a JVM: what it says of its own memory, read once for each process and shared by all that read it.

use super::tables::{EXPORTED, Tables};
use super::{Unknown, version};
use crate::memory::{Memory, Process, Trouble};
use crate::stacks::Stacks;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// JVMs that are remembered; when there are more, all are read again.
const MOST: usize = 256;

/// What a JVM says of its own memory.
#[derive(Debug)]
pub(crate) struct Way {
    pub(in crate::hotspot) tables: Tables,
    /// A word of its memory that never changes, for another program may have taken its place.
    witness: (u64, u64),
    version: Option<version::Version>,
}

impl Way {
    /// Finds it. `exported` are the addresses of [`EXPORTED`].
    pub fn new(memory: &impl Memory, exported: &[u64; EXPORTED.len()]) -> Result<Self, Unknown> {
        let tables = Tables::read(memory, exported)?.ok_or(Unknown::Starting)?;
        let place = exported.first().copied().unwrap_or(0);
        let value = memory.word(place)?.ok_or(Trouble::Gone)?;
        let version = version::Version::read(memory, &tables)?;
        Ok(Way { tables, witness: (place, value), version })
    }

    /// Where a word is that never changes, and that word.
    pub fn witness(&self) -> (u64, u64) {
        self.witness
    }

    /// Whether the same JVM is still there.
    ///
    /// # Errors
    /// It is not.
    pub fn holds(&self, memory: &impl Memory) -> Result<(), Trouble> {
        match memory.word(self.witness.0)? {
            Some(value) if value == self.witness.1 => Ok(()),
            _ => Err(Trouble::Gone),
        }
    }

    /// The version of the JDK, where it tells.
    pub fn version(&self) -> Option<&version::Version> {
        self.version.as_ref()
    }
}

/// The ways that were found, by process id.
#[derive(Debug, Default)]
pub(crate) struct Ways(Mutex<HashMap<u32, Arc<Way>>>);

impl Ways {
    /// The way in a process.
    ///
    /// # Errors
    /// It has no JVM that is understood; [`Trouble::Gone`] where it has none at all, or has ended.
    pub fn of(&self, pid: u32, stacks: &Stacks) -> Result<Arc<Way>, Unknown> {
        let memory = Process(pid);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned();
        if let Some(known) = known
            && known.holds(&memory).is_ok()
        {
            return Ok(known);
        }
        let found = stacks.exported(pid, "libjvm.so", &EXPORTED);
        // Of one that has ended nothing is said.
        memory.some(1 << 16, &mut [0])?;
        let found = found.ok_or(Trouble::Gone)?.map_err(Unknown::Words)?;
        let mut exported = [0; EXPORTED.len()];
        for ((place, found), name) in exported.iter_mut().zip(found).zip(EXPORTED) {
            *place = found.ok_or_else(|| Unknown::Words(format!("its library does not export {name}")))?;
        }
        let way = Arc::new(Way::new(&memory, &exported)?);
        let mut ways = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ways.len() >= MOST {
            ways.clear();
        }
        ways.insert(pid, Arc::clone(&way));
        Ok(way)
    }
}
