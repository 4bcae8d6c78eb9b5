//! Where a JVM lists its threads: since 10 in an array, before in a chain (`threadSMR.hpp`, `thread.hpp`).

use super::Unknown;
use super::tables::Tables;
use crate::memory::{Memory, Trouble};

/// Threads of a JVM that are looked at.
const MOST_THREADS: usize = 4096;

/// The threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hotspot) enum Threads {
    /// Since 10: a list, by the address of the pointer to it, and offsets of its length and its array.
    List { head: u64, length: u64, threads: u64 },
    /// Before: a chain, by the address of the pointer to its first, and the offset of the next.
    Chain { head: u64, next: u64 },
}

impl Threads {
    /// Makes of the tables what is needed here.
    pub fn new(tables: &Tables) -> Result<Self, Unknown> {
        let offset = |owner, field, what: &'static str| tables.offset(&[(owner, field)]).ok_or(Unknown::Missing(what));
        Ok(match tables.address(&[("ThreadsSMRSupport", "_java_thread_list")]) {
            Some(head) => Threads::List {
                head,
                length: offset("ThreadsList", "_length", "ThreadsList::_length")?,
                threads: offset("ThreadsList", "_threads", "ThreadsList::_threads")?,
            },
            None => Threads::Chain {
                head: tables.address(&[("Threads", "_thread_list")]).ok_or(Unknown::Missing("its list of threads"))?,
                next: offset("JavaThread", "_next", "JavaThread::_next")?,
            },
        })
    }

    /// Whether there is a first thread: what was settled before it was listed can be read then.
    pub fn is_started(self, memory: &impl Memory) -> Result<bool, Trouble> {
        match self {
            Threads::List { head, length, .. } => {
                let list = memory.word(head)?.filter(|&list| list != 0);
                let length = list.map_or(Ok(None), |list| memory.word(list.wrapping_add(length)))?;
                Ok(length.is_some_and(|length| length as u32 > 0))
            }
            Threads::Chain { head, .. } => Ok(memory.word(head)?.is_some_and(|first| first != 0)),
        }
    }

    /// The addresses of all `JavaThread`s.
    pub fn list(self, memory: &impl Memory) -> Result<Vec<u64>, Trouble> {
        let (Threads::List { head, .. } | Threads::Chain { head, .. }) = self;
        let Some(head) = memory.word(head)?.filter(|&head| head != 0) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        match self {
            Threads::List { length, threads, .. } => {
                let words = memory.words(&[head.wrapping_add(length), head.wrapping_add(threads)])?;
                let [length, array] = [0, 1].map(|at: usize| words.get(at).copied().flatten().unwrap_or(0));
                let mut bytes = vec![0; (length as u32 as usize).min(MOST_THREADS) * 8];
                let read = memory.some(array, &mut bytes)?;
                let (words, _) = bytes.get(..read).unwrap_or_default().as_chunks::<8>();
                found.extend(words.iter().map(|word| u64::from_ne_bytes(*word)));
            }
            Threads::Chain { next, .. } => {
                let mut thread = head;
                while thread != 0 && found.len() < MOST_THREADS {
                    found.push(thread);
                    thread = memory.word(thread.wrapping_add(next))?.unwrap_or(0);
                }
            }
        }
        found.retain(|thread| thread.is_multiple_of(8));
        Ok(found)
    }
}
