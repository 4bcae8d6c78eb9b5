//! What the goroutines of Go programs wait for. Go parks a goroutine without any thread: who waits for a `sync.Mutex`, a channel or a timer leaves
//! no trace in the kernel, and its thread takes another goroutine or idles. So the list that Go's run-time system keeps of them is looked at in its
//! memory some dozens of times a second by a thread of its own; the time between two looks goes to what a goroutine was found waiting for.
//!
//! Which words say what a goroutine waits for is told by the program itself (`waitReasonStrings` of src/runtime/runtime2.go), how it looks by the
//! program's debug information, and where it waits by its frame pointers, which Go keeps (since 1.7 on x86-64, 1.12 on aarch64).

use super::ledger::{Ledgers, text};
use super::records::Name;
use super::tables::{GO_LOCKS, GOROUTINE, GOROUTINE_WAIT};
use crate::cputime::own_time;
use crate::looking::{Look, Looker, Looking, Next, Why};
use crate::memory::{Memory, Process, Trouble};
use crate::stacks::{GoRuntime, Stacks, User};
use model::{Out, Unavailable};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks, and at most.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(2);
/// A look that took so long is followed by a pause so many times as long: the share of a CPU that all looks take.
const PAUSES: u32 = 300;
/// Between two looks for programs built by Go; and so long one is looked at before the ledger has said whether it is in scope.
const LISTED: Duration = Duration::from_millis(200);
const UNKNOWN: Duration = Duration::from_secs(3);
/// Programs that are looked at; goroutines of one that are looked at once, more are taken one in so many; stacks that are followed at one look.
const MOST_PROGRAMS: usize = 64;
const MOST_GOROUTINES: u64 = 4096;
const MOST_STACKS: usize = 128;
/// Different waits that are kept between two reads, and things that they wait for.
const MOST_SEEN: usize = 16_384;
const MOST_REASONS: u64 = 256;
/// Failures that are said.
const MOST_SAID: usize = 8;
/// Bytes of a goroutine's stack in which frames are looked for, and frames.
const STACK: usize = 4096;
const DEEPEST: usize = 48;
/// More goroutines than this no program has: then it is not understood.
const IMPOSSIBLE: u64 = 1 << 28;
/// What is looked for.
const WHAT: &str = "what its goroutines wait for";
/// `_Gwaiting`, and the mark of one that the garbage collector looks at, `_Gscan` (src/runtime/runtime2.go).
const WAITING: u32 = 4;
const SCANNED: u32 = 0x1000;

/// What goroutines were seen to wait for in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Nanoseconds, of all together.
    time: u64,
    /// Most at once.
    most: u64,
}

/// A process that is looked at, or has been.
#[derive(Debug)]
struct Watched {
    /// What is known of it, from one exec to the next.
    number: u32,
    /// Its name, once the ledger has it in scope, and whether it had at the last read.
    process: Option<Name>,
    wanted: bool,
    met: Instant,
    /// `None` where it cannot be looked at, or runs another program now.
    program: Option<Program>,
    /// Why, if that is yet to be said.
    why: Option<Unavailable>,
    looked: Option<Instant>,
    /// By what it is waited for, and by the number of the stack.
    seen: BTreeMap<(Arc<str>, i64), Seen>,
    /// Nanoseconds since it was first looked at, by what is waited for.
    totals: BTreeMap<Arc<str>, u64>,
}

/// A program whose memory is understood.
#[derive(Debug)]
struct Program {
    runtime: GoRuntime,
    reasons: Vec<Arc<str>>,
    /// Where the next look begins, of more goroutines than are looked at.
    turn: u64,
}

#[derive(Debug, Default)]
struct State {
    watched: HashMap<u32, Watched>,
    listed: Option<Instant>,
    said: usize,
}

/// The goroutines of all programs in scope.
#[derive(Debug)]
pub(super) struct Goroutines(Looking<State>);

impl Goroutines {
    pub fn new(stacks: Stacks) -> Self {
        Goroutines(Looking::new(stacks))
    }

