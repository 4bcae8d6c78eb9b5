//! The events of a file: what their samples hold, and which event a record belongs to.

use crate::bytes::{Bytes, text};
use crate::profile::Profile;
use std::collections::HashMap;

/// Bits of `sample_type` (perf_event.h).
pub(super) mod bit {
    pub(crate) const IP: u64 = 1;
    pub(crate) const TID: u64 = 1 << 1;
    pub(crate) const TIME: u64 = 1 << 2;
    pub(crate) const ADDR: u64 = 1 << 3;
    pub(crate) const READ: u64 = 1 << 4;
    pub(crate) const CALLCHAIN: u64 = 1 << 5;
    pub(crate) const ID: u64 = 1 << 6;
    pub(crate) const CPU: u64 = 1 << 7;
    pub(crate) const PERIOD: u64 = 1 << 8;
    pub(crate) const STREAM_ID: u64 = 1 << 9;
    pub(crate) const RAW: u64 = 1 << 10;
    pub(crate) const BRANCH_STACK: u64 = 1 << 11;
    pub(crate) const REGS_USER: u64 = 1 << 12;
    pub(crate) const STACK_USER: u64 = 1 << 13;
    pub(crate) const WEIGHT: u64 = 1 << 14;
    pub(crate) const DATA_SRC: u64 = 1 << 15;
    pub(crate) const IDENTIFIER: u64 = 1 << 16;
    pub(crate) const TRANSACTION: u64 = 1 << 17;
    pub(crate) const REGS_INTR: u64 = 1 << 18;
    pub(crate) const PHYS_ADDR: u64 = 1 << 19;
    pub(crate) const WEIGHT_STRUCT: u64 = 1 << 24;
}

/// What was asked of the kernel for one event: the fields of `struct perf_event_attr` that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attr {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) flags: u64,
    /// `branch_sample_type`, and which registers come with a sample; 0 where the file is older than they are.
    pub(crate) branches: u64,
    pub(crate) user_registers: u64,
    pub(crate) registers: u64,
}

/// What the trailer of a record that is no sample says (`struct sample_id`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) pid: Option<u32>,
    pub(crate) tid: Option<u32>,
    pub(crate) cpu: Option<u32>,
}

impl Attr {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = Bytes(bytes);
        let kind = rest.u32()?;
        let _size = rest.u32()?;
        let mut attr = Attr {
            kind,
            config: rest.u64()?,
            period: rest.u64()?,
            sample_type: rest.u64()?,
            read_format: rest.u64()?,
            flags: rest.u64()?,
            branches: 0,
            user_registers: 0,
            registers: 0,
        };
        // After 24 bytes more (wakeup, breakpoint, two configurations) come those of newer versions.
        let word = |at: usize| bytes.get(at..).and_then(|b| Bytes(b).u64()).unwrap_or(0);
        (attr.branches, attr.user_registers, attr.registers) = (word(72), word(80), word(96));
        Some(attr)
    }

    /// Whether `period` is samples per second.
    fn is_frequency(&self) -> bool {
        self.flags >> 10 & 1 == 1
    }

    /// Whether records that are no samples say when they were made.
    fn says_time(&self) -> bool {
        self.flags >> 18 & 1 == 1
    }

    /// Whether it counts nanoseconds (PERF_TYPE_SOFTWARE: cpu-clock, task-clock).
    fn is_clock(&self) -> bool {
        self.kind == 1 && self.config <= 1
    }

    fn is_cycles(&self) -> bool {
        self.kind == 0 && self.config & 0xffff_ffff == 0
    }

    /// Whether it counts nothing (PERF_COUNT_SW_DUMMY): it only carries records.
    fn is_dummy(&self) -> bool {
        self.kind == 1 && self.config == 9
    }

    /// Whether its samples say where data came from.
    pub(super) fn tells_source(&self) -> bool {
        self.sample_type & bit::DATA_SRC != 0
    }
}

