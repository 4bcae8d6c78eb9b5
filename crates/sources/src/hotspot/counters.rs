//! The performance counters of a JVM (`hsperfdata`, which jstat reads), in its own memory: no file, mount or pid namespace is in the way, nor
//! `-XX:+PerfDisableSharedMem`. Where that memory may not be read, they are read from their file.
//!
//! The layout is that of `perfMemory.hpp` (`PerfDataPrologue`, version 2.0) and `perfData.hpp` (`PerfDataEntry`).

use super::{Unknown, Way};
use crate::memory::{Memory, Trouble};
use std::collections::HashMap;

/// They take 32 KiB unless `-XX:PerfDataMemorySize` says otherwise.
const MOST_BYTES: u64 = 4 << 20;
const MOST_ENTRIES: usize = 16_384;
/// Bytes of the prologue, and of the head of an entry.
const PROLOGUE: usize = 32;
const HEAD: usize = 20;
/// How they begin, in the order of bytes of the network.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Of an entry with this type, its vector is text; alone, it is a number of 64 bits.
const BYTE: u8 = b'B';
const LONG: u8 = b'J';

/// What an entry holds, and where in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Long(usize),
    Text(usize, usize),
}

/// The counters, as they were last read.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Where they begin in memory; 0 of those that come from a file.
    start: u64,
    bytes: Vec<u8>,
    entries: HashMap<String, Entry>,
    /// Entries and bytes in use when they were last looked through.
    known: (i32, i32),
}

impl Counters {
    /// Finds them. `None` where the JVM has none (`-XX:-UsePerfData`).
    ///
    /// # Errors
    /// It does not tell where; [`Unknown::Starting`] where they are not complete yet.
    pub fn find(memory: &impl Memory, way: &Way) -> Result<Option<Self>, Unknown> {
        const WHAT: Unknown = Unknown::Missing("where its counters are");
        let place = |field: &str| way.tables.address(&[("PerfMemory", field)]).ok_or(WHAT);
        let words = memory.words(&[place("_start")?, place("_initialized")?])?;
        let [start, initialized] = [0, 1].map(|at: usize| words.get(at).copied().flatten().unwrap_or(0));
        // Memory for them is taken before anything else of the JVM, also where nobody wants them.
        if start == 0 || initialized as u32 == 0 {
            let [wanted] = way.tables.flags(memory, ["UsePerfData"])?;
            return if wanted == Some(false) { Ok(None) } else { Err(Unknown::Starting) };
        }
        let mut counters = Counters { start, ..Counters::default() };
        counters.read(memory)?;
        if counters.entries.is_empty() { Err(Unknown::Starting) } else { Ok(Some(counters)) }
    }

    /// Those of a file `hsperfdata_USER/PID`.
    pub fn of_file(bytes: Vec<u8>) -> Self {
        let mut counters = Counters::default();
        counters.take(bytes);
        counters
    }

    /// Reads all again.
    pub fn read(&mut self, memory: &impl Memory) -> Result<(), Trouble> {
        let mut prologue = [0; PROLOGUE];
        if memory.some(self.start, &mut prologue)? < PROLOGUE || !prologue.starts_with(&MAGIC) {
            return Err(Trouble::Gone);
        }
        let used = number(&prologue, 8).and_then(|used| u64::try_from(used).ok()).unwrap_or(0).min(MOST_BYTES);
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(usize::try_from(used).unwrap_or(0), 0);
        let read = memory.some(self.start, &mut bytes)?;
        bytes.truncate(read);
        self.take(bytes);
        Ok(())
    }

    /// Takes these bytes; looks for entries only if there are others than before.
    pub fn take(&mut self, bytes: Vec<u8>) {
        let known = (number(&bytes, 28).unwrap_or(0), number(&bytes, 8).unwrap_or(0));
        self.bytes = bytes;
        if known != self.known {
            self.known = known;
            self.entries = self.looked_through();
        }
    }

