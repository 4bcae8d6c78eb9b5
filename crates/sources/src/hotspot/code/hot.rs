//! What of a JVM's code was on a CPU when it was sampled: which methods, how they ran, what keeps them from being compiled, and over how much memory
//! their code is spread.

use super::heaps::CodeHeap;
use super::{Code, Memory};
use crate::memory::Trouble;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How full the heaps of code are is looked at again after so long.
const AGAIN: Duration = Duration::from_secs(1);
/// So many methods and pieces of code are told apart; what comes later counts for the JVM as a whole.
const MOST: usize = 1 << 16;
/// Methods that are told of at the end, and the share of the time that each of them has at least.
const TOLD: usize = 200;
const LEAST: f64 = 1e-3;
/// Hot is what holds this share of the samples.
const SHARE: f64 = 0.9;
/// The code of a method is smaller.
const LARGEST: u64 = 1 << 22;
const PAGE: u64 = 1 << 12;
const HUGE_PAGE: u64 = 1 << 21;
/// The state of a loop that was compiled while it ran.
pub(crate) const OSR: &str = "OSR";
/// Methods with more bytecode are not compiled (`HugeMethodLimit`), unless -XX:-DontCompileHugeMethods is given.
pub(super) const HUGE_METHOD: u64 = 8000;

/// A method that was on a CPU, by how it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HotMethod {
    pub name: Arc<str>,
    /// 0 interpreted, 1 to 3 C1, 4 C2.
    pub tier: u8,
    /// Of what is compiled: `in use`, `not entrant` (no new caller gets to it), `OSR` (a loop that was compiled while it ran).
    pub state: Option<&'static str>,
    /// Why it is not compiled, or not by C2.
    pub why_not: Option<String>,
    /// CPU time and number of its samples, those of methods that it has inlined included.
    pub time: u64,
    pub samples: u64,
    /// Bytes of its machine code, and of its bytecode.
    pub bytes: Option<u64>,
    pub bytecode: u64,
    /// The number of its compilation, and how many different ones were met.
    pub id: Option<u64>,
    pub compilations: u64,
}

/// A heap of code with what of it was on a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HotHeap {
    pub heap: CodeHeap,
    /// Samples in its code.
    pub samples: u64,
    /// Of the methods that hold 90 % of all samples in code of this JVM, those in this heap: bytes, and pages that they touch.
    pub bytes: u64,
    pub pages: u64,
    pub huge_pages: u64,
    /// Bytes of the heap that lie in huge pages.
    pub huge: Option<u64>,
}

/// How a method runs, and whether that is code for one of its loops.
type Way = (Arc<str>, u8, bool);

/// What was on a CPU of the code of a JVM.
#[derive(Debug, Default)]
pub(crate) struct Hot {
    methods: HashMap<Way, HotMethod>,
    /// Stretches of code by their addresses: samples.
    pieces: HashMap<(u64, u64), u64>,
    heaps: Vec<(Range<u64>, CodeHeap)>,
    looked: Option<Instant>,
    looks: u32,
    /// Of each heap, bytes in huge pages.
    huge: Vec<Option<u64>>,
    /// All of the time.
    time: u64,
}

