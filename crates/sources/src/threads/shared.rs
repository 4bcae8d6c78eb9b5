//! What the ledger shares with a source that follows threads: where it is kept, and what is waited for at places that it has told of.

use host::bpf::Map;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// So many places are remembered.
const MOST: usize = 65_536;

/// What a thread waits for in a futex at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// A contended lock.
    Lock,
    /// Work, time, or what is not known.
    Other,
}

#[derive(Default)]
struct Inner {
    ledgers: OnceLock<Map>,
    places: Mutex<HashMap<u64, Waits>>,
}

/// Copies share it. Empty until the ledger is opened.
#[derive(Clone, Default)]
pub struct Shared(Arc<Inner>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl Shared {
    /// The map `ledgers` of ledger.bpf.c; `None` where threads are not followed.
    pub fn ledgers(&self) -> Option<&Map> {
        self.0.ledgers.get()
    }

    /// What is waited for at `place`, where that is known by now.
    pub fn waits(&self, place: u64) -> Option<Waits> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner).get(&place).copied()
    }

    pub(super) fn keep(&self, ledgers: Map) {
        // There is one ledger to a recording.
        let _ = self.0.ledgers.set(ledgers);
    }

    /// A wait at `place` was in this state, of those from `LOCK` on.
    pub(super) fn tell(&self, place: u64, state: usize) {
        let waits = if state == 0 { Waits::Lock } else { Waits::Other };
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() < MOST || places.contains_key(&place) {
            places.insert(place, waits);
        }
    }
}
