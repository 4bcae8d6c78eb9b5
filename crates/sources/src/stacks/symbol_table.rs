//! Functions or variables of an ELF file: its symbol tables, and those within its MiniDebugInfo.
//!
//! Many files have hundreds of thousands of symbols, of which a recording names some dozens. So only where each symbol lies is held, sixteen bytes; a name
//! is read from the file when it is asked for.

use super::positioned::Positioned;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, ReadCache, ReadRef};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The most symbols of one file, and the largest MiniDebugInfo, bytes.
const MOST: usize = 4_000_000;
const LARGEST_MINI: u64 = 64 << 20;

/// A symbol table is read in parts of so many symbols.
const PART: usize = 32 << 10;

/// Of the names of one place so many are looked at, and so long a name may be, bytes.
const ALIASES: usize = 32;
const LONGEST_NAME: usize = 64 << 10;

/// Bytes of a symbol (`Elf64_Sym`, elf(5)).
const SYMBOL: usize = 24;

/// What of a symbol table is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Functions,
    Variables,
}

impl Wanted {
    /// Whether the symbol's type (the low half of `st_info`) is wanted.
    fn includes(self, ty: u8) -> bool {
        match self {
            Wanted::Functions => matches!(elf::SymbolType(ty), elf::STT_FUNC | elf::STT_GNU_IFUNC),
            Wanted::Variables => matches!(elf::SymbolType(ty), elf::STT_OBJECT | elf::STT_COMMON),
        }
    }
}

/// A symbol: where it starts, how far it reaches with what else is known of it, and where its name begins, counted through all name tables.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    reach: u32,
    name: u32,
}

/// Of [`Entry::reach`]: others cannot see it.
const LOCAL: u32 = 1 << 31;
/// It has no size, as functions written in assembly: it reaches to the next one.
const SIZELESS: u32 = 1 << 30;

impl Entry {
    fn length(self) -> u64 {
        u64::from(self.reach & !(LOCAL | SIZELESS))
    }

    /// Of one place, the shortest first, and those without a size last.
    fn order(&self) -> (u64, u32) {
        (self.start, self.reach & !LOCAL)
    }
}

/// Where names are.
#[derive(Debug, Default)]
struct Names {
    /// A name table in the file: where it begins, and how long it is.
    in_file: Vec<(u64, u64)>,
    file: Option<Arc<File>>,
    /// What is in no file, after those.
    held: Vec<u8>,
}

impl Names {
    /// The name that begins at a place.
    fn at(&self, name: u32) -> Option<String> {
        let mut at = u64::from(name);
        for &(begin, length) in &self.in_file {
            if at < length {
                return read_name(self.file.as_deref()?, begin + at, length - at);
            }
            at -= length;
        }
        let rest = self.held.get(usize::try_from(at).ok()?..)?;
        text(rest.get(..memchr::memchr(0, rest)?)?)
    }

    /// How many bytes of names there are.
    fn length(&self) -> u64 {
        self.in_file.iter().map(|(_, length)| length).sum::<u64>() + self.held.len() as u64
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads to the next zero.
fn read_name(file: &File, at: u64, most: u64) -> Option<String> {
    let mut bytes = [0; 256];
    let read = file.read_at(&mut bytes, at).ok()?;
    let first = bytes.get(..read.min(usize::try_from(most).unwrap_or(usize::MAX)))?;
    if let Some(end) = memchr::memchr(0, first) {
        return text(first.get(..end)?);
    }
    let mut long = vec![0; LONGEST_NAME.min(usize::try_from(most).unwrap_or(LONGEST_NAME))];
    let read = file.read_at(&mut long, at).ok()?;
    let end = memchr::memchr(0, long.get(..read)?)?;
    text(long.get(..end)?)
}

/// The functions or the variables of a file.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// In [`Entry::order`].
    entries: Vec<Entry>,
    names: Names,
    /// Whether the file was not stripped.
    pub(super) is_whole: bool,
}

impl Symbols {
    /// Those of a file.
    ///
    /// # Errors
    /// Where it is no ELF file of 64 bits.
    pub(super) fn of_file(file: Arc<File>, wanted: Wanted) -> Result<Self, String> {
        let mut symbols = {
            let cache = ReadCache::new(Positioned::new(&file));
            let read = |at: u64, into: &mut [u8]| file.read_exact_at(into, at).is_ok();
            Symbols::default().gathered(&cache, &read, wanted, Keep::InFile)?
        };
        symbols.names.file = Some(file);
        Ok(symbols.ordered())
    }

