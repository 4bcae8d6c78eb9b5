//! Who has what mapped where, as the records say over time; and what lies at an address.

use crate::bytes::{Bytes, hex, text};
use crate::profile::{Place, Profile, kind_of};
use crate::symbols::{self, Files, Names};
use model::NULL;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

/// Markers in a chain say which side the addresses after them are of (PERF_CONTEXT_*).
const CONTEXTS: u64 = 4095u64.wrapping_neg();
const CONTEXT_KERNEL: u64 = 128u64.wrapping_neg();
const CONTEXT_USER: u64 = 512u64.wrapping_neg();

/// Addresses of one sample that are looked at.
const MOST_DEEP: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Map {
    end: u64,
    offset: u64,
    module: u32,
}

/// One process.
#[derive(Clone, Debug, Default)]
struct Space {
    maps: Rc<BTreeMap<u64, Map>>,
    /// Places by address; void once the maps change.
    known: HashMap<u64, u32>,
    jit: Option<Option<Rc<Names>>>,
}

#[derive(Debug)]
struct Module {
    path: String,
    build_id: String,
    /// Places by offset in the file.
    known: HashMap<u64, u32>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataSymbol {
    pub(super) name: String,
    pub(super) module: String,
    /// Address in the process.
    pub(super) start: u64,
    pub(super) size: u64,
}

/// What lies in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// Its kind, as table `sharing_line` has it.
    pub(super) memory: Option<&'static str>,
    pub(super) symbol: Option<DataSymbol>,
}

/// Whether the path of a mapping is that of a file with code and data.
fn is_file(path: &str) -> bool {
    path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/memfd:") && !path.starts_with("/dev/")
}

/// All processes.
#[derive(Debug)]
pub(super) struct Spaces {
    by_pid: HashMap<u32, Space>,
    /// Names of threads; that of a process is its first thread's.
    comm: HashMap<u32, String>,
    /// Processes of threads.
    process: HashMap<u32, u32>,
    /// Cells of those names.
    cells: HashMap<u32, i64>,
    modules: Vec<Module>,
    by_path: HashMap<(String, String), u32>,
    build_ids: HashMap<String, String>,
    kernel: BTreeMap<u64, Map>,
    kernel_known: HashMap<u64, u32>,
    kernel_names: Option<Option<Names>>,
    files: Files,
    symbols: bool,
    notes: Vec<String>,
}

