//! What a JVM keeps in variables that its tables do not have, and only its symbol table names: the operations that it stopped for, why compiled code was
//! given up, what waits to be compiled, and from when on its clocks count.
//!
//! `safepoint.cpp` (`SafepointTracing`), `vmOperation.cpp` (`VM_Operation::_names`), `deoptimization.cpp` (`Deoptimization::_deoptimization_hist`),
//! `compileBroker.cpp`, `os_posix.cpp` (`initial_time_count`). All builds that were looked at (Debian, Temurin; 11 to 25) have the symbol table.

use super::Way;
use crate::memory::{Memory, Process, Trouble};
use crate::stacks::Stacks;

const NAMES: [&str; 13] = [
    "_ZL18initial_time_count",
    "initial_time_count",
    "_ZN16SafepointTracing29_last_safepoint_begin_time_nsE",
    "_ZN16SafepointTracing28_last_safepoint_sync_time_nsE",
    "_ZN16SafepointTracing27_last_safepoint_end_time_nsE",
    "_ZN16SafepointTracing13_current_typeE",
    "_ZN16SafepointTracing9_op_countE",
    "_ZN12VM_Operation6_namesE",
    "_ZN14Deoptimization20_deoptimization_histE",
    "_ZN13CompileBroker17_c1_compile_queueE",
    "_ZN13CompileBroker17_c2_compile_queueE",
    "_ZN13CompileBroker24_should_compile_new_jobsE",
    "_ZN13CompileBroker29_total_compiler_stopped_countE",
];

/// More operations than any version has, and more reasons for giving up code, and more that waits to be compiled.
const MOST_OPERATIONS: u64 = 256;
const MOST_REASONS: usize = 128;
const LONGEST_QUEUE: u64 = 1 << 20;
/// Of `CompileQueue` (`compileBroker.hpp`): where its first task and their number are.
const FIRST: u64 = 8;
const NUMBER: u64 = 32;
/// Of a count of `_deoptimization_hist`, the lower bits are a kind of bytecode.
const BYTECODE_BITS: u32 = 8;

/// A stop of all Java threads. Times are of CLOCK_MONOTONIC, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Safepoint {
    /// When they were asked to stop, when all had, and when they went on.
    pub begin: u64,
    pub stopped: u64,
    pub end: u64,
    /// Number of the operation.
    pub operation: u32,
}

/// Where those variables are; each may be missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Internals {
    /// CLOCK_MONOTONIC when the JVM's own clock began, nanoseconds.
    pub origin: Option<u64>,
    /// Names of operations, by their numbers.
    pub operations: Vec<String>,
    last: Option<[u64; 4]>,
    counts: Option<u64>,
    deoptimized: Option<(u64, usize)>,
    /// Reasons and actions in words, by their numbers.
    reasons: Vec<String>,
    actions: Vec<String>,
    queues: Vec<u64>,
    compiles: Option<u64>,
    stops: Option<u64>,
}

impl Internals {
    /// Finds them.
    ///
    /// # Errors
    /// In words, why none was found.
    pub fn find(pid: u32, way: &Way, stacks: &Stacks) -> Result<Self, String> {
        let found = stacks.internals(pid, "libjvm.so", &NAMES).ok_or("its library is no longer mapped")??;
        Self::of(&Process(pid), way, &found).map_err(|_| "its memory can no longer be read".to_owned())
    }

    fn of(memory: &impl Memory, way: &Way, found: &[Option<(u64, u64)>]) -> Result<Self, Trouble> {
        let place = |at: usize| found.get(at).copied().flatten();
        let address = |at: usize| place(at).map(|(address, _)| address);
        let origin = address(0).or(address(1)).map_or(Ok(None), |place| memory.word(place))?;
        let mut operations = Vec::new();
        if let Some((names, size)) = place(7) {
            let places: Vec<u64> = (0..(size / 8).min(MOST_OPERATIONS)).map(|i| names.wrapping_add(i * 8)).collect();
            for text in memory.words(&places)? {
                let text = text.map_or(Ok(None), |text| memory.text(text))?;
                operations.push(text.filter(|text| is_word(text)).unwrap_or_default());
            }
        }
        let tables = &way.tables;
        let named = |prefix: &str| {
            let mut names = vec![String::new(); MOST_REASONS];
            for (name, value) in tables.constants_of(prefix) {
                if let Some(place) = usize::try_from(value).ok().and_then(|value| names.get_mut(value))
                    && (place.is_empty() || !name.contains("LIMIT"))
                {
                    name.clone_into(place);
                }
            }
            names
        };
        let last = [2, 3, 4, 5].map(address);
        Ok(Internals {
            origin: origin.filter(|&origin| origin > 0),
            last: match last {
                [Some(begin), Some(sync), Some(end), Some(kind)] => Some([begin, sync, end, kind]),
                _ => None,
            },
            counts: address(6).filter(|_| !operations.is_empty()),
            operations,
            deoptimized: place(8).and_then(|(at, size)| Some((at, usize::try_from(size).ok()?))),
            reasons: named("Deoptimization::Reason_"),
            actions: named("Deoptimization::Action_"),
            queues: [9, 10].into_iter().filter_map(address).collect(),
            compiles: address(11),
            stops: address(12),
        })
    }

