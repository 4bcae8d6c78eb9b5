//! Blocks of the code cache (`heap.hpp`, `codeBlob.hpp`): which one an address lies in, and what it is.

use super::heaps::Heap;
use super::layout::Layout;
use super::{Memory, Trouble};
use std::ops::Range;
use std::sync::Arc;

/// So many steps back the beginning of a block is looked for. A block of a megabyte takes some 70; where blocks were joined it may be more.
const MOST_STEPS: usize = 20_000;
/// Bytes of the map of segments that are read at once.
const SEGMENTS: u64 = 256;
/// There are no larger blocks.
const LARGEST: u64 = 1 << 30;
/// Frames are smaller.
const LARGEST_FRAME: u64 = 1 << 24;
/// Names of blocks are shorter.
const LONGEST_NAME: usize = 100;

/// The beginning of a block as it was read.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub start: u64,
    /// Where its code begins.
    pub code: u64,
    pub bytes: Vec<u8>,
}

/// What makes a block another one than that which lay in its place before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    name: u64,
    size: u64,
    method: u64,
    id: u64,
}

/// A block of code.
#[derive(Debug)]
pub(super) struct Blob {
    pub header: Header,
    /// From its beginning on.
    pub range: Range<u64>,
    pub name: Arc<str>,
    /// Where its machine code ends.
    pub code_end: u64,
    /// Bytes of its frame with the return address; 0 where it has none, or one that it makes itself.
    pub frame: u64,
    /// From this address on its frame is complete.
    pub complete: u64,
    pub compiled: Option<Compiled>,
    identity: Identity,
}

/// What is known of compiled code besides.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub method: u64,
    /// 1 to 3 are C1, 4 is C2; 0 is what calls a native method.
    pub level: u8,
    /// The number of its compilation.
    pub id: u64,
    /// Whether it is entered in the middle of a loop that was running (on-stack replacement).
    pub is_osr: bool,
    /// Where the code begins that callers who know the class go to.
    pub entry: u64,
    /// Where in its frame the address lies at which a frame that is to be deoptimised would go on.
    pub original: Option<u64>,
    /// The addresses at which it goes on instead.
    pub handlers: [u64; 2],
}

impl Blob {
    /// The block that an address lies in; `None` where there is none now.
    pub fn at(memory: &impl Memory, layout: &Layout, address: u64) -> Result<Option<Self>, Trouble> {
        let Some(heap) = layout.heap(address) else { return Ok(None) };
        let Some(block) = block(memory, heap, address)? else { return Ok(None) };
        let mut header = [0; 64];
        let header = header.get_mut(..layout.blob.header as usize).unwrap_or_default();
        if memory.some(block, header)? < header.len() || layout.blob.used.of(header).is_none_or(|used| used == 0) {
            return Ok(None);
        }
        let start = block.wrapping_add(layout.blob.header);
        let found = Blob::read(memory, layout, start)?;
        Ok(found.filter(|blob| blob.range.contains(&address) && blob.range.end <= heap.range.end))
    }

    fn read(memory: &impl Memory, layout: &Layout, start: u64) -> Result<Option<Self>, Trouble> {
        let Some(bytes) = read(memory, layout, start)? else { return Ok(None) };
        let fields = &layout.blob;
        let of = |field: super::layout::Field| field.of(&bytes);
        let known = || {
            let size = of(fields.size).filter(|&size| size > 0 && size <= LARGEST)?;
            let code = of(fields.code)?;
            let code = if fields.code_is_address { code } else { start.wrapping_add(code) };
            let range = start..start.checked_add(size)?;
            let complete = code.wrapping_add(of(fields.frame_complete)?);
            // Where it has none this is 0, or negative.
            let frame = of(fields.frame_size)?.saturating_mul(8);
            let frame = if frame <= LARGEST_FRAME { frame } else { 0 };
            let end = fields.end.and_then(|(field, is_address)| {
                let end = of(field)?;
                Some(if is_address { end } else { start.wrapping_add(end) })
            });
            let end = end.filter(|&end| code < end && end <= range.end).unwrap_or(range.end);
            Some((range, code, end, complete, frame, of(fields.name)?))
        };
        let Some((range, code, code_end, complete, frame, name)) = known() else { return Ok(None) };
        let Some(text) = memory.text(name)? else { return Ok(None) };
        if text.is_empty() || text.len() > LONGEST_NAME || text.chars().any(char::is_control) {
            return Ok(None);
        }
        let header = Header { start, code, bytes };
        let is_compiled = matches!(&*text, "nmethod" | "native nmethod");
        let compiled = if is_compiled { compiled(layout, &header) } else { None };
        if is_compiled && compiled.is_none() {
            return Ok(None);
        }
        let identity = identity(layout, &header.bytes, is_compiled);
        Ok(identity.map(|identity| {
            let name = text.into();
            Blob { header, range, name, code_end, frame, complete, compiled, identity }
        }))
    }

