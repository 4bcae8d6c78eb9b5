//! Buffers that Arm's SPE has filled, as a file of perf holds them: their operations, when they were, and whose they are.
//!
//! Records of the file: an `AUXTRACE` has, before the buffer, its length, its place, a number, an index, and which thread or CPU it is of (Arm
//! Telemetry Solution, tools/spe_parser/spe_parser/perf_decoder.py, Apache License 2.0). `TIME_CONV` has the numbers that `struct
//! perf_event_mmap_page` of include/uapi/linux/perf_event.h has for turning ticks into time.

use super::attr::Trailer;
use super::space::Spaces;
use crate::bytes::Bytes;
use crate::profile::Profile;
use access::spe::{Sources, operations};
use access::{Level, Operation, Snoop, Tlb};
use std::collections::HashMap;

/// Most bytes of one buffer that are read.
pub(super) const MOST_BLOCK: u64 = 256 << 20;

/// The type of a record that holds one operation. No file has it: records of files are told apart before.
pub(super) const OPERATION: u32 = u32::MAX;

/// Bytes of such a record.
pub(super) const SIZE: usize = 48;

/// A number that is not there.
const NONE: u32 = u32::MAX;

/// What is known of the CPU, its clock, and who runs where.
#[derive(Debug, Default)]
pub(super) struct Spe {
    /// A record says that the buffers are of SPE.
    pub(super) is_known: bool,
    sources: Sources,
    /// Shift, multiplier and zero: from ticks to time.
    clock: Option<(u32, u64, u64)>,
    /// Process and thread by CPU; `None` while that is idle or not known.
    running: HashMap<u32, Option<(u32, u32)>>,
}

impl Spe {
    /// The CPU, as the header of the file calls it: on Arm its MIDR_EL1, hexadecimal.
    pub(super) fn cpu(&mut self, name: &str) {
        let digits = name.trim().trim_start_matches("0x");
        if let Ok(midr) = u64::from_str_radix(digits, 16) {
            self.sources = Sources::of(midr);
        }
    }

    /// Which PMU fills the buffers: 4 is SPE.
    pub(super) fn info(&mut self, mut rest: Bytes<'_>) {
        self.is_known = rest.u32() == Some(4);
    }

    /// How ticks become time.
    pub(super) fn clock(&mut self, mut rest: Bytes<'_>) {
        if let (Some(shift), Some(factor), Some(zero)) = (rest.u64(), rest.u64(), rest.u64()) {
            self.clock = u32::try_from(shift).ok().filter(|shift| *shift < 64).map(|shift| (shift, factor, zero));
        }
    }

    fn time(&self, ticks: u64) -> Option<u64> {
        let (shift, factor, zero) = self.clock?;
        let time = (u128::from(ticks) * u128::from(factor)) >> shift;
        Some(zero.wrapping_add(u64::try_from(time).ok()?))
    }

    /// The operations of a buffer, each as a record of its own, with its time.
    pub(super) fn read<'a>(
        &'a self,
        header: &[u8],
        buffer: &[u8],
        profile: &mut Profile,
    ) -> impl Iterator<Item = (Option<u64>, [u8; SIZE])> + use<'a> {
        let mut rest = Bytes(header);
        let mut next = || rest.u64();
        let _ = (next(), next(), next());
        let (_index, tid, cpu) = (rest.u32(), rest.u32().unwrap_or(NONE), rest.u32().unwrap_or(NONE));
        let found = operations(buffer, self.sources);
        if found.damaged > 0 {
            profile.count(
                "bytes of SPE's buffers that are no packets; the records that they belong to are left out",
                found.damaged,
            );
        }
        if self.sources == Sources::Unknown && !found.operations.is_empty() {
            profile.note(
                "which levels this CPU's data sources of SPE mean is not known: levels are told by its events alone",
            );
        }
        if self.clock.is_none() && !found.operations.is_empty() {
            profile.note("the file does not say how ticks of SPE become time: operations are told as late as their buffer was written");
        }
        found.operations.into_iter().map(move |of| (of.ticks.and_then(|ticks| self.time(ticks)), pack(&of, cpu, tid)))
    }

    /// A thread was put on a CPU, or taken off.
    pub(super) fn switched(&mut self, says_other: bool, misc: u16, mut rest: Bytes<'_>, trailer: Trailer) {
        let Some(cpu) = trailer.cpu else { return };
        // PERF_RECORD_MISC_SWITCH_OUT.
        let out = misc & 1 << 13 != 0;
        let other = if says_other { rest.u32().zip(rest.u32()) } else { None };
        self.running.insert(cpu, if out { other } else { trailer.pid.zip(trailer.tid) });
    }

    /// Whose operation it is: by the number that the kernel has put into the CPU's context register, by the thread that the buffer is of, or by who
    /// ran on the CPU.
    pub(super) fn who(
        &self,
        of: &Operation,
        cpu: Option<u32>,
        tid: Option<u32>,
        spaces: &Spaces,
    ) -> Option<(u32, u32)> {
        let known = |tid: u32| spaces.process_of(tid).map(|pid| (pid, tid));
        of.context
            .filter(|tid| *tid != 0)
            .and_then(known)
            .or_else(|| tid.and_then(known))
            .or_else(|| cpu.and_then(|cpu| *self.running.get(&cpu)?))
    }
}