    /// The name of an operation, as `-Xlog:safepoint` has it.
    pub fn operation(&self, number: u32) -> Option<&str> {
        self.operations.get(number as usize).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Whether single safepoints can be told.
    pub fn tells_safepoints(&self) -> bool {
        self.last.is_some()
    }

    /// The safepoint that ended last; `None` while one goes on.
    pub fn safepoint(&self, memory: &impl Memory) -> Result<Option<Safepoint>, Trouble> {
        let Some([begin, sync, end, kind]) = self.last else { return Ok(None) };
        // The end is written last, and the begin first: what has the same begin before and after is of one.
        let words = memory.words(&[begin, sync, end, kind & !7, begin])?;
        let [Some(before), Some(stopped), Some(ended), Some(operation), Some(after)] = words[..] else {
            return Ok(None);
        };
        let operation = (operation >> ((kind & 4) * 8)) as u32;
        let is_whole = before == after && 0 < before && before <= stopped && stopped <= ended;
        Ok(is_whole.then_some(Safepoint { begin: before, stopped, end: ended, operation }))
    }

    /// How often each operation stopped the threads, by its number.
    pub fn counts(&self, memory: &impl Memory) -> Result<Vec<u64>, Trouble> {
        let Some(at) = self.counts else { return Ok(Vec::new()) };
        let mut bytes = vec![0; self.operations.len() * 8];
        let read = memory.some(at, &mut bytes)?;
        let (words, _) = bytes.get(..read).unwrap_or_default().as_chunks::<8>();
        Ok(words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
    }

    /// How often compiled code was given up: reason, action, times.
    pub fn deoptimizations(&self, memory: &impl Memory) -> Result<Vec<(&str, &str, u64)>, Trouble> {
        let Some((at, size)) = self.deoptimized else { return Ok(Vec::new()) };
        // [reasons][1 + actions][kinds of bytecode], where the first of each reason is a total of another kind.
        let actions = self.actions.iter().filter(|name| !name.is_empty() && !name.contains("LIMIT")).count();
        let reasons = self.reasons.iter().position(|name| name.contains("LIMIT")).unwrap_or(0);
        let mut bytes = vec![0; size.min(1 << 16)];
        let read = memory.some(at, &mut bytes)?;
        let (cells, _) = bytes.get(..read).unwrap_or_default().as_chunks::<4>();
        let row = 1 + actions;
        let kinds = cells.len().checked_div(reasons * row).unwrap_or(0);
        if kinds == 0 || kinds * reasons * row != cells.len() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (of_reason, reason) in cells.chunks_exact(row * kinds).zip(&self.reasons) {
            for (of_action, action) in of_reason.chunks_exact(kinds).skip(1).zip(&self.actions) {
                let times = of_action.iter().map(|cell| u64::from(u32::from_ne_bytes(*cell) >> BYTECODE_BITS)).sum();
                if times > 0 && !reason.is_empty() && !action.is_empty() {
                    found.push((reason.as_str(), action.as_str(), times));
                }
            }
        }
        Ok(found)
    }

    /// How many methods wait to be compiled; `None` where that is not known.
    pub fn queued(&self, memory: &impl Memory) -> Result<Option<u64>, Trouble> {
        let mut sum = None;
        for queue in memory.words(&self.queues)?.into_iter().flatten() {
            if queue == 0 {
                continue;
            }
            let words = memory.words(&[queue.wrapping_add(FIRST), queue.wrapping_add(NUMBER)])?;
            let [Some(first), Some(number)] = words[..] else { continue };
            let number = number & 0xffff_ffff;
            // Both say whether it is empty: another layout would not.
            if (first == 0) == (number == 0) && number < LONGEST_QUEUE {
                sum = Some(sum.unwrap_or(0) + number);
            }
        }
        Ok(sum)
    }

    /// Whether the compilers take new work; they do not where the code cache is full. And how often they stopped doing so.
    pub fn compiles(&self, memory: &impl Memory) -> Result<(Option<bool>, Option<u64>), Trouble> {
        let number = |place: Option<u64>| -> Result<Option<u32>, Trouble> {
            let Some(place) = place else { return Ok(None) };
            let word = memory.word(place & !7)?;
            Ok(word.map(|word| (word >> ((place & 4) * 8)) as u32))
        };
        let (compiles, stops) = (number(self.compiles)?, number(self.stops)?);
        Ok((compiles.map(|compiles| compiles != 0), stops.map(u64::from)))
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() || c == ' ')
}
