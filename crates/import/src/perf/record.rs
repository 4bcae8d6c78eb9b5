//! The fields of one sample, in the order of `perf_event.h`.

use super::attr::{Attr, bit};
use crate::bytes::Bytes;
use access::source::Weight;

/// What is taken of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    pub(super) ip: Option<u64>,
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
    pub(super) cpu: Option<u32>,
    pub(super) period: Option<u64>,
    /// Addresses of eight bytes each, the innermost first, with markers in between.
    pub(super) chain: &'a [u8],
    /// Whether it holds a copy of the stack.
    pub(super) user_stack: bool,
    pub(super) address: Option<u64>,
    pub(super) physical: Option<u64>,
    pub(super) weight: Option<Weight>,
    pub(super) data_source: Option<u64>,
    /// What a PMU adds of its own.
    pub(super) raw: &'a [u8],
}

pub(super) fn sample<'a>(attr: &Attr, body: &'a [u8]) -> Option<Fields<'a>> {
    let types = attr.sample_type;
    let has = |bit: u64| types & bit != 0;
    let mut rest = Bytes(body);
    let mut found = Fields {
        ip: None,
        pid: None,
        tid: None,
        cpu: None,
        period: None,
        chain: &[],
        user_stack: has(bit::STACK_USER),
        address: None,
        physical: None,
        weight: None,
        data_source: None,
        raw: &[],
    };
    if has(bit::IDENTIFIER) {
        rest.u64()?;
    }
    if has(bit::IP) {
        found.ip = Some(rest.u64()?);
    }
    if has(bit::TID) {
        found.pid = Some(rest.u32()?);
        found.tid = Some(rest.u32()?);
    }
    for other in [bit::TIME, bit::ADDR, bit::ID, bit::STREAM_ID] {
        if has(other) {
            let value = rest.u64()?;
            if other == bit::ADDR {
                found.address = Some(value).filter(|address| *address != 0);
            }
        }
    }
    if has(bit::CPU) {
        found.cpu = Some(rest.u32()?);
        rest.u32()?;
    }
    if has(bit::PERIOD) {
        found.period = Some(rest.u64()?);
    }
    if has(bit::READ) {
        read_format(attr.read_format, &mut rest)?;
    }
    if has(bit::CALLCHAIN) {
        let count = usize::try_from(rest.u64()?).ok()?;
        found.chain = rest.take(count.checked_mul(8)?)?;
    }
    // A sample of which only the rest is damaged is one all the same.
    let _ = access(attr, rest, &mut found);
    Some(found)
}

/// What follows a chain, as far as it tells of an access.
fn access<'a>(attr: &Attr, mut rest: Bytes<'a>, found: &mut Fields<'a>) -> Option<()> {
    let has = |bit: u64| attr.sample_type & bit != 0;
    if has(bit::RAW) {
        let size = rest.u32()?;
        found.raw = rest.take(size as usize)?;
    }
    if has(bit::BRANCH_STACK) {
        // With bit 17 a word stands before the branches, and with bit 19 one for each comes after them (PERF_SAMPLE_BRANCH_HW_INDEX, _COUNTERS).
        let count = usize::try_from(rest.u64()?).ok()?;
        rest.take((attr.branches >> 17 & 1) as usize * 8)?;
        rest.take(count.checked_mul(24 + (attr.branches >> 19 & 1) as usize * 8)?)?;
    }
    if has(bit::REGS_USER) {
        registers(attr.user_registers, &mut rest)?;
    }
    if has(bit::STACK_USER) {
        let size = usize::try_from(rest.u64()?).ok()?;
        rest.take(size)?;
        if size > 0 {
            rest.u64()?;
        }
    }
    if has(bit::WEIGHT) {
        found.weight = Some(Weight::Whole(rest.u64()?));
    } else if has(bit::WEIGHT_STRUCT) {
        found.weight = Some(Weight::Parts(rest.u64()?));
    }
    if has(bit::DATA_SRC) {
        found.data_source = Some(rest.u64()?);
    }
    if has(bit::TRANSACTION) {
        rest.u64()?;
    }
    if has(bit::REGS_INTR) {
        registers(attr.registers, &mut rest)?;
    }
    if has(bit::PHYS_ADDR) {
        found.physical = Some(rest.u64()?).filter(|address| *address != 0);
    }
    Some(())
}

/// Passes over registers: which machine they are of (0: none are there), then those of a mask.
fn registers(mask: u64, rest: &mut Bytes<'_>) -> Option<()> {
    if rest.u64()? != 0 {
        rest.take(mask.count_ones() as usize * 8)?;
    }
    Some(())
}

/// Passes over the counts that came along (`read_format`).
fn read_format(format: u64, rest: &mut Bytes<'_>) -> Option<()> {
    let (times, id, group, lost) =
        ((format & 3).count_ones() as usize, format >> 2 & 1, format >> 3 & 1, format >> 4 & 1);
    let each = 1 + id as usize + lost as usize;
    let words = if group == 1 {
        let count = usize::try_from(rest.u64()?).ok()?;
        times.checked_add(count.checked_mul(each)?)?
    } else {
        times + each
    };
    rest.take(words.checked_mul(8)?).map(drop)
}
