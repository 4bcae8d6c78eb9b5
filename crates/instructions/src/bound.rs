//! The least that a round of a loop costs on a CPU of today when all it needs is near: the longest chain of results that the next round waits for, and
//! how many instructions go through at once. Coarse on purpose: one table for all CPUs, after what their makers publish of latencies and widths. It
//! tells loops that compute from loops that wait for memory, which are a factor of two apart and more; it does not predict.

use crate::{Code, Instruction, Memory, Register, Work};
use std::collections::HashMap;

/// What a round waits for at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Results of the round before.
    Chain,
    /// As many instructions as go through at once.
    Width,
    /// Units that take one operation at a time, as those that divide.
    Unit,
}

/// A lower bound of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// CPU cycles of a round.
    pub cycles: f64,
    /// By what.
    pub limit: Limit,
    /// Instructions of a round.
    pub instructions: usize,
}

/// What a round that took a number of cycles spends them on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// On what it computes: up to 1.8 times the bound.
    Core,
    /// On memory: from 3.9 times the bound.
    Memory,
    /// Either may be.
    Between,
}

/// Instructions that go through in a cycle.
const WIDTH: f64 = 5.0;
/// Loads and stores that do.
const LOADS: f64 = 2.0;
const STORES: f64 = 1.0;
/// From an address to the value, in cycles, when the line is in the L1 cache.
const LOAD: f64 = 4.0;

/// How far a measured round is from its bound.
pub fn judge(bound: &Bound, cycles: f64) -> Verdict {
    let ratio = cycles / bound.cycles;
    if ratio <= 1.8 {
        Verdict::Core
    } else if ratio >= 3.9 {
        Verdict::Memory
    } else {
        Verdict::Between
    }
}

/// Cycles until what an instruction computes is there; `None` where that depends on more than the instruction.
fn latency(work: Work) -> Option<f64> {
    Some(match work {
        Work::Nop | Work::Prefetch => 0.0,
        Work::Copy | Work::Simple | Work::Vector | Work::Branch => 1.0,
        Work::Multiply | Work::Convert => 3.0,
        Work::FloatAdd => 3.0,
        Work::FloatMultiply | Work::Crypto => 4.0,
        Work::Divide => 12.0,
        Work::FloatDivide => 13.0,
        Work::Atomic => 18.0,
        Work::Call | Work::Return | Work::Serialising | Work::Pause | Work::Long | Work::System | Work::Unknown => {
            return None;
        }
    })
}

/// Cycles for which an instruction keeps the unit that it needs.
fn occupies(work: Work) -> f64 {
    match work {
        Work::Divide => 6.0,
        Work::FloatDivide => 5.0,
        Work::Atomic => 18.0,
        _ => 0.0,
    }
}

/// Where a store is read again, as long as no register of its address changes.
type Place = (Option<Register>, Option<Register>, u8, i64, Option<u64>, bool);

fn place(memory: &Memory) -> Place {
    (memory.base, memory.index, memory.scale, memory.displacement, memory.absolute, memory.of_thread)
}

/// The bound of a round, which is a list of instructions by index ([`Code::round`]). `None` where it holds some whose time the code does not tell: calls,
/// string instructions, system calls, fences.
pub fn bound(code: &Code, round: &[usize]) -> Option<Bound> {
    let instructions: Vec<&Instruction> = round.iter().map(|&at| code.instructions.get(at)).collect::<Option<_>>()?;
    if instructions.is_empty() {
        return None;
    }
    let mut unit = 0.0;
    let (mut loads, mut stores) = (0.0f64, 0.0f64);
    let mut issued = 0.0f64;
    let mut before: Option<&Instruction> = None;
    for instruction in &instructions {
        latency(instruction.work)?;
        unit += occupies(instruction.work);
        loads += f64::from(u8::from(instruction.loads()));
        stores += f64::from(u8::from(instruction.stores()));
        // A comparison and the branch on it are one.
        let fused = instruction.flow == crate::Flow::Branch
            && before.is_some_and(|b| b.work == Work::Simple && b.writes.contains(Register::FLAGS));
        issued += if fused { 0.0 } else { 1.0 };
        before = Some(instruction);
    }
    let written = instructions.iter().fold(crate::Registers::default(), |all, i| all.union(i.writes));
    let steady = |memory: &Memory| {
        [memory.base, memory.index]
            .into_iter()
            .flatten()
            .all(|r| !written.contains(r) || r == Register::stack(code.machine))
    };
    // Rounds one after the other, each instruction as soon as what it reads is there.
    const ROUNDS: usize = 48;
    let mut ready: HashMap<Register, f64> = HashMap::new();
    let mut stored: HashMap<Place, f64> = HashMap::new();
    let mut last = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let mut latest = 0.0f64;
        for instruction in &instructions {
            let when = |r: Register| ready.get(&r).copied().unwrap_or(0.0);
            let address =
                instruction.memory.iter().flat_map(|m| [m.base, m.index]).flatten().map(when).fold(0.0, f64::max);
            let mut inputs = instruction.reads.iter().map(when).fold(0.0, f64::max);
            if let Some(memory) = instruction.memory.filter(|m| m.reads) {
                let value = if steady(&memory) { stored.get(&place(&memory)).copied().unwrap_or(0.0) } else { 0.0 };
                inputs = inputs.max(address.max(value) + LOAD);
            }
            let cost =
                if instruction.loads() && instruction.work == Work::Copy { 0.0 } else { latency(instruction.work)? };
            let done = inputs + cost;
            if let Some(memory) = instruction.memory.filter(|m| m.writes && steady(m)) {
                stored.insert(place(&memory), done);
            }
            for register in instruction.writes.iter() {
                let assigned = instruction.assigns.iter().flatten().find(|a| a.to == register);
                let at = match assigned {
                    // The stack's pointer is counted where instructions are decoded, and copies of registers are names.
                    Some(a) if a.to == Register::stack(code.machine) => when_of(&ready, a.from),
                    Some(a) if instruction.work == Work::Copy && !instruction.loads() => when_of(&ready, a.from),
                    Some(a) => when_of(&ready, a.from) + 1.0,
                    None => done,
                };
                ready.insert(register, at);
                latest = latest.max(at);
            }
            latest = latest.max(if instruction.stores() { done } else { 0.0 });
        }
        last.push(latest);
    }
    let slope = match (last.get(ROUNDS / 2), last.last()) {
        (Some(a), Some(b)) => (b - a) / (ROUNDS - 1 - ROUNDS / 2) as f64,
        _ => 0.0,
    };
    let width = (issued / WIDTH).max(loads / LOADS).max(stores / STORES).max(1.0);
    let (cycles, limit) = [(slope, Limit::Chain), (unit, Limit::Unit), (width, Limit::Width)]
        .into_iter()
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Bound { cycles, limit, instructions: instructions.len() })
}

fn when_of(ready: &HashMap<Register, f64>, register: Register) -> f64 {
    ready.get(&register).copied().unwrap_or(0.0)
}