    /// Those of a file that is held in memory.
    ///
    /// # Errors
    /// As [`Symbols::of_file`].
    pub(super) fn of_bytes(bytes: &[u8], wanted: Wanted) -> Result<Self, String> {
        Ok(Symbols::default().gathered(bytes, &|at, into| copy(bytes, at, into), wanted, Keep::Held)?.ordered())
    }

    /// With the symbols of a file, whose content `read` copies.
    fn gathered<'data, R: ReadRef<'data>>(
        mut self,
        data: R,
        read: &dyn Fn(u64, &mut [u8]) -> bool,
        wanted: Wanted,
        keep: Keep,
    ) -> Result<Self, String> {
        let why = |error: object::Error| error.to_string();
        let header = elf::FileHeader64::<LittleEndian>::parse(data).map_err(why)?;
        let endian = header.endian().map_err(why)?;
        let sections = header.sections(endian, data).map_err(why)?;
        for table in sections.iter() {
            let kind = table.sh_type(endian);
            if kind != elf::SHT_SYMTAB && kind != elf::SHT_DYNSYM {
                continue;
            }
            self.is_whole |= kind == elf::SHT_SYMTAB;
            let Ok(names) = sections.section(table.link(endian)) else { continue };
            let (begin, length) = (names.sh_offset(endian), names.sh_size(endian));
            let first = self.names.length();
            if !keep.add(&mut self.names, begin, length, read) {
                continue;
            }
            self.gather(table.sh_offset(endian), table.sh_size(endian), (first, length), read, wanted);
        }
        let mini = sections.section_by_name(endian, b".gnu_debugdata");
        let mini = mini.map(|(_, section)| section).filter(|section| section.sh_size(endian) <= LARGEST_MINI);
        if let Some(bytes) = mini.and_then(|section| section.data(endian, data).ok()).and_then(unpacked) {
            let whole = self.is_whole;
            // What is held comes after what is in the file.
            let more = Symbols::of_bytes(&bytes, wanted);
            if let Ok(more) = more {
                self.add(more);
            }
            self.is_whole = whole;
        }
        Ok(self)
    }

    /// Adds the symbols of one table; `names` are where its names begin among all, and how long they are.
    fn gather(
        &mut self,
        begin: u64,
        size: u64,
        (first, names): (u64, u64),
        read: &dyn Fn(u64, &mut [u8]) -> bool,
        wanted: Wanted,
    ) {
        let mut part = vec![0; (PART * SYMBOL).min(usize::try_from(size).unwrap_or(usize::MAX)) / SYMBOL * SYMBOL];
        let mut done = 0;
        while !part.is_empty() && size - done >= SYMBOL as u64 && self.entries.len() < MOST {
            let left = usize::try_from(size - done).unwrap_or(usize::MAX) / SYMBOL * SYMBOL;
            let length = left.min(part.len());
            part.truncate(length);
            if !begin.checked_add(done).is_some_and(|at| read(at, &mut part)) {
                return;
            }
            for symbol in part.as_chunks::<SYMBOL>().0 {
                if let Some(entry) = entry(symbol, (first, names), wanted) {
                    self.entries.push(entry);
                }
            }
            done += length as u64;
        }
    }

    /// Adds what was read from memory.
    fn add(&mut self, more: Symbols) {
        let Ok(first) = u32::try_from(self.names.length()) else { return };
        let moved = |entry: &Entry| Some(Entry { name: entry.name.checked_add(first)?, ..*entry });
        // Its sizeless symbols were given a reach; what comes between them counts too.
        self.entries.extend(more.entries.iter().filter_map(moved));
        self.names.held.extend(more.names.held);
    }

