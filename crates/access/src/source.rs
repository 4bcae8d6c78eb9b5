//! What Linux tells of a sampled access: the data source and the weight of a sample. Both are described in include/uapi/linux/perf_event.h
//! (`union perf_mem_data_src`, `union perf_sample_weight`), which is all that was used here.

use crate::{Level, Operation, Snoop, Tlb};

/// A field of the word: where it begins, and how many bits it has.
const fn field(word: u64, at: u32, bits: u32) -> u64 {
    word >> at & ((1 << bits) - 1)
}

/// Bits of `mem_op`.
mod op {
    pub(super) const LOAD: u64 = 0x02;
    pub(super) const STORE: u64 = 0x04;
}

/// Bits of `mem_lvl`.
mod lvl {
    pub(super) const MISS: u64 = 0x04;
    pub(super) const L1: u64 = 0x08;
    pub(super) const LFB: u64 = 0x10;
    pub(super) const L2: u64 = 0x20;
    pub(super) const L3: u64 = 0x40;
    pub(super) const LOCAL_RAM: u64 = 0x80;
    pub(super) const REMOTE_RAM: u64 = 0x100 | 0x200;
    pub(super) const REMOTE_CACHE: u64 = 0x400 | 0x800;
    pub(super) const IO: u64 = 0x1000;
    pub(super) const UNCACHED: u64 = 0x2000;
}

/// Values of `mem_lvl_num`. Numbers from 5 to 9 were given out by later kernels than the header of Linux 6.1 knows.
mod number {
    pub(super) const L1: u64 = 0x1;
    pub(super) const L2: u64 = 0x2;
    pub(super) const L3: u64 = 0x3;
    pub(super) const L4: u64 = 0x4;
    pub(super) const UNCACHED: u64 = 0x8;
    pub(super) const CXL: u64 = 0x9;
    pub(super) const IO: u64 = 0xa;
    pub(super) const ANY_CACHE: u64 = 0xb;
    pub(super) const LFB: u64 = 0xc;
    pub(super) const RAM: u64 = 0xd;
    pub(super) const PMEM: u64 = 0xe;
}

/// Bits of `mem_snoop` and `mem_snoopx`.
mod snoop {
    pub(super) const NONE: u64 = 0x02;
    pub(super) const HIT: u64 = 0x04;
    pub(super) const MISS: u64 = 0x08;
    pub(super) const HITM: u64 = 0x10;
    pub(super) const X_FORWARD: u64 = 0x01;
    pub(super) const X_PEER: u64 = 0x02;
}

/// Bits of `mem_dtlb`.
mod tlb {
    pub(super) const HIT: u64 = 0x02;
    pub(super) const L1: u64 = 0x08;
    pub(super) const L2: u64 = 0x10;
    pub(super) const WALK: u64 = 0x20;
    pub(super) const FAULT: u64 = 0x40;
}

/// How many nodes or sockets lie between: `mem_hops`; from 2 on it is another socket.
const ANOTHER_SOCKET: u64 = 3;

/// What `data_src` of a sample says: kind, level, snoop and TLB. All else of the record is empty.
pub fn data_source(word: u64) -> Operation {
    let [op, levels, snoops, lock, tlbs] =
        [(0, 5), (5, 14), (19, 5), (24, 2), (26, 7)].map(|(at, n)| field(word, at, n));
    let [number, remote, extended, hops] = [(33, 4), (37, 1), (38, 2), (43, 3)].map(|(at, n)| field(word, at, n));
    let snoop = if snoops & snoop::HITM != 0 {
        Snoop::Modified
    } else if snoops & snoop::HIT != 0 || extended & snoop::X_FORWARD != 0 {
        Snoop::Clean
    } else if snoops & snoop::MISS != 0 {
        Snoop::Miss
    } else if snoops & snoop::NONE != 0 {
        Snoop::None
    } else {
        Snoop::Unknown
    };
    // A line that another core had changed did not come from the level at which its address was looked up.
    let sent = snoop == Snoop::Modified || extended & (snoop::X_FORWARD | snoop::X_PEER) != 0;
    let level = match by_number(number, remote == 1, hops) {
        Level::Unknown => by_bits(levels),
        level => level,
    };
    let level = match level {
        Level::L3 | Level::L2 | Level::Unknown if sent && remote == 1 && hops != 1 => Level::RemoteCache,
        Level::L3 | Level::L2 | Level::Unknown if sent => Level::Core,
        level => level,
    };
    let (reads, writes, atomic) = (op & op::LOAD != 0, op & op::STORE != 0, lock & 2 != 0);
    Operation {
        reads,
        // What is locked is read and written, whichever of both was sampled.
        writes: writes || (atomic && reads),
        atomic,
        level,
        snoop,
        tlb: translation(tlbs),
        ..Operation::default()
    }
}

