//! How a collector holds its budget: where it costs too much, it counts in a part of the time and scales up.
//!
//! A hook that is attached and does nothing costs nearly as much as one that counts. So the hooks are attached for one stretch of each cycle
//! ([`Rhythm`]), at a place in it that chance chooses (or what happens at an even pace would be seen always or never), and detached for the rest. Within the
//! stretch a gate is open (`bpf/thin.h`), whose times are those that are scaled by: attaching takes a while.
//!
//! To attach and detach a hook is dear too: the kernel changes code, and interrupts each CPU some dozen times until all have seen it. So those hooks of
//! a collector that run seldom ([`Set`]) stay attached, and see that the gate is shut.
//!
//! What is counted in a stretch is slowed down by being counted: a program that is always busy gets that much less done, and more of it where nobody
//! counts. So a stretch is taken to have been shorter by the time that the hooks took, of the process's CPU time where that is known, else of the
//! CPU's. Of programs that would have waited for that long, which lose nothing, that says too much, by that part at most.
//!
//! What it costs is judged by a thread, five times a second: events on the CPU that has most of them, times what one costs, as a share of that
//! CPU's time. It changes what is done when the source is next read, so that what was counted all the time and what was counted in stretches
//! lie in different intervals; where reads are rare, it does not wait.

mod judge;
mod span;
mod work;

use crate::tally::Counts;
use host::Host;
use host::bpf::{Hooks, Map, Programs};
use judge::Judge;
use model::{Out, Unavailable};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use work::{Work, sum};

pub use judge::{BUDGET, Cost, Rhythm};
pub use span::{Span, scaled};

/// The gate of `bpf/thin.h`.
pub const GATE: &str = "gate";

/// A change waits so long for the next read.
const PATIENCE: u64 = 1_200_000_000;

/// What there is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// What was counted since the last read, in such a part of the time.
    Counted(Span),
    /// Nothing was looked at since the last read: the next one tells of this time too.
    Nothing,
    /// Nothing was looked at since the last read, and there will be no other: what it found, found again, stands for this time.
    Again(Span),
}

/// Programs that are of no use without each other: they are attached and detached together.
#[derive(Clone, Copy, Debug)]
pub struct Set<'a> {
    /// Where they count their events while the gate is open, in the programs' `counts`.
    pub counter: u32,
    /// The programs, which ask the gate of `bpf/thin.h`.
    pub programs: &'a [&'a str],
}

/// What is thinned out.
#[derive(Clone, Copy, Debug)]
pub struct Thinned<'a> {
    /// What the programs count, for messages.
    pub what: &'static str,
    /// The map of their gate: [`GATE`], unless the object has several.
    pub gate: &'a str,
    /// The programs, in the order in which they are attached.
    pub sets: &'a [Set<'a>],
    /// What an event costs.
    pub cost: Cost,
    /// How they are thinned out.
    pub rhythm: Rhythm,
    /// The share of a CPU above which they are: [`BUDGET`], unless counting all of them is what is wanted.
    pub budget: f64,
    /// The share that they are expected to take; 0 where that is not known.
    pub expected: f64,
}

/// Openings of a gate that are kept for who asks for them.
const OPENINGS: usize = 32;

/// What is done when the gate is shut, before it may open again.
pub type Closing = Box<dyn FnMut() -> Result<(), Unavailable> + Send>;

/// What the thread and the reader share.
struct Gate {
    host: Host,
    map: Map,
    closing: Closing,
    /// In force, and what it is to become with the next read, since when.
    one_in: u32,
    proposed: Option<(u32, u64)>,
    /// Since when it is thinned out.
    thinned: u64,
    /// Whether this is a stretch in which events count, and whether the source is being read.
    stretch: bool,
    reading: bool,
    /// Since when the programs are attached.
    attached: u64,
    /// Since when the gate is open; 0: it is shut.
    opened: u64,
    /// When it was opened, the last times since [`Thin::openings`] was asked.
    openings: VecDeque<u64>,
    /// How long it was open, up to when it was shut last.
    open: u64,
    /// Whether it was shut since the last read.
    shut: bool,
    /// The last read that had something to read: when, `open` then, and the events of each CPU; in which part of the time that was counted.
    read: (u64, u64, Vec<u64>),
    span: Span,
    /// Whether the next read is the last.
    last: bool,
    counts: Counts,
    /// Of each set.
    counters: Vec<u32>,
    cost: Cost,
    rhythm: Rhythm,
    end: bool,
    failed: Option<Unavailable>,
}