    /// Puts what was seen since the read before of the processes that are in scope, or were.
    pub fn read(&mut self, ledgers: &Ledgers, out: &mut Out<'_>) {
        self.0.begin();
        let mut state = self.0.found();
        let state = &mut *state;
        let processes = ledgers.processes();
        for (pid, watched) in &mut state.watched {
            let process = processes.get(pid);
            watched.wanted = process.is_some();
            watched.process = process.copied().or(watched.process);
        }
        let mut order: Vec<u32> = state.watched.keys().copied().collect();
        order.sort_unstable();
        for pid in order {
            let Some(watched) = state.watched.get_mut(&pid) else { continue };
            let Some(process) = watched.process else { continue };
            if let Some(why) = watched.why.take().filter(|_| state.said < MOST_SAID) {
                state.said += 1;
                out.missing("goroutine", why);
            }
            let process = out.bytes(text(&process));
            for ((reason, stack), seen) in std::mem::take(&mut watched.seen) {
                let reason = out.text(&reason);
                let row = [i64::from(pid), process, reason, stack, seen.time as i64, seen.most as i64];
                out.row(GOROUTINE_WAIT, &row);
            }
            for (reason, total) in &watched.totals {
                let row = [i64::from(pid), process, out.text(reason), *total as i64];
                out.row(GOROUTINE, &row);
            }
        }
    }
}

impl Look for State {
    const NAME: &'static str = "goroutines";

    fn round(looker: &Looker<Self>, stacks: &Stacks, _came: bool) -> Next {
        let now = Instant::now();
        let mut state = looker.found();
        if state.listed.is_none_or(|at| now >= at + LISTED) {
            state.listed = Some(now);
            let new = state.list(stacks.go_programs(MOST_PROGRAMS));
            drop(state);
            // Debug information takes a moment to read: reads of the source do not wait for it.
            let found: Vec<_> = new.into_iter().filter_map(|of| Some((of, program(of.0, stacks)?))).collect();
            state = looker.found();
            for ((pid, number), program) in found {
                let watched = state.watched.entry(pid).or_insert_with(|| Watched::new(number));
                watched.is(number, program.map_err(|why| why.said(pid, WHAT)));
            }
        }
        let begin = own_time();
        for (&pid, watched) in state.watched.iter_mut().filter(|(_, watched)| watched.is_due(now)) {
            if let Err(why) = watched.look(pid, now, stacks) {
                (watched.program, watched.why) = (None, why.said(pid, WHAT));
            }
        }
        let cost = own_time().saturating_sub(begin);
        let some = state.watched.values().any(|watched| watched.is_due(now));
        if some { (cost * PAUSES).clamp(PAUSE, LONGEST).into() } else { LISTED.into() }
    }
}

impl State {
    /// Takes note of the processes that run a program built by Go now, each with its number: those of which nothing is known yet.
    fn list(&mut self, programs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let listed: HashMap<u32, u32> = programs.iter().copied().collect();
        self.watched.retain(|pid, watched| {
            let is_it = listed.get(pid) == Some(&watched.number);
            // What was seen of the program before is yet to be read.
            watched.program = watched.program.take().filter(|_| is_it);
            is_it || watched.wanted
        });
        let is_new = |(pid, number): &(u32, u32)| self.watched.get(pid).is_none_or(|known| known.number != *number);
        programs.into_iter().filter(is_new).collect()
    }
}

impl Watched {
    fn new(number: u32) -> Self {
        Watched {
            number,
            process: None,
            wanted: false,
            met: Instant::now(),
            program: None,
            why: None,
            looked: None,
            seen: BTreeMap::new(),
            totals: BTreeMap::new(),
        }
    }

    /// The process runs this program now, or one that cannot be looked at.
    fn is(&mut self, number: u32, program: Result<Program, Option<Unavailable>>) {
        (self.number, self.met, self.looked) = (number, Instant::now(), None);
        (self.program, self.why) = match program {
            Ok(program) => (Some(program), None),
            Err(why) => (None, why),
        };
    }

    fn is_due(&self, now: Instant) -> bool {
        self.program.is_some() && (self.wanted || now.duration_since(self.met) < UNKNOWN)
    }