impl Spaces {
    pub(super) fn new(symbols: bool) -> Self {
        Spaces {
            by_pid: HashMap::new(),
            comm: HashMap::new(),
            process: HashMap::new(),
            cells: HashMap::new(),
            modules: Vec::new(),
            by_path: HashMap::new(),
            build_ids: HashMap::new(),
            kernel: BTreeMap::new(),
            kernel_known: HashMap::new(),
            kernel_names: None,
            files: Files::default(),
            symbols,
            notes: Vec::new(),
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Files whose functions could not be read, and why.
    pub(super) fn unread(&self) -> Vec<(String, String)> {
        self.files.unread()
    }

    pub(super) fn build_id(&mut self, path: &str, id: String) {
        self.build_ids.insert(path.to_owned(), id);
    }

    fn module(&mut self, path: String, build_id: String) -> u32 {
        let build_id =
            if build_id.is_empty() { self.build_ids.get(&path).cloned().unwrap_or_default() } else { build_id };
        let next = self.modules.len() as u32;
        let index = *self.by_path.entry((path.clone(), build_id.clone())).or_insert(next);
        if index == next {
            self.modules.push(Module { path, build_id, known: HashMap::new() });
        }
        index
    }

    /// A mapping was made.
    pub(super) fn mmap(&mut self, second: bool, misc: u16, mut rest: Bytes<'_>) -> Option<()> {
        let (pid, tid) = (rest.u32()?, rest.u32()?);
        let (start, length, offset) = (rest.u64()?, rest.u64()?, rest.u64()?);
        let mut build_id = String::new();
        if second {
            // Device and inode; or, where the bit says so, a build id.
            let words = rest.take(24)?;
            if misc & 1 << 14 != 0 {
                let size = usize::from(*words.first()?).min(20);
                build_id = hex(words.get(4..4 + size)?);
            }
            let _protection_and_flags = rest.u64()?;
        }
        let path = text(rest.0);
        let end = start.checked_add(length)?;
        // Of the kernel and its modules: process −1.
        if pid == u32::MAX || misc & 7 == 1 {
            let module = self.module(path, build_id);
            self.kernel.insert(start, Map { end, offset, module });
            self.kernel_known.clear();
            return Some(());
        }
        let module = self.module(path, build_id);
        self.process.insert(tid, pid);
        let space = self.by_pid.entry(pid).or_default();
        let maps = Rc::make_mut(&mut space.maps);
        // What it covers is gone, but for the parts to its sides.
        let mut covered: Vec<(u64, Map)> =
            maps.range(..end).rev().take_while(|(_, m)| m.end > start).map(|(s, m)| (*s, *m)).collect();
        covered.retain(|(_, m)| m.end > start);
        for (old, map) in covered {
            maps.remove(&old);
            if old < start {
                maps.insert(old, Map { end: start, ..map });
            }
            if map.end > end {
                maps.insert(end, Map { offset: map.offset.wrapping_add(end - old), ..map });
            }
        }
        maps.insert(start, Map { end, offset, module });
        space.known.clear();
        Some(())
    }

    /// A thread got a name; with `exec` its process is another program.
    pub(super) fn comm(&mut self, misc: u16, mut rest: Bytes<'_>) -> Option<()> {
        let (pid, tid) = (rest.u32()?, rest.u32()?);
        let name = text(rest.0);
        if misc & 1 << 13 != 0 {
            self.by_pid.insert(pid, Space::default());
        }
        self.process.insert(tid, pid);
        self.rename(tid, Some(name));
        Some(())
    }

    fn rename(&mut self, tid: u32, name: Option<String>) {
        match name {
            Some(name) => self.comm.insert(tid, name),
            None => self.comm.remove(&tid),
        };
        self.cells.remove(&tid);
    }

    /// A process or a thread was made. Its number may have been another's before, of which nothing is left.
    pub(super) fn fork(&mut self, mut rest: Bytes<'_>) -> Option<()> {
        let (pid, parent, tid, parent_tid) = (rest.u32()?, rest.u32()?, rest.u32()?, rest.u32()?);
        if pid != parent {
            let maps = self.by_pid.get(&parent).map(|s| Rc::clone(&s.maps)).unwrap_or_default();
            self.by_pid.insert(pid, Space { maps, ..Space::default() });
        }
        self.process.insert(tid, pid);
        self.rename(tid, self.comm.get(&parent_tid).cloned());
        Some(())
    }

    /// The process of a thread, as far as a record has said it.
    pub(super) fn process_of(&self, tid: u32) -> Option<u32> {
        self.process.get(&tid).copied()
    }

    /// The names of a process and a thread, as cells.
    pub(super) fn names(&mut self, profile: &mut Profile, pid: Option<u32>, tid: Option<u32>) -> (i64, i64) {
        let (Some(pid), Some(tid)) = (pid, tid) else { return (NULL, NULL) };
        let mut name = |id: u32| {
            *self.cells.entry(id).or_insert_with(|| match self.comm.get(&id) {
                Some(name) => profile.symbols.cell(name),
                None if id == 0 => profile.symbols.cell("swapper"),
                None => profile.symbols.cell(&format!("[{id}]")),
            })
        };
        (name(pid), name(tid))
    }

    /// The places of a sample, the innermost first.
    pub(super) fn places(
        &mut self,
        profile: &mut Profile,
        pid: Option<u32>,
        misc: u16,
        ip: Option<u64>,
        chain: &[u8],
        into: &mut Vec<u32>,
    ) {
        let pid = pid.unwrap_or(u32::MAX);
        let mut kernel = matches!(misc & 7, 1 | 4);
        let mut first = true;
        for address in chain.chunks_exact(8).filter_map(|b| b.try_into().ok().map(u64::from_le_bytes)).take(MOST_DEEP) {
            if address >= CONTEXTS {
                match address {
                    CONTEXT_KERNEL => kernel = true,
                    CONTEXT_USER => kernel = false,
                    _ => {}
                }
                first = true;
                continue;
            }
            // All but the innermost are return addresses: the call lies before them, maybe in another function or inlined block.
            let at = if first { address } else { address.wrapping_sub(1) };
            first = false;
            into.push(if kernel { self.kernel_place(profile, at) } else { self.user_place(profile, pid, at) });
        }
        if into.is_empty()
            && let Some(ip) = ip
        {
            into.push(if kernel { self.kernel_place(profile, ip) } else { self.user_place(profile, pid, ip) });
        }
    }

    /// The place of an instruction, and its address: in its file, else in the process or the kernel.
    pub(super) fn code(&mut self, profile: &mut Profile, pid: u32, is_kernel: bool, address: u64) -> (u32, i64) {
        if is_kernel {
            return (self.kernel_place(profile, address), address as i64);
        }
        let place = self.user_place(profile, pid, address);
        let Some((start, map)) = self.map_of(pid, address).filter(|(_, map)| self.is_file(map.module)) else {
            return (place, address as i64);
        };
        let offset = (address - start).wrapping_add(map.offset);
        let Some(of) = self.modules.get(map.module as usize) else { return (place, address as i64) };
        let elf = if self.symbols { self.files.get(&of.path, &of.build_id) } else { None };
        (place, elf.map_or(offset, |elf| elf.address(offset)) as i64)
    }

    /// What lies at an address of a process's data; `None` where no mapping is known there (perf records those of data with `-d`).
    pub(super) fn data(&mut self, pid: u32, address: u64) -> Option<Data> {
        let (start, map) = self.map_of(pid, address)?;
        let path = self.modules.get(map.module as usize).map_or("", |module| module.path.as_str());
        let memory = match path {
            "[heap]" => Some("heap"),
            "[stack]" => Some("stack"),
            _ => None,
        };
        // What begins as zeros lies behind the end of the file, in memory without one.
        let file = if self.is_file(map.module) {
            Some((start, map))
        } else {
            self.map_of(pid, start.checked_sub(1)?).filter(|(_, map)| self.is_file(map.module))
        };
        let symbol = file.filter(|_| self.symbols && memory.is_none()).and_then(|(start, map)| {
            let of = self.modules.get(map.module as usize)?;
            let elf = self.files.get(&of.path, &of.build_id)?;
            let within = elf.data_address((address - start).wrapping_add(map.offset));
            let shift = address.wrapping_sub(within);
            let (at, size, name) = elf.data(within, 1 << access::LINE_BITS)?;
            Some(DataSymbol { name, module: of.path.clone(), start: at.wrapping_add(shift), size })
        });
        let memory = if symbol.is_some() { Some("global") } else { memory };
        Some(Data { memory, symbol })
    }

    fn map_of(&self, pid: u32, address: u64) -> Option<(u64, Map)> {
        let maps = &self.by_pid.get(&pid)?.maps;
        maps.range(..=address).next_back().filter(|(_, map)| address < map.end).map(|(start, map)| (*start, *map))
    }

    fn is_file(&self, module: u32) -> bool {
        self.modules.get(module as usize).is_some_and(|m| is_file(&m.path))
    }

    fn kernel_place(&mut self, profile: &mut Profile, address: u64) -> u32 {
        if let Some(&place) = self.kernel_known.get(&address) {
            return place;
        }
        let map = self.kernel.range(..=address).next_back().filter(|(_, m)| address < m.end).map(|(s, m)| (*s, *m));
        let module = map.and_then(|(_, m)| self.modules.get(m.module as usize));
        let (path, build_id) = module.map_or(("[kernel.kallsyms]", ""), |m| (m.path.as_str(), m.build_id.as_str()));
        let is_core = path.starts_with("[kernel");
        let shown = if is_core { "[kernel]".to_owned() } else { path.to_owned() };
        if self.kernel_names.is_none() {
            let core =
                ["[kernel.kallsyms]", "[kernel.kallsyms]_text", "[kernel]"].iter().find_map(|n| self.build_ids.get(*n));
            let wanted = core.cloned().unwrap_or_else(|| if is_core { build_id.to_owned() } else { String::new() });
            self.kernel_names = Some(if self.symbols {
                symbols::kernel(&wanted)
                    .map_err(|why| self.notes.push(format!("functions of the kernel are not named: {why}")))
                    .ok()
            } else {
                None
            });
        }
        let name = self.kernel_names.as_ref().and_then(Option::as_ref).and_then(|n| n.at(address)).unwrap_or("");
        let offset = map.map_or(address, |(start, _)| address - start);
        let [function, module, build_id, kind] = [name, &shown, build_id, "kernel"].map(|t| profile.text(t));
        // One place a function, not one an address.
        let offset = if function == NULL { i64::try_from(offset).unwrap_or(NULL) } else { NULL };
        let place = profile.place(Place { function, module, build_id, offset, source: NULL, kind });
        self.kernel_known.insert(address, place);
        place
    }

    fn user_place(&mut self, profile: &mut Profile, pid: u32, address: u64) -> u32 {
        let space = self.by_pid.entry(pid).or_default();
        if let Some(&place) = space.known.get(&address) {
            return place;
        }
        let map = space.maps.range(..=address).next_back().filter(|(_, m)| address < m.end).map(|(s, m)| (*s, *m));
        let place = match map {
            Some((start, map)) => {
                if self.is_file(map.module) {
                    self.file_place(profile, map.module, (address - start).wrapping_add(map.offset))
                } else {
                    self.jit_place(profile, pid, address, Some(map.module))
                }
            }
            None => self.jit_place(profile, pid, address, None),
        };
        if let Some(space) = self.by_pid.get_mut(&pid) {
            space.known.insert(address, place);
        }
        place
    }

    fn file_place(&mut self, profile: &mut Profile, module: u32, offset: u64) -> u32 {
        let Some(of) = self.modules.get_mut(module as usize) else { return 0 };
        if let Some(&place) = of.known.get(&offset) {
            return place;
        }
        let elf = if self.symbols { self.files.get(&of.path, &of.build_id) } else { None };
        let address = elf.map_or(offset, |e| e.address(offset));
        let name = elf.and_then(|e| e.name(address)).unwrap_or("");
        let [function, path, build_id, kind] =
            [name, &of.path, &of.build_id, kind_of(&of.path)].map(|t| profile.text(t));
        let cell = if function == NULL { i64::try_from(address).unwrap_or(NULL) } else { NULL };
        let place = profile.place(Place { function, module: path, build_id, offset: cell, source: NULL, kind });
        of.known.insert(offset, place);
        place
    }

    /// Code without a file: compiled at run time, the vDSO, or unknown.
    fn jit_place(&mut self, profile: &mut Profile, pid: u32, address: u64, module: Option<u32>) -> u32 {
        let path = module.and_then(|m| self.modules.get(m as usize)).map_or("", |m| m.path.as_str());
        let (shown, kind) = match path {
            "[vdso]" => ("[vdso]", "native"),
            "" => ("", "other"),
            _ => ("[anonymous]", "native"),
        };
        let space = self.by_pid.entry(pid).or_default();
        let symbols = self.symbols;
        let jit = space.jit.get_or_insert_with(|| {
            symbols.then(|| symbols::jit_map(&PathBuf::from(format!("/tmp/perf-{pid}.map")))).flatten().map(Rc::new)
        });
        let name = jit.as_ref().and_then(|names| names.at(address).map(str::to_owned));
        match name {
            Some(name) => profile.named(&name, "[jit]", "", "jit"),
            None => profile.named("", shown, "", kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn a_number_that_is_given_again_is_another_thread() {
        let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
        let mut spaces = Spaces::new(false);
        let comm = |spaces: &mut Spaces, id: u32, name: &str| {
            let body = [words(&[id, id]), name.as_bytes().to_vec(), vec![0]].concat();
            spaces.comm(0, Bytes(&body)).unwrap();
        };
        // Process, parent, thread, parent's thread.
        let fork = |spaces: &mut Spaces, ids: [u32; 4]| spaces.fork(Bytes(&words(&ids))).unwrap();
        let mut named = |spaces: &mut Spaces, id: u32| {
            let (process, thread) = spaces.names(&mut profile, Some(id), Some(id));
            assert_eq!(process, thread);
            profile.symbols.text(thread).unwrap().to_owned()
        };
        comm(&mut spaces, 1, "init");
        comm(&mut spaces, 7, "make");
        assert_eq!(named(&mut spaces, 7), "make");
        comm(&mut spaces, 7, "cc");
        assert_eq!(named(&mut spaces, 7), "cc", "it was renamed");
        fork(&mut spaces, [7, 1, 7, 1]);
        assert_eq!(named(&mut spaces, 7), "init", "a child of another, before it has a name of its own");
        fork(&mut spaces, [7, 99, 7, 99]);
        assert_eq!(named(&mut spaces, 7), "[7]", "of a parent that nothing is known of");
    }

    /// A word that the symbols of this program name; also one that begins as zeros, which lies behind the end of the file.
    #[unsafe(no_mangle)]
    static TWINSCOPE_TEST_WORDS: [std::sync::atomic::AtomicU64; 16] =
        [const { std::sync::atomic::AtomicU64::new(7) }; 16];
    #[unsafe(no_mangle)]
    static TWINSCOPE_TEST_ZEROS: [std::sync::atomic::AtomicU64; 16] =
        [const { std::sync::atomic::AtomicU64::new(0) }; 16];

    #[test]
    fn variables_are_named_by_the_symbols_of_their_file() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own = std::env::current_exe().unwrap();
        let own = own.to_str().unwrap();
        let mut spaces = Spaces::new(true);
        // As perf records them with -d: those of this program, and what lies between them.
        for line in maps.lines() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
            let (start, end) = fields[0].split_once('-').map(|(a, b)| (number(a), number(b))).unwrap();
            let path = fields.get(5).copied().unwrap_or("//anon");
            if path == own || path == "//anon" || path == "[heap]" {
                let mut body = words(&[7, 7]);
                body.extend([start, end - start, number(fields[2])].iter().flat_map(|w| w.to_le_bytes()));
                body.extend(path.as_bytes());
                body.push(0);
                spaces.mmap(false, 1 << 13, Bytes(&body)).unwrap();
            }
        }
        let mut named = |address: u64| {
            let data = spaces.data(7, address)?;
            Some((data.memory, data.symbol.map(|symbol| (symbol.name, symbol.start, symbol.size))))
        };
        for (name, address) in [
            ("TWINSCOPE_TEST_WORDS", TWINSCOPE_TEST_WORDS.as_ptr() as u64),
            ("TWINSCOPE_TEST_ZEROS", TWINSCOPE_TEST_ZEROS.as_ptr() as u64),
        ] {
            // A line in the middle of it.
            let found = named((address + 64) & !63);
            assert_eq!(found, Some((Some("global"), Some((name.to_owned(), address, 128)))), "{name}");
        }
        let boxed = Box::new(5u64);
        let on_heap = named(&raw const *boxed as u64);
        assert!(on_heap.is_none_or(|(memory, symbol)| memory != Some("global") && symbol.is_none()));
        assert_eq!(named(8), None);
    }
}