    /// Sorted, and without what is never asked for: of one place, all but the shortest symbols.
    fn ordered(mut self) -> Self {
        self.entries.sort_unstable_by_key(Entry::order);
        let mut shortest = (u64::MAX, 0);
        self.entries.retain(|entry| {
            if shortest.0 != entry.start {
                shortest = (entry.start, entry.reach & !LOCAL);
            }
            entry.reach & SIZELESS != 0 || entry.reach & !LOCAL == shortest.1
        });
        self.entries.shrink_to_fit();
        let mut next: Option<u64> = None;
        let mut place = u64::MAX;
        for entry in self.entries.iter_mut().rev() {
            if entry.start != place {
                next = (place != u64::MAX).then_some(place);
                place = entry.start;
            }
            if entry.reach & SIZELESS != 0 {
                let reach = next.map_or(4096, |next| next - entry.start).min(1 << 16) as u32;
                entry.reach = entry.reach & (LOCAL | SIZELESS) | reach;
            }
        }
        self
    }

    /// What holds an address, as its symbol, and how far into it the address is.
    pub(super) fn at(&self, address: u64) -> Option<(String, u64)> {
        self.range(address).map(|(name, range)| (name, address - range.start))
    }

    /// What holds an address, as its symbol, and from where to where it reaches.
    pub(super) fn range(&self, address: u64) -> Option<(String, Range<u64>)> {
        let mut end = self.entries.partition_point(|e| e.start <= address);
        // Where one lies in another, the outer one began earlier.
        for _ in 0..4 {
            let last = self.entries.get(end.checked_sub(1)?)?;
            let begin = end - self.entries.get(..end)?.iter().rev().take_while(|e| e.order() == last.order()).count();
            if address - last.start < last.length() {
                let range = last.start..last.start.saturating_add(last.length());
                return Some((self.best(self.entries.get(begin..end)?)?, range));
            }
            end = begin;
        }
        None
    }

    /// Of several names of one place, the plainest that others can see: `malloc` before `__libc_malloc`.
    fn best(&self, aliases: &[Entry]) -> Option<String> {
        let named = aliases.iter().take(ALIASES).filter_map(|entry| Some((entry, self.names.at(entry.name)?)));
        let ranked = named.map(|(entry, name)| {
            let hidden = name.bytes().take_while(|&b| b == b'_').count().min(7);
            let hidden = if name.starts_with("_Z") || name.starts_with("_R") { 0 } else { hidden };
            (hidden + if entry.reach & LOCAL != 0 { 8 } else { 0 }, name)
        });
        ranked.min().map(|(_, name)| name)
    }

    /// How much memory they take, bytes.
    pub(super) fn size(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.names.held.len()
    }
}

/// Where the names of a table are kept.
#[derive(Clone, Copy)]
enum Keep {
    InFile,
    Held,
}

impl Keep {
    /// Adds a name table. Whether it could be.
    fn add(self, names: &mut Names, begin: u64, length: u64, read: &dyn Fn(u64, &mut [u8]) -> bool) -> bool {
        match self {
            Keep::InFile => {
                names.in_file.push((begin, length));
                true
            }
            Keep::Held if length <= LARGEST_MINI => {
                let from = names.held.len();
                names.held.resize(from + length as usize, 0);
                names.held.get_mut(from..).is_some_and(|into| read(begin, into))
            }
            Keep::Held => false,
        }
    }
}

fn copy(bytes: &[u8], at: u64, into: &mut [u8]) -> bool {
    let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).and_then(|rest| rest.get(..into.len()));
    from.map(|from| into.copy_from_slice(from)).is_some()
}