/// The order of levels, snoops and ways of translation in a packed record.
const LEVELS: [Level; 11] = [
    Level::Unknown,
    Level::L1,
    Level::Buffer,
    Level::L2,
    Level::L3,
    Level::Core,
    Level::RemoteCache,
    Level::Memory,
    Level::RemoteMemory,
    Level::Remote,
    Level::Device,
];
const SNOOPS: [Snoop; 5] = [Snoop::Unknown, Snoop::None, Snoop::Miss, Snoop::Clean, Snoop::Modified];
const TLBS: [Tlb; 4] = [Tlb::Unknown, Tlb::Hit, Tlb::Second, Tlb::Walk];

/// An operation as bytes, so that it waits for its turn among the records of the file.
fn pack(of: &Operation, cpu: u32, tid: u32) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    let place = |known: bool| u8::from(known);
    let flags = place(of.reads)
        | place(of.writes) << 1
        | place(of.atomic) << 2
        | place(of.code.is_some()) << 3
        | place(of.address.is_some()) << 4;
    let at = |found: Option<usize>| found.and_then(|at| u8::try_from(at).ok()).unwrap_or(0);
    let level = at(LEVELS.iter().position(|level| *level == of.level));
    let snoop = at(SNOOPS.iter().position(|snoop| *snoop == of.snoop));
    let tlb = at(TLBS.iter().position(|tlb| *tlb == of.tlb));
    let numbers = [cpu, tid, of.latency.unwrap_or(NONE), of.translation.unwrap_or(NONE), of.context.unwrap_or(NONE)];
    let parts = [
        &OPERATION.to_le_bytes()[..],
        &[0; 4],
        &of.code.unwrap_or(0).to_le_bytes(),
        &of.address.unwrap_or(0).to_le_bytes(),
        &numbers.map(u32::to_le_bytes).concat(),
        &[flags, level, snoop, tlb],
    ];
    bytes.iter_mut().zip(parts.concat()).for_each(|(to, from)| *to = from);
    bytes
}

/// The operation of a packed record, whose header was read, and CPU and thread of its buffer.
pub(super) fn unpack(mut rest: Bytes<'_>) -> Option<(Operation, Option<u32>, Option<u32>)> {
    let (code, address) = (rest.u64()?, rest.u64()?);
    let mut number = || rest.u32().map(|number| Some(number).filter(|number| *number != NONE));
    let (cpu, tid, latency, translation, context) = (number()?, number()?, number()?, number()?, number()?);
    let [flags, level, snoop, tlb] = *rest.take(4)?.first_chunk()?;
    let is = |bit: u8| flags >> bit & 1 == 1;
    let of = Operation {
        code: is(3).then_some(code),
        address: is(4).then_some(address),
        reads: is(0),
        writes: is(1),
        atomic: is(2),
        level: LEVELS.get(usize::from(level)).copied()?,
        snoop: SNOOPS.get(usize::from(snoop)).copied()?,
        tlb: TLBS.get(usize::from(tlb)).copied()?,
        latency,
        translation,
        context,
        ..Operation::default()
    };
    Some((of, cpu, tid))
}