    /// Looks at it once. The time since the look before goes to what its goroutines are found waiting for.
    fn look(&mut self, pid: u32, now: Instant, stacks: &Stacks) -> Result<(), Why> {
        let Some(program) = &mut self.program else { return Ok(()) };
        let since = self.looked.replace(now);
        let found = program.look(&Process(pid))?;
        let Some(since) = since else { return Ok(()) };
        let time = now.duration_since(since).as_nanos() as u64;
        let mut now: BTreeMap<(Arc<str>, i64), u64> = BTreeMap::new();
        for wait in found {
            let stack =
                if wait.frames.is_empty() { model::NULL } else { stacks.intern(pid, &[], User::Frames(&wait.frames)) };
            *now.entry((wait.reason, stack)).or_default() += wait.goroutines;
        }
        for ((reason, stack), goroutines) in now {
            *self.totals.entry(Arc::clone(&reason)).or_default() += goroutines * time;
            if self.seen.len() < MOST_SEEN || self.seen.contains_key(&(Arc::clone(&reason), stack)) {
                let seen = self.seen.entry((reason, stack)).or_default();
                seen.time += goroutines * time;
                seen.most = seen.most.max(goroutines);
            }
        }
        Ok(())
    }
}

/// A goroutine that waits, or several that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wait {
    reason: Arc<str>,
    goroutines: u64,
    /// Addresses of its frames, innermost first; empty where they were not looked at.
    frames: Vec<u64>,
}

/// The program built by Go that a process runs; `None` where it is not known to.
fn program(pid: u32, stacks: &Stacks) -> Option<Result<Program, Why>> {
    let runtime = stacks.go_runtime(pid)?.map_err(Why::Words);
    Some(runtime.and_then(|runtime| Program::new(&Process(pid), runtime)))
}

impl Program {
    /// Reads what does not change.
    fn new(memory: &impl Memory, runtime: GoRuntime) -> Result<Self, Why> {
        let (place, count) = runtime.reasons;
        let count = count.min(MOST_REASONS);
        let words: Vec<u64> = (0..count * 2).map(|at| place.wrapping_add(at * 8)).collect();
        let words = memory.words(&words)?;
        let mut reasons = Vec::new();
        for pair in words.chunks_exact(2) {
            let mut bytes = [0; 64];
            let [Some(from), Some(length)] = *pair else {
                return Err(not_as_expected());
            };
            let length = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
            let room = bytes.get_mut(..length).unwrap_or_default();
            let read = memory.some(from, room)?;
            if read < length {
                return Err(not_as_expected());
            }
            reasons.push(String::from_utf8_lossy(bytes.get(..read).unwrap_or_default()).as_ref().into());
        }
        Ok(Program { runtime, reasons, turn: 0 })
    }

    /// The goroutines that wait now.
    fn look(&mut self, memory: &impl Memory) -> Result<Vec<Wait>, Why> {
        let runtime = &self.runtime;
        let [Some(array), Some(all)] = memory.words(&[runtime.goroutines, runtime.count])?[..] else {
            return Err(Why::Gone);
        };
        if all > IMPOSSIBLE {
            return Err(not_as_expected());
        }
        let one_in = all.div_ceil(MOST_GOROUTINES).max(1);
        self.turn = self.turn.wrapping_add(1);
        let places: Vec<u64> =
            (self.turn % one_in..all).step_by(one_in as usize).map(|at| array.wrapping_add(at * 8)).collect();
        let goroutines: Vec<u64> = memory.words(&places)?.into_iter().flatten().filter(|&g| g != 0).collect();
        let field =
            |of: &[u64], offset: u64| memory.words(&of.iter().map(|g| g.wrapping_add(offset)).collect::<Vec<_>>());
        let status = field(&goroutines, runtime.status)?;
        let is_waiting = |status: &Option<u64>| status.is_some_and(|s| s as u32 & !SCANNED == WAITING);
        let waiting: Vec<u64> =
            goroutines.iter().zip(&status).filter(|(_, s)| is_waiting(s)).map(|(g, _)| *g).collect();
        let mut found: Vec<(u64, Arc<str>)> = Vec::new();
        for (g, reason) in waiting.iter().zip(field(&waiting, runtime.reason)?) {
            let reason = reason.and_then(|word| self.reasons.get((word & 0xff) as usize));
            found.extend(reason.filter(|text| !text.is_empty()).map(|reason| (*g, Arc::clone(reason))));
        }
        // Locks first: there is not room for all stacks.
        found.sort_by_key(|(_, reason)| !is_lock(reason));
        let [sp, pc, bp] = runtime.registers;
        let with: Vec<u64> = found.iter().take(MOST_STACKS).map(|(g, _)| *g).collect();
        let registers: Vec<u64> = with.iter().flat_map(|g| [sp, pc, bp].map(|at| g.wrapping_add(at))).collect();
        let registers = memory.words(&registers)?;
        let mut registers = registers.chunks_exact(3);
        let mut waits = Vec::with_capacity(found.len());
        for (_, reason) in found {
            let frames = match registers.next() {
                Some(&[Some(sp), Some(pc), Some(bp)]) => frames(memory, sp, pc, bp)?,
                _ => Vec::new(),
            };
            waits.push(Wait { reason, goroutines: one_in, frames });
        }
        Ok(waits)
    }
}

