//! Stacks through the code of JVMs, by the tables that each keeps of its own code (see `hotspot::Code`): whole, with the names of interpreted and inlined
//! methods, at the moment when the stack is met, as code may be gone soon after.

use super::jit::Function;
use super::name::{Kind, Row};
use super::process::Processes;
use super::trie::Place;
use super::unwind::DEEPEST;
use super::{Maker, Stacks};
use crate::hotspot::{Code, Copy, End, Frames, Hot, HotHeap, JavaFrame, OSR, Run, Start, Unknown};
use crate::memory::Process as Memory;
use host::Host;
use model::{NULL, Out, Unavailable};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A JVM that is still starting is asked again after so long, and so often.
const AGAIN: Duration = Duration::from_millis(50);
const MOST_TRIES: u32 = 200;

/// JVMs whose hot code is kept.
const MOST_HOT: usize = 64;

/// What of a JVM's code was on a CPU.
#[derive(Debug)]
pub(super) struct OfJvm {
    pub pid: u32,
    pub comm: Arc<str>,
    pub hot: Hot,
}

/// What is known of a process as a JVM.
#[derive(Debug)]
pub(super) enum Java {
    /// Nothing yet: when to ask, and how often that was done.
    Unknown(Instant, u32),
    Known(Box<Code>),
    /// It cannot be understood; why, where it is worth saying.
    Strange(Option<Unavailable>),
}

impl Default for Java {
    fn default() -> Self {
        Java::Unknown(Instant::now(), 0)
    }
}

impl OfJvm {
    /// Puts out the rows of the tables `jvm_code` and `jvm_code_layout`.
    pub(super) fn put(&self, [code, layout]: [usize; 2], out: &mut Out<'_>) {
        let (pid, comm) = (i64::from(self.pid), out.text(&self.comm));
        let number = |number: Option<u64>| number.map_or(NULL, |number| number as i64);
        for method in self.hot.methods() {
            let mut text = |text: Option<&str>| text.map_or(NULL, |text| out.text(text));
            let row = [
                pid,
                comm,
                text(Some(&method.name)),
                i64::from(method.tier),
                i64::from(method.state == Some(OSR)),
                text(method.state),
                text(method.why_not.as_deref()),
                method.time as i64,
                method.samples as i64,
                number(method.bytes),
                method.bytecode as i64,
                number(method.id),
                method.compilations as i64,
            ];
            out.row(code, &row);
        }
        for HotHeap { heap, samples, bytes, pages, huge_pages, huge } in self.hot.heaps() {
            let row = [
                pid,
                comm,
                out.text(&heap.name),
                heap.reserved as i64,
                heap.committed as i64,
                number(heap.used),
                number(heap.methods),
                number(heap.full),
                samples as i64,
                bytes as i64,
                pages as i64,
                huge_pages as i64,
                number(huge),
            ];
            out.row(layout, &row);
        }
    }
}

impl Processes {
    /// Whether what a JVM's code is should be found out now.
    pub(super) fn wants_java(&self, pid: u32) -> bool {
        let is_due = |java: &Java| matches!(java, Java::Unknown(at, _) if *at <= Instant::now());
        self.by_pid.get(&pid).is_some_and(|process| is_due(&process.java)) && self.is_jvm(pid)
    }

    /// Whether what a JVM's code is will be known later: it is still starting.
    fn awaits_java(&self, pid: u32) -> bool {
        let is_unknown = |java: &Java| matches!(java, Java::Unknown(..));
        self.by_pid.get(&pid).is_some_and(|process| is_unknown(&process.java)) && self.is_jvm(pid)
    }

    /// Follows a stack that is in a JVM's code through it; `None` where it is not, or that code is not understood: then nothing was added.
    pub(super) fn java(
        &mut self,
        pid: u32,
        start: &Start,
        (from, bytes): (u64, &[u8]),
        out: &mut Vec<Place>,
        tops: &mut Vec<u64>,
    ) -> Option<End> {
        let Processes { by_pid, java_frames, .. } = self;
        let process = by_pid.get_mut(&pid)?;
        let mappings = &process.mappings;
        let Java::Known(code) = &mut process.java else { return None };
        if !code.holds(start.ip) {
            return None;
        }
        let is_code = |address: u64| super::process::find(mappings, address.wrapping_sub(1)).is_some();
        let mut found = Vec::new();
        let room = DEEPEST.saturating_sub(out.len());
        let into = (&mut found, room);
        let end = code.walk((&Memory(pid), java_frames), start, Copy { from, bytes }, &is_code, into);
        if found.is_empty() && end == End::Lost {
            return None;
        }
        for (frame, sp) in found {
            out.push(Place::Java(frame));
            tops.push(sp);
        }
        Some(end)
    }

