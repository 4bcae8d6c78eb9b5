//! Functions and variables of ELF files: symbol tables, MiniDebugInfo, separate debug files; and DWARF, for inlined functions and lines.

use super::demangle;
use super::module::{Module, hexadecimal};
use super::positioned::Positioned;
use addr2line::gimli;
use gimli::{EndianReader, LittleEndian, Reader};
use host::Host;
use object::read::StringTable;
use object::read::elf::{ElfFile64, Sym};
use object::{Object, ObjectSection, ReadCache, ReadRef, SymbolKind, elf};
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most symbols of one file, and the largest MiniDebugInfo, bytes.
const MOST: usize = 4_000_000;
const LARGEST_MINI: u64 = 64 << 20;

/// The most debug information of one file that is held at once, bytes. What is larger is left out, and that is said.
const LARGEST_DWARF: u64 = 64 << 20;

/// The functions or the variables of a file.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// Start, length, and where the name begins in `names`; ascending by start.
    entries: Vec<(u64, u32, u32)>,
    /// Names, each ended by a zero.
    names: Vec<u8>,
}

impl Symbols {
    /// What holds an address, as its symbol, and how far into it the address is.
    pub(super) fn at(&self, address: u64) -> Option<(&str, u64)> {
        self.range(address).map(|(name, range)| (name, address - range.start))
    }

    /// What holds an address, as its symbol, and from where to where it reaches.
    pub(super) fn range(&self, address: u64) -> Option<(&str, Range<u64>)> {
        let mut at = self.entries.partition_point(|e| e.0 <= address);
        // Where one lies in another, the outer one began earlier.
        for _ in 0..4 {
            at = at.checked_sub(1)?;
            let &(start, length, name) = self.entries.get(at)?;
            if address - start < u64::from(length) {
                let rest = self.names.get(name as usize..)?;
                let text = rest.get(..memchr::memchr(0, rest)?)?;
                let range = start..start.saturating_add(length.into());
                return Some((std::str::from_utf8(text).ok()?, range));
            }
        }
        None
    }

    /// How much memory they take, bytes.
    pub(super) fn size(&self) -> usize {
        self.entries.len() * size_of::<(u64, u32, u32)>() + self.names.len()
    }
}

/// Symbols while they are gathered: start, size, rank (lower is better), and where the name begins in `names` and its length.
#[derive(Default)]
struct Found {
    symbols: Vec<(u64, u64, u8, u32, u32)>,
    names: Vec<u8>,
}

impl Found {
    fn push(&mut self, start: u64, size: u64, rank: u8, name: &str) {
        let Ok(from) = u32::try_from(self.names.len()) else { return };
        let name = name.split('\0').next().unwrap_or_default();
        self.names.extend_from_slice(name.as_bytes());
        self.names.push(0);
        self.symbols.push((start, size, rank, from, name.len() as u32));
    }

    fn ordered(mut self) -> Symbols {
        let names = &self.names;
        let name = |from: u32, length: u32| names.get(from as usize..from as usize + length as usize);
        let order = |s: &(u64, u64, u8, u32, u32)| (s.0, s.1, s.2, name(s.3, s.4));
        self.symbols.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
        self.symbols.dedup_by(|later, first| later.0 == first.0 && (first.1 != 0 || later.1 == 0));
        let mut entries = Vec::with_capacity(self.symbols.len());
        for (at, &(start, size, _, from, _)) in self.symbols.iter().enumerate() {
            // Functions written in assembly often have no size: they reach to the next symbol.
            let next = || self.symbols.iter().skip(at + 1).map(|s| s.0).find(|&s| s > start);
            let length = if size == 0 {
                next().map_or(4096, |next| next - start).min(1 << 16)
            } else {
                size.min(u32::MAX.into())
            };
            entries.push((start, length as u32, from));
        }
        // The names stay where they are: a copy would take as much again.
        self.names.shrink_to_fit();
        Symbols { entries, names: self.names }
    }
}

