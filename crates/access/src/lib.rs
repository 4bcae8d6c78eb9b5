//! Memory accesses that CPUs sample themselves: what Intel's PEBS, AMD's IBS and Arm's SPE tell of one operation, as one record, and the tables that hold
//! such records. [`source`] reads the words that Linux makes of them, [`ibs`] the registers of IBS, [`spe`] the packets of SPE. Nothing is read from a
//! machine here: the bytes come from the caller, and bytes that make no sense yield nothing.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod ibs;
pub mod source;
pub mod spe;
pub mod tables;
#[cfg(test)]
mod tests;

/// Where the data of an access came from; for a store, where it found the line. Levels are named as seen from the core that did the access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The CPU does not tell.
    #[default]
    Unknown,
    /// The first cache of the core.
    L1,
    /// A line that was already on its way to the core (line fill buffer).
    Buffer,
    /// The second cache of the core.
    L2,
    /// The last cache that cores share.
    L3,
    /// The cache of another core of the same socket.
    Core,
    /// A cache of another socket.
    RemoteCache,
    /// Memory of the same node.
    Memory,
    /// Memory of another node, or behind a link such as CXL.
    RemoteMemory,
    /// Another socket, which of its caches or memory is not told.
    Remote,
    /// A device, or memory that is not cached.
    Device,
}

impl Level {
    /// Its word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Level::Unknown => "unknown",
            Level::L1 => "L1",
            Level::Buffer => "fill buffer",
            Level::L2 => "L2",
            Level::L3 => "L3",
            Level::Core => "other core",
            Level::RemoteCache => "remote cache",
            Level::Memory => "memory",
            Level::RemoteMemory => "remote memory",
            Level::Remote => "remote",
            Level::Device => "device",
        }
    }
}

/// What other caches said when they were asked for the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Snoop {
    /// The CPU does not tell.
    #[default]
    Unknown,
    /// None was asked.
    None,
    /// None had it.
    Miss,
    /// One had it, unchanged.
    Clean,
    /// One had it and had changed it (HITM).
    Modified,
}

impl Snoop {
    /// Its word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Snoop::Unknown => "unknown",
            Snoop::None => "none",
            Snoop::Miss => "miss",
            Snoop::Clean => "clean",
            Snoop::Modified => "modified",
        }
    }
}

/// How the address was translated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tlb {
    /// The CPU does not tell.
    #[default]
    Unknown,
    /// By the first TLB.
    Hit,
    /// By the second TLB.
    Second,
    /// By a walk through the page tables.
    Walk,
}

impl Tlb {
    /// Its word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Tlb::Unknown => "unknown",
            Tlb::Hit => "hit",
            Tlb::Second => "L2 hit",
            Tlb::Walk => "walk",
        }
    }
}

/// One operation that a CPU sampled. Cycles are those of the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// Address of the instruction, in the process or the kernel.
    pub code: Option<u64>,
    /// Virtual address of the data.
    pub address: Option<u64>,
    /// Physical address of the data.
    pub physical: Option<u64>,
    /// Bytes that were accessed.
    pub size: Option<u8>,
    /// It read memory.
    pub reads: bool,
    /// It wrote memory.
    pub writes: bool,
    /// It did both in one step, or with the line locked.
    pub atomic: bool,
    /// Where the data came from.
    pub level: Level,
    /// What other caches said.
    pub snoop: Snoop,
    /// How the address was translated.
    pub tlb: Tlb,
    /// Cycles that the operation took, from where its CPU begins to count; docs/counters.md says where that is.
    pub latency: Option<u32>,
    /// Cycles of these for the data.
    pub memory: Option<u32>,
    /// Cycles of these for the translation of the address.
    pub translation: Option<u32>,
    /// For a branch: whether its target was guessed wrong.
    pub mispredicted: Option<bool>,
    /// What the kernel put into the CPU's context register: the number of the thread, where it is built so (SPE).
    pub context: Option<u32>,
    /// Ticks of the generic timer when it was done (SPE).
    pub ticks: Option<u64>,
}

impl Operation {
    /// Whether it is an access to memory.
    pub fn is_access(&self) -> bool {
        self.reads || self.writes
    }

    /// What it does, in a word: that of the tables.
    pub fn deed(&self) -> &'static str {
        match (self.atomic, self.reads, self.writes) {
            (true, ..) => "atomic",
            (_, true, true) => "load and store",
            (_, false, true) => "store",
            (_, true, false) => "load",
            _ => "other",
        }
    }

    /// Whether another core's cache had the data: changed there or, where the CPU does not tell, maybe so.
    pub fn from_core(&self) -> bool {
        self.snoop == Snoop::Modified || matches!(self.level, Level::Core | Level::RemoteCache)
    }
}

/// Number of low bits of the address in which bytes of one line differ: lines of 64 bytes.
pub const LINE_BITS: u32 = 6;