/// All events.
#[derive(Debug, Default)]
pub(super) struct Attrs {
    list: Vec<(Attr, String)>,
    by_id: HashMap<u64, usize>,
    /// Names of PMUs by their number.
    pmus: HashMap<u32, String>,
}

impl Attrs {
    pub(super) fn add(&mut self, attr: Attr, ids: &[u8]) {
        let index = self.list.len();
        self.list.push((attr, String::new()));
        let mut ids = Bytes(ids);
        while let Some(id) = ids.u64() {
            self.by_id.insert(id, index);
        }
    }

    /// Names of events, from the feature that holds them.
    pub(super) fn describe(&mut self, mut rest: Bytes<'_>) {
        let (Some(count), Some(size)) = (rest.u32(), rest.u32()) else { return };
        for _ in 0..count.min(10_000) {
            let (Some(attr), Some(ids), Some(length)) = (rest.take(size as usize), rest.u32(), rest.u32()) else {
                return;
            };
            let Some(name) = rest.take(length as usize).map(text) else { return };
            let mut index = None;
            for _ in 0..ids {
                let Some(id) = rest.u64() else { return };
                index = index.or(self.by_id.get(&id).copied());
            }
            // An event without ids is known by what it is.
            let attr = Attr::parse(attr);
            let index = index.or_else(|| self.list.iter().position(|(a, n)| n.is_empty() && Some(*a) == attr));
            if let Some((_, known)) = index.and_then(|i| self.list.get_mut(i)) {
                *known = name;
            }
        }
    }

    /// Names of PMUs, from the feature that holds them: number and name of each.
    pub(super) fn describe_pmus(&mut self, mut rest: Bytes<'_>) {
        for _ in 0..rest.u32().unwrap_or(0).min(10_000) {
            let (Some(kind), Some(length)) = (rest.u32(), rest.u32()) else { return };
            let Some(name) = rest.take(length as usize).map(text) else { return };
            self.pmus.insert(kind, name);
        }
    }

