//! One instruction of either machine, as far as loops, waits and comparisons of code ask for it.

use crate::{Register, Registers, arm, x86};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The machine that code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// aarch64, little endian.
    Aarch64,
}

/// What an instruction does, apart from loading and storing: as coarse as latencies are known without knowing the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Nothing.
    Nop,
    /// A copy, of a register or of a constant.
    Copy,
    /// Additions, logic, shifts, comparisons of integers; what else takes one cycle.
    Simple,
    /// Multiplications of integers.
    Multiply,
    /// Divisions of integers.
    Divide,
    /// Vectors of integers, shuffles, logic of vectors.
    Vector,
    /// Additions and comparisons of floating-point numbers.
    FloatAdd,
    /// Their multiplications, fused ones too.
    FloatMultiply,
    /// Their divisions and roots.
    FloatDivide,
    /// Between kinds of numbers, or between general and vector registers.
    Convert,
    /// Steps of ciphers and hashes.
    Crypto,
    /// Jumps and branches.
    Branch,
    /// Calls.
    Call,
    /// Returns.
    Return,
    /// Reads, changes and writes memory in one step that no other CPU can come between.
    Atomic,
    /// Waits until all before it is done, or orders memory.
    Serialising,
    /// Tells the CPU that a loop waits: `pause`, `yield`, `wfe`.
    Pause,
    /// Takes as long as its operands say, or many small steps: string instructions, gathers, x87 functions, random numbers, clocks.
    Long,
    /// Enters the kernel or a hypervisor.
    System,
    /// Asks for a line of memory without waiting for it.
    Prefetch,
    /// Not an instruction, or one that the decoder does not know.
    Unknown,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// To the next one.
    Next,
    /// To the target.
    Jump,
    /// To the target or to the next one.
    Branch,
    /// Somewhere that the code does not tell.
    Indirect,
    /// To the target, and then to the next one.
    Call,
    /// To a function that the code does not tell, and then to the next one.
    IndirectCall,
    /// Back to the caller.
    Return,
    /// Nowhere: a trap, or no instruction.
    Stop,
}

/// The memory that an instruction reads or writes, as it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Register with the address.
    pub base: Option<Register>,
    /// Register that is added, times `scale`. Its lower 32 bits alone where `index_bits` is 32.
    pub index: Option<Register>,
    /// By what `index` is multiplied.
    pub scale: u8,
    /// Bits of `index` that count.
    pub index_bits: u8,
    /// Bytes added.
    pub displacement: i64,
    /// The address, where no register takes part.
    pub absolute: Option<u64>,
    /// Below `fs` or `gs`: memory of the thread.
    pub of_thread: bool,
    /// Bytes that are read or written; 0 where that depends.
    pub size: u16,
    /// It is read.
    pub reads: bool,
    /// It is written.
    pub writes: bool,
}

/// A register after an instruction: another (or itself) from before it, plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Assign {
    /// Which one.
    pub to: Register,
    /// What it was made of.
    pub from: Register,
    /// What was added.
    pub add: i64,
    /// 64, or 32 where only the lower half is so.
    pub bits: u8,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Where it is.
    pub address: u64,
    /// Its bytes.
    pub length: u8,
    /// What it does.
    pub work: Work,
    /// Where control goes.
    pub flow: Flow,
    /// Registers it reads, those of addresses too. A call reads none.
    pub reads: Registers,
    /// Registers it writes. Of a call all that a callee may change by the machine's usual convention.
    pub writes: Registers,
    /// The memory it reads or writes: of several places the first.
    pub memory: Option<Memory>,
    /// Registers that become another plus a constant.
    pub assigns: [Option<Assign>; 2],
    /// Target of a direct jump, branch or call.
    pub target: Option<u64>,
    /// In the order of its operands, for comparison with other code.
    pub operands: Vec<Register>,
    /// Equal for instructions that differ in registers and addresses only.
    pub form: u64,
    /// Equal for instructions of the same name.
    pub name: u64,
    /// In assembly: of x86-64 as Intel writes it.
    pub text: String,
}

impl Instruction {
    /// It reads memory.
    pub fn loads(&self) -> bool {
        self.memory.is_some_and(|m| m.reads)
    }

    /// It writes memory.
    pub fn stores(&self) -> bool {
        self.memory.is_some_and(|m| m.writes)
    }

    /// Samples land on it as well as after it while it is at work: string instructions, which are interrupted between their steps, and divisions of integers
    /// (so measured on an AMD EPYC with `cqo; idiv`).
    pub fn is_left_unfinished(&self) -> bool {
        self.work == Work::Divide || self.work == Work::Long && self.text.starts_with("rep")
    }

    /// It takes ten cycles and more, always.
    pub fn is_always_long(&self) -> bool {
        matches!(
            self.work,
            Work::Divide | Work::FloatDivide | Work::Long | Work::Serialising | Work::Pause | Work::Atomic
        )
    }

    /// The address after it.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }

    /// Control may go on to the next one in memory.
    pub fn goes_on(&self) -> bool {
        matches!(self.flow, Flow::Next | Flow::Branch | Flow::Call | Flow::IndirectCall)
    }

    /// What stands where no instruction is.
    pub(crate) fn unknown(address: u64, bytes: &[u8]) -> Instruction {
        let text = bytes.iter().fold("(no instruction)".to_owned(), |text, byte| format!("{text} {byte:02x}"));
        Instruction {
            address,
            length: u8::try_from(bytes.len()).unwrap_or(1).max(1),
            work: Work::Unknown,
            flow: Flow::Stop,
            reads: Registers::default(),
            writes: Registers::default(),
            memory: None,
            assigns: [None; 2],
            target: None,
            operands: Vec::new(),
            form: hash(&bytes),
            name: hash(&"(no instruction)"),
            text,
        }
    }
}

pub(crate) fn hash<T: Hash>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The instructions of bytes that lie at an address. What is no instruction is there as [`Work::Unknown`], so that all bytes are accounted for.
pub fn decode(machine: Machine, bytes: &[u8], address: u64) -> Vec<Instruction> {
    match machine {
        Machine::X86_64 => x86::decode(bytes, address),
        Machine::Aarch64 => arm::decode(bytes, address),
    }
}

/// Where in bytes without a known beginning instructions begin: the offset below 16 from which decoding hits most of the sampled addresses. The least of
/// equal ones.
pub fn start_of(machine: Machine, bytes: &[u8], address: u64, sampled: &[u64]) -> usize {
    let step = match machine {
        Machine::X86_64 => 1,
        Machine::Aarch64 => 4,
    };
    let hits = |offset: usize| {
        let decoded = decode(machine, bytes.get(offset..).unwrap_or(&[]), address.wrapping_add(offset as u64));
        sampled
            .iter()
            .filter(|&&ip| {
                decoded
                    .binary_search_by_key(&ip, |i| i.address)
                    .is_ok_and(|at| decoded.get(at).is_some_and(|i| i.work != Work::Unknown))
            })
            .count()
    };
    (0..16.min(bytes.len().max(1)))
        .step_by(step)
        .max_by_key(|&offset| (hits(offset), std::cmp::Reverse(offset)))
        .unwrap_or(0)
}
