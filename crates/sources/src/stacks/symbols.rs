//! Functions of ELF files and of their separate debug files, kept for all who name frames; and DWARF, for inlined functions and lines.

use super::demangle;
use super::module::{Module, hexadecimal};
use super::positioned::Positioned;
use super::symbol_table::{Symbols, Wanted};
use addr2line::gimli;
use gimli::{EndianReader, LittleEndian, Reader};
use host::Host;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ReadCache};
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most debug information of one file that is held at once, bytes. What is larger is left out, and that is said.
const LARGEST_DWARF: u64 = 64 << 20;

/// The functions of a file, with those of its debug file where it was stripped.
fn functions(module: &Module, debug: Option<Arc<File>>) -> Symbols {
    let read = |file: Arc<File>| Symbols::of_file(file, Wanted::Functions).ok();
    let own = module.file.clone().and_then(read);
    match (own, debug.and_then(read)) {
        (Some(own), None) => own,
        (Some(own), _) if own.is_whole => own,
        (_, Some(other)) => other,
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
        let read = Arc::new(functions(module, debug().map(Arc::new)));
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

    #[inline(never)]
    fn somewhere() -> u64 {
        std::hint::black_box(somewhere as fn() -> u64 as usize as u64)
    }

    #[test]
    fn this_program_has_lines() {
        let stacks = crate::stacks::Stacks::default();
        let (_, crate::stacks::Site::File(_, start)) = stacks.site(std::process::id(), somewhere()) else {
            panic!("a file")
        };
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
}
