//! Loads the ledger into the kernel, and reads it once a tick.

use super::bystanders::Bystanders;
use super::calls;
use super::goroutines::Goroutines;
use super::ledger::Ledgers;
use super::records::{self, Record, Site, Thread};
use super::slots::Slots;
use super::tables::COLLECTOR;
use super::waits::Waits;
use crate::counted::missing_tracepoint;
use crate::scope::{self, Marks};
use crate::tally::{Counts, whole};
use crate::{Reader, Scope};
use host::Host;
use host::bpf::{Iterator as TaskIterator, Map, Need, Programs, Ring, arguments};
use model::{NULL, Out, Unavailable};
use std::sync::Arc;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ledger.bpf.o"));

/// `COUNT_…` and `LOST_…` of copies.h.
const USER_STACKS: u32 = 0;
const USER_LEFT_OUT: u32 = 1;
const KERNEL_STACKS: u32 = 2;
const KERNEL_LEFT_OUT: u32 = 3;
const LOST_EVENTS: u32 = 4;
const LOST_STACKS: u32 = 5;
const LOST_LEDGERS: u32 = 6;

/// The programs, and those that do without what some kernels lack.
const PROGRAMS: [&str; 4] = ["ledger_switch", "ledger_waking", "ledger_new", "ledger_read"];
const OF_LOCKS: [&str; 2] = ["ledger_contended", "ledger_obtained"];

/// Reads the ledger.
pub(super) struct BpfReader {
    marks: Arc<Marks>,
    threads: TaskIterator,
    events: Ring,
    stacks: Ring,
    slots_map: Map,
    counts: Counts,
    /// Holds the programs attached.
    _programs: Programs,
    start: crate::Start,
    ledgers: Ledgers,
    waits: Waits,
    goroutines: Goroutines,
    slots: Slots,
    buffer: Vec<u8>,
    bystanders: Bystanders,
    lost_before: [u64; 3],
    missed_before: u64,
    /// Whether the next read is the last.
    is_last: bool,
    /// What this kernel does not have, until it is said.
    missing: Vec<(&'static str, Unavailable)>,
}

impl BpfReader {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        Self::open_with(host, scope, false)
    }

    /// `as_old`: as on a kernel that keeps no clock and no queueing times for them to read, and whose sched_switch does not tell the state.
    pub(super) fn open_with(host: &Host, scope: &Scope, as_old: bool) -> Result<Self, Unavailable> {
        Need::all(host, &[Need::TASK_STORAGE, Need::TASK_REGISTERS])?;
        let marks = scope::shared(host, scope)?;
        let classes = calls::classes();
        // The fourth argument is the state in which a thread leaves its CPU, since Linux 5.18.
        let tells_state = [u8::from(!as_old && arguments("sched_switch").is_none_or(|number| number >= 4))];
        let ask_clock = [u8::from(as_old)];
        let constants = [
            ("call_class", classes.as_slice()),
            ("ask_clock", ask_clock.as_slice()),
            ("tells_state", tells_state.as_slice()),
        ];
        let mut missing = interrupts(host);
        let lacks_locks = missing_tracepoint(host, &["contention_begin", "contention_end"])?;
        if let Some(lacks) = lacks_locks {
            let why = format!("tracepoint {lacks}: this kernel does not tell of its own locks");
            missing.push(("lock.kernel", Unavailable::absent(why).remedy("Linux 5.19 or newer")));
        }
        let without: &[&str] = if lacks_locks.is_some() { &OF_LOCKS } else { &[] };
        let mut programs = marks.load(host, "threads", OBJECT, without, &[], &constants)?;
        let threads = programs.iterator("ledger_read")?;
        scope.stacks.tell_pythons(&programs)?;
        for program in PROGRAMS.iter().filter(|name| **name != "ledger_read") {
            programs.attach(program)?;
        }
        for program in OF_LOCKS.iter().filter(|program| !without.contains(program)) {
            programs.attach(program)?;
        }
        scope.ledgers.keep(programs.map("ledgers")?);
        Ok(BpfReader {
            marks,
            threads,
            events: programs.ring("events")?,
            stacks: programs.ring("stacks")?,
            slots_map: programs.map("slots")?,
            counts: Counts::of(&programs)?,
            _programs: programs,
            start: scope.start.clone(),
            ledgers: Ledgers::default(),
            waits: Waits::new(scope.stacks.clone(), scope.ledgers.clone(), scope.thinning.clone()),
            goroutines: Goroutines::new(scope.stacks.clone()),
            slots: Slots::default(),
            buffer: Vec::new(),
            bystanders: Bystanders::new(scope.thinning.clone()),
            lost_before: [0; 3],
            missed_before: 0,
            is_last: false,
            missing,
        })
    }

