//! Samples with registers, folded to cache lines: who waits where, and who uses the line besides.

use super::codes::{Codes, Found};
use super::data::{self, Data};
use super::java::Jvms;
use super::space::{Space, Spaces};
use crate::stacks::{Busy, Site, Stacks};
use access::{Operation, Snoop};
use host::registers::Registers;
use instructions::{Code, Landed, Rate, Register, Sample, Skid, Touch, Work, ahead, landed, rate, touched};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Bytes of a cache line: of x86-64 and nearly all of aarch64.
pub(super) const LINE: u64 = 64;
/// Lines beyond which those that were met once are forgotten, for whoever walks through memory meets very many.
const MOST: usize = 5_000;
/// Lines that are told of, those that were waited for most.
const TOLD: usize = 48;
/// So often it is asked what lies in a line, until it has a name.
const ASKED: u8 = 3;
/// A line is waited for if so many samples are.
const WAITED: u64 = 3;

/// A thread's samples of one look.
pub(in super::super) struct OfThread<'a> {
    pub thread: &'a Busy,
    /// CPU time between samples, ns.
    pub weight: u64,
    pub samples: &'a [Registers],
    /// What the sampled addresses are.
    pub sites: &'a HashMap<u64, (i64, Site)>,
}

/// An access: one instruction of one thread to some bytes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in super::super) struct Key {
    pub tid: u32,
    /// Address of the instruction in the process.
    pub code: u64,
    /// First byte within the line, and how many. A size of 0 is not known.
    pub offset: u64,
    pub size: u16,
}

/// Accesses that the CPU sampled itself.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Sampled {
    pub all: u64,
    /// Of these, those whose data came from the cache of another core, and where that had changed them.
    pub from_core: u64,
    pub modified: u64,
    /// Of those from another core, those of which the CPU told how long they took, and their cycles.
    pub timed: u64,
    pub cycles: u64,
}

impl Sampled {
    fn add(&mut self, of: &Operation) {
        self.all += 1;
        if of.from_core() {
            self.from_core += 1;
            self.modified += u64::from(of.snoop == Snoop::Modified);
            if let Some(cycles) = of.latency.or(of.memory) {
                self.timed += 1;
                self.cycles += u64::from(cycles);
            }
        }
    }
}

/// What is known of an access.
#[derive(Clone, Debug)]
pub(in super::super) struct Access {
    pub pid: u32,
    pub thread: Arc<str>,
    pub comm: Arc<str>,
    /// Number of the stack that has the instruction alone.
    pub stack: i64,
    pub text: Arc<str>,
    pub reads: bool,
    pub writes: bool,
    pub atomic: bool,
    /// Samples that waited for it, and the CPU time that they stand for, ns.
    pub waited: u64,
    pub wait: u64,
    /// Samples that tell of it without waiting.
    pub seen: u64,
    /// CPU time between two executions, ns, by the rounds of its loop.
    pub between: Option<f64>,
    /// Hits of a watchpoint, and how long that was armed for them, ns.
    pub hits: u64,
    pub armed: u64,
    /// What the CPU sampled of it itself.
    pub sampled: Sampled,
    /// The register that the address came from, and its value.
    pub base: Option<(u8, u64)>,
    /// All registers then, of the first sample or hit that waited for it or stopped there.
    pub registers: Option<Box<[u64; Register::GENERAL]>>,
}

impl Access {
    /// One that nothing was seen of yet: of this thread, by the code of `stack`, that reads, writes, does both in one step.
    fn new(thread: &Busy, stack: i64, text: &str, [reads, writes, atomic]: [bool; 3]) -> Access {
        Access {
            pid: thread.pid,
            thread: Arc::clone(&thread.thread),
            comm: Arc::clone(&thread.comm),
            stack,
            text: text.into(),
            reads,
            writes,
            atomic,
            waited: 0,
            wait: 0,
            seen: 0,
            between: None,
            hits: 0,
            armed: 0,
            sampled: Sampled::default(),
            base: None,
            registers: None,
        }
    }
}

/// A line that several threads use.
#[derive(Clone, Debug)]
pub(in super::super) struct Line {
    pub number: i64,
    pub pid: u32,
    /// Its address in that process.
    pub address: u64,
    pub space: Space,
    pub accesses: HashMap<Key, Access>,
    /// How often it was watched.
    pub watched: u32,
    /// What lies there; `None` where it was told before.
    pub data: Option<Data>,
    /// How often that was asked for: a JVM that starts, or an object that moves, may tell later.
    asked: u8,
}

