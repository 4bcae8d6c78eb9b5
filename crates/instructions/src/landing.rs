//! Where samples land, and what the CPU waited for there. A timer interrupts the CPU at the instruction that is next to be done: the one that it waited
//! for is the one before, in the order of execution. Where the code tells which that was, the sample is its; where it does not, as after a jump to a place
//! that many jump to, the sample is the target's: the CPU waited for the instructions themselves, or had guessed the jump wrong.

use crate::{Code, Flow, Instruction, Register, Work};

/// How far behind the instruction that waits samples land on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skid {
    /// On the instruction itself.
    None,
    /// On the next.
    One,
    /// It is not known.
    Unknown,
}

/// What the CPU waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wait {
    /// A value from memory.
    Load,
    /// Room for a store.
    Store,
    /// A line of memory, for itself alone, or all memory before.
    Atomic,
    /// A division, a root, or another instruction of many steps.
    Long,
    /// The instructions at the target of a jump, or the way back from a jump that was guessed wrong.
    Fetch,
    /// All that was before.
    Serialising,
    /// It was told to wait: `pause`, `yield`.
    Spin,
    /// Results of other instructions, or nothing in particular.
    Core,
    /// It cannot be told.
    Unknown,
}

impl Wait {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Wait::Load => "load",
            Wait::Store => "store",
            Wait::Atomic => "atomic",
            Wait::Long => "long",
            Wait::Fetch => "fetch",
            Wait::Serialising => "serialising",
            Wait::Spin => "spin",
            Wait::Core => "core",
            Wait::Unknown => "unknown",
        }
    }
}

/// Whose a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// An instruction's, by index: it was waited for.
    On(usize),
    /// The entry's into an instruction, by index: how control came there is not known from the code.
    Entering(usize),
    /// Nobody's: no instruction begins there.
    Nowhere,
}

/// Samples by what they waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    /// Samples of each instruction, by index.
    pub on: Vec<u64>,
    /// Samples of the entry into each instruction.
    pub entering: Vec<u64>,
    /// Samples that landed nowhere.
    pub nowhere: u64,
}

/// What samples of a known loop say of the skid: `load` is the address of the only instruction that waits, `next` that of the one after it.
pub fn calibrate(load: u64, next: u64, sampled: &[u64]) -> Skid {
    let share = |address: u64| sampled.iter().filter(|&&ip| ip == address).count() as f64 / sampled.len() as f64;
    if sampled.len() < 5 {
        Skid::Unknown
    } else if share(next) >= 0.8 {
        Skid::One
    } else if share(load) >= 0.8 {
        Skid::None
    } else {
        Skid::Unknown
    }
}

/// Whose a sample at an address is.
pub fn landed(code: &Code, address: u64, skid: Skid) -> Landed {
    let Some(at) = code.at(address) else { return Landed::Nowhere };
    if code.instructions.get(at).is_none_or(|i| i.work == Work::Unknown) {
        return Landed::Nowhere;
    }
    match skid {
        Skid::None => return Landed::On(at),
        Skid::Unknown => return Landed::Entering(at),
        Skid::One => {}
    }
    let before = |at: usize| at.checked_sub(1).and_then(|before| code.instructions.get(before).map(|i| (before, i)));
    let simple = |i: &Instruction| matches!(i.work, Work::Copy | Work::Simple) && !i.loads() && i.flow == Flow::Next;
    if code.instructions.get(at).is_some_and(|i| i.is_left_unfinished())
        && before(at).is_none_or(|(_, i)| simple(i) || i.flow != Flow::Next)
    {
        return Landed::On(at);
    }
    // That takes so long that whoever jumps here as well does not matter.
    if let Some((before, _)) = before(at).filter(|(_, i)| i.flow == Flow::Next && i.is_always_long()) {
        return Landed::On(before);
    }
    let Some(number) = code.block_of(at) else { return Landed::Nowhere };
    let Some(block) = code.blocks.get(number) else { return Landed::Nowhere };
    if at > block.first {
        return match before(at) {
            // Control comes back from the function that was called.
            Some((_, i)) if matches!(i.flow, Flow::Call | Flow::IndirectCall) => Landed::Entering(at),
            Some((before, _)) => Landed::On(before),
            None => Landed::Entering(at),
        };
    }
    // The first of a block. Only one way leads there, and that is no jump.
    let falls = before(at).filter(|(_, i)| i.flow == Flow::Next);
    if let (&[_], Some((before, _))) = (&block.predecessors[..], falls) {
        return Landed::On(before);
    }
    // The head of a loop that has one jump back and no other way: nearly always control came by that jump, which is guessed right.
    let which = code.loops.iter().find(|l| l.head == number && l.latches.len() == 1 && code.one_way(l));
    let latch = which
        .and_then(|l| l.latches.first())
        .and_then(|&latch| code.blocks.get(latch))
        .and_then(|b| b.end.checked_sub(1));
    match latch {
        Some(jump) => Landed::On(fused(code, jump)),
        None => Landed::Entering(at),
    }
}