    /// Whether it still lies there.
    pub fn is_same(&self, memory: &impl Memory, layout: &Layout) -> Result<bool, Trouble> {
        let now = read(memory, layout, self.header.start)?;
        Ok(now.and_then(|bytes| identity(layout, &bytes, self.compiled.is_some())) == Some(self.identity))
    }
}

fn read(memory: &impl Memory, layout: &Layout, start: u64) -> Result<Option<Vec<u8>>, Trouble> {
    let mut bytes = vec![0; layout.blob.size_read];
    let read = memory.some(start, &mut bytes)?;
    bytes.truncate(read);
    Ok((read >= 64).then_some(bytes))
}

fn identity(layout: &Layout, bytes: &[u8], is_compiled: bool) -> Option<Identity> {
    let (name, size) = (layout.blob.name.of(bytes)?, layout.blob.size.of(bytes)?);
    let (mut method, mut id) = (0, 0);
    if is_compiled {
        (method, id) = (layout.compiled.method.of(bytes)?, layout.compiled.id.of(bytes)?);
    }
    Some(Identity { name, size, method, id })
}

fn compiled(layout: &Layout, header: &Header) -> Option<Compiled> {
    let fields = &layout.compiled;
    let of = |field: super::layout::Field| field.of(&header.bytes);
    // Offsets of handlers are from the beginning of the block, where there is one at all.
    let mut handlers = fields.handlers.iter().filter_map(|&(field, is_address)| {
        let value = of(field).filter(|&value| value != 0 && value as i64 > 0)?;
        Some(if is_address { value } else { header.start.wrapping_add(value) })
    });
    let entry = match fields.entry {
        Some((field, true)) => of(field)?,
        Some((field, false)) => header.code.wrapping_add(of(field)?),
        None => header.code,
    };
    Some(Compiled {
        method: of(fields.method)?,
        level: of(fields.level)? as u8,
        id: of(fields.id)?,
        is_osr: fields.entry_at.and_then(of).is_some_and(|at| (at as i64) >= 0),
        entry,
        original: fields.original.and_then(of).filter(|&at| at > 0 && at <= LARGEST_FRAME),
        handlers: [handlers.next().unwrap_or(0), handlers.next().unwrap_or(0)],
    })
}

/// Where the block begins that an address of a heap lies in. For each segment a byte says so: 0 at its beginning, else how many segments further back to look,
/// 255 where nothing lies.
fn block(memory: &impl Memory, heap: &Heap, address: u64) -> Result<Option<u64>, Trouble> {
    let mut index = (address - heap.range.start) >> heap.shift;
    let (mut bytes, mut from, mut until) = ([0u8; SEGMENTS as usize], 0, 0);
    for _ in 0..MOST_STEPS {
        if !(from..until).contains(&index) {
            (from, until) = (index.saturating_sub(SEGMENTS - 1), index + 1);
            let room = bytes.get_mut(..(until - from) as usize).unwrap_or_default();
            if memory.some(heap.segments.wrapping_add(from), room)? < room.len() {
                return Ok(None);
            }
        }
        match bytes.get((index - from) as usize) {
            Some(0) => return Ok(Some(heap.range.start + (index << heap.shift))),
            Some(&back) if back != 0xff => match index.checked_sub(back.into()) {
                Some(before) => index = before,
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    Ok(None)
}