impl Gate {
    /// Opens or shuts the gate, as it should be.
    fn settle(&mut self) {
        let result = match (self.stretch && !(self.reading && self.one_in > 1), self.opened) {
            (true, 0) => self.open(),
            (false, 1..) => self.close(),
            _ => Ok(()),
        };
        self.failed = self.failed.take().or(result.err());
    }

    fn set(&self, since: u64, until: u64) -> Result<(), Unavailable> {
        self.map.set(&0u32.to_ne_bytes(), &[since, until, self.attached].map(u64::to_ne_bytes).concat())
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        let now = self.host.now().max(1);
        // In this order, so that no program sees an open gate with the beginning of another stretch.
        self.set(now, now)?;
        self.set(now, 0)?;
        self.opened = now;
        self.openings.push_back(now);
        if self.openings.len() > OPENINGS {
            self.openings.pop_front();
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Unavailable> {
        let now = self.host.now();
        self.set(self.opened, now)?;
        self.open += now.saturating_sub(self.opened);
        (self.opened, self.shut) = (0, true);
        (self.closing)()
    }

    /// How long the gate was open by now.
    fn counted(&self, now: u64) -> u64 {
        self.open + if self.opened == 0 { 0 } else { now.saturating_sub(self.opened) }
    }

    /// Events of each set so far, for each CPU.
    fn events_of_sets(&self) -> Result<Vec<Vec<u64>>, Unavailable> {
        self.counters.iter().map(|&counter| self.counts.each(counter)).collect()
    }

    /// Events so far, for each CPU.
    fn events(&self) -> Result<Vec<u64>, Unavailable> {
        Ok(sum(&self.events_of_sets()?))
    }

    fn propose(&mut self, one_in: u32) {
        let now = self.host.now();
        self.proposed = match self.proposed {
            _ if one_in == self.one_in => None,
            Some((_, since)) => Some((one_in, since)),
            None => Some((one_in, now)),
        };
        if self.proposed.is_some_and(|(_, since)| now.saturating_sub(since) >= PATIENCE) && !self.reading {
            self.apply();
        }
    }

    fn apply(&mut self) {
        if let Some((one_in, _)) = self.proposed.take() {
            if self.one_in == 1 {
                self.thinned = self.host.now();
            }
            self.one_in = one_in;
        }
    }

    /// The present cycle, and the stretch in it.
    fn cycle(&self) -> (u64, u64) {
        self.rhythm.cycle(self.one_in, self.host.now().saturating_sub(self.thinned))
    }
}

struct Shared {
    gate: Mutex<Gate>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for so many nanoseconds, or until there is something else to do than before.
    fn wait<'a>(&self, gate: MutexGuard<'a, Gate>, time: u64) -> MutexGuard<'a, Gate> {
        let one_in = gate.one_in;
        let time = std::time::Duration::from_nanos(time);
        let waited = self.changed.wait_timeout_while(gate, time, |gate| !gate.end && gate.one_in == one_in);
        waited.map_or_else(|e| e.into_inner().0, |(gate, _)| gate)
    }
}

/// A collector that thins itself out.
pub struct Thin {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Holds the hooks attached where no thread does.
    _hooks: Vec<Hooks>,
    what: &'static str,
    budget: f64,
    said: bool,
}