/// Gathers the symbols of one kind that a file has.
fn gather<'data, R: ReadRef<'data>>(
    file: &ElfFile64<'data, object::LittleEndian, R>,
    kind: SymbolKind,
    found: &mut Found,
) {
    let endian = file.endian();
    let tables = [(file.elf_symbol_table(), ".strtab"), (file.elf_dynamic_symbol_table(), ".dynstr")];
    for (table, names) in tables {
        // The names as a whole: read one by one, each would be kept on its own until all are read.
        let Some(names) = file.section_by_name(names).and_then(|section| section.data().ok()) else { continue };
        let names = StringTable::new(names, 0, names.len() as u64);
        for symbol in table.iter() {
            let is_wanted = match symbol.st_type() {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => kind == SymbolKind::Text,
                elf::STT_OBJECT | elf::STT_COMMON => kind == SymbolKind::Data,
                _ => false,
            };
            let address = symbol.st_value(endian);
            if !is_wanted || address == 0 || symbol.is_undefined(endian) || found.symbols.len() >= MOST {
                continue;
            }
            let name = symbol.name(endian, names).ok().and_then(|name| std::str::from_utf8(name).ok());
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            // Of several names of one place, the plainest that others can see: `malloc` before `__libc_malloc`.
            let hidden = name.bytes().take_while(|&b| b == b'_').count().min(7) as u8;
            let hidden = if name.starts_with("_Z") || name.starts_with("_R") { 0 } else { hidden };
            let rank = hidden + if symbol.is_local() { 8 } else { 0 };
            found.push(address, symbol.st_size(endian), rank, name);
        }
    }
}

/// The symbols of a kind in the bytes of a file, with what MiniDebugInfo adds.
pub(super) fn of_bytes<'data, R: ReadRef<'data>>(data: R, kind: SymbolKind) -> Result<(Symbols, bool), String> {
    let file = ElfFile64::<object::LittleEndian, R>::parse(data).map_err(|e| e.to_string())?;
    let mut found = Found::default();
    gather(&file, kind, &mut found);
    let mini = file.section_by_name(".gnu_debugdata").filter(|s| s.size() <= LARGEST_MINI);
    if let Some(bytes) = mini.and_then(|section| section.data().ok()).and_then(unpacked)
        && let Ok(mini) = ElfFile64::<object::LittleEndian, _>::parse(bytes.as_slice())
    {
        gather(&mini, kind, &mut found);
    }
    let whole = file.symbol_table().is_some();
    Ok((found.ordered(), whole))
}

/// The functions of a file, with those of its debug file where it was stripped.
fn functions(module: &Module, debug: Option<&File>) -> Symbols {
    let read = |file: &File| of_bytes(&ReadCache::new(Positioned::new(file)), SymbolKind::Text).ok();
    let own = module.file.as_deref().and_then(read);
    match (own, debug.and_then(read)) {
        (Some((own, true)), _) | (Some((own, _)), None) => own,
        (_, Some((other, _))) => other,
        (None, None) => Symbols::default(),
    }
}

/// Functions of files, read when something of them is first asked for, for all who name frames.
#[derive(Default)]
pub(super) struct Tables(Mutex<Files>);

#[derive(Default)]
struct Files {
    /// By number of the file, with when it was last used, counted in uses.
    tables: HashMap<u32, (Arc<Symbols>, u64)>,
    uses: u64,
}

/// So much is kept of them between one use and the next, bytes.
const KEPT: usize = 12 << 20;

impl Tables {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The functions of a file; `debug` opens its debug file.
    pub(super) fn of(&self, number: u32, module: &Module, debug: impl FnOnce() -> Option<File>) -> Arc<Symbols> {
        {
            let Files { tables: files, uses } = &mut *self.files();
            *uses += 1;
            if let Some((known, used)) = files.get_mut(&number) {
                *used = *uses;
                return Arc::clone(known);
            }
        }
        // Others find theirs meanwhile.
        let read = Arc::new(functions(module, debug().as_ref()));
        let Files { tables: files, uses } = &mut *self.files();
        files.insert(number, (Arc::clone(&read), *uses));
        let mut size: usize = files.values().map(|(symbols, _)| symbols.size()).sum();
        while size > KEPT
            && files.len() > 1
            && let Some((&oldest, _)) = files.iter().filter(|(n, _)| **n != number).min_by_key(|(_, (_, used))| *used)
        {
            size -= files.remove(&oldest).map_or(0, |(symbols, _)| symbols.size());
        }
        read
    }
}

/// The ELF file within `.gnu_debugdata`: symbols that were stripped, packed by xz.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read;
    // A header may ask for a dictionary of 4 GiB.
    let dictionary = (LARGEST_MINI >> 10) as u32;
    let read = || {
        let mut out = Vec::new();
        let reader = lzma_rust2::XzReader::new_mem_limit(packed, false, dictionary);
        reader.take(LARGEST_MINI + 1).read_to_end(&mut out).map(|_| out)
    };
    // The unpacker is not ours: if it panics on a damaged section, there is no MiniDebugInfo.
    let out = std::panic::catch_unwind(read).ok()?.ok()?;
    (out.len() as u64 <= LARGEST_MINI).then_some(out)
}

