//! Accesses that the CPU sampled, put together: by instruction, thread, kind and outcome for `instruction_access`, by cache line for `sharing_line` and
//! `sharing_access`. A line is kept if a load found it changed by another core, or if several threads use it, one writes it, and it came from another
//! core's cache.

use super::space::Spaces;
use crate::profile::Profile;
use access::tables::{ACCESS, INSTRUCTION, LINE};
use access::{LINE_BITS, Level, Operation, Snoop, Tlb};
use model::NULL;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Lines that are kept: those that came from other cores most often.
const MOST_LINES: usize = 1000;

/// Rows of one instruction stand for this long, ns.
const TICK: i64 = 1_000_000_000;

/// Whose access it was: numbers and cells of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Who {
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) comm: i64,
    pub(super) thread: i64,
}

/// Where the instruction is: its stack, and its address in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Code {
    pub(super) stack: u32,
    pub(super) address: i64,
}

/// Sums of accesses.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// When the first was.
    at: i64,
    samples: i64,
    timed: i64,
    latency: i64,
    memory: Option<i64>,
    translation: Option<i64>,
    from_core: i64,
    modified: i64,
    /// Of those from another core.
    core_timed: i64,
    core_latency: i64,
}

impl Sums {
    fn add(&mut self, at: i64, of: &Operation) {
        if self.samples == 0 {
            self.at = at;
        }
        self.at = self.at.min(at);
        self.samples += 1;
        if let Some(cycles) = of.latency.or(of.memory).map(i64::from) {
            self.timed += 1;
            self.latency += cycles;
            if of.from_core() {
                self.core_timed += 1;
                self.core_latency += cycles;
            }
        }
        let more = |sum: &mut Option<i64>, cycles: Option<u32>| {
            if let Some(cycles) = cycles {
                *sum = Some(sum.unwrap_or(0) + i64::from(cycles));
            }
        };
        more(&mut self.memory, of.memory);
        more(&mut self.translation, of.translation);
        self.from_core += i64::from(of.from_core());
        self.modified += i64::from(of.snoop == Snoop::Modified);
    }
}

type Outcome = (&'static str, Level, Snoop, Tlb);

/// Second, thread, instruction, outcome.
type ByInstruction = (i64, Who, Code, Outcome);

/// Second, thread, instruction and its address in the process, first byte, size, what it does (reads, writes, in one step).
type ByLine = (i64, Who, Code, u64, i64, i64, [bool; 3]);

/// All of a file.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    instructions: HashMap<ByInstruction, Sums>,
    /// By process and number of the line.
    lines: HashMap<(u32, u64), BTreeMap<ByLine, Sums>>,
}

impl Accesses {
    /// Whether nothing was put in.
    pub(super) fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// An access, at a time on the file's clock.
    pub(super) fn add(&mut self, at: i64, who: Who, code: Code, of: &Operation) {
        let second = at.div_euclid(TICK);
        let outcome = (of.deed(), of.level, of.snoop, of.tlb);
        self.instructions.entry((second, who, code, outcome)).or_default().add(at, of);
        if let Some(address) = of.address {
            let first = (address & ((1 << LINE_BITS) - 1)) as i64;
            // What reaches into the next line is told of the first.
            let size = of.size.map_or(0, |size| i64::from(size).min((1 << LINE_BITS) - first));
            let does = [of.reads, of.writes, of.atomic];
            let key = (second, who, code, of.code.unwrap_or(0), first, size, does);
            self.lines.entry((who.pid, address >> LINE_BITS)).or_default().entry(key).or_default().add(at, of);
        }
    }

    /// Writes the rows.
    pub(super) fn put(self, spaces: &mut Spaces, profile: &mut Profile) {
        let stack = |number: u32| if number == 0 { NULL } else { i64::from(number) };
        let mut rows: Vec<_> = self.instructions.into_iter().collect();
        rows.sort_by_key(|(key, _)| *key);
        for ((_, who, code, (deed, level, snoop, tlb)), sums) in rows {
            let [deed, level, snoop, tlb] =
                [deed, level.word(), snoop.word(), tlb.word()].map(|word| profile.text(word));
            let (pid, tid) = (i64::from(who.pid), i64::from(who.tid));
            let before =
                [pid, tid, who.comm, who.thread, deed, level, snoop, tlb, sums.at, stack(code.stack), code.address];
            let or_null = |sum: Option<i64>| sum.unwrap_or(NULL);
            let after = [sums.samples, sums.timed, sums.latency, or_null(sums.memory), or_null(sums.translation)];
            profile.row(&INSTRUCTION, sums.at, before.into_iter().chain(after).collect());
        }
        let mut lines: Vec<_> = self.lines.into_iter().filter(|(_, accesses)| is_shared(accesses)).collect();
        let moved = |accesses: &BTreeMap<ByLine, Sums>| accesses.values().map(|sums| sums.from_core).sum::<i64>();
        lines.sort_by_key(|(key, accesses)| (-moved(accesses), *key));
        if lines.len() > MOST_LINES {
            profile.count(
                "shared cache lines beyond the 1,000 that came from other cores most often; they are left out",
                (lines.len() - MOST_LINES) as u64,
            );
        }
        for (number, ((pid, line), accesses)) in (1..).zip(lines.into_iter().take(MOST_LINES)) {
            let address = line << LINE_BITS;
            let begin = accesses.values().map(|sums| sums.at).min().unwrap_or(0);
            let comm = accesses.keys().next().map_or(NULL, |(_, who, ..)| who.comm);
            let data = spaces.data(pid, address);
            let text = |profile: &mut Profile, text: Option<&str>| text.map_or(NULL, |text| profile.text(text));
            let named = data.as_ref().and_then(|data| data.symbol.as_ref());
            let memory = text(profile, data.as_ref().and_then(|data| data.memory));
            let name = text(profile, named.map(|symbol| symbol.name.as_str()));
            let module = text(profile, named.map(|symbol| symbol.module.as_str()));
            let (start, size) = named.map_or((NULL, NULL), |symbol| (symbol.start as i64, symbol.size as i64));
            let cells =
                vec![number, i64::from(pid), comm, address as i64, memory, name, module, NULL, start, size, NULL];
            profile.row(&LINE, begin, cells);
            for ((_, who, code, ip, first, size, [reads, writes, atomic]), sums) in accesses {
                let (pid, tid) = (i64::from(who.pid), i64::from(who.tid));
                let before =
                    [number, pid, tid, who.comm, who.thread, NULL, sums.at, stack(code.stack), ip as i64, first, size];
                let does = [reads, writes, atomic].map(i64::from);
                // Samples that waited by a timer's account, time, samples nearby, time between two, hits and how long watched.
                let other = [0, NULL, 0, NULL, 0, 0];
                let sampled = [sums.samples, sums.from_core, sums.modified, sums.core_timed, sums.core_latency];
                let cells = before.into_iter().chain(does).chain(other).chain(sampled).collect();
                profile.row(&ACCESS, sums.at, cells);
            }
        }
    }
}

/// Whether a line is kept.
fn is_shared(accesses: &BTreeMap<ByLine, Sums>) -> bool {
    if accesses.values().any(|sums| sums.modified > 0) {
        return true;
    }
    let threads: HashSet<u32> = accesses.keys().map(|(_, who, ..)| who.tid).collect();
    let writes = accesses.keys().any(|(.., [_, writes, _])| *writes);
    threads.len() > 1 && writes && accesses.values().any(|sums| sums.from_core > 0)
}
