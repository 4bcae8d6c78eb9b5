//! Where variables of a library or program lie in the memory of a process that has mapped it: for who reads what a run-time system keeps of itself.

use super::module::Module;
use super::name::Maker;
use super::positioned::Positioned;
use super::symbols::{self, NoDwarf};
use super::{Stacks, hotspot};
use object::read::StringTable;
use object::read::elf::{ElfFile64, Sym, SymbolTable};
use object::{LittleEndian, Object, ObjectSection, ReadCache};
use std::collections::HashMap;
use std::sync::Arc;

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

    /// The addresses in a process of what the library `file` exports under these names, `None` for what it does not; `None` where it is not mapped, or
    /// the process is gone.
    ///
    /// # Errors
    /// In words: its file cannot be read.
    pub fn exported(&self, pid: u32, file: &str, names: &[&str]) -> Option<Result<Vec<Option<u64>>, String>> {
        let is_it = |path: &str| path.strip_suffix(file).is_some_and(|folder| folder.ends_with('/'));
        let (base, module, _) = self.state().processes.library(self.host(), pid, is_it)?;
        Some(addresses_of(base, &module, file, names))
    }

    /// The same of variables that the library does not export, by its symbol table or that of its debug file, each with its size.
    ///
    /// # Errors
    /// In words: its file cannot be read, or it was stripped and there is no file with its symbols.
    pub(crate) fn internals(&self, pid: u32, file: &str, names: &[&str]) -> Option<Result<Variables, String>> {
        let is_it = |path: &str| path.strip_suffix(file).is_some_and(|folder| folder.ends_with('/'));
        let (base, module, _) = self.state().processes.library(self.host(), pid, is_it)?;
        let debug = || symbols::debug_file(self.host(), module.build_id.as_ref()?);
        let own = module.file.as_deref().and_then(|file| private(base, file, names));
        let found = own.or_else(|| private(base, &debug()?, names));
        Some(found.ok_or_else(|| format!("{file} is without its symbol table")))
    }

    /// The library `file` of a process, and where in it the first of the functions of each of these lists begins, by the symbols of [`Stacks::internals`].
    ///
    /// # Errors
    /// In words: its file cannot be read, or it was stripped and there is no file with its symbols.
    pub(crate) fn functions(&self, pid: u32, file: &str, names: &[&[&str]]) -> Option<Result<Functions, String>> {
        let is_it = |path: &str| path.strip_suffix(file).is_some_and(|folder| folder.ends_with('/'));
        let (base, module, _) = self.state().processes.library(self.host(), pid, is_it)?;
        let opened = module.file.clone().ok_or_else(|| module.error.clone().unwrap_or_default());
        let all: Vec<&str> = names.iter().flat_map(|names| names.iter().copied()).collect();
        let found = match (opened, self.internals(pid, file, &all)?) {
            (Ok(opened), Ok(found)) => (opened, found),
            (Err(why), _) | (_, Err(why)) => return Some(Err(why)),
        };
        let mut rest = found.1.into_iter();
        let place = |at: Option<(u64, u64)>| module.offset(at?.0.wrapping_sub(base));
        let first = |names: &&[&str]| rest.by_ref().take(names.len()).collect::<Vec<_>>().into_iter().find_map(place);
        Some(Ok((found.0, names.iter().map(first).collect())))
    }

    /// What the JVM of a process says of its own memory.
    ///
    /// # Errors
    /// There is none, or it is not understood.
    pub(crate) fn hotspot(&self, pid: u32) -> Result<Arc<crate::hotspot::Way>, crate::hotspot::Unknown> {
        self.0.hotspot.of(pid, self)
    }

    /// The path of the library or program of CPython that a process has mapped, and where its variables of these names lie in the process; `None` where it
    /// has mapped none, or is gone.
    #[cfg(feature = "bpf")]
    pub(super) fn python(&self, pid: u32, names: &[&str]) -> Option<(Arc<str>, Exported)> {
        // Where there is a library, the program only calls it.
        let of = |is_it: fn(&[u8]) -> bool| {
            let is_it = |path: &str| is_it(file_name(path.as_bytes()));
            let (base, module, path) = self.state().processes.library(self.host(), pid, is_it)?;
            Some((path, addresses_of(base, &module, "what it exports", names)))
        };
        of(is_python_library).or_else(|| of(is_python_program))
    }

    /// The processes that run a program built by Go, as far as they were met; `most` of them. Each with a number that is another after exec.
    pub fn go_programs(&self, most: usize) -> Vec<(u32, u32)> {
        self.state().processes.go_programs().take(most).collect()
    }

    /// What a process that runs a program built by Go keeps of its goroutines; `None` where it is not known to run one.
    ///
    /// # Errors
    /// In words: its file cannot be read, or does not say where.
    pub fn go_runtime(&self, pid: u32) -> Option<Result<GoRuntime, String>> {
        let (base, path, module) = self.state().processes.go_program(pid)?;
        let own = go_runtime(base, module.file.as_deref()?);
        // Distributions strip programs, and put what was in them into a package of its own.
        let debug = || symbols::debug_file(self.host(), module.build_id.as_ref()?);
        let found = own.or_else(|why| debug().ok_or(why).and_then(|file| go_runtime(base, &file)));
        Some(found.map_err(|why| format!("{path}: {why}")))
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

/// Who makes code in a process that has mapped this file; `None` where the file says nothing of that.
pub(super) fn maker(path: &[u8]) -> Option<Maker> {
    match file_name(path) {
        b"libjvm.so" => Some(Maker::Jvm),
        b"node" | b"nodejs" => Some(Maker::Node),
        name if name.starts_with(b"libnode.so") => Some(Maker::Node),
        _ => None,
    }
}

/// Whether a file is called as CPython's library or program is: `libpython3.11.so.1.0`, `python3.11`.
pub(super) fn is_python(path: &[u8]) -> bool {
    let name = file_name(path);
    is_python_library(name) || is_python_program(name)
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&b| b == b'/').next().unwrap_or_default()
}

