//! Names of code in programs of this machine: ELF symbol tables, where the build id says that it is the file that was profiled; the kernel's own list; and
//! the maps that JIT compilers write.

use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Functions by address: start, end (0: up to the next), name.
#[derive(Debug, Default)]
pub(crate) struct Names {
    list: Vec<(u64, u64, String)>,
}

impl Names {
    fn new(mut list: Vec<(u64, u64, String)>) -> Self {
        // Of several names of one address the one with a size, then the shortest, then the first of the alphabet.
        list.sort_by(|a, b| (a.0, a.1 == 0, a.2.len(), &a.2).cmp(&(b.0, b.1 == 0, b.2.len(), &b.2)));
        list.dedup_by_key(|s| s.0);
        Names { list }
    }

    /// The function that holds an address.
    pub(crate) fn at(&self, address: u64) -> Option<&str> {
        let next = self.list.partition_point(|s| s.0 <= address);
        let (start, size, name) = self.list.get(next.checked_sub(1)?)?;
        // What has no size (assembler) reaches to the next symbol, which `next` is; but not over more than a mebibyte.
        let inside = if *size == 0 { address - start < 1 << 20 } else { address - start < *size };
        inside.then_some(name.as_str())
    }
}

/// An ELF file: where its segments lie, and its functions.
#[derive(Debug, Default)]
pub(crate) struct Elf {
    /// File offset, size in the file, address.
    segments: Vec<(u64, u64, u64)>,
    names: Names,
    /// Variables.
    data: Names,
}

/// Largest file whose symbols are read.
const PROGRAM: files::foreign::Limit = files::foreign::Limit { bytes: 2 << 30, option: "" };

impl Elf {
    /// Reads a file, if it is the one with this build id; an empty build id takes any.
    ///
    /// # Errors
    /// In words, for the notes of the import.
    pub(crate) fn open(path: &Path, build_id: &str) -> Result<Self, String> {
        let bytes = files::foreign::read(path, PROGRAM).map_err(|e| e.to_string())?;
        let elf = ElfFile64::<Endianness>::parse(&*bytes).map_err(|e| e.to_string())?;
        let own = elf.build_id().ok().flatten().map(crate::bytes::hex).unwrap_or_default();
        if !build_id.is_empty() && own != build_id {
            return Err(if own.is_empty() {
                "it has no build id".into()
            } else {
                "it was replaced since: another build id".into()
            });
        }
        let endian = elf.endian();
        let headers = elf.elf_header().program_headers(endian, &*bytes).map_err(|e| e.to_string())?;
        let segments = headers
            .iter()
            .filter(|p| p.p_type(endian) == object::elf::PT_LOAD)
            .map(|p| (p.p_offset(endian), p.p_filesz(endian), p.p_vaddr(endian)))
            .collect();
        let mut list = symbols_of(&elf, SymbolKind::Text);
        let data = Names::new(symbols_of(&elf, SymbolKind::Data));
        // Stripped: the separate file of its symbols, where it is installed or was fetched.
        if elf.symbols().next().is_none() && !own.is_empty() {
            for file in debug_files(&own) {
                let Ok(bytes) = files::foreign::read(&file, PROGRAM) else { continue };
                if let Ok(debug) = ElfFile64::<Endianness>::parse(&*bytes)
                    && debug.build_id().ok().flatten().map(crate::bytes::hex).as_deref() == Some(own.as_str())
                {
                    list.extend(symbols_of(&debug, SymbolKind::Text));
                    break;
                }
            }
        }
        Ok(Elf { segments, names: Names::new(list), data })
    }

    /// The build id of a file, where it is ELF and has one.
    pub(crate) fn build_id(path: &Path) -> Option<String> {
        let file = files::foreign::open(path).ok()?;
        let cache = object::ReadCache::new(file);
        let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
        elf.build_id().ok().flatten().map(crate::bytes::hex)
    }

    /// How many functions it names.
    pub(crate) fn functions(&self) -> usize {
        self.names.list.len()
    }