fn not_as_expected() -> Why {
    Why::Words("its memory is not as expected".into())
}

/// Whether what is waited for is a lock.
fn is_lock(reason: &str) -> bool {
    GO_LOCKS.contains(&reason)
}

/// The frames of a goroutine that does not run.
fn frames(memory: &impl Memory, sp: u64, pc: u64, bp: u64) -> Result<Vec<u64>, Trouble> {
    let mut bytes = [0; STACK];
    let read = memory.some(sp, &mut bytes)?;
    let stack = bytes.get(..read).unwrap_or_default();
    let word = |address: u64| {
        let at = usize::try_from(address.checked_sub(sp)?).ok()?;
        Some(u64::from_ne_bytes(stack.get(at..at.checked_add(8)?)?.try_into().ok()?))
    };
    let (mut frames, mut frame) = (vec![pc], bp);
    while frames.len() < DEEPEST {
        let (Some(next), Some(back)) = (word(frame), word(frame.wrapping_add(8))) else { break };
        if back == 0 {
            break;
        }
        frames.push(back);
        // The stack grows down: who called lies above.
        if next <= frame {
            break;
        }
        frame = next;
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory from an address on.
    struct Fake(u64, Vec<u8>);

    impl Memory for Fake {
        fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
            let at = usize::try_from(address.wrapping_sub(self.0)).unwrap_or(usize::MAX);
            let rest = self.1.get(at..).unwrap_or_default();
            let length = rest.len().min(into.len());
            into[..length].copy_from_slice(&rest[..length]);
            Ok(length)
        }
    }

    impl Fake {
        fn put(&mut self, address: u64, bytes: &[u8]) {
            let at = (address - self.0) as usize;
            self.1.resize(self.1.len().max(at + bytes.len()), 0);
            self.1[at..at + bytes.len()].copy_from_slice(bytes);
        }

        fn store(&mut self, address: u64, word: u64) {
            self.put(address, &word.to_ne_bytes());
        }
    }

    const RUNTIME: GoRuntime = GoRuntime {
        goroutines: 0x10000,
        count: 0x10008,
        reasons: (0x10100, 2),
        status: 0x90,
        reason: 0xb0,
        registers: [0x38, 0x40, 0x68],
    };

    /// A program with a goroutine for each of (state, reason).
    fn program(goroutines: &[(u32, u8)]) -> Fake {
        let mut memory = Fake(0x10000, Vec::new());
        memory.store(0x10000, 0x11000);
        memory.store(0x10008, goroutines.len() as u64);
        for (at, text) in [(0u64, ""), (1, "sync.Mutex.Lock")] {
            memory.store(0x10100 + at * 16, 0x10200 + at * 32);
            memory.store(0x10108 + at * 16, text.len() as u64);
            memory.put(0x10200 + at * 32, text.as_bytes());
        }
        let many = goroutines.len() as u64;
        for (at, (state, reason)) in (0..).zip(goroutines) {
            let g = 0x11000 + many * 8 + at * 0x200;
            memory.store(0x11000 + at * 8, g);
            memory.put(g + 0x90, &state.to_ne_bytes());
            memory.put(g + 0xb0, &[*reason]);
            // Its stack is in itself: two frames.
            memory.store(g + 0x38, g + 0x100);
            memory.store(g + 0x40, 0x401000);
            memory.store(g + 0x68, g + 0x110);
            memory.store(g + 0x110, g + 0x120);
            memory.store(g + 0x118, 0x402000);
            memory.store(g + 0x120, 0);
            memory.store(g + 0x128, 0x403000);
            memory.store(g + 0x1f8, 0);
        }
        memory
    }

    #[test]
    fn who_waits_is_found_with_its_frames() {
        let memory = program(&[(4, 1), (2, 1), (4 | 0x1000, 1), (4, 0), (4, 9)]);
        let mut program = Program::new(&memory, RUNTIME).unwrap();
        let found = program.look(&memory).unwrap();
        let one = Wait { reason: "sync.Mutex.Lock".into(), goroutines: 1, frames: vec![0x401000, 0x402000, 0x403000] };
        assert_eq!(found, [one.clone(), one], "not who runs, nor without a reason, nor with one that there is not");
    }

    #[test]
    fn of_many_some_stand_for_all() {
        let many = 3 * MOST_GOROUTINES as usize;
        let memory = program(&vec![(4, 1); many]);
        let mut program = Program::new(&memory, RUNTIME).unwrap();
        let found = program.look(&memory).unwrap();
        assert_eq!(found.iter().map(|wait| wait.goroutines).sum::<u64>(), many as u64);
        assert_eq!(found.iter().filter(|wait| !wait.frames.is_empty()).count(), MOST_STACKS);
    }

    #[test]
    fn what_is_not_as_expected_is_no_program() {
        let mut memory = program(&[(4, 1)]);
        memory.store(0x10008, u64::MAX);
        let mut found = Program::new(&memory, RUNTIME).unwrap();
        assert!(matches!(found.look(&memory), Err(Why::Words(_))));
        assert_eq!(Program::new(&Fake(0, Vec::new()), RUNTIME).unwrap_err(), not_as_expected());
        // A stack whose frames lead nowhere, or in circles.
        let mut memory = Fake(0x10000, vec![0; 64]);
        memory.store(0x10008, 0x10008);
        memory.store(0x10010, 7);
        assert_eq!(frames(&memory, 0x10000, 5, 0x10008).unwrap(), [5, 7]);
        assert_eq!(frames(&memory, 0x10000, 5, u64::MAX - 3).unwrap(), [5]);
    }

    const WAITS: &str = "package main

import (
	\"fmt\"
	\"sync\"
	\"time\"
)

var lock sync.Mutex

//go:noinline
func waitsHere() { lock.Lock() }

func main() {
	lock.Lock()
	for i := 0; i < 3; i++ {
		go waitsHere()
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println(\"ready\")
	time.Sleep(time.Minute)
}
";

    #[test]
    fn a_live_program_tells_what_its_goroutines_wait_for() {
        use std::io::BufRead;
        use std::process::{Command, Stdio};
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("waits.go");
        std::fs::write(&source, WAITS).unwrap();
        let program = folder.path().join("waits");
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&program).arg(&source).env("GOFLAGS", "").env("GO111MODULE", "off");
        match build.status() {
            Ok(status) if status.success() => {}
            other => return eprintln!("SKIPPED: goroutines of a live program: go build: {other:?}"),
        }
        let mut child = Command::new(&program).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let stacks = Stacks::default();
        // Something of it must have been met.
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap();
        let code = maps.lines().find(|line| line.contains("r-xp")).unwrap();
        let code = u64::from_str_radix(code.split('-').next().unwrap(), 16).unwrap();
        stacks.intern(child.id(), &[], User::Frames(&[code + 64]));
        assert_eq!(stacks.go_programs(9).iter().map(|of| of.0).collect::<Vec<_>>(), [child.id()]);
        let found = super::program(child.id(), &stacks).unwrap();
        let found = found.and_then(|mut program| program.look(&Process(child.id())));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = found.unwrap();
        let locks: Vec<&Wait> = found.iter().filter(|wait| is_lock(&wait.reason)).collect();
        assert_eq!(locks.len(), 3, "{found:?}");
        assert!(locks.iter().all(|wait| wait.frames.len() >= 5 && wait.frames == locks[0].frames), "{locks:?}");
        assert!(found.iter().any(|wait| &*wait.reason == "sleep"), "{found:?}");
    }
}