fn is_python_library(name: &[u8]) -> bool {
    // libpython3.so only leads to the other.
    name.starts_with(b"libpython3.") && !name.starts_with(b"libpython3.so")
}

fn is_python_program(name: &[u8]) -> bool {
    name.strip_prefix(b"python").is_some_and(|rest| rest.iter().all(|b| b.is_ascii_digit() || *b == b'.'))
}

/// Addresses and sizes of variables in a process.
pub(crate) type Variables = Vec<Option<(u64, u64)>>;

/// A file of code, and where in it functions begin, as far as they are there.
pub(crate) type Functions = (Arc<std::fs::File>, Vec<Option<u64>>);

/// The variables of a file by its symbol table; `None` where it has none.
fn private(base: u64, file: &std::fs::File, names: &[&str]) -> Option<Variables> {
    let cache = ReadCache::new(Positioned::new(file));
    let parsed = ElfFile64::<LittleEndian, _>::parse(&cache).ok()?;
    let found = addresses(&parsed, parsed.elf_symbol_table(), ".strtab", names)?;
    Some(found.into_iter().map(|at| at.map(|(at, size)| (base.wrapping_add(at), size))).collect())
}

/// Addresses in a process of what a file exports; or in words why they are not known.
type Exported = Result<Vec<Option<u64>>, String>;

/// What [`Stacks::exported`] gives, of a library at `base`.
fn addresses_of(base: u64, module: &Module, file: &str, names: &[&str]) -> Exported {
    let opened = module.file.as_deref();
    let opened = opened.ok_or_else(|| module.error.clone().unwrap_or_else(|| format!("{file} cannot be read")))?;
    // Reading takes a moment: others find theirs meanwhile.
    let cache = ReadCache::new(Positioned::new(opened));
    let said = |why: &dyn std::fmt::Display| format!("{file}: {why}");
    let parsed = ElfFile64::<LittleEndian, _>::parse(&cache).map_err(|e| said(&e))?;
    let found = addresses(&parsed, parsed.elf_dynamic_symbol_table(), ".dynstr", names);
    let found = found.ok_or_else(|| said(&"it exports nothing"))?;
    Ok(found.into_iter().map(|at| at.map(|(at, _)| base.wrapping_add(at))).collect())
}

