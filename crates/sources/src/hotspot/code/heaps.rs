//! The heaps of the code cache (`heap.hpp`, `codeCache.cpp`): where they are, and how full. Up to 8, and with a small code cache, there is one; else
//! methods that count what they do, other methods, and what is no method have one each.

use super::{Memory, Trouble};
use crate::hotspot::tables::Tables;
use crate::hotspot::{Unknown, Way};
use std::ops::Range;
use std::sync::Arc;

/// More heaps of code than any version has.
const MOST_HEAPS: u64 = 16;
/// So far behind the size of its segments a heap tells its name and how much of it is used.
const BEHIND: u64 = 96;
/// `CodeHeap` is smaller.
const LARGEST: u64 = 4096;

/// A heap of code: what never changes of it.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    /// Where it is described.
    at: u64,
    /// All addresses that it may ever have.
    pub range: Range<u64>,
    /// Where it says for each segment where its block begins.
    pub segments: u64,
    /// A segment has two to the power of so many bytes.
    pub shift: u32,
    name: Arc<str>,
    /// Where it keeps how many segments are on its list of free ones, and, where it has a name (9 and later), what it counts.
    free: u64,
    counts: Option<u64>,
}

/// How full a heap of code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeHeap {
    /// `code profiled`, `code non-profiled`, `code non-nmethods`; `code` where there is one for all.
    pub name: Arc<str>,
    /// The most it may have, how much of it has memory, and how much of that is in use.
    pub reserved: u64,
    pub committed: u64,
    pub used: Option<u64>,
    /// The most that ever was in use.
    pub peak: Option<u64>,
    /// Compiled methods in it, and how often it was full.
    pub methods: Option<u64>,
    pub full: Option<u64>,
}

/// The heaps of a JVM.
#[derive(Clone, Debug)]
pub(crate) struct CodeHeaps {
    pub(super) all: Vec<Heap>,
    fields: Fields,
}

/// What lies where in `CodeHeap`.
#[derive(Clone, Copy, Debug)]
struct Fields {
    low: u64,
    high: u64,
    shift: u64,
}

impl Fields {
    /// Where the first segment is told that was never used.
    fn next(self) -> u64 {
        (self.shift + 4).next_multiple_of(8)
    }

    fn end(self) -> u64 {
        self.next() + BEHIND
    }
}

impl CodeHeaps {
    /// Finds them.
    ///
    /// # Errors
    /// The JVM is still starting, or does not tell of them.
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        Self::of(memory, &way.tables)
    }

    pub(super) fn of(memory: &impl Memory, tables: &Tables) -> Result<Self, Unknown> {
        const WHAT: Unknown = Unknown::Missing("CodeHeap");
        let offset = |names: &[(&str, &str)]| tables.offset(names).ok_or(WHAT);
        let (space, segments) = (offset(&[("CodeHeap", "_memory")])?, offset(&[("CodeHeap", "_segmap")])?);
        let of_space = |name| offset(&[("VirtualSpace", name)]);
        let (low, high) = (of_space("_low_boundary")?, of_space("_high_boundary")?);
        let (first, end) = (of_space("_low")?, of_space("_high")?);
        let fields =
            Fields { low: space + first, high: space + end, shift: offset(&[("CodeHeap", "_log2_segment_size")])? };
        if [fields.low, fields.high, fields.shift].into_iter().any(|at| at > LARGEST) {
            return Err(WHAT);
        }
        let mut all = Vec::new();
        for heap in places(memory, tables)?.into_iter().filter(|&heap| heap != 0) {
            let at = |offset: u64| heap.wrapping_add(offset);
            let words = [at(space + low), at(space + high), at(segments + first), at(fields.shift)];
            if let [Some(start), Some(end), Some(segments), Some(shift)] = memory.words(&words)?[..] {
                let shift = shift as u32;
                // Code caches have at most 2 GiB.
                if start < end && end - start <= 1 << 32 && (4..=16).contains(&shift) {
                    let (name, place) = name(memory, heap, fields)?;
                    let (free, counts) = match place {
                        // Segments and length of the list of free ones, the most that was ever used, the name; its kind, and the counts.
                        Some(place) => (place - 24, Some(place + 8)),
                        None => (fields.next() + 16, None),
                    };
                    all.push(Heap { at: heap, range: start..end, segments, shift, name, free, counts });
                }
            }
        }
        if all.is_empty() { Err(Unknown::Starting) } else { Ok(CodeHeaps { all, fields }) }
    }

    /// How full each is now.
    pub fn look(&self, memory: &impl Memory) -> Result<Vec<CodeHeap>, Trouble> {
        let fields = self.fields;
        let mut bytes = vec![0; usize::try_from(fields.end()).unwrap_or(0)];
        let mut found = Vec::with_capacity(self.all.len());
        for heap in &self.all {
            if memory.some(heap.at, &mut bytes)? < bytes.len() {
                continue;
            }
            found.extend(heap.of(fields, &bytes));
        }
        Ok(found)
    }
}

