//! What memory of a process a line lies in, from `/proc/PID/maps` (proc_pid_maps(5)): memory that processes share is one line wherever they have it.

use crate::stacks::{Area, Stacks};

/// Whose line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in super::super) enum Space {
    /// Memory of one process.
    Process(u32),
    /// A file, or memory without a name, that processes share: device and inode.
    Shared(u64, u64),
}

/// The mappings of a process, as they were when it was looked at.
#[derive(Debug, Default)]
pub(in super::super) struct Spaces(Vec<Area>);

impl Spaces {
    /// Reads them; empty where they cannot be read.
    pub fn of(stacks: &Stacks, pid: u32) -> Spaces {
        Spaces(stacks.areas(pid))
    }

    /// Where an address lies, in the process's terms or those of what is shared; `None` outside of all mappings.
    pub fn find(&self, pid: u32, address: u64) -> Option<(Space, u64)> {
        let at = self.0.partition_point(|area| area.range.end <= address);
        let area = self.0.get(at).filter(|area| area.range.contains(&address))?;
        Some(match area.shared {
            Some((device, inode)) => (Space::Shared(device, inode), address - area.range.start + area.offset),
            None => (Space::Process(pid), address),
        })
    }
}