/// The separate debug file with a build id: as distributions install it, or as debuginfod(8)'s client has fetched it earlier. Nothing is fetched.
pub(super) fn debug_file(host: &Host, build_id: &str) -> Option<File> {
    let (head, tail) = build_id.split_at_checked(2)?;
    if !build_id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut candidates = vec![host.path(&format!("/usr/lib/debug/.build-id/{head}/{tail}.debug"))];
    let cache = std::env::var_os("DEBUGINFOD_CACHE_PATH").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = cache.or_else(|| {
        Some(std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?.join("debuginfod_client"))
    });
    candidates.extend(cache.map(|folder| folder.join(build_id).join("debuginfo")));
    candidates.into_iter().find_map(|path| files::foreign::open(&path).ok())
}

pub(super) type Bytes = EndianReader<LittleEndian, Arc<[u8]>>;

/// Debug information: which functions were put into which, and lines.
pub(super) struct Dwarf(addr2line::Context<Bytes>);

/// One function at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inlined {
    /// Its name as written; `None` where there is none.
    pub function: Option<String>,
    /// `file:line` of where in it the machine was, or what it had called.
    pub source: Option<String>,
}

/// Why there is no DWARF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoDwarf {
    None,
    TooLarge,
    Damaged,
}

impl Dwarf {
    /// Reads the debug information in a file; `main` is the program where that is in a file of its own.
    pub(super) fn open(host: &Host, file: &File) -> Result<Self, NoDwarf> {
        let main = sections(file, LARGEST_DWARF, is_of_code)?;
        let extra =
            main.extra.and_then(|build_id| sections(&debug_file(host, &build_id)?, LARGEST_DWARF, is_of_code).ok());
        let build = std::panic::AssertUnwindSafe(|| {
            let mut dwarf = load(main.sections)?;
            if let Some(extra) = extra {
                dwarf.set_sup(load(extra.sections)?);
            }
            addr2line::Context::from_dwarf(dwarf)
        });
        match std::panic::catch_unwind(build) {
            Ok(Ok(context)) => Ok(Dwarf(context)),
            _ => Err(NoDwarf::Damaged),
        }
    }

    /// The functions at an address, innermost first; empty where it says nothing.
    pub(super) fn at(&self, address: u64) -> Vec<Inlined> {
        let run = std::panic::AssertUnwindSafe(|| {
            let mut found = Vec::new();
            let Ok(mut frames) = self.0.find_frames(address).skip_all_loads() else { return found };
            while let Ok(Some(frame)) = frames.next() {
                let function = frame.function.and_then(|f| f.raw_name().ok().map(|n| demangle::symbol(&n)));
                let source = frame.location.and_then(|l| {
                    let file = l.file?.rsplit('/').next()?;
                    Some(l.line.map_or(file.to_owned(), |line| format!("{file}:{line}")))
                });
                found.push(Inlined { function, source });
                if found.len() >= 64 {
                    break;
                }
            }
            found
        });
        std::panic::catch_unwind(run).unwrap_or_default()
    }
}

/// Where these fields lie in these structures of a program of one file, in bytes; `None` where it has none of the name.
pub(super) fn fields(file: &File, wanted: &[(&str, &str)]) -> Result<Vec<Option<u64>>, NoDwarf> {
    let is_of_types = |name: &str| matches!(name, ".debug_info" | ".debug_abbrev" | ".debug_str");
    let found = sections(file, LARGEST_DWARF, is_of_types)?;
    let run = std::panic::AssertUnwindSafe(|| {
        let dwarf = load(found.sections)?;
        let mut places = vec![None; wanted.len()];
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let abbreviations = dwarf.abbreviations(&header)?;
            let name = |entry: &gimli::DebuggingInformationEntry<Bytes>| -> Option<String> {
                let name = match entry.attr_value(gimli::DW_AT_name)? {
                    gimli::AttributeValue::String(name) => name,
                    gimli::AttributeValue::DebugStrRef(at) => dwarf.string(at).ok()?,
                    _ => return None,
                };
                Some(name.to_string_lossy().ok()?.into_owned())
            };
            let mut entries = header.entries(&abbreviations);
            // The structure whose members come, and how deep it lies.
            let mut inside: Option<(String, isize)> = None;
            while let Some(entry) = entries.next_dfs()? {
                let depth = entry.depth();
                if inside.as_ref().is_some_and(|(_, at)| depth <= *at) {
                    inside = None;
                }
                match (entry.tag(), &inside) {
                    (gimli::DW_TAG_structure_type, _) => {
                        let name = name(entry).filter(|name| wanted.iter().any(|(of, _)| of == name));
                        inside = name.map(|name| (name, depth));
                    }
                    (gimli::DW_TAG_member, Some((structure, _))) => {
                        let Some(name) = name(entry) else { continue };
                        let place = entry.attr_value(gimli::DW_AT_data_member_location).and_then(|v| v.udata_value());
                        let is_it = |of: &(&str, &str)| of.0 == structure && of.1 == name;
                        for (slot, _) in places.iter_mut().zip(wanted).filter(|(_, of)| is_it(of)) {
                            *slot = place;
                        }
                    }
                    _ => {}
                }
            }
            if places.iter().all(Option::is_some) {
                break;
            }
        }
        Ok::<_, gimli::Error>(places)
    });
    match std::panic::catch_unwind(run) {
        Ok(Ok(places)) => Ok(places),
        _ => Err(NoDwarf::Damaged),
    }
}