impl Line {
    pub(super) fn waited(&self) -> u64 {
        self.accesses.values().map(|a| a.waited).sum()
    }

    /// Whether at least two threads use it, one of which writes.
    fn is_shared(&self) -> bool {
        let tids: BTreeSet<u32> = self.accesses.keys().map(|key| key.tid).collect();
        tids.len() > 1 && self.accesses.values().any(|a| a.writes)
    }

    /// Whether it is to be told of.
    fn counts(&self) -> bool {
        self.is_shared() && self.waited() >= WAITED || self.moved() >= WAITED
    }

    /// Accesses that the CPU says came from other cores: who sent the line need not have been sampled.
    fn moved(&self) -> u64 {
        self.accesses.values().map(|a| a.sampled.from_core).sum()
    }
}

/// What a look has found: of each line the accesses since the look before.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Looked {
    pub lines: Vec<Line>,
    /// The threads that were looked at, and their CPU time meanwhile, ns.
    pub threads: Vec<(Busy, u64)>,
}

/// All lines that were met.
#[derive(Debug, Default)]
pub(in super::super) struct Lines {
    lines: HashMap<(Space, u64), Line>,
    last: i64,
    jvms: Jvms,
}

/// Where a sample comes from.
struct Around<'a> {
    stacks: &'a Stacks,
    space: &'a Spaces,
    of: &'a OfThread<'a>,
    sample: &'a Registers,
    found: &'a Found,
}

/// A thread's code, with the samples that landed in it.
type Rates = HashMap<(u32, u64, bool), (Arc<Code>, u64, Vec<Vec<Sample>>)>;