fn by_number(number: u64, remote: bool, hops: u64) -> Level {
    match number {
        number::L1 => Level::L1,
        number::L2 => Level::L2,
        number::L3 | number::L4 if remote && hops != 1 => Level::RemoteCache,
        number::L3 | number::L4 => Level::L3,
        number::ANY_CACHE if remote && (hops == 0 || hops >= ANOTHER_SOCKET) => Level::RemoteCache,
        number::ANY_CACHE if remote || hops > 0 => Level::Core,
        number::LFB => Level::Buffer,
        number::RAM | number::PMEM if remote => Level::RemoteMemory,
        number::RAM | number::PMEM => Level::Memory,
        number::CXL => Level::RemoteMemory,
        number::IO | number::UNCACHED => Level::Device,
        _ => Level::Unknown,
    }
}

/// The older way to tell it: bits, with one more that says whether it was found there.
fn by_bits(levels: u64) -> Level {
    let is = |bits: u64| levels & bits != 0;
    if is(lvl::MISS) {
        return Level::Unknown;
    }
    // The farthest counts: a kernel that sets several means the way that was gone.
    if is(lvl::IO | lvl::UNCACHED) {
        Level::Device
    } else if is(lvl::REMOTE_RAM) {
        Level::RemoteMemory
    } else if is(lvl::LOCAL_RAM) {
        Level::Memory
    } else if is(lvl::REMOTE_CACHE) {
        Level::RemoteCache
    } else if is(lvl::L3) {
        Level::L3
    } else if is(lvl::L2) {
        Level::L2
    } else if is(lvl::LFB) {
        Level::Buffer
    } else if is(lvl::L1) {
        Level::L1
    } else {
        Level::Unknown
    }
}

fn translation(bits: u64) -> Tlb {
    let is = |mask: u64| bits & mask != 0;
    if is(tlb::HIT) && is(tlb::L1) && !is(tlb::L2) {
        Tlb::Hit
    } else if is(tlb::HIT) && is(tlb::L2) {
        // Kernels that are told only "no walk" set both.
        if is(tlb::L1) { Tlb::Hit } else { Tlb::Second }
    } else if is(tlb::WALK | tlb::FAULT) {
        Tlb::Walk
    } else {
        Tlb::Unknown
    }
}

/// How the weight of a sample is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// `PERF_SAMPLE_WEIGHT`: one number of cycles.
    Whole(u64),
    /// `PERF_SAMPLE_WEIGHT_STRUCT`: 32 bits, and twice 16.
    Parts(u64),
}

impl Weight {
    /// Puts the cycles into a record; 0 is what is not known. Of the parts the first is what the data took and the second the whole instruction,
    /// where the CPU tells both (Intel from Alder Lake and Sapphire Rapids on).
    pub fn put(self, into: &mut Operation) {
        let known = |cycles: u64| u32::try_from(cycles).ok().filter(|cycles| *cycles > 0);
        match self {
            Weight::Whole(cycles) => into.latency = known(cycles),
            Weight::Parts(word) => {
                let (data, whole) = (known(field(word, 0, 32)), known(field(word, 32, 16)));
                into.latency = whole.or(data);
                into.memory = whole.and(data);
            }
        }
    }
}
