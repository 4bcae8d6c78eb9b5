//! What a round of a loop does to registers: which change by a constant, and so count the rounds, and which stay.

use crate::{Assign, Code, Instruction, Loop, Register};

/// A register as it was when the round began, plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) of: Register,
    pub(crate) add: i64,
    /// 64, or 32 where only the lower half is so.
    pub(crate) bits: u8,
}

/// What is known of each general register at one place of a round.
pub(crate) type State = [Option<Value>; Register::GENERAL];

/// A register that changes by the same constant in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Which one.
    pub register: Register,
    /// By how much a round. Never 0.
    pub step: i64,
    /// 64, or 32 where only its lower half counts.
    pub bits: u8,
}

/// What rounds of a loop do to registers.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Registers that count the rounds.
    pub counters: Vec<Counter>,
    /// Registers that no round changes. A call in the loop is taken to keep what the machine's convention says.
    pub constant: Vec<Register>,
    /// Before each instruction of the loop, by its index.
    states: Vec<(usize, State)>,
}

impl Steps {
    /// What registers say, at an instruction of the loop, of those with which the round began.
    pub(crate) fn at(&self, instruction: usize) -> Option<&State> {
        self.states
            .binary_search_by_key(&instruction, |(at, _)| *at)
            .ok()
            .and_then(|at| self.states.get(at))
            .map(|(_, state)| state)
    }
}

/// Registers as they are.
pub(crate) fn start() -> State {
    std::array::from_fn(|n| u8::try_from(n).ok().and_then(Register::general).map(|of| Value { of, add: 0, bits: 64 }))
}

fn of(state: &State, register: Register) -> Option<Value> {
    register.column().and_then(|at| state.get(at).copied().flatten())
}

/// The same after an instruction.
pub(crate) fn after(state: &State, instruction: &Instruction) -> State {
    let mut next = *state;
    for register in instruction.writes.iter() {
        if let Some(value) = register.column().and_then(|at| next.get_mut(at)) {
            *value = None;
        }
    }
    for Assign { to, from, add, bits } in instruction.assigns.iter().flatten() {
        let value =
            of(state, *from).map(|v| Value { of: v.of, add: v.add.wrapping_add(*add), bits: v.bits.min(*bits) });
        if let Some(next) = to.column().and_then(|at| next.get_mut(at)) {
            *next = value;
        }
    }
    next
}

fn join(a: &State, b: &State) -> State {
    std::array::from_fn(|n| match (a.get(n).copied().flatten(), b.get(n).copied().flatten()) {
        (Some(a), Some(b)) if a.of == b.of && a.add == b.add => Some(Value { bits: a.bits.min(b.bits), ..a }),
        _ => None,
    })
}

/// What the rounds of a loop do to registers, whatever way they take.
pub fn steps(code: &Code, which: &Loop) -> Steps {
    let place = |block: usize| which.blocks.binary_search(&block).ok();
    let mut before: Vec<Option<State>> = vec![None; which.blocks.len()];
    let mut ends: Vec<Option<State>> = vec![None; which.blocks.len()];
    // From nothing known to be reached upwards: each state only loses, so it ends.
    let mut todo = std::collections::BTreeSet::from([which.head]);
    while let Some(block) = todo.pop_first() {
        let Some(at) = place(block) else { continue };
        let entry = if block == which.head {
            Some(start())
        } else {
            let from = code.blocks.get(block).map_or(&[][..], |b| &b.predecessors);
            let known = from.iter().filter_map(|&p| place(p)).filter_map(|p| ends.get(p).copied().flatten());
            known.reduce(|a, b| join(&a, &b))
        };
        let Some(entry) = entry else { continue };
        let end = code.of_block(block).iter().fold(entry, |state, instruction| after(&state, instruction));
        if let Some(before) = before.get_mut(at) {
            *before = Some(entry);
        }
        let changed = ends.get(at).is_some_and(|old| *old != Some(end));
        if let Some(ends) = ends.get_mut(at) {
            *ends = Some(end);
        }
        if changed {
            let next = code.blocks.get(block).map_or(&[][..], |b| &b.successors);
            todo.extend(next.iter().copied().filter(|&s| s != which.head && place(s).is_some()));
        }
    }
    let round = which
        .latches
        .iter()
        .filter_map(|&l| place(l))
        .filter_map(|l| ends.get(l).copied().flatten())
        .reduce(|a, b| join(&a, &b));
    let mut steps = Steps { counters: Vec::new(), constant: Vec::new(), states: Vec::new() };
    for register in (0..Register::GENERAL as u8).filter_map(Register::general) {
        match round.as_ref().and_then(|round| of(round, register)).filter(|value| value.of == register) {
            Some(value) if value.add == 0 => steps.constant.push(register),
            Some(value) if value.bits == 64 || value.add != 0 && i32::try_from(value.add).is_ok() => {
                steps.counters.push(Counter { register, step: value.add, bits: value.bits });
            }
            _ => {}
        }
    }
    for (at, &block) in which.blocks.iter().enumerate() {
        let Some(mut state) = before.get(at).copied().flatten() else { continue };
        let first = code.blocks.get(block).map_or(0, |b| b.first);
        for (n, instruction) in code.of_block(block).iter().enumerate() {
            steps.states.push((first + n, state));
            state = after(&state, instruction);
        }
    }
    steps
}
