//! What is in scope at an instruction: variables and parameters, also those of functions that were put into this one, and where they are just there.

use super::debug::{Debug, Die, Entry, Tree, guarded};
use crate::stacks::symbols::Bytes;
use addr2line::gimli;
use gimli::{AttributeValue, EvaluationResult, Expression, Location, Piece};
use std::sync::{Arc, PoisonError};

/// The most variables of one place in code.
const MOST: usize = 256;

/// Operations of one expression, and words it may read.
const LONGEST: u32 = 256;
const READS: u32 = 16;

/// What a thread's registers hold, by the numbers that instructions encode; `None` where that is not known.
pub(super) type Held = [Option<u64>; 32];

/// What is in scope at an instruction.
pub(super) struct Scope {
    unit: Die,
    frame_base: Option<Expression<Bytes>>,
    pub variables: Vec<Variable>,
}

/// A variable or a parameter.
pub(super) struct Variable {
    pub name: String,
    pub of: Die,
    pub die: Die,
    location: Expression<Bytes>,
}

/// A thread at an instruction.
pub(super) struct Thread<'a> {
    pub registers: &'a Held,
    /// The address in the process of what lies at 0 in its file.
    pub base: u64,
    /// The canonical frame address: the stack pointer before the function was called.
    pub cfa: Option<u64>,
    /// Reads a word of the process's memory.
    pub word: &'a dyn Fn(u64) -> Option<u64>,
}

/// Where a part of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Memory(u64),
    /// What it is: from a register, or calculated.
    Value(u64),
    Unknown,
}

/// The parts of a variable: where each begins in it, its size if it is not the whole, and where it is.
pub(super) type Parts = Vec<(u64, Option<u64>, Part)>;

impl Debug {
    /// What is in scope at an address of the file.
    pub(super) fn scope(&self, address: u64) -> Option<Arc<Scope>> {
        let known = self.scopes.lock().unwrap_or_else(PoisonError::into_inner).get(&address).cloned();
        if let Some(known) = known {
            return known;
        }
        let units = self.units_at(address);
        let found = units.into_iter().find_map(|unit| self.scope_in(Die { extra: false, unit, at: 0 }, address));
        let found = found.map(Arc::new);
        let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        if scopes.len() >= 4096 {
            scopes.clear();
        }
        scopes.insert(address, found.clone());
        found
    }

    fn scope_in(&self, unit: Die, address: u64) -> Option<Scope> {
        let parsed = self.parsed(unit)?;
        let dwarf = self.dwarf(unit.extra)?;
        let mut scope = Scope { unit, frame_base: None, variables: Vec::new() };
        // How deep the scopes lie that the address is in, outermost first: a function, and what is in it.
        let mut open: Vec<isize> = Vec::new();
        let mut entries = parsed.unit.entries_raw(None).ok()?;
        let mut tree = Tree::default();
        while !entries.is_empty() {
            let depth = entries.next_depth();
            if open.first().is_some_and(|&of| depth <= of) {
                break;
            }
            while open.last().is_some_and(|&of| depth <= of) {
                open.pop();
            }
            if !entries.read_entry(&mut tree).ok()? {
                continue;
            }
            match tree.tag() {
                gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_lexical_block => {
                    let is_function = tree.tag() == gimli::DW_TAG_subprogram;
                    // A block within what the address is not in cannot have it.
                    let wanted = match open.last() {
                        None => is_function,
                        Some(&of) => depth == of + 1,
                    };
                    if wanted && holds(dwarf, &parsed.unit, &tree, address) {
                        open.push(depth);
                        if is_function {
                            scope.frame_base =
                                self.at(&parsed.unit, unit, tree.attr_value(gimli::DW_AT_frame_base), address);
                        }
                    }
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter
                    if open.last().is_some_and(|&of| depth == of + 1) && scope.variables.len() < MOST =>
                {
                    let location = self.at(&parsed.unit, unit, tree.attr_value(gimli::DW_AT_location), address);
                    let Some(location) = location else { continue };
                    let die = Die { at: tree.offset().0, ..unit };
                    let entry = Entry { die, parsed: Arc::clone(&parsed), tree: tree.clone() };
                    let Some(of) = self.type_of(&entry) else { continue };
                    let name = self.text(&entry, gimli::DW_AT_name).unwrap_or_default();
                    scope.variables.push(Variable { name, of, die, location });
                }
                _ => {}
            }
        }
        scope.frame_base.is_some().then_some(scope)
    }

    /// The expression that holds at an address.
    fn at(
        &self,
        unit: &super::debug::Unit,
        die: Die,
        value: Option<AttributeValue<Bytes>>,
        address: u64,
    ) -> Option<Expression<Bytes>> {
        match value? {
            AttributeValue::Exprloc(expression) => Some(expression),
            value => {
                let mut list = self.dwarf(die.extra)?.attr_locations(unit, value).ok()??;
                for _ in 0..100_000 {
                    let entry = list.next().ok()??;
                    if entry.range.begin <= address && address < entry.range.end {
                        return Some(entry.data);
                    }
                }
                None
            }
        }
    }

    /// Where a variable is, of a thread at the instruction of the scope.
    pub(super) fn parts(&self, scope: &Scope, variable: &Variable, thread: &Thread<'_>) -> Option<Parts> {
        let pieces = self.evaluate(scope, variable.location.clone(), thread, true)?;
        let mut at = 0u64;
        let mut found = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let size = piece.size_in_bits.map(|bits| bits / 8);
            let part = match piece.location {
                Location::Register { register } => held(thread.registers, register).map_or(Part::Unknown, Part::Value),
                Location::Address { address } => Part::Memory(address),
                Location::Value { value } => value.to_u64(u64::MAX).map_or(Part::Unknown, Part::Value),
                _ => Part::Unknown,
            };
            found.push((at, size, part));
            at = at.saturating_add(size.unwrap_or(0));
        }
        Some(found)
    }