    /// What an address of a process is, where only that is known of the moment: of compiled code of a JVM the method, or that which was inlined there.
    pub(super) fn instruction(&mut self, host: &Host, pid: u32, address: u64) -> Place {
        let place = self.place(host, pid, address);
        if matches!(place, Place::Anonymous(..)) {
            let (mut found, mut tops) = (Vec::new(), Vec::new());
            let start = Start { ip: address, is_innermost: true, ..Start::default() };
            self.java(pid, &start, (0, &[]), &mut found, &mut tops);
            return found.first().copied().unwrap_or(place);
        }
        place
    }

    /// Counts a sample whose innermost place is a frame of a JVM's code.
    pub(super) fn java_sampled(&mut self, (pid, comm): (u32, &Arc<str>), (ip, frame): (u64, u32), time: u64) {
        let Some(process) = self.by_pid.get_mut(&pid) else { return };
        let Java::Known(code) = &mut process.java else { return };
        if !self.hot.contains_key(&process.number) && self.hot.len() >= MOST_HOT {
            return;
        }
        let new = || OfJvm { pid, comm: Arc::clone(comm), hot: Hot::default() };
        let found = self.hot.entry(process.number).or_insert_with(new);
        // Of one that has just ended, what is known stays.
        let _ = code.sampled(&Memory(pid), &mut found.hot, (ip, frame), time);
    }

    /// The code of a process by its number, if it is that of a JVM.
    fn java_of(&mut self, number: u32) -> Option<(u32, &mut Code, &mut Frames)> {
        let pid = self.numbered.get(&number)?.pid;
        let process = self.by_pid.get_mut(&pid).filter(|process| process.number == number)?;
        match &mut process.java {
            Java::Known(code) => Some((pid, code, &mut self.java_frames)),
            _ => None,
        }
    }
}

impl Stacks {
    /// Whether stacks of a process will be followed further later: it is a JVM that is still starting.
    pub fn awaits_java(&self, pid: u32) -> bool {
        self.state().processes.awaits_java(pid)
    }

    /// Finds out what a JVM's code is.
    pub(super) fn find_java(&self, pid: u32) {
        let begin = Instant::now();
        let found = self.hotspot(pid).and_then(|way| Code::new(&Memory(pid), &way));
        let mut state = self.state();
        let Some(process) = state.processes.by_pid.get_mut(&pid) else { return };
        let Java::Unknown(_, tries) = process.java else { return };
        process.java = match found {
            Ok(code) => Java::Known(Box::new(code)),
            Err(Unknown::Starting) if tries < MOST_TRIES => Java::Unknown(begin + AGAIN, tries + 1),
            Err(why) => Java::Strange(why.why().and_then(|why| why.said(pid, "its compiled code"))),
        };
    }

    /// Whether the code of a process, by its number, is that of a JVM that is understood; `None` as long as that is not known. Else why not.
    pub(super) fn knows_java(&self, number: u32) -> Option<Result<(), Option<Unavailable>>> {
        let state = self.state();
        let pid = state.processes.numbered.get(&number).map(|process| process.pid);
        let process = pid.and_then(|pid| state.processes.by_pid.get(&pid)).filter(|process| process.number == number);
        match process.map(|process| &process.java) {
            Some(Java::Known(_)) => Some(Ok(())),
            Some(Java::Strange(why)) => Some(Err(why.clone())),
            _ => None,
        }
    }

    /// What is said of a frame of a JVM's code.
    pub(super) fn java_row(&self, frame: u32) -> Row {
        self.state().processes.java_frames.get(frame).map_or_else(|| Row::generated(Maker::Jvm), row)
    }

    /// The frames at an address of a JVM's code, innermost first; `None` where it is none, or not understood.
    pub(super) fn java_rows(&self, number: u32, address: u64) -> Option<Vec<Row>> {
        let mut state = self.state();
        let (pid, code, frames) = state.processes.java_of(number)?;
        let found = code.at(&Memory(pid), frames, address)?;
        Some(found.into_iter().filter_map(|frame| frames.get(frame)).map(row).collect())
    }

    /// The function that a JVM, by the number of its process, made at an address.
    pub(super) fn java_function(&self, number: u32, address: u64) -> Option<(Range<u64>, Function)> {
        let mut state = self.state();
        let (pid, code, frames) = state.processes.java_of(number)?;
        let frame = code.at(&Memory(pid), frames, address)?.pop()?;
        let row = frames.get(frame).map(row)?;
        let (name, module) = (row.function?, row.module?);
        Some((code.range(address)?, Function { name, module, source: row.source }))
    }
}

fn row(frame: &JavaFrame) -> Row {
    let kind = match frame.run {
        Run::Interpreted => Kind::Interpreted,
        Run::Compiled => Kind::Jit,
        Run::Inlined => Kind::Inlined,
        Run::Stub => Kind::Native,
        Run::Class => Kind::Class,
    };
    let module = if frame.run == Run::Class { "[class]" } else { "[jit]" };
    Row {
        function: frame.function.clone(),
        source: frame.source.clone(),
        tier: frame.tier,
        spins: frame.spins,
        ..Row::unresolved(Some(Arc::from(module)), kind)
    }
}