impl Code {
    /// Counts a sample at an address of its code, whose innermost frame has a number. The stack was just followed.
    pub fn sampled(
        &mut self,
        memory: &impl Memory,
        hot: &mut Hot,
        (address, frame): (u64, u32),
        time: u64,
    ) -> Result<(), Trouble> {
        hot.time += time;
        if hot.looked.is_none_or(|at| at.elapsed() >= AGAIN) {
            hot.looked = Some(Instant::now());
            let ranges = self.layout.heaps.all.iter().map(|heap| heap.range.clone());
            let heaps = self.layout.heaps.look(memory)?;
            // All of them, or what each is called does not say which it is.
            if heaps.len() == ranges.len() {
                hot.heaps = ranges.zip(heaps).collect();
            }
            // Ever less often: the kernel walks its page tables for this.
            if hot.looks.is_power_of_two() {
                let committed = hot.heaps.iter().map(|(range, heap)| range.start..range.start + heap.committed);
                hot.huge = committed.map(|range| memory.huge(range)).collect();
            }
            hot.looks += 1;
        }
        if self.layout.interpreter.contains(&address) {
            hot.piece(address & !(PAGE - 1)..(address & !(PAGE - 1)) + PAGE);
            return match self.interpreted.get(&frame).copied() {
                Some(method) => self.sampled_method(memory, hot, method, (0, time), None),
                None => Ok(()),
            };
        }
        let known = self.places.get(&address).and_then(|known| self.blobs.get(known.blob as usize)?.as_ref());
        let Some(known) = known else { return Ok(()) };
        let (code, end, start) = (known.blob.header.code, known.blob.code_end, known.blob.header.start);
        hot.piece(code..end);
        let Some(compiled) = known.blob.compiled.clone().filter(|compiled| (1..=4).contains(&compiled.level)) else {
            return Ok(());
        };
        let state = match self.layout.compiled.state {
            Some(field) => {
                let mut byte = [0];
                let read = memory.some(start.wrapping_add(field.at), &mut byte)?;
                (read == 1).then_some(byte[0] as i8)
            }
            None => None,
        };
        let state = match state {
            _ if compiled.is_osr => Some(OSR),
            Some(0) => Some("in use"),
            Some(1..) => Some("not entrant"),
            _ => None,
        };
        let of = OfCode { bytes: end.saturating_sub(code), id: compiled.id, state, is_osr: compiled.is_osr };
        self.sampled_method(memory, hot, compiled.method, (compiled.level, time), Some(of))
    }

    fn sampled_method(
        &mut self,
        memory: &impl Memory,
        hot: &mut Hot,
        address: u64,
        (tier, time): (u8, u64),
        code: Option<OfCode>,
    ) -> Result<(), Trouble> {
        let Some(known) = self.methods.get(&address) else { return Ok(()) };
        let method = &known.method;
        let bytecode = method.bytecode.end.saturating_sub(method.bytecode.start);
        let why_not = match tier {
            4 => None,
            _ => self.why_not(memory, (address, bytecode))?,
        };
        let way = (Arc::clone(&method.name), tier, code.as_ref().is_some_and(|code| code.is_osr));
        if hot.methods.len() >= MOST && !hot.methods.contains_key(&way) {
            return Ok(());
        }
        let found = hot.methods.entry(way).or_insert_with(|| HotMethod {
            name: Arc::clone(&method.name),
            tier,
            state: None,
            why_not: None,
            time: 0,
            samples: 0,
            bytes: None,
            bytecode,
            id: None,
            compilations: 0,
        });
        (found.time, found.samples) = (found.time + time, found.samples + 1);
        found.why_not = why_not;
        if let Some(code) = code {
            found.compilations += u64::from(found.id != Some(code.id));
            (found.id, found.state, found.bytes) = (Some(code.id), code.state, Some(code.bytes));
        }
        Ok(())
    }

    /// Why a method is interpreted, or stays with C1, where that has a reason.
    fn why_not(&self, memory: &impl Memory, (address, bytecode): (u64, u64)) -> Result<Option<String>, Trouble> {
        if bytecode > HUGE_METHOD && !self.compiles_huge {
            return Ok(Some(format!("too large: {bytecode} bytes of bytecode, limit {HUGE_METHOD}")));
        }
        let Some(status) = self.layout.method.status else { return Ok(None) };
        let mut bytes = [0; 4];
        if memory.some(address.wrapping_add(status.at), &mut bytes)? < bytes.len() {
            return Ok(None);
        }
        let bits = u32::from_ne_bytes(bytes);
        let has = |bit: u32| bits & bit != 0;
        let why = match (has(status.not_c1), has(status.not_c2)) {
            (true, true) => "not compilable",
            (false, true) => "not compilable by C2",
            (true, false) => "not compilable by C1",
            _ if has(status.queued) => "waits to be compiled",
            _ => return Ok(None),
        };
        Ok(Some(why.to_owned()))
    }
}

/// What is told of compiled code.
struct OfCode {
    bytes: u64,
    id: u64,
    state: Option<&'static str>,
    is_osr: bool,
}

impl Hot {
    fn piece(&mut self, code: Range<u64>) {
        let key = (code.start, code.end);
        if code.is_empty() || code.end - code.start > LARGEST {
            return;
        }
        if self.pieces.len() < MOST || self.pieces.contains_key(&key) {
            *self.pieces.entry(key).or_insert(0) += 1;
        }
    }

