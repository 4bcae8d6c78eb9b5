//! The fields of one sample, in the order of `perf_event.h`.

use super::attr::{Attr, bit};
use crate::bytes::Bytes;

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
            rest.u64()?;
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
    Some(found)
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
