//! Packets of Arm's Statistical Profiling Extension, as they stand in the buffer that Linux gives out for `arm_spe_0`: each record is some packets, and
//! ends with an end packet or a timestamp.
//!
//! The packets are described in Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling Extension sample record specification"; headers and
//! fields were held against Arm's own decoder (Arm Telemetry Solution, tools/spe_parser, Apache License 2.0). Data sources are each CPU's own: those of
//! Neoverse are in its Technical Reference Manuals, "Statistical Profiling Extension".

use crate::{Level, Operation, Snoop, Tlb};

/// What the numbers of data source packets mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sources {
    /// Nothing that is known: levels are told by events alone.
    #[default]
    Unknown,
    /// As on Neoverse N1, N2, N3, V1, V2 and V3.
    Neoverse,
}

impl Sources {
    /// Those of a CPU, by its MIDR_EL1: the maker in bits 24 to 31 (0x41 is Arm), the part in bits 4 to 15.
    pub fn of(midr: u64) -> Sources {
        // Parts: ARM-software/data, cpus.json (Apache License 2.0).
        const NEOVERSE: [u64; 7] = [0xd0c, 0xd40, 0xd49, 0xd4f, 0xd83, 0xd84, 0xd8e];
        if midr >> 24 & 0xff == 0x41 && NEOVERSE.contains(&(midr >> 4 & 0xfff)) {
            return Sources::Neoverse;
        }
        Sources::Unknown
    }
}

/// Bits of the events packet.
mod event {
    pub(super) const L1_ACCESS: u64 = 1 << 2;
    pub(super) const L1_REFILL: u64 = 1 << 3;
    pub(super) const TLB_ACCESS: u64 = 1 << 4;
    pub(super) const TLB_WALK: u64 = 1 << 5;
    pub(super) const MISPREDICTED: u64 = 1 << 7;
    pub(super) const LAST_ACCESS: u64 = 1 << 8;
    pub(super) const LAST_MISS: u64 = 1 << 9;
    pub(super) const REMOTE: u64 = 1 << 10;
    /// From here on those of FEAT_SPEv1p4, which the decoder of Arm does not know yet: by the manual alone.
    pub(super) const L2_ACCESS: u64 = 1 << 19;
    pub(super) const L2_MISS: u64 = 1 << 20;
    pub(super) const MODIFIED: u64 = 1 << 21;
    pub(super) const SNOOPED: u64 = 1 << 23;
}

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packet {
    /// Nothing: padding, or one that is not needed.
    Nothing,
    End,
    Timestamp(u64),
    Events(u64),
    Source(u64),
    Context(u64),
    /// Class and what it says.
    Type(u8, u64),
    Address(u8, u64),
    Counter(u8, u64),
}

/// The record that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Growing {
    operation: Operation,
    any: bool,
    events: u64,
    source: Option<u64>,
    class: Option<(u8, u64)>,
}

/// What a buffer held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Loads, stores, atomic operations, branches and others, in the order of the buffer.
    pub operations: Vec<Operation>,
    /// Bytes that are no packet. After one the next record is looked for.
    pub damaged: u64,
}

/// Reads a buffer. A record that is cut off at its end is left out.
pub fn operations(buffer: &[u8], sources: Sources) -> Decoded {
    let mut found = Decoded::default();
    let mut growing = Growing::default();
    // After damage nothing is taken up to the next end of a record.
    let mut lost = false;
    let mut at = 0;
    while let Some(rest) = buffer.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((packet, length)) = packet(rest) else {
            // Headers are no less than a byte: what is cut off at the end is no damage.
            if is_cut(rest) {
                break;
            }
            found.damaged += 1;
            lost = true;
            at += 1;
            continue;
        };
        at += length;
        match packet {
            Packet::Nothing => {}
            Packet::End | Packet::Timestamp(_) => {
                let mut whole = std::mem::take(&mut growing);
                if let Packet::Timestamp(ticks) = packet {
                    whole.operation.ticks = Some(ticks);
                }
                if !std::mem::take(&mut lost) && whole.any {
                    found.operations.push(whole.operation(sources));
                }
            }
            packet => growing.take(packet),
        }
    }
    found
}

