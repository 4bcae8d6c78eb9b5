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

mod gate;
mod judge;
mod span;
mod work;

use crate::Thinning;
use crate::tally::Counts;
use gate::{Gate, InKernel};
use host::Host;
use host::bpf::{Hooks, Programs};
use judge::Judge;
use model::{Out, Unavailable};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use work::Work;

pub use judge::{BUDGET, Cost, Rhythm};
pub use span::{Span, scaled};

/// The gate of `bpf/thin.h`.
pub const GATE: &str = "gate";

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

/// What is done when the gate is shut, before it may open again.
pub type Closing = Box<dyn FnMut() -> Result<(), Unavailable> + Send>;

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
    /// Attaches what `plan` says; where it is to be `exact`, for good, whatever it costs. `thinning` is told what the hooks take.
    ///
    /// # Errors
    /// Where the kernel refuses to attach them.
    pub fn attach(
        programs: &Programs,
        plan: &Thinned<'_>,
        (exact, thinning): (bool, &Thinning),
        closing: Closing,
    ) -> Result<Self, Unavailable> {
        let host = Host::live();
        // What is to be exact counts all the time, whatever it costs.
        let (budget, expected) = if exact { (f64::INFINITY, 0.0) } else { (plan.budget, plan.expected) };
        let judge = Judge::new(plan.rhythm.most, budget).expecting(expected);
        let in_kernel = InKernel {
            host,
            map: programs.map(plan.gate)?,
            closing,
            counts: Counts::of(programs)?,
            counters: plan.sets.iter().map(|set| set.counter).collect(),
        };
        let mut gate = Gate::new(Box::new(in_kernel), plan.cost.here(), plan.rhythm, judge.one_in());
        let hooks = plan.sets.iter().map(|set| programs.hooks(set.programs));
        let mut hooks = hooks.collect::<Result<Vec<Hooks>, Unavailable>>()?;
        gate.open()?;
        hooks.iter_mut().try_for_each(Hooks::attach)?;
        let shared = Arc::new(Shared { gate: Mutex::new(gate), changed: Condvar::new() });
        let (mut thread, mut kept) = (None, Vec::new());
        if exact && !hooks.iter().any(Hooks::follows) {
            kept = hooks;
        } else {
            let work = Work::new(Arc::clone(&shared), hooks, judge, thinning.clone());
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
        self.shared.lock().begin_read()
    }

    /// When the gate was opened since this was asked last: what was before such a time, back to when it was shut, was not seen.
    pub fn openings(&mut self) -> VecDeque<u64> {
        std::mem::take(&mut self.shared.lock().openings)
    }

    /// Ends a read.
    pub fn resume(&mut self) {
        self.shared.lock().end_read();
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