/// Where a program built by Go keeps its goroutines, and where in each what is of interest lies (`allgptr`, `type g` and `type gobuf` of Go's
/// src/runtime).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoRuntime {
    /// Address of the pointer to the pointers to goroutines, and of their number.
    pub goroutines: u64,
    /// Address of that number.
    pub count: u64,
    /// Address and number of the texts that say what goroutines wait for, each a pointer and a length.
    pub reasons: (u64, u64),
    /// Offsets in a goroutine: its state (4 bytes), what it waits for (1 byte), and the registers that it goes on with.
    pub status: u64,
    /// See `status`.
    pub reason: u64,
    /// Stack pointer, program counter, frame pointer.
    pub registers: [u64; 3],
}

fn go_runtime(base: u64, file: &std::fs::File) -> Result<GoRuntime, String> {
    let cache = ReadCache::new(Positioned::new(file));
    let parsed = ElfFile64::<LittleEndian, _>::parse(&cache).map_err(|e| e.to_string())?;
    let names = ["runtime.allgptr", "runtime.allglen", "runtime.waitReasonStrings"];
    let found = addresses(&parsed, parsed.elf_symbol_table(), ".strtab", &names).unwrap_or_default();
    let [Some((goroutines, _)), Some((count, _)), Some((reasons, size))] = found[..] else {
        return Err("it is without symbols: stripped, built with -ldflags=-s, or by a Go before 1.16".into());
    };
    let wanted = [
        ("runtime.g", "atomicstatus"),
        ("runtime.g", "waitreason"),
        ("runtime.g", "sched"),
        ("runtime.gobuf", "sp"),
        ("runtime.gobuf", "pc"),
        ("runtime.gobuf", "bp"),
    ];
    let fields = symbols::fields(file, &wanted).map_err(|why| match why {
        NoDwarf::None => "it is without debug information (-ldflags=-w)",
        NoDwarf::TooLarge => "its debug information is larger than what is held in memory",
        NoDwarf::Damaged => "its debug information is damaged",
    })?;
    let [Some(status), Some(reason), Some(sched), Some(sp), Some(pc), Some(bp)] = fields[..] else {
        return Err("its debug information does not say how a goroutine looks".into());
    };
    // In a goroutine they lie near its beginning.
    if [status, reason, sched, sp, pc, bp].iter().any(|&at| at > 4096) {
        return Err("its debug information is damaged".into());
    }
    let at = |address: u64| base.wrapping_add(address);
    Ok(GoRuntime {
        goroutines: at(goroutines),
        count: at(count),
        reasons: (at(reasons), size / 16),
        status,
        reason,
        registers: [sp, pc, bp].map(|place| sched + place),
    })
}

/// Values and sizes of the symbols of these names in a table; `None` where it has no names at all.
fn addresses<'data, R: object::ReadRef<'data>>(
    file: &ElfFile64<'data, LittleEndian, R>,
    table: &SymbolTable<'data, object::elf::FileHeader64<LittleEndian>, R>,
    text: &str,
    names: &[&str],
) -> Option<Vec<Option<(u64, u64)>>> {
    let text = file.section_by_name(text).and_then(|section| section.data().ok())?;
    let text = StringTable::new(text, 0, text.len() as u64);
    let endian = file.endian();
    let mut found = vec![None; names.len()];
    for symbol in table.iter().filter(|symbol| !symbol.is_undefined(endian)) {
        let Ok(name) = symbol.name(endian, text) else { continue };
        for (place, _) in found.iter_mut().zip(names).filter(|(_, wanted)| wanted.as_bytes() == name) {
            *place = Some((symbol.st_value(endian), symbol.st_size(endian)));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_by_the_names_of_their_files() {
        for path in ["/usr/bin/python3.11", "/opt/conda/bin/python", "/usr/lib/libpython3.13.so.1.0", "/x/python3"] {
            assert!(is_python(path.as_bytes()), "{path}");
        }
        for path in
            ["/usr/lib/libpython3.so", "/usr/lib/python3.11/lib-dynload/_json.so", "/usr/bin/python3.11-config", ""]
        {
            assert!(!is_python(path.as_bytes()), "{path}");
        }
        assert_eq!(maker(b"/usr/lib/jvm/lib/server/libjvm.so"), Some(Maker::Jvm));
        assert_eq!([&b"/usr/bin/node"[..], b"/usr/lib/libnode.so.108"].map(maker), [Some(Maker::Node); 2]);
        assert_eq!(maker(b"/usr/bin/nodepad"), None);
    }
}