impl Thin {
    /// Attaches what `plan` says; where it is to be `exact`, for good, whatever it costs.
    ///
    /// # Errors
    /// Where the kernel refuses to attach them.
    pub fn attach(programs: &Programs, plan: &Thinned<'_>, exact: bool, closing: Closing) -> Result<Self, Unavailable> {
        let host = Host::live();
        let now = host.now();
        // What is to be exact counts all the time, whatever it costs.
        let (budget, expected) = if exact { (f64::INFINITY, 0.0) } else { (plan.budget, plan.expected) };
        let judge = Judge::new(plan.rhythm.most, budget).expecting(expected);
        let mut gate = Gate {
            host,
            map: programs.map(plan.gate)?,
            closing,
            one_in: judge.one_in(),
            proposed: None,
            thinned: now,
            stretch: true,
            reading: false,
            attached: now,
            opened: 0,
            openings: VecDeque::new(),
            open: 0,
            shut: false,
            read: (now, 0, Vec::new()),
            span: Span::ALL,
            last: false,
            counts: Counts::of(programs)?,
            counters: plan.sets.iter().map(|set| set.counter).collect(),
            cost: plan.cost.here(),
            rhythm: plan.rhythm,
            end: false,
            failed: None,
        };
        let hooks = plan.sets.iter().map(|set| programs.hooks(set.programs));
        let mut hooks = hooks.collect::<Result<Vec<Hooks>, Unavailable>>()?;
        gate.open()?;
        hooks.iter_mut().try_for_each(Hooks::attach)?;
        let shared = Arc::new(Shared { gate: Mutex::new(gate), changed: Condvar::new() });
        let (mut thread, mut kept) = (None, Vec::new());
        if exact && !hooks.iter().any(Hooks::follows) {
            kept = hooks;
        } else {
            let work = Work::new(Arc::clone(&shared), hooks, judge);
            let started = std::thread::Builder::new().name("thin".into()).spawn(move || work.run());
            thread = Some(started.map_err(|e| Unavailable::failed(format!("a thread could not be started: {e}")))?);
        }
        Ok(Thin { shared, thread, _hooks: kept, what: plan.what, budget: plan.budget, said: false })
    }

    /// Says that the next read is the last: see [`Found::Again`].
    pub fn ends(&mut self) {
        self.shared.lock().last = true;
    }

    /// Begins a read: what there is. [`Thin::resume`] ends it.
    ///
    /// # Errors
    /// Where the hooks could not be attached, or the gate not be set.
    pub fn pause(&mut self) -> Result<Found, Unavailable> {
        let mut gate = self.shared.lock();
        if let Some(why) = gate.failed.clone() {
            return Err(why);
        }
        gate.reading = true;
        gate.settle();
        let now = gate.host.now();
        let (elapsed, counted) = (now.saturating_sub(gate.read.0), gate.counted(now).saturating_sub(gate.read.1));
        if gate.shut && counted == 0 {
            return Ok(if gate.last { Found::Again(gate.span.later(elapsed)) } else { Found::Nothing });
        }
        let events = gate.events()?;
        let (share, _) = gate.cost.shares(&gate.read.2, &events, counted);
        gate.read = (now, gate.counted(now), events);
        // What was counted all the time stands for the time after it as well.
        gate.span = Span::of(elapsed, counted, if gate.shut { share } else { 0.0 });
        if !gate.shut {
            return Ok(Found::Counted(Span::ALL));
        }
        gate.shut = gate.opened == 0;
        Ok(Found::Counted(gate.span))
    }

    /// When the gate was opened since this was asked last: what was before such a time, back to when it was shut, was not seen.
    pub fn openings(&mut self) -> VecDeque<u64> {
        std::mem::take(&mut self.shared.lock().openings)
    }

    /// Ends a read.
    pub fn resume(&mut self) {
        let mut gate = self.shared.lock();
        gate.reading = false;
        gate.apply();
        gate.settle();
        drop(gate);
        self.shared.changed.notify_all();
    }

    /// What an event costs on this machine.
    pub fn cost(&self) -> Cost {
        self.shared.lock().cost
    }

    /// Of so many parts of the time it counts in one at present; 1: it counts all the time.
    pub fn one_in(&self) -> u32 {
        let (cycle, stretch) = self.shared.lock().cycle();
        (cycle / stretch.max(1)) as u32
    }

    /// Says once, of the table or column `item`, that what is counted is an estimate.
    pub fn say(&mut self, out: &mut Out<'_>, item: &str) {
        let one_in = self.one_in();
        if one_in > 1 && !self.said {
            self.said = true;
            let why = format!(
                "to count all {} would take more than {:.1} % of a CPU: they are counted in a part of the time, 1/{one_in} at first (the collector's sampled_1_in says when it is how much), and scaled up",
                self.what,
                self.budget * 100.0
            );
            out.missing(item, Unavailable::estimated(why).remedy("twinscope record --exact, whatever that costs"));
        }
    }
}

impl Drop for Thin {
    fn drop(&mut self) {
        self.shared.lock().end = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It holds the hooks, which are detached with its end.
            let _ = thread.join();
        }
    }
}
