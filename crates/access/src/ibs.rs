//! Registers of AMD's instruction-based sampling, as Linux puts them into the raw data of a sample of `ibs_op`: what the CPU can do (the bits of
//! CPUID 8000_001B EAX), then IBS_OP_CTL and the registers that follow it (MSR C001_1033 to C001_1039).
//!
//! What the bits mean is from AMD64 Architecture Programmer's Manual, volume 2 (24593), "Instruction-Based Sampling", as FreeBSD's
//! sys/dev/hwpmc/hwpmc_ibs.h (BSD) has it, and of the fields that are of a model (data sources, latencies of the TLB, sizes) from the Processor
//! Programming References of families 17h and 19h.

use crate::{Level, Operation, Snoop, Tlb};

/// Data sources have five bits, and more meanings (Zen 4 and later): CPUID 8000_001B EAX bit 11.
const ZEN4: u32 = 1 << 11;

/// The registers that are needed: control, address of the instruction, data, data 2, data 3, linear and physical address.
const REGISTERS: usize = 7;

const fn bit(word: u64, at: u32) -> bool {
    word >> at & 1 == 1
}

const fn bits(word: u64, at: u32, count: u32) -> u64 {
    word >> at & ((1 << count) - 1)
}

/// The operation that raw data of a sample of `ibs_op` tell; `None` where they are too short, or the sample says that it is not valid.
pub fn operation(raw: &[u8]) -> Option<Operation> {
    let (can, rest) = raw.split_first_chunk::<4>()?;
    let can = u32::from_le_bytes(*can);
    let mut registers = [0u64; REGISTERS];
    for (at, register) in registers.iter_mut().enumerate() {
        *register = u64::from_le_bytes(rest.get(at * 8..)?.first_chunk().copied()?);
    }
    let [control, rip, data, data2, data3, linear, physical] = registers;
    // IBS_OP_CTL.IbsOpVal.
    if !bit(control, 18) {
        return None;
    }
    // A prefetch (IbsSwPf) is a load for which nothing waits.
    let (reads, writes) = (bit(data3, 0) && !bit(data3, 21), bit(data3, 1));
    let is_branch = bit(data, 37);
    let mut operation = Operation {
        // IBS_OP_DATA.IbsRipInvalid.
        code: (!bit(data, 38)).then_some(rip),
        reads,
        writes,
        atomic: bit(data3, 15) && (reads || writes),
        mispredicted: is_branch.then(|| bit(data, 36)),
        latency: whole(data),
        ..Operation::default()
    };
    if operation.is_access() {
        operation.address = bit(data3, 17).then_some(linear);
        operation.physical = bit(data3, 18).then_some(physical);
        operation.size = size(bits(data3, 22, 4));
        operation.tlb = match (bit(data3, 17), bit(data3, 2), bit(data3, 3)) {
            (false, ..) => Tlb::Unknown,
            (_, false, _) => Tlb::Hit,
            (_, true, false) => Tlb::Second,
            (_, true, true) => Tlb::Walk,
        };
        (operation.level, operation.snoop) = found(can, data2, data3);
        let known = |cycles: u64| u32::try_from(cycles).ok().filter(|cycles| *cycles > 0);
        // IbsDcMissLat is of loads that missed the first cache, IbsTlbRefillLat of what missed the first TLB.
        operation.memory = if reads && bit(data3, 7) { known(bits(data3, 32, 16)) } else { None };
        operation.translation = if bit(data3, 2) { known(bits(data3, 48, 16)) } else { None };
    }
    Some(operation)
}

/// Cycles from when the operation was tagged until it was done: IbsTagToRetCtr less IbsCompToRetCtr. Both stop at their greatest value.
fn whole(data: u64) -> Option<u32> {
    let (to_done, to_retired) = (bits(data, 0, 16), bits(data, 16, 16));
    let cycles = to_retired.checked_sub(to_done).filter(|cycles| *cycles > 0 && to_retired < 0xffff)?;
    u32::try_from(cycles).ok()
}

/// IbsOpMemWidth.
fn size(width: u64) -> Option<u8> {
    match width {
        1..=7 => Some(1 << (width - 1)),
        _ => None,
    }
}

/// Where the data were. IBS_OP_DATA2 tells of what left the caches of the core, and so only where both missed.
fn found(can: u32, data2: u64, data3: u64) -> (Level, Snoop) {
    // Memory that is not cached, or that is written past the caches.
    if bit(data3, 14) || bit(data3, 13) {
        return (Level::Device, Snoop::Unknown);
    }
    if !bit(data3, 7) {
        return (Level::L1, Snoop::Unknown);
    }
    // Missed, and another miss had asked for the line already (IbsDcMissNoMabAlloc).
    if bit(data3, 16) {
        return (Level::Buffer, Snoop::Unknown);
    }
    // IbsL2Miss and the data source are of loads.
    if !bit(data3, 0) {
        return (Level::Unknown, Snoop::Unknown);
    }
    if !bit(data3, 20) {
        return (Level::L2, Snoop::Unknown);
    }
    let remote = bit(data2, 4);
    let number = bits(data2, 0, 3) | if can & ZEN4 != 0 { bits(data2, 6, 2) << 3 } else { 0 };
    let cache = |remote: bool| if remote { Level::RemoteCache } else { Level::Core };
    let memory = if remote { Level::RemoteMemory } else { Level::Memory };
    match (number, can & ZEN4 != 0) {
        // The shared cache of the complex, or another core of it.
        (1, true) => (Level::L3, Snoop::Unknown),
        // A cache of another complex of the node, one of another node.
        (2, true) => (cache(remote), Snoop::Unknown),
        (5, true) => (Level::RemoteCache, Snoop::Unknown),
        // Memory that takes long; extension memory; memory of a peer agent.
        (6, true) => (memory, Snoop::Unknown),
        (8 | 12, true) => (Level::RemoteMemory, Snoop::Unknown),
        // A cache of another core. IbsCacheHitSt says whether in state M or O: it was changed there in both.
        (2, false) => (cache(remote), Snoop::Modified),
        (3, _) => (memory, Snoop::Unknown),
        (7, _) => (Level::Device, Snoop::Unknown),
        _ => (Level::Unknown, Snoop::Unknown),
    }
}