    fn looked_through(&self) -> HashMap<String, Entry> {
        let mut found = HashMap::new();
        // The other order of bytes is that of another machine.
        let native = u8::from(cfg!(target_endian = "little"));
        if !self.bytes.starts_with(&MAGIC) || self.bytes.get(4) != Some(&native) || self.bytes.get(5) != Some(&2) {
            return found;
        }
        let at = |at: usize| number(&self.bytes, at).and_then(|number| usize::try_from(number).ok());
        let (Some(mut entry), Some(count)) = (at(24), at(28)) else { return found };
        for _ in 0..count.min(MOST_ENTRIES) {
            let (Some(length), Some(name), Some(vector)) = (at(entry), at(entry + 4), at(entry + 8)) else { break };
            let (Some(&kind), Some(data)) = (self.bytes.get(entry + 12), at(entry + 16)) else { break };
            if length < HEAD || entry.checked_add(length).is_none_or(|end| end > self.bytes.len()) {
                break;
            }
            let text = self.bytes.get(entry..entry + length).and_then(|own| own.get(name..)).unwrap_or_default();
            let name = text.split(|&b| b == 0).next().and_then(|text| std::str::from_utf8(text).ok());
            let fits = data.checked_add(vector.max(1)).is_some_and(|end| end <= length);
            let held = match (kind, vector) {
                (LONG, 0) if data.checked_add(8).is_some_and(|end| end <= length) => Some(Entry::Long(entry + data)),
                (BYTE, 1..) if fits => Some(Entry::Text(entry + data, vector)),
                _ => None,
            };
            if let (Some(name), Some(held)) = (name.filter(|name| !name.is_empty()), held) {
                found.insert(name.to_owned(), held);
            }
            entry += length;
        }
        found
    }

    /// A number.
    pub fn long(&self, name: &str) -> Option<i64> {
        match self.entries.get(name)? {
            Entry::Long(at) => Some(i64::from_ne_bytes(*self.bytes.get(*at..)?.first_chunk()?)),
            Entry::Text(..) => None,
        }
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.entries.get(name)? {
            Entry::Text(at, length) => {
                let bytes = self.bytes.get(*at..at + length)?;
                let text = std::str::from_utf8(bytes.split(|&b| b == 0).next()?).ok()?;
                (!text.chars().any(char::is_control)).then_some(text)
            }
            Entry::Long(_) => None,
        }
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The counters of a JDK 17 with G1 (fixtures/jvm/ORIGIN.md).
    const RECORDED: &[u8] = include_bytes!("../../../../fixtures/jvm/hsperfdata-17-g1");

    #[test]
    fn recorded_counters_are_read() {
        let counters = Counters::of_file(RECORDED.to_vec());
        assert_eq!(counters.text("sun.gc.collector.0.name"), Some("G1 young collection pauses"));
        assert_eq!(counters.long("sun.os.hrt.frequency"), Some(1_000_000_000));
        assert!(counters.long("sun.gc.collector.0.invocations").is_some_and(|n| n > 0));
        assert!(counters.text("sun.gc.collector.0.invocations").is_none() && counters.long("none").is_none());
    }

    #[test]
    fn cut_off_counters_lack_what_was_cut() {
        for end in 0..RECORDED.len().min(3000) {
            let counters = Counters::of_file(RECORDED[..end].to_vec());
            assert!(counters.entries.len() <= 60, "{end}");
        }
    }

    proptest! {
        #[test]
        fn damaged_counters_never_panic(places in prop::collection::vec((0usize..4096, any::<u8>()), 0..24), rest: Vec<u8>) {
            let mut bytes = RECORDED.to_vec();
            for (at, byte) in places {
                bytes[at] = byte;
            }
            let mut counters = Counters::of_file(bytes);
            let names: Vec<String> = counters.entries.keys().cloned().collect();
            for name in &names {
                let _ = (counters.long(name), counters.text(name));
            }
            counters.take(rest);
            for name in &names {
                let _ = (counters.long(name), counters.text(name));
            }
        }
    }
}