/// A symbol that is wanted; `None` where it is not, or is in another file.
fn entry(symbol: &[u8; SYMBOL], (first, names): (u64, u64), wanted: Wanted) -> Option<Entry> {
    let [n0, n1, n2, n3, info, _, s0, s1, rest @ ..] = *symbol;
    let [value, size] = [0, 8].map(|at| rest.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes));
    let (name, start, size) = (u32::from_le_bytes([n0, n1, n2, n3]), value?, size?);
    let is_elsewhere = u16::from_le_bytes([s0, s1]) == 0;
    if is_elsewhere || start == 0 || name == 0 || u64::from(name) >= names || !wanted.includes(info & 0xf) {
        return None;
    }
    let local = if info >> 4 == 0 { LOCAL } else { 0 };
    let reach = if size == 0 { SIZELESS } else { size.min(u64::from(SIZELESS - 1)) as u32 };
    Some(Entry { start, reach: reach | local, name: u32::try_from(first + u64::from(name)).ok()? })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::demangle;
    use proptest::prelude::*;

    #[inline(never)]
    fn somewhere() -> usize {
        std::hint::black_box(7)
    }

    fn own() -> Arc<File> {
        Arc::new(File::open("/proc/self/exe").unwrap())
    }

    #[test]
    fn this_program_has_functions() {
        let _ = somewhere();
        let symbols = Symbols::of_file(own(), Wanted::Functions).unwrap();
        assert!(symbols.is_whole && symbols.size() > 1000);
        let address = |symbols: &Symbols| {
            let name = |entry: &Entry| symbols.names.at(entry.name).unwrap_or_default();
            let is_it = |entry: &&Entry| demangle::symbol(&name(entry)).ends_with("symbol_table::tests::somewhere");
            symbols.entries.iter().find(is_it).expect("a function of this program").start
        };
        let start = address(&symbols);
        assert_eq!(symbols.at(start + 1).unwrap().1, 1);
        assert_eq!(symbols.at(1), None);
        // From memory it is the same.
        let held = Symbols::of_bytes(&std::fs::read("/proc/self/exe").unwrap(), Wanted::Functions).unwrap();
        assert_eq!((held.entries.len(), address(&held)), (symbols.entries.len(), start));
        for entry in symbols.entries.iter().step_by(97) {
            assert_eq!(held.range(entry.start), symbols.range(entry.start));
        }
    }

    #[test]
    fn variables_are_no_functions() {
        static HERE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(7);
        HERE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let symbols = Symbols::of_file(own(), Wanted::Variables).unwrap();
        let name = |entry: &Entry| demangle::symbol(&symbols.names.at(entry.name).unwrap_or_default());
        assert!(symbols.entries.iter().any(|entry| name(entry).ends_with("variables_are_no_functions::HERE")));
        assert!(!symbols.entries.iter().any(|entry| name(entry).ends_with("symbol_table::tests::somewhere")));
    }

    /// Symbols of these starts, sizes and names.
    fn symbols(of: &[(u64, u64, &str)]) -> Symbols {
        let mut symbols = Symbols::default();
        symbols.names.held.push(0);
        for &(start, size, name) in of {
            let at = symbols.names.held.len() as u32;
            let reach = if size == 0 { SIZELESS } else { size as u32 };
            symbols.entries.push(Entry { start, reach, name: at });
            symbols.names.held.extend(name.as_bytes());
            symbols.names.held.push(0);
        }
        symbols.ordered()
    }

    #[test]
    fn places_have_one_name() {
        let found = symbols(&[
            (140, 10, "last"),
            (100, 10, "__libc_malloc"),
            (100, 10, "malloc"),
            (100, 30, "longer"),
            (120, 0, "no_size"),
        ]);
        let name = |at| found.at(at);
        assert_eq!(name(105), Some(("malloc".into(), 5)));
        assert_eq!(name(112), None);
        assert_eq!(name(139), Some(("no_size".into(), 19)));
        assert_eq!(name(150), None);
    }

    #[test]
    fn the_outer_one_holds_what_the_inner_one_does_not() {
        let found = symbols(&[(100, 100, "outer"), (120, 10, "inner"), (150, 0, "mark")]);
        let name = |at| found.at(at).map(|(name, _)| name);
        assert_eq!(name(125).as_deref(), Some("inner"));
        assert_eq!(name(135).as_deref(), Some("outer"));
        assert_eq!(name(199).as_deref(), Some("mark"), "to the next one, where there is none for a page");
    }

    #[test]
    fn long_names_are_read_whole() {
        use std::io::Write;
        let mut file = tempfile::tempfile().unwrap();
        let long = "x".repeat(3000);
        file.write_all(format!("\0short\0{long}\0").as_bytes()).unwrap();
        let names = Names { in_file: vec![(0, 3008)], file: Some(Arc::new(file)), held: b"held\0".to_vec() };
        assert_eq!(names.at(1).as_deref(), Some("short"));
        assert_eq!(names.at(7).as_deref(), Some(long.as_str()));
        assert_eq!((names.at(3008).as_deref(), names.at(5000), names.at(0)), (Some("held"), None, None));
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
            if let Ok(symbols) = Symbols::of_bytes(&file, Wanted::Functions) {
                let _ = symbols.at(at as u64);
            }
            let _ = unpacked(&bytes);
        }
    }
}