    /// The methods with most of the time, those with most first.
    pub fn methods(&self) -> Vec<&HotMethod> {
        let mut all: Vec<&HotMethod> =
            self.methods.values().filter(|method| method.time as f64 >= LEAST * self.time as f64).collect();
        all.sort_unstable_by(|a, b| b.time.cmp(&a.time).then_with(|| (&a.name, a.tier).cmp(&(&b.name, b.tier))));
        all.truncate(TOLD);
        all
    }

    /// The heaps of code, each with what of it was on a CPU.
    pub fn heaps(&self) -> Vec<HotHeap> {
        let mut pieces: Vec<(Range<u64>, u64)> =
            self.pieces.iter().map(|(&(from, to), &samples)| (from..to, samples)).collect();
        pieces.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.start.cmp(&b.0.start)));
        let all: u64 = pieces.iter().map(|(_, samples)| samples).sum();
        let (mut held, mut hot) = (0, Vec::new());
        for (range, samples) in &pieces {
            if held as f64 >= SHARE * all as f64 {
                break;
            }
            held += samples;
            hot.push(range.clone());
        }
        let of = |heap: &Range<u64>, code: &Range<u64>| heap.contains(&code.start);
        let huge = self.huge.iter().copied().chain(std::iter::repeat(None));
        (self.heaps.iter().zip(huge))
            .map(|((heap, now), huge)| {
                let here: Vec<&Range<u64>> = hot.iter().filter(|code| of(heap, code)).collect();
                HotHeap {
                    heap: now.clone(),
                    samples: pieces.iter().filter(|(code, _)| of(heap, code)).map(|(_, samples)| samples).sum(),
                    bytes: here.iter().map(|code| code.end - code.start).sum(),
                    pages: pages(&here, PAGE),
                    huge_pages: pages(&here, HUGE_PAGE),
                    huge,
                }
            })
            .collect()
    }
}

/// Pages that stretches of code touch.
fn pages(code: &[&Range<u64>], size: u64) -> u64 {
    let touched: BTreeSet<u64> =
        code.iter().flat_map(|code| code.start / size..=code.end.saturating_sub(1) / size).collect();
    touched.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap(name: &str) -> CodeHeap {
        CodeHeap {
            name: name.into(),
            reserved: 1 << 24,
            committed: 1 << 20,
            used: None,
            peak: None,
            methods: None,
            full: None,
        }
    }

    #[test]
    fn what_holds_most_samples_is_hot() {
        let mut hot = Hot {
            heaps: vec![
                (0x10_0000..0x20_0000, heap("code profiled")),
                (0x20_0000..0x40_0000, heap("code non-profiled")),
            ],
            ..Hot::default()
        };
        // Two methods in one page, one over a border, and one that is hardly ever met.
        for (code, samples) in [
            (0x10_0000..0x10_0100, 40),
            (0x10_0200..0x10_0300, 30),
            (0x20_0f00..0x20_1100, 25),
            (0x30_0000..0x30_4000, 5),
        ] {
            (0..samples).for_each(|_| hot.piece(code.clone()));
        }
        let told: Vec<_> = hot.heaps().iter().map(|h| (h.samples, h.bytes, h.pages, h.huge_pages)).collect();
        assert_eq!(told, [(70, 0x200, 1, 1), (30, 0x200, 2, 1)]);
        assert_eq!(Hot::default().heaps(), []);
    }

    #[test]
    fn methods_with_little_time_are_left_out() {
        let method = |name: &str, time| HotMethod {
            name: name.into(),
            tier: 4,
            state: None,
            why_not: None,
            time,
            samples: 1,
            bytes: None,
            bytecode: 1,
            id: None,
            compilations: 1,
        };
        let mut hot = Hot { time: 1_000_000, ..Hot::default() };
        for (name, time) in [("a", 600_000), ("b", 399_000), ("c", 10)] {
            hot.methods.insert((name.into(), 4, false), method(name, time));
        }
        assert_eq!(hot.methods().iter().map(|m| &*m.name).collect::<Vec<_>>(), ["a", "b"]);
    }
}