    /// Address and name of a function whose name holds `part`.
    #[cfg(test)]
    pub(crate) fn first_function(&self, part: &str) -> Option<(u64, String)> {
        self.names.list.iter().find(|s| s.2.contains(part)).map(|s| (s.0, s.2.clone()))
    }

    /// The address of an offset of the file; the offset itself where no segment holds it.
    pub(crate) fn address(&self, offset: u64) -> u64 {
        let segment = self.segments.iter().find(|(at, size, _)| offset >= *at && offset - at < *size);
        segment.map_or(offset, |(at, _, address)| (offset - at).wrapping_add(*address))
    }

    /// The address of an offset of the file, also behind the end of a segment there: of what begins as zeros.
    pub(crate) fn data_address(&self, offset: u64) -> u64 {
        let before = self.segments.iter().filter(|(at, _, _)| *at <= offset).max_by_key(|(at, _, _)| *at);
        before.map_or(offset, |(at, _, address)| (offset - at).wrapping_add(*address))
    }

    /// Address, size and name of the variable that begins in a stretch, or reaches into it; the largest.
    pub(crate) fn data(&self, address: u64, length: u64) -> Option<(u64, u64, String)> {
        let end = address.saturating_add(length);
        let before = self.data.list.partition_point(|s| s.0 < end);
        // Sorted by where they begin: what reaches into it from before is nearly always the one just before.
        let near = self.data.list.get(before.saturating_sub(64)..before)?.iter();
        near.filter(|(at, size, _)| at.saturating_add(*size) > address).max_by_key(|(_, size, _)| *size).cloned()
    }

    /// The function at an address of the file.
    pub(crate) fn name(&self, address: u64) -> Option<&str> {
        self.names.at(address)
    }
}

fn symbols_of(elf: &ElfFile64<'_, Endianness>, kind: SymbolKind) -> Vec<(u64, u64, String)> {
    elf.symbols()
        .chain(elf.dynamic_symbols())
        .filter(|s| s.kind() == kind && !s.is_undefined() && s.address() != 0)
        .filter_map(|s| Some((s.address(), s.size(), demangled(s.name().ok()?))))
        .filter(|(_, _, name)| !name.is_empty())
        .collect()
}

pub(crate) fn debug_files(build_id: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some((two, rest)) = build_id.split_at_checked(2) {
        files.push(format!("/usr/lib/debug/.build-id/{two}/{rest}.debug").into());
    }
    let cache = std::env::var_os("DEBUGINFOD_CACHE_PATH")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/debuginfod_client")));
    files.extend(cache.map(|c| c.join(build_id).join("debuginfo")));
    files
}

/// A name as its language writes it. Rust's hash is left out: it differs between builds.
pub(crate) fn demangled(name: &str) -> String {
    // Names are as long as their makers want; demangling costs more than it gives for monsters.
    if name.len() > 4096 {
        return name.chars().take(4096).collect();
    }
    let plain = name.split_once("@@").map_or(name, |(name, _)| name);
    if let Ok(rust) = rustc_demangle::try_demangle(plain) {
        return format!("{rust:#}");
    }
    if plain.starts_with("_Z")
        && let Ok(symbol) = cpp_demangle::Symbol::new(plain)
        && let Ok(text) = symbol.demangle()
    {
        return text;
    }
    plain.to_owned()
}

/// What `/proc/kallsyms` of this kernel says, if it is the kernel with this build id.
///
/// # Errors
/// In words.
pub(crate) fn kernel(build_id: &str) -> Result<Names, String> {
    let notes = std::fs::read("/sys/kernel/notes").map_err(|e| format!("/sys/kernel/notes: {e}"))?;
    let own = gnu_build_id(&notes).unwrap_or_default();
    if build_id.is_empty() || own != build_id {
        return Err("it was profiled on another kernel than the one that runs here".into());
    }
    let text = std::fs::read("/proc/kallsyms").map_err(|e| format!("/proc/kallsyms: {e}"))?;
    let names = kallsyms(&String::from_utf8_lossy(&text));
    if names.list.iter().all(|s| s.0 == 0) {
        return Err("/proc/kallsyms hides addresses; run as root, or with kernel.kptr_restrict=0".into());
    }
    Ok(names)
}

