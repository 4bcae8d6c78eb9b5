//! What the data at an address of a process is: a variable, what a pointer points to, a place on a stack or of the heap, with its fields, as debug
//! information (DWARF) describes it.

mod areas;
mod debug;
mod frame;
mod heap;
mod scopes;
mod types;

pub(super) use debug::Debug;

use super::{Site, Stacks, demangle, symbols};
use addr2line::gimli;
use debug::{Entry, guarded, within};
use heap::Memory;
use scopes::{Held, Part, Thread};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// From a pointer to the first of several things its address lies no farther, bytes.
const FAR: u64 = 16 << 20;

/// A field or an element of a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// From the thing's start.
    pub offset: u64,
    pub size: u64,
    /// `tallies[3].value`.
    pub path: String,
    pub of_type: String,
}

/// The kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThingKind {
    Global,
    /// A variable on a stack.
    Stack,
    /// What a pointer points to.
    Pointed,
}

/// What lies at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub kind: ThingKind,
    /// The variable; of what is pointed to, its type.
    pub name: String,
    pub module: Option<String>,
    /// `file:line` of its declaration.
    pub source: Option<String>,
    pub start: u64,
    pub size: Option<u64>,
    /// In order.
    pub members: Vec<Member>,
}

/// A thread at an instruction of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub pid: u32,
    /// The instruction.
    pub code: u64,
    /// Registers, by the numbers that instructions encode.
    pub registers: &'a [u64; 32],
}

impl Stacks {
    /// The debug information of a file, read once.
    fn debug(&self, number: u32) -> Option<Arc<Debug>> {
        if let Some(known) = self.state().debugs.get(number) {
            return known;
        }
        let (_, module) = self.module(number)?;
        let file = module.file.as_deref();
        let own = file.and_then(|file| Debug::open(self.host(), file).ok());
        let found = own.or_else(|| {
            let other = symbols::debug_file(self.host(), module.build_id.as_ref()?)?;
            Debug::open(self.host(), &other).ok()
        });
        let found = found.map(Arc::new);
        self.state().debugs.insert(number, found.clone());
        found
    }

    /// The global variable at an address, with its fields within `range`. Without debug information by its symbol.
    pub(crate) fn global(&self, pid: u32, address: u64, range: &Range<u64>) -> Option<Thing> {
        let (number, place, path) = {
            let mut state = self.state();
            let (number, place) = state.processes.data(self.host(), pid, address)?;
            (number, place, Arc::clone(&state.processes.modules.get(number)?.identity.path))
        };
        let module = Some(path.to_string());
        let bias = address.wrapping_sub(place);
        let described = self.debug(number).and_then(|debug| {
            guarded(|| {
                let (start, entry, size) = debug.variable(&debug.index().globals, place)?;
                let name = demangle::symbol(&debug.text(&entry, gimli::DW_AT_name)?);
                let start = start.wrapping_add(bias);
                let members = debug.members(debug.type_of(&entry)?, &within(range, start), &name);
                let source = debug.declared(&entry);
                let (kind, size) = (ThingKind::Global, Some(size));
                Some(Thing { kind, name, module: module.clone(), source, start, size, members })
            })
        });
        described.or_else(|| {
            let (name, symbol) = self.data_range(number, place)?;
            let (start, size) = (symbol.start.wrapping_add(bias), symbol.end - symbol.start);
            let (kind, members) = (ThingKind::Global, Vec::new());
            Some(Thing { kind, name, module, source: None, start, size: Some(size), members })
        })
    }