/// The debug information of a file, all of it: its own, and that of the file that holds what several debug files share. No more than `most` bytes each.
pub(super) fn whole(
    host: &Host,
    file: &File,
    most: u64,
) -> Result<(gimli::Dwarf<Bytes>, Option<gimli::Dwarf<Bytes>>), NoDwarf> {
    let is_wanted = |name: &str| {
        name.starts_with(".debug_") && !matches!(name, ".debug_frame" | ".debug_macro" | ".debug_gdb_scripts")
    };
    let main = sections(file, most, is_wanted)?;
    let extra = main.extra.and_then(|build_id| sections(&debug_file(host, &build_id)?, most, is_wanted).ok());
    let build = std::panic::AssertUnwindSafe(|| {
        let mut dwarf = load(main.sections)?;
        let mut shared = None;
        if let Some(extra) = extra {
            dwarf.set_sup(load(extra.sections.clone())?);
            shared = Some(load(extra.sections)?);
        }
        Ok::<_, gimli::Error>((dwarf, shared))
    });
    match std::panic::catch_unwind(build) {
        Ok(Ok(loaded)) => Ok(loaded),
        _ => Err(NoDwarf::Damaged),
    }
}

pub(super) fn load(from: Vec<(String, Arc<[u8]>)>) -> Result<gimli::Dwarf<Bytes>, gimli::Error> {
    gimli::Dwarf::load(move |id: gimli::SectionId| {
        let bytes = from.iter().find(|(name, _)| name == id.name()).map(|(_, bytes)| Arc::clone(bytes));
        Ok(EndianReader::new(bytes.unwrap_or_default(), LittleEndian))
    })
}

struct Sections {
    sections: Vec<(String, Arc<[u8]>)>,
    /// Build id of the file that holds what several debug files share (dwz(1)).
    extra: Option<String>,
}

/// Whether a section says something of places in code.
fn is_of_code(name: &str) -> bool {
    name.starts_with(".debug_")
        && !matches!(
            name,
            ".debug_frame"
                | ".debug_loc"
                | ".debug_loclists"
                | ".debug_pubnames"
                | ".debug_pubtypes"
                | ".debug_gdb_scripts"
                | ".debug_macro"
        )
}