    fn put_collectors(&mut self, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let rows = [
            ("user stacks", USER_STACKS, Some(USER_LEFT_OUT), Some(LOST_STACKS)),
            ("kernel stacks", KERNEL_STACKS, Some(KERNEL_LEFT_OUT), None),
        ];
        for (name, events, left_out, lost) in rows {
            let number = |kind: Option<u32>| kind.map_or(Ok(NULL), |kind| self.counts.sum(kind).map(whole));
            let row = [out.text(name), number(Some(events))?, number(left_out)?, number(lost)?];
            out.row(COLLECTOR, &row);
        }
        let lost = [self.counts.sum(LOST_EVENTS)?, self.counts.sum(LOST_STACKS)?, self.counts.sum(LOST_LEDGERS)?];
        for (name, lost) in [("events", lost[0]), ("ledgers", lost[2])] {
            let row = [out.text(name), NULL, NULL, whole(lost)];
            out.row(COLLECTOR, &row);
        }
        let said = [
            ("thread_time", "threads ended, or waited in many ways, faster than they are read", "a shorter interval"),
            ("wait.stack", "stacks found no room between two reads", "a shorter interval"),
            (
                "thread_time",
                "the kernel made no ledger of a thread, for want of memory or because it was just making another",
                "a narrower scope",
            ),
        ];
        for ((lost, before), (item, what, remedy)) in lost.into_iter().zip(&mut self.lost_before).zip(said) {
            // Once, and again when it gets worse tenfold.
            if lost > before.saturating_mul(10) {
                *before = lost;
                out.missing(item, Unavailable::failed(format!("{what}: {lost} or more are missing")).remedy(remedy));
            }
        }
        if self.slots.missed > 0 && self.missed_before == 0 {
            self.missed_before = self.slots.missed;
            let why = "the kernel keeps 10 s, and the reads were further apart";
            out.missing("running", Unavailable::failed(why).remedy("a shorter interval"));
        }
        Ok(())
    }
}

/// What is said of interrupts, which only some kernels tell apart from the time of the thread that they interrupt.
fn interrupts(host: &Host) -> Vec<(&'static str, Unavailable)> {
    if crate::kernel_config::has(host, "CONFIG_IRQ_TIME_ACCOUNTING") != Some(false) {
        return Vec::new();
    }
    let why =
        "the kernel counts interrupts as time of the thread that they interrupt: they are part of user and kernel";
    vec![("thread_time.stolen", Unavailable::absent(why).remedy("a kernel with CONFIG_IRQ_TIME_ACCOUNTING=y"))]
}

impl Reader for BpfReader {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        for (item, why) in self.missing.drain(..) {
            out.missing(item, why);
        }
        self.marks.refresh()?;
        if !self.bystanders.begin(host) && !self.is_last {
            return Ok(());
        }
        let until = host.now();
        let mut buffer = std::mem::take(&mut self.buffer);
        self.threads.read_into(&mut buffer)?;
        // At once: what the kernel keeps of them is soon written over.
        self.slots.put(&self.slots_map, until, host.now(), self.start.get(), out)?;
        self.waits.begin();
        // Ends and sites first, for they came first. Then the stacks, which name what both hold.
        let (mut ends, mut sites): (Vec<Thread>, Vec<Site>) = (Vec::new(), Vec::new());
        self.events.drain(|bytes| match records::read(bytes) {
            Some(Record::End(thread)) => ends.push(*thread),
            Some(Record::Site(site)) => sites.push(*site),
            _ => {}
        });
        let (waits, bystanders) = (&mut self.waits, &self.bystanders);
        self.stacks.drain(|bytes| match records::read(bytes) {
            Some(Record::KernelStack(stack)) => waits.take_kernel_stack(stack),
            Some(Record::PythonStack(stack)) => waits.take_python_stack(stack),
            Some(Record::UserStack(copy)) if bystanders.has(copy.pid) => {}
            Some(Record::UserStack(copy)) => waits.take_user_stack(&copy),
            _ => {}
        });
        let mut threads: Vec<Thread> = Vec::new();
        let taken = records::each(&buffer, |record| match record {
            Record::Thread(thread) => threads.push(*thread),
            Record::Site(site) => sites.push(*site),
            Record::Blocked(blocked) if !self.bystanders.has(blocked.pid) => self.waits.ask(blocked),
            _ => {}
        });
        self.buffer = buffer;
        taken?;
        self.waits.look(host);
        self.ledgers.begin(threads.iter().chain(&ends));
        for site in &sites {
            let names = self.ledgers.names(site.tid).map(|(name, process)| (*process, *name)).unwrap_or_default();
            match self.bystanders.has(site.pid) {
                true => self.waits.pass_over(site),
                false => self.waits.take(site, &self.ledgers, names, out),
            }
        }
        for thread in &ends {
            self.ledgers.take(thread, true, &self.waits.shares(thread.tid));
            self.waits.forget(thread.tid);
        }
        for thread in &threads {
            self.ledgers.take(thread, false, &self.waits.shares(thread.tid));
        }
        self.ledgers.put(|pid| self.bystanders.has(pid), out);
        self.waits.put(&self.ledgers, out);
        self.goroutines.read(&self.ledgers, out);
        if self.is_last {
            self.waits.put_dump(&threads, out);
        }
        self.put_collectors(out)
    }

    fn ends(&mut self) {
        self.is_last = true;
    }
}