/// Bytes of what follows a header, by its size field.
fn payload(header: u8) -> usize {
    1 << (header >> 4 & 3)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// Whether a packet begins here of which the rest is missing.
fn is_cut(rest: &[u8]) -> bool {
    let mut whole = [0u8; 16];
    let length = rest.len().min(whole.len());
    for (to, from) in whole.iter_mut().zip(rest) {
        *to = *from;
    }
    length < whole.len() && packet(&whole).is_some_and(|(_, needed)| needed > length)
}

/// The packet at the front, and how long it is.
fn packet(rest: &[u8]) -> Option<(Packet, usize)> {
    let &[first, ..] = rest else { return None };
    // A header of two bytes begins with 0b0010_00xx, whose lower bits are the upper ones of an index.
    let (high, header, length) = match first & 0b1111_1100 {
        0b0010_0000 => (first & 3, *rest.get(1)?, 2),
        _ => (0, first, 1),
    };
    let value = || rest.get(length..length + payload(header)).map(|bytes| (number(bytes), length + payload(header)));
    let index = high << 3 | header & 7;
    if length == 2 {
        // Alignment, which fills up to a boundary, was taken out of the architecture; its header has no bits but these.
        if header & 0b1111_0000 == 0 {
            return Some((Packet::Nothing, 2));
        }
        let (value, length) = value()?;
        return match header & 0b1111_1000 {
            0b1011_0000 => Some((Packet::Address(index, value), length)),
            0b1001_1000 => Some((Packet::Counter(index, value), length)),
            _ => None,
        };
    }
    match first {
        0x00 => return Some((Packet::Nothing, 1)),
        0x01 => return Some((Packet::End, 1)),
        _ => {}
    }
    let (value, length) = value()?;
    let packet = match first {
        0x71 => Packet::Timestamp(value),
        _ if first & 0b1100_1111 == 0x42 => Packet::Events(value),
        _ if first & 0b1100_1111 == 0x43 => Packet::Source(value),
        _ if first & 0b1111_1100 == 0x64 => Packet::Context(value),
        _ if first & 0b1111_1100 == 0x48 => Packet::Type(first & 3, value),
        _ if first & 0b1111_1000 == 0xb0 => Packet::Address(index, value),
        _ if first & 0b1111_1000 == 0x98 => Packet::Counter(index, value),
        _ => return None,
    };
    Some((packet, length))
}

/// An address without what stands in its top byte (exception level, tag): of the lower half of the address space zeros, of the upper ones.
fn address(value: u64) -> u64 {
    ((value << 8) as i64 >> 8) as u64
}

impl Growing {
    fn take(&mut self, packet: Packet) {
        self.any = true;
        let of = &mut self.operation;
        let cycles = |value: u64| u32::try_from(value & 0xffff).ok();
        match packet {
            Packet::Events(events) => self.events = events,
            Packet::Source(source) => self.source = Some(source),
            Packet::Context(context) => of.context = u32::try_from(context).ok(),
            Packet::Type(class, what) => self.class = Some((class, what)),
            Packet::Address(0, value) => of.code = Some(address(value)),
            Packet::Address(2, value) => of.address = Some(address(value)),
            Packet::Address(3, value) => of.physical = Some(value & ((1 << 56) - 1)),
            Packet::Counter(0, value) => of.latency = cycles(value),
            // 1 is the time before it was issued.
            Packet::Counter(2, value) => of.translation = cycles(value),
            _ => {}
        }
    }

    fn operation(self, sources: Sources) -> Operation {
        let mut of = self.operation;
        let is = |event: u64| self.events & event != 0;
        match self.class {
            Some((1, what)) => {
                // Bit 0 is a store. With bits 7 to 5 zero and bit 1 set, bit 2 is an atomic operation.
                let extended = what & 0b1110_0010 == 0b10;
                of.atomic = extended && what & 0b100 != 0;
                of.writes = of.atomic || what & 1 == 1;
                of.reads = of.atomic || what & 1 == 0;
            }
            Some((2, _)) => of.mispredicted = Some(is(event::MISPREDICTED)),
            _ => {}
        }
        if of.is_access() {
            of.tlb = match (is(event::TLB_WALK), is(event::TLB_ACCESS)) {
                (true, _) => Tlb::Walk,
                (false, true) => Tlb::Hit,
                (false, false) => Tlb::Unknown,
            };
            of.level = self.level(sources);
            if is(event::SNOOPED) {
                of.snoop = if is(event::MODIFIED) { Snoop::Modified } else { Snoop::Clean };
            }
        }
        of
    }

    fn level(&self, sources: Sources) -> Level {
        let is = |event: u64| self.events & event != 0;
        if let (Some(source), Sources::Neoverse) = (self.source, sources) {
            match source {
                0 => return Level::L1,
                8 => return Level::L2,
                // A core of the same cluster, a core of another cluster.
                9 | 12 => return Level::Core,
                // The cache of the cluster, the cache of the system.
                10 | 11 => return Level::L3,
                13 => return Level::Remote,
                14 => return Level::Memory,
                _ => {}
            }
        }
        if is(event::REMOTE) {
            Level::Remote
        } else if is(event::SNOOPED) {
            Level::Core
        } else if is(event::LAST_MISS) {
            // Beyond the last cache: memory, or a cache of another core.
            Level::Unknown
        } else if is(event::LAST_ACCESS) {
            Level::L3
        } else if is(event::L2_ACCESS) && !is(event::L2_MISS) {
            Level::L2
        } else if is(event::L1_ACCESS) && !is(event::L1_REFILL) {
            Level::L1
        } else {
            Level::Unknown
        }
    }
}