/// The comparison that is one with a branch, if that reads memory: it is what waits. Else the branch.
fn fused(code: &Code, branch: usize) -> usize {
    let compares = |i: &Instruction| i.work == Work::Simple && i.loads() && i.writes.contains(Register::FLAGS);
    let before = branch.checked_sub(1).filter(|&before| code.instructions.get(before).is_some_and(compares));
    match code.instructions.get(branch).map(|i| i.flow) {
        Some(Flow::Branch) => before.unwrap_or(branch),
        _ => branch,
    }
}

/// Whether an instruction both loads and computes something that takes some cycles: then it may be waited for because of either.
pub fn loads_and_computes(instruction: &Instruction) -> bool {
    let computes = |work: Work| {
        matches!(
            work,
            Work::Multiply | Work::Vector | Work::FloatAdd | Work::FloatMultiply | Work::Convert | Work::Crypto
        )
    };
    instruction.loads() && computes(instruction.work)
}

/// What the CPU waits for when it waits for an instruction.
pub fn wait_of(instruction: &Instruction) -> Wait {
    match instruction.work {
        Work::Atomic => Wait::Atomic,
        Work::Divide | Work::FloatDivide | Work::Long => Wait::Long,
        Work::Serialising | Work::System => Wait::Serialising,
        Work::Pause => Wait::Spin,
        Work::Unknown => Wait::Unknown,
        _ if instruction.loads() => Wait::Load,
        _ if instruction.stores() => Wait::Store,
        _ => Wait::Core,
    }
}

/// Gives samples (addresses, each with how many landed there) to what they waited for.
pub fn weigh(code: &Code, sampled: &[(u64, u64)], skid: Skid) -> Weights {
    let mut weights =
        Weights { on: vec![0; code.instructions.len()], entering: vec![0; code.instructions.len()], nowhere: 0 };
    for &(address, count) in sampled {
        let place = match landed(code, address, skid) {
            Landed::On(at) => weights.on.get_mut(at),
            Landed::Entering(at) => weights.entering.get_mut(at),
            Landed::Nowhere => None,
        };
        *place.unwrap_or(&mut weights.nowhere) += count;
    }
    weights
}

/// Samples at a target of a jump, at least, before it can have been waited for.
const ENTERED: u64 = 5;

impl Weights {
    /// All samples.
    pub fn total(&self) -> u64 {
        self.on.iter().sum::<u64>() + self.entering.iter().sum::<u64>() + self.nowhere
    }

    /// What entering an instruction waited for. Each instruction takes its time, targets of jumps too; the target itself was waited for where it has three
    /// times the samples of an instruction that can only be come to from the one before, on average over the loop that it is in (or over the blocks of the
    /// function that have samples). With an unknown skid nothing can be said.
    pub fn entered(&self, code: &Code, at: usize, skid: Skid) -> Wait {
        if skid != Skid::One {
            return Wait::Unknown;
        }
        let of = |list: &[u64], at: usize| list.get(at).copied().unwrap_or(0);
        let entering = of(&self.entering, at);
        let around = code.block_of(at).and_then(|b| code.loop_of(b)).and_then(|l| code.loops.get(l));
        let sampled = |b: &usize| {
            code.blocks
                .get(*b)
                .is_some_and(|b| (b.first..b.end).any(|at| of(&self.on, at) + of(&self.entering, at) > 0))
        };
        let blocks: Vec<usize> =
            around.map_or_else(|| (0..code.blocks.len()).filter(sampled).collect(), |l| l.blocks.clone());
        let (sum, count) = blocks
            .iter()
            .filter_map(|&b| code.blocks.get(b))
            .flat_map(|b| b.first..b.end)
            .fold((0u64, 0u64), |(sum, count), at| {
                (sum + of(&self.on, at), count + u64::from(of(&self.entering, at) == 0))
            });
        if entering >= ENTERED && entering * count.max(1) >= 3 * sum { Wait::Fetch } else { Wait::Core }
    }
}
