//! What the kernel says of the memory at an address, and where threads have their own variables.

use super::heap::Memory;
use crate::stacks::{Stacks, maps};
use std::ops::Range;

/// So far above a thread's variables its descriptor is looked for, bytes.
const FAR: u64 = 64 << 10;

/// A stretch of a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    pub range: Range<u64>,
    /// Path, `[heap]`, `[stack]` and the like; empty for anonymous memory.
    pub name: String,
    /// Of memory that several processes may share: where the address lies, the same for all of them.
    pub shared: Option<SharedPlace>,
}

/// A place in a file or another thing that processes share: device numbers, inode, and offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SharedPlace {
    pub device: (u32, u32),
    pub inode: u64,
    pub offset: u64,
}

impl Stacks {
    /// The stretch of memory of a process that an address lies in, as it is mapped now.
    pub(crate) fn backing(&self, pid: u32, address: u64) -> Option<Backing> {
        let text = self.host().read(&format!("/proc/{pid}/maps")).ok()?;
        let (line, shared) = maps::all(&text).find(|(line, _)| line.start <= address && address < line.end)?;
        let place = SharedPlace {
            device: (line.major, line.minor),
            inode: line.inode,
            offset: line.offset.saturating_add(address - line.start),
        };
        Some(Backing {
            range: line.start..line.end,
            name: String::from_utf8_lossy(line.path).into_owned(),
            shared: shared.then_some(place),
        })
    }
}

/// The descriptor (`struct pthread`) of the thread whose variables lie at an address: its first and its third word hold its own address. glibc has it
/// right above them.
pub(super) fn descriptor(memory: &mut Memory<'_>, mapping: &Range<u64>, address: u64) -> Option<u64> {
    let end = mapping.end.saturating_sub(16).min(address.checked_add(FAR)?);
    let mut at = address.checked_next_multiple_of(16)?;
    while at < end {
        if memory.word(at)? == at && memory.word(at + 16)? == at {
            return Some(at);
        }
        at += 16;
    }
    None
}