    fn name(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |(_, name)| name)
    }

    /// The PMU of an event, as far as the file says.
    pub(super) fn pmu(&self, index: usize) -> &str {
        let kind = self.list.get(index).map(|(attr, _)| attr.kind);
        let known = kind.and_then(|kind| self.pmus.get(&kind)).map(String::as_str);
        known.unwrap_or_else(|| self.name(index).split('/').next().unwrap_or_default())
    }

    /// The event that fills the buffers of Arm's SPE.
    pub(super) fn spe(&self) -> Option<usize> {
        (0..self.list.len()).find(|&index| self.pmu(index).starts_with("arm_spe"))
    }

    /// What must be known of an event that is shown as CPU time, if its samples are not of time.
    pub(super) fn caution(&self, index: usize) -> Option<String> {
        // IBS counts cycles or operations, whatever they do.
        let name = self.name(index);
        if name.contains("mem-loads") || name.contains("mem-stores") {
            return Some(format!("{name} samples accesses to memory: what is shown as CPU time are shares of these"));
        }
        let of_operations = self.pmu(index).starts_with("arm_spe");
        of_operations.then(|| format!("{name} samples operations: what is shown as CPU time are shares of these"))
    }

    /// The event to take.
    pub(super) fn choose(&self, wanted: Option<&str>) -> usize {
        let by = |test: &dyn Fn(usize, &Attr) -> bool| self.list.iter().enumerate().position(|(i, (a, _))| test(i, a));
        match wanted {
            // A name that is not there takes nothing, which is said at the end.
            Some(name) => by(&|i, _| self.name(i) == name).unwrap_or(usize::MAX),
            None => by(&|_, a| a.is_clock())
                .or_else(|| by(&|_, a| a.is_cycles()))
                // Beside those that sample stand some that only help them, or carry records.
                .or_else(|| by(&|i, a| !a.is_dummy() && !self.name(i).contains("mem-loads-aux")))
                .unwrap_or(0),
        }
    }

    /// The event that a sample belongs to.
    pub(super) fn of_sample(&self, body: &[u8]) -> Option<(usize, Attr)> {
        let (first, _) = self.list.first()?;
        if self.list.len() == 1 {
            return Some((0, *first));
        }
        let at = id_place(first.sample_type)?;
        let id = Bytes(body.get(at..)?).u64()?;
        let index = *self.by_id.get(&id)?;
        Some((index, self.list.get(index)?.0))
    }

    /// When a record was made.
    pub(super) fn time(&self, is_sample: bool, body: &[u8]) -> Option<u64> {
        let (first, _) = self.list.first()?;
        if is_sample {
            let (_, attr) = self.of_sample(body)?;
            let types = attr.sample_type;
            if types & bit::TIME == 0 {
                return None;
            }
            let before = (types & (bit::IDENTIFIER | bit::IP | bit::TID)).count_ones() as usize * 8;
            return Bytes(body.get(before..)?).u64();
        }
        if !first.says_time() || first.sample_type & bit::TIME == 0 {
            return None;
        }
        // Counted from the end: time, id, stream id, CPU, identifier.
        let after =
            (first.sample_type & (bit::ID | bit::STREAM_ID | bit::CPU | bit::IDENTIFIER)).count_ones() as usize * 8;
        Bytes(body.get(body.len().checked_sub(after + 8)?..)?).u64()
    }

    /// Who a record that is no sample is about, and where; from its end: thread, time, id, stream id, CPU, identifier.
    pub(super) fn trailer(&self, body: &[u8]) -> Option<Trailer> {
        let (first, _) = self.list.first().filter(|(first, _)| first.says_time())?;
        let types = first.sample_type;
        let has = |bit: u64| types & bit != 0;
        let all = [bit::TID, bit::TIME, bit::ID, bit::STREAM_ID, bit::CPU, bit::IDENTIFIER];
        let length = all.iter().filter(|bit| has(**bit)).count() * 8;
        let mut rest = Bytes(body.get(body.len().checked_sub(length)?..)?);
        let mut found = Trailer::default();
        if has(bit::TID) {
            (found.pid, found.tid) = (Some(rest.u32()?), Some(rest.u32()?));
        }
        for _ in [bit::TIME, bit::ID, bit::STREAM_ID].iter().filter(|bit| has(**bit)) {
            rest.u64()?;
        }
        if has(bit::CPU) {
            found.cpu = Some(rest.u32()?);
        }
        Some(found)
    }

    /// Nanoseconds that a sample stands for.
    pub(super) fn weight(&self, index: usize, period: Option<u64>, profile: &mut Profile) -> i64 {
        let Some((attr, _)) = self.list.get(index) else { return 0 };
        let name = self.name(index);
        if attr.is_clock() || super::is_clock(name) {
            let period = period.or((!attr.is_frequency()).then_some(attr.period));
            if let Some(period) = period.and_then(|p| i64::try_from(p).ok()).filter(|p| *p > 0) {
                return period;
            }
        }
        if attr.is_frequency() && attr.period > 0 {
            if !(attr.is_clock() || super::is_clock(name)) {
                let said = if name.is_empty() { "the event" } else { name };
                profile.note(format!(
                    "{said} was sampled {} times a second: each sample is taken for that share of a second",
                    attr.period
                ));
            }
            return (1_000_000_000 / attr.period).max(1) as i64;
        }
        let count = profile.options.count;
        let said = if name.is_empty() { "the event" } else { name };
        profile.note(format!("{said} counts no time: each sample is taken for {} ms (--count)", count as f64 / 1e6));
        count
    }
}

/// Where a sample's id lies.
fn id_place(types: u64) -> Option<usize> {
    if types & bit::IDENTIFIER != 0 {
        return Some(0);
    }
    (types & bit::ID != 0).then(|| (types & (bit::IP | bit::TID | bit::TIME | bit::ADDR)).count_ones() as usize * 8)
}