    /// What a thread's variables point to, if that is at an address; or the variable on its stack that is there.
    pub(crate) fn held(&self, place: Place<'_>, address: u64, range: &Range<u64>) -> Option<Thing> {
        let (_, Site::File(number, code)) = self.site(place.pid, place.code) else { return None };
        let (path, module) = self.module(number)?;
        let debug = self.debug(number)?;
        let memory = File::open(self.host().path(&format!("/proc/{}/mem", place.pid))).ok()?;
        let word = |address: u64| {
            let mut bytes = [0; 8];
            memory.read_exact_at(&mut bytes, address).ok()?;
            Some(u64::from_ne_bytes(bytes))
        };
        let registers: Held = place.registers.map(Some);
        guarded(|| {
            let scope = debug.scope(code)?;
            let cfa = frame::cfa(&module, code, &registers);
            let base = place.code.wrapping_sub(code);
            let thread = Thread { registers: &registers, base, cfa, word: &word };
            let mut found: Option<(u64, Thing)> = None;
            for variable in &scope.variables {
                let Some(parts) = debug.parts(&scope, variable, &thread) else { continue };
                for (offset, _, part) in parts {
                    let entry = debug.entry(variable.die);
                    let pointers = || {
                        let direct = debug.pointee(variable.of).map(|to| (0, to, String::new()));
                        direct.into_iter().chain(debug.pointers(variable.of)).collect::<Vec<_>>()
                    };
                    match part {
                        Part::Value(value) => {
                            let here = pointers().into_iter().find(|(at, ..)| *at == offset);
                            if let Some((_, to, _)) = here {
                                nearer(&mut found, pointed(&debug, to, value, address, range, entry.as_ref(), &path));
                            }
                        }
                        Part::Memory(at) if offset == 0 => {
                            let size = debug.size_of(variable.of).unwrap_or(0);
                            if address.wrapping_sub(at) < size && !debug.is_fixed(&scope, variable) {
                                let members = debug.members(variable.of, &within(range, at), &variable.name);
                                return Some(Thing {
                                    kind: ThingKind::Stack,
                                    name: variable.name.clone(),
                                    module: Some(path.to_string()),
                                    source: entry.as_ref().and_then(|entry| debug.declared(entry)),
                                    start: at,
                                    size: Some(size),
                                    members,
                                });
                            }
                            for (offset, to, _) in pointers() {
                                let Some(value) = word(at.wrapping_add(offset)) else { continue };
                                nearer(&mut found, pointed(&debug, to, value, address, range, entry.as_ref(), &path));
                            }
                        }
                        _ => {}
                    }
                }
            }
            found.map(|(_, thing)| thing)
        })
    }

    /// The allocations of glibc's malloc(3) that overlap a range; `None` where that is not how the memory was had.
    pub(crate) fn allocations(&self, pid: u32, range: &Range<u64>) -> Option<Vec<Range<u64>>> {
        let backing = self.backing(pid, range.start)?;
        let file = File::open(self.host().path(&format!("/proc/{pid}/mem"))).ok()?;
        let mut memory = Memory::new(&file);
        match backing.name.as_str() {
            "[heap]" => heap::main(&mut memory, &backing.range, range),
            "" => heap::other(&mut memory, &backing.range, range)
                .or_else(|| heap::mapped(&mut Memory::new(&file), &backing.range, range)),
            _ => None,
        }
    }

    /// Whether a thread has its own variables right above an address of its stack's mapping.
    pub(crate) fn is_of_thread(&self, pid: u32, address: u64) -> bool {
        let find = || {
            let backing = self.backing(pid, address)?;
            let file = File::open(self.host().path(&format!("/proc/{pid}/mem"))).ok()?;
            areas::descriptor(&mut Memory::new(&file), &backing.range, address)
        };
        find().is_some()
    }
}

/// Keeps the one that begins nearest before the address.
fn nearer(found: &mut Option<(u64, Thing)>, other: Option<(u64, Thing)>) {
    if let Some((far, thing)) = other
        && found.as_ref().is_none_or(|(known, _)| far < *known)
    {
        *found = Some((far, thing));
    }
}

/// What a pointer to a type points to, if that holds the address; or else one of several of the type from there on. With how far the address is.
fn pointed(
    debug: &Debug,
    to: debug::Die,
    value: u64,
    address: u64,
    range: &Range<u64>,
    variable: Option<&Entry>,
    path: &str,
) -> Option<(u64, Thing)> {
    let far = address.checked_sub(value).filter(|far| *far < FAR && value > 4096)?;
    let size = debug.size_of(to).filter(|size| *size > 0)?;
    let name = debug.name_of(to);
    if name.is_empty() {
        return None;
    }
    let is_one = far < size;
    let inside = within(range, value);
    let members = if is_one { debug.members(to, &inside, "") } else { debug.elements(to, &inside, "") };
    let members: Vec<Member> = members
        .into_iter()
        .map(|m| Member { path: m.path.trim_start_matches('.').to_owned(), ..m })
        .filter(|m| !m.path.is_empty())
        .collect();
    let source = debug.peel(to).and_then(|entry| debug.declared(&entry)).or_else(|| debug.declared(variable?));
    let (kind, module) = (ThingKind::Pointed, Some(path.to_owned()));
    let (start, size) = (value, is_one.then_some(size));
    // Several things are farther than one.
    let far = if is_one { far } else { far + FAR };
    Some((far, Thing { kind, name, module, source, start, size, members }))
}
