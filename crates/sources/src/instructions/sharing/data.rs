//! What lies in a shared line: asked once, while the process is there.

use super::java::Jvms;
use super::lines::{Access, Key, LINE, Line};
use super::space::Space;
use crate::stacks::{Position, Stacks, Thing, ThingKind};
use std::ops::Range;

/// Accesses whose data is looked for.
pub(super) const ASKED: usize = 24;

/// A field or element within a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Field {
    /// In the line; negative where it begins before it.
    pub first: i64,
    pub size: u64,
    pub name: String,
    pub of_type: String,
}

/// What a line holds, of what its accesses go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Data {
    /// The kind of memory, as the table says it.
    pub memory: Option<&'static str>,
    /// The variable, type or class; empty where nobody tells.
    pub name: String,
    pub module: Option<String>,
    pub source: Option<String>,
    pub start: Option<u64>,
    pub size: Option<u64>,
    pub note: Option<String>,
    pub fields: Vec<Field>,
}

/// What a line holds.
pub(super) fn of(stacks: &Stacks, jvms: &mut Jvms, line: &Line) -> Data {
    let mut accesses: Vec<(&Key, &Access)> = line.accesses.iter().collect();
    accesses.sort_by_key(|(key, access)| (std::cmp::Reverse((access.waited, access.hits, access.seen)), **key));
    let range = line.address..line.address + LINE;
    let shared = matches!(line.space, Space::Shared(..)).then_some("shared memory");
    if let Some(data) = jvms.data(stacks, line, &range, &accesses) {
        return data;
    }
    let mut data = Data { memory: shared, ..Data::default() };
    for (key, access) in accesses.iter().take(ASKED).filter(|(_, access)| access.pid == line.pid) {
        let Some(thing) = thing(stacks, line, &range, key, access) else { continue };
        if data.name.is_empty() {
            data.memory = shared.or_else(|| Some(memory(stacks, line.pid, &thing, &accesses)));
            data.name.clone_from(&thing.name);
            (data.module, data.source) = (thing.module.clone(), thing.source.clone());
            (data.start, data.size) = (Some(thing.start), thing.size);
        }
        for member in thing.members {
            let first = thing.start.wrapping_add(member.offset).wrapping_sub(line.address) as i64;
            let field = Field { first, size: member.size, name: member.path, of_type: member.of_type };
            if !data.fields.contains(&field) {
                data.fields.push(field);
            }
        }
    }
    if data.memory.is_none() {
        data.memory = unnamed(stacks, line, &accesses);
    }
    if matches!(data.memory, Some("heap")) {
        let allocations = stacks.allocations(line.pid, &range).unwrap_or_default();
        if let ([first, .., last], true) = (allocations.as_slice(), allocations.len() > 1) {
            let sizes = [first, last].map(|a| a.end - a.start);
            data.note = Some(format!(
                "the line holds {} allocations of malloc, of {} to {} bytes: give each a line of its own (aligned_alloc(64, …)), or allocate in the thread that uses it",
                allocations.len(),
                sizes.iter().min().unwrap_or(&0),
                sizes.iter().max().unwrap_or(&0),
            ));
        }
        if data.start.is_none()
            && let [only] = allocations.as_slice()
        {
            (data.start, data.size) = (Some(only.start), Some(only.end - only.start));
        }
    }
    data.fields.sort_by_key(|field| (field.first, field.size));
    data
}

fn thing(stacks: &Stacks, line: &Line, range: &Range<u64>, key: &Key, access: &Access) -> Option<Thing> {
    let address = line.address + key.offset % LINE;
    if let Some(global) = stacks.global(line.pid, address, range) {
        return Some(global);
    }
    let mut registers = **access.registers.as_ref()?;
    // It may have been overwritten since by what was loaded.
    if let Some((register, value)) = access.base
        && let Some(held) = registers.get_mut(usize::from(register))
    {
        *held = value;
    }
    stacks.held(Position { pid: line.pid, code: key.code, registers: &registers }, address, range)
}

/// The number of the stack pointer.
const STACK: usize = if cfg!(target_arch = "aarch64") { 31 } else { 4 };

/// The threads' stacks that an address may lie on: those whose stack pointers are in the same mapping.
fn is_on_stack(stacks: &Stacks, pid: u32, address: u64, accesses: &[(&Key, &Access)]) -> bool {
    let Some(backing) = stacks.backing(pid, address) else { return false };
    accesses.iter().any(|(_, access)| {
        access.registers.as_ref().and_then(|held| held.get(STACK)).is_some_and(|sp| backing.range.contains(sp))
    })
}

fn memory(stacks: &Stacks, pid: u32, thing: &Thing, accesses: &[(&Key, &Access)]) -> &'static str {
    match thing.kind {
        ThingKind::Global => "global",
        ThingKind::Stack => "stack",
        ThingKind::Pointed if stacks.global(pid, thing.start, &(0..0)).is_some() => "global",
        ThingKind::Pointed if is_on_stack(stacks, pid, thing.start, accesses) => "stack",
        ThingKind::Pointed => "heap",
    }
}

/// The kind of memory of what nobody names.
fn unnamed(stacks: &Stacks, line: &Line, accesses: &[(&Key, &Access)]) -> Option<&'static str> {
    if is_on_stack(stacks, line.pid, line.address, accesses) {
        return Some(if stacks.is_of_thread(line.pid, line.address) { "thread-local" } else { "stack" });
    }
    stacks.allocations(line.pid, &(line.address..line.address + LINE)).is_some().then_some("heap")
}
