//! What glibc's malloc(3) has allocated, read from the memory of a process: each chunk begins with its size, and the next one follows it (malloc/malloc.c).
//!
//! The process goes on meanwhile, and other allocators lay out their memory otherwise. So whatever is odd ends the reading without an answer.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The most that is read of one process's memory, bytes.
const MOST: u64 = 64 << 20;

/// Bytes that are read at once.
const BLOCK: u64 = 64 << 10;

/// Where the heaps of other arenas than the main one begin: multiples of this (HEAP_MAX_SIZE).
const HEAP: u64 = 64 << 20;

/// Flags in the size of a chunk.
const PREVIOUS_IN_USE: u64 = 1;
const MAPPED: u64 = 2;
const OTHER_ARENA: u64 = 4;

/// Memory of a process, read in blocks.
pub(super) struct Memory<'a> {
    file: &'a File,
    block: Vec<u8>,
    at: u64,
    left: u64,
}

impl<'a> Memory<'a> {
    pub(super) fn new(file: &'a File) -> Self {
        Memory { file, block: Vec::new(), at: 0, left: MOST }
    }

    pub(super) fn word(&mut self, address: u64) -> Option<u64> {
        if let Some(word) = self.held(address) {
            return Some(word);
        }
        self.left = self.left.checked_sub(BLOCK)?;
        self.at = address & !7;
        // To the end of a page: what lies behind may not be mapped.
        let end = (self.at + 1).next_multiple_of(4096).max(self.at.checked_add(BLOCK)? & !4095);
        self.block.resize(usize::try_from(end - self.at).ok()?, 0);
        let read = self.file.read_at(&mut self.block, self.at).unwrap_or(0);
        self.block.truncate(read);
        self.held(address)
    }

    fn held(&self, address: u64) -> Option<u64> {
        let from = usize::try_from(address.checked_sub(self.at)?).ok()?;
        Some(u64::from_ne_bytes(self.block.get(from..from.checked_add(8)?)?.try_into().ok()?))
    }
}

/// The allocations that overlap a range, of a heap whose chunks begin at `start`, all with the flag of its arena. Its end is at `end`.
fn walk(memory: &mut Memory<'_>, start: u64, end: u64, arena: u64, range: &Range<u64>) -> Option<Vec<Range<u64>>> {
    let mut found = Vec::new();
    let mut at = start;
    let mut size = chunk(memory, at, end, arena)?;
    // Before the first one nothing is.
    if memory.word(at.checked_add(8)?)? & PREVIOUS_IN_USE == 0 {
        return None;
    }
    while at + 16 < range.end {
        let next = at + size;
        if next == end {
            // What is left of the heap.
            return Some(found);
        }
        let following = chunk(memory, next, end, arena)?;
        let in_use = memory.word(next + 8)? & PREVIOUS_IN_USE != 0;
        // The first word of the next chunk belongs to this one while it is in use.
        let usable = at + 16..next + 8;
        if in_use && usable.start < range.end && range.start < usable.end {
            found.push(usable);
        } else if !in_use && memory.word(next)? != size {
            // A free one has its size at its end as well.
            return None;
        }
        if found.len() > 4096 {
            return None;
        }
        (at, size) = (next, following);
    }
    Some(found)
}

/// The size of the chunk at an address.
fn chunk(memory: &mut Memory<'_>, at: u64, end: u64, arena: u64) -> Option<u64> {
    let word = memory.word(at.checked_add(8)?)?;
    let size = word & !7;
    let right = size >= 16 && size % 16 == 0 && word & MAPPED == 0 && word & OTHER_ARENA == arena;
    (right && at.checked_add(size)? <= end).then_some(size)
}

/// Of the main arena, which grows from the start of `[heap]`.
pub(super) fn main(memory: &mut Memory<'_>, heap: &Range<u64>, range: &Range<u64>) -> Option<Vec<Range<u64>>> {
    // The break may not begin at a multiple of 16.
    walk(memory, heap.start.next_multiple_of(16), heap.end, 0, range)
}

/// Of another arena: its heap begins with `heap_info`, and the first heap of an arena goes on with `malloc_state`.
pub(super) fn other(memory: &mut Memory<'_>, mapping: &Range<u64>, range: &Range<u64>) -> Option<Vec<Range<u64>>> {
    let heap = range.start & !(HEAP - 1);
    if heap < mapping.start {
        return None;
    }
    let (arena, size) = (memory.word(heap)?, memory.word(heap.checked_add(16)?)?);
    let end = heap.checked_add(size).filter(|&end| size % 4096 == 0 && size <= HEAP && end >= range.end)?;
    // It has four or, since 2.35, five fields, and ends at a multiple of 16.
    let infos = [0x20, 0x30];
    if arena & !(HEAP - 1) != heap {
        // Of an arena that began elsewhere.
        return infos.iter().find_map(|info| walk(memory, heap + info, end, OTHER_ARENA, range));
    }
    let info = arena - heap;
    if !infos.contains(&info) {
        return None;
    }
    // `malloc_state` has 2,200 bytes since 2.26, and other sizes in other versions.
    let usual = (arena + 2200).next_multiple_of(16);
    let others = (0..128).map(|n| (arena + 1024).next_multiple_of(16) + 16 * n);
    std::iter::once(usual).chain(others).find_map(|start| walk(memory, start, end, OTHER_ARENA, range))
}

/// One of its own mapping: large ones are mapped each by itself.
pub(super) fn mapped(memory: &mut Memory<'_>, mapping: &Range<u64>, range: &Range<u64>) -> Option<Vec<Range<u64>>> {
    let mut page = range.start & !4095;
    for _ in 0..1 << 14 {
        if page < mapping.start {
            return None;
        }
        let word = memory.own(page.checked_add(8)?)?;
        let size = word & !7;
        if word & 7 == MAPPED && size >= 1 << 15 && size % 4096 == 0 {
            let end = page.checked_add(size)?;
            // Before it there are at most the bytes that align it.
            let before = memory.own(page)?;
            let right = before % 16 == 0 && before < 1 << 30 && end <= mapping.end;
            return (right && range.start < end).then(|| std::iter::once(page + 16..end).collect());
        }
        page = page.checked_sub(4096)?;
    }
    None
}

impl Memory<'_> {
    /// A word of its own, where the ones beside it are not asked for.
    fn own(&mut self, address: u64) -> Option<u64> {
        self.left = self.left.checked_sub(4096)?;
        let mut word = [0; 8];
        self.file.read_exact_at(&mut word, address).ok()?;
        Some(u64::from_ne_bytes(word))
    }
}
