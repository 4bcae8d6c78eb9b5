//! Where the exported variables of a library lie in the memory of a process that has mapped it: for who reads what a run-time system keeps of
//! itself.

use super::positioned::Positioned;
use super::{Stacks, hotspot};
use object::read::StringTable;
use object::read::elf::{ElfFile64, Sym};
use object::{LittleEndian, Object, ObjectSection, ReadCache};
use std::collections::HashMap;

/// Threads whose numbers are asked for.
const MOST_THREADS: usize = 4096;

impl Stacks {
    /// Whether a process has HotSpot's library mapped.
    pub fn is_jvm(&self, pid: u32) -> bool {
        self.state().processes.is_jvm(pid)
    }

    /// The processes that have HotSpot's library mapped, as far as they were met; `most` of them.
    pub fn jvms(&self, most: usize) -> Vec<u32> {
        self.state().processes.jvms().take(most).collect()
    }

    /// The addresses in a process of what the library `file` exports under these names; `None` for what it does not.
    ///
    /// # Errors
    /// In words: it is not mapped, or its file cannot be read.
    pub fn exported(&self, pid: u32, file: &str, names: &[&str]) -> Result<Vec<Option<u64>>, String> {
        let host = self.host();
        let (base, module) = self
            .state()
            .processes
            .library(host, pid, file)
            .ok_or_else(|| format!("{file} is not mapped, or the process is gone"))?;
        let opened = module.file.as_deref();
        let opened = opened.ok_or_else(|| module.error.clone().unwrap_or_else(|| format!("{file} cannot be read")))?;
        // Reading takes a moment: others find theirs meanwhile.
        let cache = ReadCache::new(Positioned::new(opened));
        let said = |why: &dyn std::fmt::Display| format!("{file}: {why}");
        let parsed = ElfFile64::<LittleEndian, _>::parse(&cache).map_err(|e| said(&e))?;
        let text = parsed.section_by_name(".dynstr").and_then(|section| section.data().ok());
        let text = text.ok_or_else(|| said(&"it exports nothing"))?;
        let text = StringTable::new(text, 0, text.len() as u64);
        let endian = parsed.endian();
        let mut found = vec![None; names.len()];
        for symbol in parsed.elf_dynamic_symbol_table().iter().filter(|symbol| !symbol.is_undefined(endian)) {
            let Ok(name) = symbol.name(endian, text) else { continue };
            for (place, _) in found.iter_mut().zip(names).filter(|(_, wanted)| wanted.as_bytes() == name) {
                *place = Some(base.wrapping_add(symbol.st_value(endian)));
            }
        }
        Ok(found)
    }

    /// Whether a process has a pid namespace of its own, so that it calls its threads by other numbers than we do.
    pub fn is_in_namespace(&self, pid: u32) -> bool {
        let status = self.host().read_text(&format!("/proc/{pid}/status")).unwrap_or_default();
        hotspot::own_number(&status, pid) != pid
    }

    /// The threads of a process in a pid namespace: our number of each by its own.
    pub fn inner_numbers(&self, pid: u32) -> HashMap<u32, u32> {
        let host = self.host();
        let folder = format!("/proc/{pid}/task");
        let threads = host.list(&folder).unwrap_or_default();
        let numbers = threads.into_iter().filter_map(|name| name.parse::<u32>().ok()).take(MOST_THREADS);
        let inner = |tid: u32| {
            let status = host.read_text(&format!("{folder}/{tid}/status")).ok()?;
            Some((hotspot::own_number(&status, tid), tid))
        };
        numbers.filter_map(inner).collect()
    }
}
