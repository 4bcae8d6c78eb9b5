//! The proof: watchpoints on the words of a line, for milliseconds, on the threads that are known to use it and then on whatever runs on the CPUs.

use super::codes::Codes;
use super::lines::{Access, Key, LINE, Line};
use crate::stacks::{Busy, Stacks};
use host::breakpoints::{self, Breakpoint, Whom};
use host::registers::Registers;
use instructions::{Work, touched};
use model::{Status, Unavailable};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A watchpoint disarms itself after so many hits: some 15 µs each.
const HITS: u32 = 8;
/// And is armed no longer than this.
const ARMED: Duration = Duration::from_millis(3);
/// After a watch threads have this many times as long for themselves.
const REST: u32 = 4;
/// Threads of a line that are watched, and CPUs.
const THREADS: usize = 16;
const CPUS: usize = 64;
/// In all a recording is watched no longer than this.
const TOTAL: Duration = Duration::from_millis(400);

/// What watching took.
#[derive(Clone, Debug)]
pub(in super::super) struct Budget {
    /// Time that watchpoints were armed.
    pub armed: Duration,
    pub hits: u64,
    /// Watchpoints that were set.
    pub set: u64,
    /// The longest time that one was armed.
    pub longest: Duration,
    /// Why one could not be set, at the first time.
    pub failed: Option<Unavailable>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { armed: Duration::ZERO, hits: 0, set: 0, longest: Duration::ZERO, failed: None }
    }
}

impl Budget {
    /// Whether there is some of it left.
    pub fn is_left(&self) -> bool {
        self.armed < TOTAL
    }
}

/// The words of a line, those that are known to be used first.
fn words(line: &Line) -> Vec<u64> {
    let mut used: BTreeMap<u64, u64> = BTreeMap::new();
    for (key, access) in &line.accesses {
        for word in key.offset / 8..=(key.offset + u64::from(key.size.max(1)) - 1).min(LINE - 1) / 8 {
            *used.entry(word).or_default() += access.waited * 8 + access.seen + 1;
        }
    }
    let mut words: Vec<u64> = (0..LINE / 8).collect();
    words.sort_by_key(|word| (std::cmp::Reverse(used.get(word).copied().unwrap_or(0)), *word));
    words.into_iter().map(|word| line.address + word * 8).collect()
}

/// Watches a line. `busy` are threads of its process that were busy; `rest` sleeps, and says whether the recording has ended.
pub(in super::super) fn watch(
    stacks: &Stacks,
    codes: &mut Codes,
    line: &mut Line,
    busy: &[Busy],
    budget: &mut Budget,
    rest: &mut dyn FnMut(Duration) -> bool,
) -> bool {
    line.watched += 1;
    let known: BTreeSet<u32> = line.accesses.keys().map(|key| key.tid).collect();
    let mut threads: Vec<&Busy> = busy.iter().filter(|thread| thread.pid == line.pid).collect();
    threads.sort_by_key(|thread| (!known.contains(&thread.tid), std::cmp::Reverse(thread.time)));
    threads.truncate(THREADS);
    let words = words(line);
    let of_threads: Vec<Whom> = threads.iter().map(|thread| Whom::Thread(thread.tid)).collect();
    let of_cpus: Vec<Whom> = super::allowed().into_iter().take(CPUS).map(|cpu| Whom::Cpu(cpu as u32)).collect();
    let parts = words.chunks(breakpoints::SLOTS).map(|words| (&of_threads, words));
    let others = words.chunks(breakpoints::SLOTS).take(1).map(|words| (&of_cpus, words));
    for (whom, words) in parts.chain(others) {
        if !budget.is_left() || whom.is_empty() {
            continue;
        }
        let begin = Instant::now();
        let mut set = Vec::new();
        for &whom in whom {
            for &word in words {
                match Breakpoint::open(whom, breakpoints::Access::ReadOrWrite, word, 8) {
                    Ok(one) => set.push((word, one, Instant::now())),
                    // It has ended meanwhile.
                    Err(why) if why.status == Status::NotApplicable => {}
                    Err(why) => {
                        // A debugger may have the slots.
                        budget.failed.get_or_insert(why);
                    }
                }
            }
        }
        for (_, one, since) in &mut set {
            *since = Instant::now();
            let _ = one.arm(HITS);
        }
        budget.set += set.len() as u64;
        let over = rest(ARMED);
        for (word, mut one, since) in set {
            let hits = one.take();
            let full = hits.len() as u32 >= HITS;
            let armed = match (hits.first(), hits.last()) {
                // It had disarmed itself before.
                (Some(first), Some(last)) if full => last.time.saturating_sub(first.time),
                _ => since.elapsed().as_nanos() as u64,
            };
            budget.hits += hits.len() as u64;
            for hit in &hits {
                // Another process may use the same address for something else.
                if hit.pid == line.pid {
                    add(stacks, codes, line, &threads, hit, word, armed / hits.len() as u64);
                }
            }
        }
        let took = begin.elapsed();
        budget.armed += took;
        budget.longest = budget.longest.max(took);
        if over || rest(took * REST) {
            return true;
        }
    }
    false
}

