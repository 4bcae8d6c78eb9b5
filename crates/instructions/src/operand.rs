//! Where in memory instructions read and write, computed from the registers of a sample: of the one that was waited for, and of those that come after.

use crate::steps::{State, after, start};
use crate::{Code, Flow, Instruction, Register, Work};

/// General registers of a sample, by [`Register::column`].
pub type Values = [u64; Register::GENERAL];

/// A place in memory that an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The instruction, by index.
    pub instruction: usize,
    /// The address.
    pub address: u64,
    /// It is an address of the code, as that was decoded: no register takes part.
    pub of_code: bool,
    /// The register that the address comes from, with its value then.
    pub base: Option<(Register, u64)>,
    /// It is sure to be executed once the sampled one is: no jump lies between.
    pub sure: bool,
}

/// From the sampled instruction on so many are looked at, over so many jumps.
const AHEAD: usize = 96;
const JUMPS: usize = 5;

/// What registers are, by those that were sampled.
fn value(state: &State, values: &Values, register: Register) -> Option<u64> {
    let known = register.column().and_then(|at| state.get(at).copied().flatten())?;
    let of = known.of.column().and_then(|at| values.get(at).copied())?;
    let sum = of.wrapping_add(known.add as u64);
    Some(if known.bits == 32 { sum & 0xffff_ffff } else { sum })
}

fn touch(code: &Code, at: usize, state: &State, values: &Values, sure: bool) -> Option<Touch> {
    let instruction = code.instructions.get(at)?;
    let memory = instruction.memory.filter(|m| !m.of_thread && (m.reads || m.writes))?;
    if instruction.work == Work::Prefetch {
        return None;
    }
    if let Some(address) = memory.absolute {
        return Some(Touch { instruction: at, address, of_code: true, base: None, sure });
    }
    let of = |register: Option<Register>| register.map(|r| value(state, values, r));
    let base = match of(memory.base) {
        Some(None) => return None,
        known => known.flatten(),
    };
    let index = match of(memory.index) {
        Some(None) => return None,
        Some(Some(index)) if memory.index_bits == 32 => index & 0xffff_ffff,
        known => known.flatten().unwrap_or(0),
    };
    let address = base
        .unwrap_or(0)
        .wrapping_add(index.wrapping_mul(memory.scale.into()))
        .wrapping_add(memory.displacement as u64);
    let base = memory.base.zip(base);
    Some(Touch { instruction: at, address, of_code: false, base, sure })
}

/// Where the instruction `waited` read or wrote, by the registers after it. `None` where it does not use memory, or has itself changed a register of
/// its address in a way that cannot be undone.
pub fn touched(code: &Code, waited: usize, values: &Values) -> Option<Touch> {
    let instruction = code.instructions.get(waited)?;
    let state = after(&start(), instruction);
    let mut before = *values;
    let mut known = [false; Register::GENERAL];
    for (now, at) in state.iter().zip(values) {
        if let Some((now, old)) = now.and_then(|now| Some((now, now.of.column()?)))
            && now.bits == 64
            && let (Some(before), Some(known)) = (before.get_mut(old), known.get_mut(old))
        {
            *before = at.wrapping_sub(now.add as u64);
            *known = true;
        }
    }
    let mut usable = start();
    usable.iter_mut().zip(known).for_each(|(value, known)| *value = value.filter(|_| known));
    touch(code, waited, &usable, &before, true)
}

/// Where instructions will read and write from the sampled one, `at`, on, as far as its registers tell. Where jumps part, both ways are followed.
pub fn ahead(code: &Code, at: usize, values: &Values) -> Vec<Touch> {
    let mut found = Vec::new();
    let mut seen = Vec::new();
    let mut todo = vec![(at, start(), 0usize)];
    let mut left = AHEAD;
    while let Some((from, mut state, jumps)) = todo.pop() {
        let Some(number) = code.block_of(from) else { continue };
        if seen.contains(&from) {
            continue;
        }
        seen.push(from);
        let Some(block) = code.blocks.get(number) else { continue };
        let mut goes_on = true;
        for index in from..block.end {
            // Once round a loop: each instruction counts as it is met first.
            if index != from && seen.contains(&index) {
                goes_on = false;
                break;
            }
            let Some(instruction) = code.instructions.get(index).filter(|i| i.work != Work::Unknown) else {
                goes_on = false;
                break;
            };
            let Some(less) = left.checked_sub(1) else { return found };
            left = less;
            found.extend(touch(code, index, &state, values, jumps == 0));
            state = after(&state, instruction);
            goes_on = !is_call(instruction);
            // What is called may take any time: what comes after it is no longer near the sample.
            if !goes_on {
                break;
            }
        }
        if goes_on && jumps < JUMPS && !block.assumed {
            let next = block.successors.iter().filter_map(|&next| code.blocks.get(next));
            todo.extend(next.map(|next| (next.first, state, jumps + 1)));
        }
    }
    found
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow, Flow::Call | Flow::IndirectCall) || instruction.work == Work::System
}