/// The wanted debug sections of a file, unpacked, if they are together no more than `most` bytes.
fn sections(file: &File, most: u64, is_wanted: impl Fn(&str) -> bool) -> Result<Sections, NoDwarf> {
    let cache = ReadCache::new(Positioned::new(file));
    let file = ElfFile64::<object::LittleEndian, _>::parse(&cache).map_err(|_| NoDwarf::Damaged)?;
    if file.section_by_name(".debug_info").is_none() {
        return Err(NoDwarf::None);
    }
    let wanted = || file.sections().filter(|s| s.name().is_ok_and(&is_wanted));
    let size = |s: &object::read::elf::ElfSection64<'_, '_, object::LittleEndian, _>| {
        s.compressed_data().map_or(u64::MAX, |d| d.uncompressed_size)
    };
    let total = wanted().map(|s| size(&s)).fold(0u64, u64::saturating_add);
    if total > most {
        return Err(NoDwarf::TooLarge);
    }
    let read = wanted().filter_map(|s| Some((s.name().ok()?.to_owned(), Arc::from(&*s.uncompressed_data().ok()?))));
    let extra = file.gnu_debugaltlink().ok().flatten().map(|(_, build_id)| hexadecimal(build_id).to_string());
    Ok(Sections { sections: read.collect(), extra })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[inline(never)]
    fn somewhere() -> usize {
        std::hint::black_box(7)
    }

    #[test]
    fn this_program_has_functions() {
        let _ = somewhere();
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let (symbols, whole) = of_bytes(bytes.as_slice(), SymbolKind::Text).unwrap();
        assert!(whole && symbols.size() > 1000);
        let (start, ..) = *symbols
            .entries
            .iter()
            .find(|e| {
                let rest = &symbols.names[e.2 as usize..];
                demangle::symbol(std::str::from_utf8(&rest[..memchr::memchr(0, rest).unwrap()]).unwrap())
                    .ends_with("tests::somewhere")
            })
            .expect("a function of this program");
        assert_eq!(symbols.at(start + 1).unwrap().1, 1);
        assert_eq!(symbols.at(1), None);
        let file = File::open("/proc/self/exe").unwrap();
        match Dwarf::open(&Host::live(), &file) {
            Ok(dwarf) => {
                let found = dwarf.at(start);
                // What it calls may have been put into it; itself comes last.
                let own = found.last().and_then(|f| f.source.as_deref());
                assert!(own.is_some_and(|source| source.starts_with("symbols.rs:")), "{found:?}");
            }
            Err(why) => eprintln!("SKIPPED: lines of this program: {why:?}"),
        }
    }

    #[test]
    fn places_have_one_name() {
        let mut found = Found::default();
        found.push(100, 10, 2, "__libc_malloc");
        found.push(100, 10, 0, "malloc");
        found.push(120, 0, 0, "no_size");
        found.push(140, 10, 0, "last");
        let symbols = found.ordered();
        let name = |at| symbols.at(at).map(|(n, off)| (n.to_owned(), off));
        assert_eq!(name(105), Some(("malloc".into(), 5)));
        assert_eq!(name(112), None);
        assert_eq!(name(139), Some(("no_size".into(), 19)));
        assert_eq!(name(150), None);
    }

    #[test]
    fn mini_debug_info_is_unpacked_within_bounds() {
        // xz -0 --check=crc32, of "MiniDebugInfo " twenty times.
        let packed = [
            0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21, 0x01, 0x0c, 0x00,
            0x00, 0x00, 0x8f, 0x98, 0x41, 0x9c, 0xe0, 0x01, 0x17, 0x00, 0x15, 0x5d, 0x00, 0x26, 0x9a, 0x49, 0xc6, 0xaf,
            0x46, 0x01, 0x1b, 0xf1, 0x49, 0xdf, 0x55, 0x5a, 0x55, 0xc6, 0x71, 0x35, 0x58, 0xe5, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0xcd, 0x3f, 0x71, 0xc7, 0x00, 0x01, 0x2d, 0x98, 0x02, 0x00, 0x00, 0x00, 0x6f, 0x66, 0x18, 0x33,
            0x3e, 0x30, 0x0d, 0x8b, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
        ];
        assert_eq!(unpacked(&packed), Some("MiniDebugInfo ".repeat(20).into_bytes()));
        assert_eq!(unpacked(&packed[..60]), None);
        // xz --check=crc32 --lzma2=dict=1536MiB, of "x".
        let wants_much_memory = [
            0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21, 0x01, 0x25, 0x00,
            0x00, 0x00, 0x3b, 0x78, 0x7b, 0x41, 0x01, 0x00, 0x00, 0x78, 0x00, 0x00, 0x00, 0x00, 0x83, 0x16, 0xdc, 0x8c,
            0x00, 0x01, 0x15, 0x01, 0xa9, 0x63, 0x34, 0x60, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01,
            0x59, 0x5a,
        ];
        assert_eq!(unpacked(&wants_much_memory), None);
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(at in 0usize..20_000, bytes in prop::collection::vec(any::<u8>(), 1..64)) {
            static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
            let mut file = FILE.get_or_init(|| crate::stacks::process::vdso().unwrap_or_default()).clone();
            let length = file.len().max(1);
            for (i, byte) in bytes.iter().enumerate() {
                if let Some(place) = file.get_mut((at + i) % length) {
                    *place = *byte;
                }
            }
            if let Ok((symbols, _)) = of_bytes(file.as_slice(), SymbolKind::Text) {
                let _ = symbols.at(at as u64);
            }
            let _ = unpacked(&bytes);
        }
    }
}
