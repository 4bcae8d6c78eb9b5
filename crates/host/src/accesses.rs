//! Accesses to memory that the CPU samples itself, of single threads, for as long as somebody looks: by events whose samples say where data came from
//! (PEBS, IBS), or by a buffer that the CPU fills with packets (SPE). No machine was at hand that has them: see docs/counters.md.

use crate::counting::Event;
use crate::perf::{self, Attributes, Cursor, Ring};
use access::source::{Weight, data_source};
use access::spe::{self, Sources};
use access::{Operation, ibs};
use model::Unavailable;
use std::os::fd::OwnedFd;

/// Bits of `sample_type` (include/uapi/linux/perf_event.h).
const ADDR: u64 = 1 << 3;
const RAW: u64 = 1 << 10;
const WEIGHT: u64 = 1 << 14;
const DATA_SRC: u64 = 1 << 15;

/// Bits of `flags`: samples a second instead of a period; how near a sample must be to its instruction (2: it is asked for no skid).
const FREQUENCY: u64 = 1 << 10;
const NO_SKID: u64 = 2 << 15;

/// Room for records, and for packets of one thread in a burst, bytes.
const ROOM: usize = 64 << 10;
const BUFFER: usize = 1 << 20;

/// How a PMU tells of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the data source of a sample.
    Source,
    /// By the registers of IBS in the raw data of a sample.
    Registers,
    /// By packets of SPE, whose sources mean this.
    Packets(Sources),
}

/// Events that sample accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// How they tell.
    pub way: Way,
    /// Groups: of each the last samples, and those before it are only there because the kernel wants them (`mem-loads-aux`).
    pub groups: Vec<Vec<Event>>,
    /// Samples a second of each thread, or, of SPE, operations between samples.
    pub rate: u64,
}

/// Samples of one thread.
#[derive(Debug)]
pub struct OfThread {
    way: Way,
    rings: Vec<(Ring, Option<OwnedFd>)>,
    bytes: Vec<u8>,
    records: Vec<(u64, u32, u32)>,
}

impl Unit {
    fn attributes(&self, event: &Event, samples: bool, leads: bool) -> Attributes {
        let mut attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            config1: event.config1,
            config2: event.config2,
            sample_type: perf::IP | perf::TID | perf::TIME | ADDR,
            flags: perf::EXCLUDE_HV | perf::WATERMARK | perf::USE_CLOCKID,
            wakeup_watermark: ROOM as u32,
            clockid: libc::CLOCK_MONOTONIC as _,
            ..Attributes::default()
        };
        if leads {
            attributes.flags |= perf::DISABLED;
        }
        match self.way {
            Way::Source => {
                attributes.sample_type |= WEIGHT | DATA_SRC;
                attributes.flags |= perf::EXCLUDE_KERNEL;
                if samples {
                    attributes.flags |= NO_SKID | FREQUENCY;
                    attributes.sample_period = self.rate;
                }
            }
            // IBS cannot leave out the kernel: who reads samples does.
            Way::Registers => {
                attributes.sample_type |= RAW;
                attributes.flags = (attributes.flags & !perf::EXCLUDE_HV) | FREQUENCY;
                attributes.sample_period = self.rate;
            }
            Way::Packets(_) => {
                attributes.flags |= perf::EXCLUDE_KERNEL;
                attributes.sample_period = self.rate;
            }
        }
        attributes
    }

    /// Opens the samples of a thread (0: the calling one), without beginning.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(&self, tid: u32) -> Result<OfThread, Unavailable> {
        let tid = i32::try_from(tid).map_err(|_| Unavailable::failed("no such thread"))?;
        let mut rings = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let Some((sampling, before)) = group.split_last() else { continue };
            let opened = match before.first() {
                None => self
                    .attributes(sampling, true, true)
                    .open(tid, -1)
                    .and_then(|event| Ring::of(event, 0, ROOM, 0))
                    .map(|ring| (ring, None)),
                Some(leader) => self
                    .attributes(leader, false, true)
                    .open(tid, -1)
                    .and_then(|event| Ring::of(event, 0, ROOM, 0))
                    .and_then(|ring| {
                        let beside = ring.beside(&self.attributes(sampling, true, false), tid, -1)?;
                        Ok((ring, Some(beside)))
                    }),
            };
            let (mut ring, beside) = opened.map_err(|error| perf::unavailable(&error))?;
            if let Way::Packets(_) = self.way {
                ring.map_buffer(BUFFER).map_err(|error| perf::unavailable(&error))?;
            }
            rings.push((ring, beside));
        }
        Ok(OfThread { way: self.way, rings, bytes: Vec::new(), records: Vec::new() })
    }
}