/// The build id in ELF notes.
fn gnu_build_id(notes: &[u8]) -> Option<String> {
    let mut rest = crate::bytes::Bytes(notes);
    loop {
        let (name, desc, kind) = (rest.u32()?, rest.u32()?, rest.u32()?);
        let padded = |n: u32| (n as usize).checked_add(3).map(|n| n & !3);
        let name = rest.take(padded(name)?)?;
        let bytes = rest.take(padded(desc)?)?;
        if kind == 3 && name.starts_with(b"GNU") {
            return bytes.get(..desc as usize).map(crate::bytes::hex);
        }
    }
}

fn kallsyms(text: &str) -> Names {
    let line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let kind = words.next()?;
        let name = words.next()?;
        matches!(kind, "t" | "T" | "w" | "W").then(|| (address, 0, name.to_owned()))
    };
    Names::new(text.lines().filter_map(line).collect())
}

/// The functions in a JIT's map (`/tmp/perf-PID.map`: start, size, name; tools/perf/Documentation/jit-interface.txt).
pub(crate) fn jit_map(path: &Path) -> Option<Names> {
    let text = files::foreign::read(path, PROGRAM).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = |line: &str| {
        let (start, rest) = line.split_once(' ')?;
        let (size, name) = rest.split_once(' ')?;
        let number = |t: &str| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok();
        Some((number(start)?, number(size)?.max(1), name.trim().to_owned()))
    };
    Some(Names::new(text.lines().filter_map(line).collect()))
}

/// Files that were opened, by path and build id; of others why they could not be.
#[derive(Debug, Default)]
pub(crate) struct Files {
    open: HashMap<(String, String), Result<Elf, String>>,
}

impl Files {
    /// The file, where it can be read.
    pub(crate) fn get(&mut self, path: &str, build_id: &str) -> Option<&Elf> {
        let key = (path.to_owned(), build_id.to_owned());
        self.open.entry(key).or_insert_with(|| Elf::open(Path::new(path), build_id)).as_ref().ok()
    }

    /// The paths of those that could not be read, and why.
    pub(crate) fn unread(&self) -> Vec<(String, String)> {
        self.open.iter().filter_map(|((path, _), file)| Some((path.clone(), file.as_ref().err()?.clone()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_address() {
        let names = kallsyms("ffff0000 T start\nffff0010 t work\nffff0010 T work_alias\nffff0020 D data\nbad line");
        assert_eq!(names.at(0xffff_0000), Some("start"));
        assert_eq!(names.at(0xffff_001f), Some("work"));
        assert_eq!(names.at(0xfffe_ffff), None);
        let names = Names::new(vec![(0x10, 4, "f".into())]);
        assert_eq!((names.at(0x13), names.at(0x14)), (Some("f"), None));
    }

    #[test]
    fn names_are_demangled() {
        assert_eq!(demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
        assert_eq!(
            demangled("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back(int&&)"
        );
        assert_eq!(demangled("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!(demangled("_Z"), "_Z");
    }

    #[test]
    fn this_program_has_names() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, "").unwrap();
        assert!(elf.names.list.iter().any(|s| s.2.contains("this_program_has_names")));
        assert!(Elf::open(&path, "00").is_err());
        assert!(Elf::open(Path::new("/dev/null"), "").is_err());
    }

    #[test]
    fn build_ids_are_found_in_notes() {
        let mut notes = Vec::new();
        notes.extend([4u32, 2, 1].iter().flat_map(|n| n.to_le_bytes()));
        notes.extend(b"Xen\0\x01\x02\0\0");
        notes.extend([4u32, 3, 3].iter().flat_map(|n| n.to_le_bytes()));
        notes.extend(b"GNU\0\xab\xcd\xef\0");
        assert_eq!(gnu_build_id(&notes).as_deref(), Some("abcdef"));
        assert_eq!(gnu_build_id(&notes[..notes.len() - 2]), None);
    }
}