impl Heap {
    fn of(&self, fields: Fields, bytes: &[u8]) -> Option<CodeHeap> {
        let word = |at: u64| {
            let bytes = bytes.get(usize::try_from(at).ok()?..)?.first_chunk::<8>()?;
            Some(u64::from_ne_bytes(*bytes))
        };
        let number = |at: u64| {
            let bytes = bytes.get(usize::try_from(at).ok()?..)?.first_chunk::<4>()?;
            u64::try_from(i32::from_ne_bytes(*bytes)).ok()
        };
        let reserved = self.range.end - self.range.start;
        let (low, high) = (word(fields.low)?, word(fields.high)?);
        let committed = high.checked_sub(low).filter(|&size| low == self.range.start && size <= reserved)?;
        // The tables do not say where these are. What does not agree with the rest is not what it is taken for.
        let (next, list, free) = (word(fields.next())?, word(fields.next() + 8)?, word(self.free)?);
        let used = next.checked_sub(free).filter(|_| next <= committed >> self.shift && (list == 0) == (free == 0));
        let used = used.map(|segments| segments << self.shift);
        // Before the name.
        let peak = self.counts.and_then(|counts| word(counts.checked_sub(16)?));
        let peak = peak.filter(|peak| used.is_some_and(|used| (used..=reserved).contains(peak)));
        // Kind of the heap, blocks, methods, adapters, how often it was full.
        let count = |place: u64| number(self.counts?.wrapping_add(place * 4));
        let [blocks, methods, adapters, full] = [1, 2, 3, 4].map(count);
        let agree = matches!((blocks, methods, adapters), (Some(b), Some(m), Some(a)) if m + a <= b && b <= next);
        Some(CodeHeap {
            name: Arc::clone(&self.name),
            reserved,
            committed,
            used,
            peak,
            methods: methods.filter(|_| agree),
            full: full.filter(|_| agree),
        })
    }
}

/// Where the heaps are described.
fn places(memory: &impl Memory, tables: &Tables) -> Result<Vec<u64>, Unknown> {
    const WHAT: Unknown = Unknown::Missing("CodeHeap");
    let offset = |names: &[(&str, &str)]| tables.offset(names).ok_or(WHAT);
    let mut found = Vec::new();
    if let Some(place) = tables.address(&[("CodeCache", "_heaps")]) {
        let array = memory.word(place)?.filter(|&array| array != 0).ok_or(Unknown::Starting)?;
        let length = offset(&[("GrowableArrayBase", "_len"), ("GenericGrowableArray", "_len")])?;
        let data = offset(&[("GrowableArray<int>", "_data")])?;
        let words = memory.words(&[array.wrapping_add(length), array.wrapping_add(data)])?;
        let (Some(Some(length)), Some(Some(data))) = (words.first(), words.get(1)) else { return Err(WHAT) };
        let number = u64::from(*length as u32).min(MOST_HEAPS);
        let places: Vec<u64> = (0..number).map(|i| data.wrapping_add(i * 8)).collect();
        found.extend(memory.words(&places)?.into_iter().flatten());
    } else if let Some(place) = tables.address(&[("CodeCache", "_heap")]) {
        found.extend(memory.word(place)?);
    }
    Ok(found)
}

/// What a heap is called, and where in it that stands: `CodeHeap 'profiled nmethods'`, `CodeCache`.
fn name(memory: &impl Memory, heap: u64, fields: Fields) -> Result<(Arc<str>, Option<u64>), Trouble> {
    let places: Vec<u64> = (0..BEHIND / 8).map(|word| fields.next() + word * 8).collect();
    let addresses: Vec<u64> = places.iter().map(|place| heap.wrapping_add(*place)).collect();
    // The list of free segments comes before.
    for (&place, word) in places.iter().zip(memory.words(&addresses)?).skip(4) {
        let Some(text) = word.map_or(Ok(None), |word| memory.text(word))? else { continue };
        if !text.starts_with("Code") {
            continue;
        }
        let kind = text.split('\'').nth(1).unwrap_or_default();
        let kind = kind.strip_suffix(" nmethods").unwrap_or(kind);
        let is_word = kind.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-'));
        let name = if kind.is_empty() || !is_word { "code".to_owned() } else { format!("code {kind}") };
        return Ok((name.into(), Some(place)));
    }
    Ok(("code".into(), None))
}