impl OfThread {
    /// Begins.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn begin(&self) -> Result<(), Unavailable> {
        self.rings.iter().try_for_each(|(ring, _)| ring.enable()).map_err(|error| perf::unavailable(&error))
    }

    /// Ends: the accesses of the program, not those of the kernel.
    pub fn end(mut self) -> Vec<Operation> {
        let mut found = Vec::new();
        for (ring, _) in &mut self.rings {
            // Whether or not it could: what is there is there.
            let _ = ring.disable();
            if let Way::Packets(sources) = self.way {
                found.extend(spe::operations(&ring.buffer(), sources).operations);
            }
            self.bytes.clear();
            self.records.clear();
            ring.drain(&mut self.bytes, &mut self.records);
            for &(_, from, to) in &self.records {
                found.extend(sample(self.bytes.get(from as usize..to as usize).unwrap_or_default(), self.way));
            }
        }
        found.retain(|of| of.is_access() && of.code.is_some_and(|code| code >> 63 == 0));
        found
    }
}

/// Reads a sample with its header.
fn sample(bytes: &[u8], way: Way) -> Option<Operation> {
    let mut cursor = Cursor(bytes);
    if cursor.u32()? != perf::SAMPLE_RECORD {
        return None;
    }
    cursor.u32()?;
    let code = cursor.u64()?;
    let (_thread, _time, address) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    let mut of = match way {
        Way::Source => {
            let (weight, source) = (cursor.u64()?, cursor.u64()?);
            let mut of = data_source(source);
            Weight::Whole(weight).put(&mut of);
            of.address = Some(address).filter(|address| *address != 0);
            of
        }
        Way::Registers => {
            let length = cursor.u32()? as usize;
            ibs::operation(cursor.0.get(..length)?)?
        }
        Way::Packets(_) => return None,
    };
    of.code = of.code.or(Some(code));
    Some(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use access::{Level, Snoop};

    /// A sample of user space: address of the instruction, thread, time, address, and what follows.
    fn record(rest: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = vec![9, 0, 0, 0, 2, 0, 0, 0];
        [0x40_1000u64, 8 << 32 | 7, 55, 0x7f00_0000_1008].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.extend(rest);
        bytes
    }

    #[test]
    fn samples_are_read() {
        // LOAD, LVL HIT|L3, SNOOP HITM, LVLNUM L3; 212 cycles.
        let source = 0x2u64 | 0x42 << 5 | 0x10 << 19 | 0x3 << 33;
        let bytes = record(&[212u64.to_ne_bytes(), source.to_ne_bytes()].concat());
        let of = sample(&bytes, Way::Source).unwrap();
        assert_eq!((of.code, of.address, of.latency), (Some(0x40_1000), Some(0x7f00_0000_1008), Some(212)));
        assert_eq!((of.level, of.snoop), (Level::Core, Snoop::Modified));
        // IBS: 60 bytes, which begin with what the CPU can do; valid, of another address than the interrupt's.
        let registers = [1u64 << 18, 0x40_0ff0, 300 | 550 << 16, 2, 1 | 1 << 7 | 1 << 17 | 1 << 20, 0x2008, 0];
        let raw = [60u32.to_ne_bytes(), 0u32.to_ne_bytes()].concat();
        let raw = [raw, registers.iter().flat_map(|word| word.to_ne_bytes()).collect()].concat();
        let of = sample(&record(&raw), Way::Registers).unwrap();
        assert_eq!((of.code, of.address, of.level), (Some(0x40_0ff0), Some(0x2008), Level::Core));
        for length in 0..bytes.len() {
            let _ = (sample(&bytes[..length], Way::Source), sample(&bytes[..length], Way::Registers));
        }
    }

    #[test]
    fn a_pmu_that_is_not_there_is_absent() {
        // No PMU has this number.
        let event = Event { kind: 1 << 20, ..Event::default() };
        for way in [Way::Source, Way::Registers, Way::Packets(Sources::Neoverse)] {
            let unit = Unit { way, groups: vec![vec![event]], rate: 1000 };
            let why = unit.open(0).expect_err("no such PMU");
            if why.status == model::Status::Denied {
                eprintln!("SKIPPED: performance events: {}", why.why);
                return;
            }
            assert_eq!(why.status, model::Status::Absent, "{}", why.why);
        }
    }
}
