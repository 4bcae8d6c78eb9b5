//! What other sources ask of places in code: which threads were busy, in what file or made code an address lies, where its function begins and ends, and
//! the bytes of it.

use super::trie::Place;
use super::{Stacks, State, User, demangle, maps, symbols};
use model::NULL;
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A thread and the CPU time of its samples.
#[derive(Clone, Debug)]
pub(crate) struct Busy {
    pub pid: u32,
    pub tid: u32,
    pub comm: Arc<str>,
    pub thread: Arc<str>,
    /// Nanoseconds.
    pub time: u64,
}

/// Threads by number, since somebody last asked.
pub(super) type Threads = HashMap<u32, Busy>;

/// What an address of a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Site {
    /// A file by its number, and the address in it.
    File(u32, u64),
    /// Code that a process, by its number, made itself, and where.
    Made(u32, u64),
    /// Something else, as the kernel's library.
    Other,
}

/// A function of a file, or one that a process made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its addresses.
    pub range: Range<u64>,
    pub name: Arc<str>,
}

/// A stretch of memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub range: Range<u64>,
    /// Where it begins in its file.
    pub offset: u64,
    /// Of memory that processes share: device and inode.
    pub shared: Option<(u64, u64)>,
}

impl Stacks {
    /// From now on keeps which threads are busy.
    pub(crate) fn watch_busy(&self) {
        self.state().busy.get_or_insert_default();
    }

    /// From now on has accesses gathered that the CPU samples, in bursts of instructions.
    pub(crate) fn gather_accesses(&self, gathering: Arc<crate::memory_samples::Gathering>) {
        self.state().accesses = Some(gathering);
    }

    /// Who gathers them.
    pub(crate) fn accesses(&self) -> Option<Arc<crate::memory_samples::Gathering>> {
        self.state().accesses.clone()
    }

    /// The threads that were sampled since the call before.
    pub(crate) fn busy(&self) -> Vec<Busy> {
        self.state().busy.as_mut().map(std::mem::take).unwrap_or_default().into_values().collect()
    }

    /// The cell of the stack that has an address of a process alone, and what it is.
    pub(crate) fn site(&self, pid: u32, address: u64) -> (i64, Site) {
        let mut site = Site::Other;
        let look = |state: &mut State| {
            site = match state.places.first() {
                Some(&Place::Module(number, address)) => Site::File(number, address),
                Some(&Place::Anonymous(process, address)) => Site::Made(process, address),
                _ => Site::Other,
            };
        };
        if address == 0 {
            return (NULL, site);
        }
        let (stack, _) = self.intern_told(pid, &[], User::Frames(&[address]), &[], look);
        (stack, site)
    }

    /// Path and build id of a file.
    pub(crate) fn file(&self, number: u32) -> Option<(Arc<str>, Option<Arc<str>>)> {
        let (path, module) = self.module(number)?;
        Some((path, module.build_id.clone()))
    }

    /// The function at an address of a file. Reads the file's symbols, if nobody did.
    pub(crate) fn function(&self, number: u32, address: u64) -> Option<Function> {
        let (_, module) = self.module(number)?;
        let debug = || module.build_id.as_ref().and_then(|id| symbols::debug_file(self.host(), id));
        let symbols = self.0.tables.of(number, &module, debug);
        let (name, range) = symbols.range(address)?;
        Some(Function { range, name: demangle::symbol(&name).into() })
    }

    /// Bytes of a file's code: as many from the first address on as there are.
    pub(crate) fn code(&self, number: u32, range: &Range<u64>) -> Option<Vec<u8>> {
        let (_, module) = self.module(number)?;
        read(module.file.as_deref()?, module.offset(range.start)?, range.end - range.start)
    }

    /// The function at an address that a process, by its number, made, as far as its maker has told.
    pub(crate) fn made(&self, process: u32, address: u64) -> Option<Function> {
        if let Some((range, function)) = self.java_function(process, address) {
            return Some(Function { range, name: function.name });
        }
        let map = self.state().processes.numbered.get(&process)?.map.clone()?;
        let (range, function) = map.range(address)?;
        Some(Function { range, name: function.name })
    }

    /// A file of code, and where in it an address lies.
    pub(crate) fn place(&self, number: u32, address: u64) -> Option<(File, u64)> {
        let (_, module) = self.module(number)?;
        Some((module.file.as_ref()?.try_clone().ok()?, module.offset(address)?))
    }

    /// Bytes of a process's memory.
    pub(crate) fn memory(&self, pid: u32, range: &Range<u64>) -> Option<Vec<u8>> {
        let memory = File::open(self.host().path(&format!("/proc/{pid}/mem"))).ok()?;
        read(&memory, range.start, range.end - range.start)
    }

    /// All stretches of memory of a process, in order.
    pub(crate) fn areas(&self, pid: u32) -> Vec<Area> {
        let text = self.host().read(&format!("/proc/{pid}/maps")).unwrap_or_default();
        let area = |(line, shared): (maps::Line<'_>, bool)| {
            let device = u64::from(line.major) << 32 | u64::from(line.minor);
            let shared = shared.then_some((device, line.inode));
            Area { range: line.start..line.end, offset: line.offset, shared }
        };
        maps::all(&text).map(area).collect()
    }

    /// CLOCK_MONOTONIC, ns.
    pub(crate) fn now(&self) -> u64 {
        self.host().now()
    }

    /// The stretch of executable memory of a process that an address lies in.
    pub(crate) fn mapping(&self, pid: u32, address: u64) -> Option<Range<u64>> {
        let state = self.state();
        let process = state.processes.by_pid.get(&pid)?;
        process.mappings.get(process.find(address)?).map(|mapping| mapping.range.clone())
    }
}

fn read(file: &File, offset: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let read = file.read_at(&mut bytes, offset).ok().filter(|&read| read > 0)?;
    bytes.truncate(read);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn here() -> u64 {
        std::hint::black_box(here as fn() -> u64 as usize as u64)
    }

    #[test]
    fn code_of_this_program() {
        let stacks = Stacks::default();
        let pid = std::process::id();
        let (stack, site) = stacks.site(pid, here());
        assert_ne!(stack, NULL);
        let Site::File(number, address) = site else { panic!("{site:?}") };
        let function = stacks.function(number, address).unwrap();
        assert!(function.name.contains("here") && function.range.start == address, "{function:?}");
        let of_file = stacks.code(number, &function.range).unwrap();
        let of_memory = stacks.memory(pid, &(here()..here() + of_file.len() as u64)).unwrap();
        assert_eq!(of_file, of_memory);
        assert!(stacks.mapping(pid, here()).is_some_and(|range| range.contains(&here())));
    }
}