    fn evaluate(
        &self,
        scope: &Scope,
        expression: Expression<Bytes>,
        thread: &Thread<'_>,
        in_frame: bool,
    ) -> Option<Vec<Piece<Bytes>>> {
        let parsed = self.parsed(scope.unit)?;
        let dwarf = self.dwarf(scope.unit.extra)?;
        let mut evaluation = expression.evaluation(parsed.unit.encoding());
        evaluation.set_max_iterations(LONGEST);
        let mut state = evaluation.evaluate().ok()?;
        let mut reads = READS;
        for _ in 0..LONGEST {
            state = match state {
                EvaluationResult::Complete => return Some(evaluation.result()),
                EvaluationResult::RequiresRegister { register, base_type } if base_type.0 == 0 => {
                    let value = held(thread.registers, register)?;
                    evaluation.resume_with_register(gimli::Value::Generic(value)).ok()?
                }
                EvaluationResult::RequiresFrameBase if in_frame => {
                    let base = self.frame_base(scope, thread)?;
                    evaluation.resume_with_frame_base(base).ok()?
                }
                EvaluationResult::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(thread.cfa?).ok()?,
                EvaluationResult::RequiresMemory { address, size, space: None, base_type } if base_type.0 == 0 => {
                    reads = reads.checked_sub(1)?;
                    let word = (thread.word)(address)?;
                    let mask = if size >= 8 { u64::MAX } else { (1u64 << (u32::from(size) * 8)) - 1 };
                    evaluation.resume_with_memory(gimli::Value::Generic(word & mask)).ok()?
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(thread.base)).ok()?
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let address = dwarf.address(&parsed.unit, index).ok()?;
                    let base = if relocate { thread.base } else { 0 };
                    evaluation.resume_with_indexed_address(address.wrapping_add(base)).ok()?
                }
                // What a register held when the function was called, a variable of its caller, and the like.
                _ => return None,
            };
        }
        None
    }

    fn frame_base(&self, scope: &Scope, thread: &Thread<'_>) -> Option<u64> {
        let pieces = self.evaluate(scope, scope.frame_base.clone()?, thread, false)?;
        match pieces.first()?.location {
            Location::Register { register } => held(thread.registers, register),
            Location::Address { address } => Some(address),
            Location::Value { value } => value.to_u64(u64::MAX).ok(),
            _ => None,
        }
    }

    /// Whether a variable has the same address in every thread.
    pub(super) fn is_fixed(&self, scope: &Scope, variable: &Variable) -> bool {
        let run = || {
            let parsed = self.parsed(scope.unit)?;
            let first = variable.location.clone().operations(parsed.unit.encoding()).next().ok()??;
            Some(matches!(first, gimli::Operation::Address { .. } | gimli::Operation::AddressIndex { .. }))
        };
        guarded(run).unwrap_or(false)
    }
}

fn holds(dwarf: &gimli::Dwarf<Bytes>, unit: &super::debug::Unit, tree: &Tree, address: u64) -> bool {
    let Ok(mut ranges) = dwarf.die_ranges(unit, tree) else { return false };
    for _ in 0..100_000 {
        match ranges.next() {
            Ok(Some(range)) if range.begin <= address && address < range.end => return true,
            Ok(Some(_)) => {}
            _ => return false,
        }
    }
    false
}

/// What a register holds, by the number that DWARF gives it.
fn held(registers: &Held, register: gimli::Register) -> Option<u64> {
    registers.get(number(register)?).copied().flatten()
}

/// The number by which instructions encode a register of DWARF.
pub(super) fn number(register: gimli::Register) -> Option<usize> {
    // The System V ABI for x86-64, figure 3.36, has rdx before rcx and so on.
    const X86_64: [usize; 8] = [0, 2, 1, 3, 6, 7, 5, 4];
    let register = usize::from(register.0);
    if cfg!(target_arch = "x86_64") {
        return X86_64.get(register).copied().or((register < 16).then_some(register));
    }
    (register < 32).then_some(register)
}