impl Lines {
    /// Takes samples of threads. `skid` is where they land.
    pub fn look(&mut self, stacks: &Stacks, codes: &mut Codes, skid: Skid, threads: &[OfThread<'_>]) {
        codes.forget_made();
        let mut spaces: HashMap<u32, Spaces> = HashMap::new();
        let mut rates: Rates = HashMap::new();
        for of in threads {
            let space = spaces.entry(of.thread.pid).or_insert_with(|| Spaces::of(stacks, of.thread.pid));
            let mut before: Option<(u32, u64, bool)> = None;
            // Accesses whose address was lost, and how often: they are given to where the same instruction was seen to go.
            let mut lost: HashMap<u64, u64> = HashMap::new();
            for sample in of.samples {
                let Some(&(_, site)) = of.sites.get(&sample.address) else { continue };
                let Some(found) = codes.at(stacks, of.thread.pid, sample.address, site) else {
                    before = None;
                    continue;
                };
                let kept = rates.entry(found.key).or_insert_with(|| (Arc::clone(&found.code), found.bias, Vec::new()));
                if before != Some(found.key) {
                    kept.2.push(Vec::new());
                    before = Some(found.key);
                }
                if let Some(run) = kept.2.last_mut() {
                    let address = found.place(sample.address);
                    run.push(Sample { address, task_clock: sample.task_clock, registers: sample.registers });
                }
                self.sample(&Around { stacks, space, of, sample, found: &found }, skid, &mut lost);
            }
            self.recover(of, lost);
            self.forget();
        }
        self.rates(&rates);
    }

    fn sample(&mut self, around: &Around<'_>, skid: Skid, lost: &mut HashMap<u64, u64>) {
        let Around { sample, found, .. } = around;
        let Some(at) = found.code.at(found.place(sample.address)) else { return };
        if let Landed::On(waited) = landed(&found.code, found.place(sample.address), skid)
            && let Some(instruction) = found.code.instructions.get(waited).filter(|i| i.memory.is_some())
        {
            match touched(&found.code, waited, &sample.registers) {
                Some(touch) => self.add(around, touch, true),
                None => *lost.entry(instruction.address.wrapping_add(found.bias)).or_default() += 1,
            }
        }
        for touch in ahead(&found.code, at, &sample.registers) {
            self.add(around, touch, false);
        }
    }

    fn add(&mut self, around: &Around<'_>, touch: Touch, waited: bool) {
        let Around { stacks, space, of, sample, found } = around;
        let address = if touch.of_code { touch.address.wrapping_add(found.bias) } else { touch.address };
        let Some(instruction) = found.code.instructions.get(touch.instruction) else { return };
        let Some(memory) = instruction.memory else { return };
        let Some((whose, place)) = space.find(of.thread.pid, address) else { return };
        let line = self.line(whose, place, of.thread.pid, address);
        let code = instruction.address.wrapping_add(found.bias);
        let key = Key { tid: of.thread.tid, code, offset: address % LINE, size: memory.size };
        let access = line.accesses.entry(key).or_insert_with(|| Access {
            base: touch.base.and_then(|(register, value)| Some((register.column()? as u8, value))),
            ..Access::new(
                of.thread,
                stacks.site(of.thread.pid, code).0,
                &instruction.text,
                [memory.reads, memory.writes, instruction.work == Work::Atomic],
            )
        });
        if waited {
            access.registers.get_or_insert_with(|| Box::new(sample.registers));
            access.waited += 1;
            access.wait += of.weight;
        } else {
            access.seen += 1;
        }
    }

    /// Takes accesses of a thread that the CPU sampled itself.
    pub fn sampled(&mut self, stacks: &Stacks, codes: &mut Codes, thread: &Busy, operations: &[Operation]) {
        let space = Spaces::of(stacks, thread.pid);
        for of in operations {
            let (Some(code), Some(address)) = (of.code, of.address) else { continue };
            let Some((whose, place)) = space.find(thread.pid, address) else { continue };
            let (stack, site) = stacks.site(thread.pid, code);
            let found = codes.at(stacks, thread.pid, code, site);
            let instruction = found.as_ref().and_then(|found| {
                let index = found.code.at(found.place(code))?;
                found.code.instructions.get(index)
            });
            // The CPU tells which operation of an instruction it was; the code, how many bytes.
            let size = of.size.map(u16::from).or(instruction.and_then(|i| i.memory).map(|memory| memory.size));
            let text = instruction.map_or("", |instruction| instruction.text.as_str());
            let key = Key { tid: thread.tid, code, offset: address % LINE, size: size.unwrap_or(0) };
            let line = self.line(whose, place, thread.pid, address);
            let access = line
                .accesses
                .entry(key)
                .or_insert_with(|| Access::new(thread, stack, text, [of.reads, of.writes, of.atomic]));
            access.sampled.add(of);
        }
        self.forget();
    }

    pub(super) fn line(&mut self, space: Space, place: u64, pid: u32, address: u64) -> &mut Line {
        self.lines.entry((space, place / LINE)).or_insert_with(|| Line {
            number: 0,
            pid,
            address: address & !(LINE - 1),
            space,
            accesses: HashMap::new(),
            watched: 0,
            data: None,
            asked: 0,
        })
    }

    /// Gives samples whose address was lost to the line where the same instruction of the same thread was seen to go, if that is one.
    fn recover(&mut self, of: &OfThread<'_>, lost: HashMap<u64, u64>) {
        for (code, count) in lost {
            let mut seen: Vec<(&mut Access, u64)> = self
                .lines
                .values_mut()
                .flat_map(|line| line.accesses.iter_mut())
                .filter(|(key, access)| key.tid == of.thread.tid && key.code == code && access.pid == of.thread.pid)
                .map(|(_, access)| {
                    let seen = access.seen;
                    (access, seen)
                })
                .collect();
            let all: u64 = seen.iter().map(|(_, seen)| seen).sum();
            if let Some((access, most)) = seen.iter_mut().max_by_key(|(_, seen)| *seen)
                && *most * 5 >= all * 4
            {
                access.waited += count;
                access.wait += count * of.weight;
            }
        }
    }

    /// How long rounds take of loops with accesses that are waited for, in lines that [`Lines::take`] returns.
    fn rates(&mut self, rates: &Rates) {
        let wanted: HashSet<u64> = self
            .lines
            .values()
            .filter(|line| line.number > 0 || line.counts())
            .flat_map(|line| line.accesses.iter())
            .filter(|(_, access)| access.waited > 0)
            .map(|(key, _)| key.code)
            .collect();
        if wanted.is_empty() {
            return;
        }
        let mut known: HashMap<u64, f64> = HashMap::new();
        for (code, bias, samples) in rates.values() {
            // Each loop once: following its registers takes time by the size of the loop, whichever access asks.
            let mut rounds: Vec<Option<Rate>> = vec![None; code.loops.len()];
            for (index, instruction) in code.instructions.iter().enumerate() {
                let address = instruction.address.wrapping_add(*bias);
                if !wanted.contains(&address) {
                    continue;
                }
                let mut around = code.block_of(index).and_then(|block| code.loop_of(block));
                while let Some(at) = around {
                    let (Some(which), Some(round)) = (code.loops.get(at), rounds.get_mut(at)) else { break };
                    let round = *round.get_or_insert_with(|| rate(code, which, samples.iter().map(Vec::as_slice)));
                    if let Rate::Known(round) = round {
                        known.insert(address, round.ns);
                        break;
                    }
                    around = which.parent;
                }
            }
        }
        for (key, access) in self.lines.values_mut().flat_map(|line| line.accesses.iter_mut()) {
            if let Some(&ns) = known.get(&key.code) {
                access.between = Some(ns);
            }
        }
    }

    /// Leaves out what was met once, where there is much of it.
    fn forget(&mut self) {
        if self.lines.len() > MOST {
            let met =
                |line: &Line| line.accesses.values().map(|a| a.waited + a.seen + a.hits + a.sampled.all).sum::<u64>();
            self.lines.retain(|_, line| line.number > 0 || met(line) > 1);
        }
        if self.lines.len() > MOST {
            self.lines.retain(|_, line| line.number > 0 || line.is_shared());
        }
        if self.lines.len() > 4 * MOST {
            self.lines.clear();
        }
    }

    /// Lines that may be worth a watch, those that were waited for most first: also of one thread, for who else uses them may not have been sampled.
    pub fn suspects(&mut self, most: usize) -> Vec<&mut Line> {
        let mut found: Vec<&mut Line> = self.lines.values_mut().filter(|line| line.waited() >= WAITED).collect();
        found.sort_by_key(|line| (line.watched, std::cmp::Reverse((line.is_shared(), line.waited())), line.address));
        found.truncate(most);
        found
    }

    /// What is to be told since the last call; counts begin anew.
    pub fn take(&mut self, stacks: &Stacks) -> Vec<Line> {
        let mut told: Vec<&mut Line> =
            self.lines.values_mut().filter(|line| line.number > 0 || line.counts()).collect();
        told.sort_by_key(|line| (std::cmp::Reverse((line.waited(), line.moved())), line.address));
        let mut taken = Vec::new();
        for line in told.into_iter().take(TOLD) {
            let is_new = line.number == 0;
            if is_new {
                self.last += 1;
                line.number = self.last;
            }
            let mut copy = line.clone();
            if line.asked < ASKED {
                line.asked += 1;
                let data = data::of(stacks, &mut self.jvms, line);
                if !data.name.is_empty() {
                    line.asked = ASKED;
                }
                copy.data = (is_new || !data.name.is_empty()).then_some(data);
            }
            copy.accesses.retain(|_, access| access.waited + access.seen + access.hits + access.sampled.all > 0);
            if !copy.accesses.is_empty() {
                taken.push(copy);
            }
            for access in line.accesses.values_mut() {
                (access.waited, access.wait, access.seen, access.hits, access.armed) = (0, 0, 0, 0, 0);
                access.sampled = Sampled::default();
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use access::Level;

    static WORDS: [u64; 16] = [1; 16];

    #[test]
    fn accesses_that_the_cpu_sampled_make_lines() {
        let (stacks, pid) = (Stacks::default(), std::process::id());
        let thread = |tid| Busy { pid, tid, comm: "app".into(), thread: "thread".into(), time: 0 };
        let address = (WORDS.as_ptr() as u64).next_multiple_of(LINE);
        let code = Some(SourceOf::at as fn() as usize as u64);
        let load =
            Operation { code, address: Some(address + 8), reads: true, latency: Some(200), ..Operation::default() };
        let moved = Operation { level: Level::Core, snoop: Snoop::Modified, ..load };
        let store = Operation { reads: false, writes: true, address: Some(address + 16), size: Some(4), ..load };
        let (mut lines, mut codes) = (Lines::default(), Codes::default());
        lines.sampled(&stacks, &mut codes, &thread(1), &[moved, load, moved]);
        lines.sampled(&stacks, &mut codes, &thread(2), &[store]);
        // Twice is not enough to be told of.
        assert!(lines.take(&stacks).is_empty());
        lines.sampled(&stacks, &mut codes, &thread(1), &[moved]);
        let taken = lines.take(&stacks);
        assert_eq!((taken.len(), taken[0].address), (1, address));
        let of = |tid: u32| taken[0].accesses.iter().find(|(key, _)| key.tid == tid).unwrap();
        let (key, access) = of(1);
        assert_eq!((key.offset, access.reads, access.waited), (8, true, 0));
        let sampled = access.sampled;
        assert_eq!(
            (sampled.all, sampled.from_core, sampled.modified, sampled.timed, sampled.cycles),
            (4, 3, 3, 3, 600)
        );
        assert_eq!((of(2).0.offset, of(2).0.size, of(2).1.writes), (16, 4, true));
        // Counts begin anew.
        assert!(lines.take(&stacks).is_empty());
    }

    /// Something with code.
    struct SourceOf;

    impl SourceOf {
        fn at() {
            std::hint::black_box(WORDS[0]);
        }
    }
}