/// The bytes of a line that a hit of a watchpoint on a word is about: offset in the line, size, and what the instruction does with them.
fn add(stacks: &Stacks, codes: &mut Codes, line: &mut Line, threads: &[&Busy], hit: &Registers, word: u64, armed: u64) {
    let (_, site) = stacks.site(hit.pid, hit.address);
    let found = codes.at(stacks, hit.pid, hit.address, site);
    // It stops after the instruction; in the midst of a string instruction, at that itself.
    let which = found.as_ref().and_then(|found| {
        let place = found.place(hit.address);
        let of = |index: usize| {
            let touch = touched(&found.code, index, &hit.registers);
            let instruction = found.code.instructions.get(index)?;
            let address = touch.map(|t| if t.of_code { t.address.wrapping_add(found.bias) } else { t.address });
            let fits = |address: u64| {
                instruction.memory.is_some_and(|m| address < word + 8 && address + u64::from(m.size.max(1)) > word)
            };
            match address {
                Some(address) if fits(address) => Some((index, Some(address), touch.and_then(|t| t.base))),
                // Its own register was overwritten: the word is known from the watchpoint.
                None if instruction.memory.is_some() => Some((index, None, None)),
                _ => None,
            }
        };
        let before = found.code.instructions.partition_point(|i| i.address < place).checked_sub(1);
        before.and_then(of).or_else(|| found.code.at(place).and_then(of))
    });
    let thread = threads.iter().find(|thread| thread.tid == hit.tid);
    let instruction = which.and_then(|(index, ..)| found.as_ref()?.code.instructions.get(index));
    let memory = instruction.and_then(|i| i.memory);
    let bias = found.as_ref().map_or(0, |found| found.bias);
    let code = instruction.map_or(hit.address, |i| i.address.wrapping_add(bias));
    let exact = which.and_then(|(_, address, _)| address);
    let address = exact.unwrap_or(word).max(line.address);
    let size = match (exact, memory) {
        (Some(_), Some(memory)) => memory.size,
        // Somewhere in the word.
        _ => memory.map_or(0, |m| if m.size == 8 { 8 } else { 0 }),
    };
    let key = Key { tid: hit.tid, code, offset: address % LINE, size };
    let unnamed: Arc<str> = "".into();
    let access = line.accesses.entry(key).or_insert_with(|| Access {
        pid: hit.pid,
        thread: thread.map_or_else(|| Arc::clone(&unnamed), |t| Arc::clone(&t.thread)),
        comm: thread.map_or_else(|| Arc::clone(&unnamed), |t| Arc::clone(&t.comm)),
        stack: stacks.site(hit.pid, code).0,
        text: instruction.map_or_else(|| Arc::clone(&unnamed), |i| i.text.as_str().into()),
        // Without its instruction it is not known: a read is the least that it is.
        reads: memory.is_none_or(|m| m.reads),
        writes: memory.is_some_and(|m| m.writes),
        atomic: instruction.is_some_and(|i| i.work == Work::Atomic),
        waited: 0,
        wait: 0,
        seen: 0,
        between: None,
        hits: 0,
        armed: 0,
        sampled: super::lines::Sampled::default(),
        base: which.and_then(|(_, _, base)| base).and_then(|(register, value)| Some((register.column()? as u8, value))),
        registers: Some(Box::new(hit.registers)),
    });
    access.hits += 1;
    access.armed += armed;
}
