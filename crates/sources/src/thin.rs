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

use crate::dearness::dearness;
use crate::tally::Counts;
use host::Host;
use host::bpf::{Hooks, Map, Programs};
use model::{Out, Unavailable};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The share of a CPU above which a collector thins itself out, and what it keeps to from then on: several may do so at once.
const BUDGET: f64 = 0.005;
const KEPT: f64 = BUDGET / 6.0;
/// Below this share, for so long, it counts all the time again.
const LITTLE: f64 = BUDGET / 2.0;
const CALM: u64 = 5_000_000_000;
/// So many judgements in a row must find it above its budget: starting a program takes many calls, but not for long.
const IN_A_ROW: u32 = 2;
/// How often a collector is judged while it counts all the time.
const JUDGED: u64 = 200_000_000;
/// Hooks that run so often a second, on the CPU where they do most, stay attached: that takes 0.03 % of that CPU, and to attach and detach two of them as
/// much of each.
const SELDOM: f64 = 1_500.0;
/// More of a stretch than this the hooks cannot have taken: what an event costs is not known so well.
const MOST_TAKEN: f64 = 0.7;
/// A change waits so long for the next read.
const PATIENCE: u64 = 1_200_000_000;

/// Where stretches lie, and how short they may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    /// One stretch lies in so many nanoseconds.
    cycle: u64,
    /// A stretch is such a part of them at least: there must be something in it.
    most: u32,
}

impl Rhythm {
    /// For what is over in microseconds: stretches of 20 ms at least. To attach and detach eight hooks takes 2 ms of CPU time, most of which is waiting
    /// until each other CPU has seen that code was changed.
    pub const SHORT: Rhythm = Rhythm { cycle: 1_600_000_000, most: 80 };
    /// For what takes tens of milliseconds, which a stretch must hold: 400 ms at least.
    pub const LONG: Rhythm = Rhythm { cycle: 8_000_000_000, most: 20 };

    /// The cycle, and the stretch in it, where one part of `one_in` is to be counted and that was begun `since` nanoseconds ago. Cycles are short at
    /// first, so that there are some in a short recording too, and stretches are as long as ever.
    fn cycle(self, one_in: u32, since: u64) -> (u64, u64) {
        let cycle = (since / FEWEST).clamp(self.cycle / FEWEST, self.cycle);
        (cycle, (cycle / u64::from(one_in.max(1))).max(self.cycle / u64::from(self.most)))
    }
}

/// So many stretches there are at least in the time since the first, as soon as may be; and the first cycles are so much shorter than later ones.
const FEWEST: u64 = 4;

/// What an event of a collector costs.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Nanoseconds of an event, hooks and all, where `dearness` is 1.
    pub each: u64,
}

impl Cost {
    /// What it is on this machine.
    fn here(self) -> Self {
        Cost { each: (self.each as f64 * dearness()) as u64 }
    }

    /// The part of its CPU that the mean event's hooks took, and of the CPU with most of them, in `time` nanoseconds with so many events on each
    /// CPU more than `before`.
    fn shares(self, before: &[u64], now: &[u64], time: u64) -> (f64, f64) {
        let new =
            now.iter().enumerate().map(|(cpu, &n)| n.saturating_sub(before.get(cpu).copied().unwrap_or(0)) as f64);
        let (mut all, mut squares, mut most) = (0.0, 0.0, 0.0f64);
        for events in new {
            all += events;
            squares += events * events;
            most = most.max(events);
        }
        let part = |events: f64| events * self.each as f64 / time.max(1) as f64;
        (if all > 0.0 { part(squares / all) } else { 0.0 }, part(most))
    }
}

/// Decides of how many parts of the time a collector counts in one.
#[derive(Clone, Copy, Debug)]
struct Judge {
    /// Of [`Rhythm`].
    most: u32,
    one_in: u32,
    above: u32,
    calm: u64,
    /// While it counts in a part of the time: of the last few stretches, for one alone says little.
    mean: f64,
}

impl Judge {
    fn new(most: u32) -> Self {
        Judge { most, one_in: 1, above: 0, calm: 0, mean: 0.0 }
    }

    /// The hooks would take the part `share` of a CPU if they were attached all the time; so it was for `time` nanoseconds.
    fn judge(&mut self, share: f64, time: u64) -> u32 {
        let most = f64::from(self.most);
        let wanted = |share: f64| (share / KEPT).ceil().clamp(2.0, most) as u32;
        if self.one_in == 1 {
            self.above = if share > BUDGET { self.above + 1 } else { 0 };
            if self.above >= IN_A_ROW {
                *self = Judge { one_in: wanted(share), mean: share, ..Judge::new(self.most) };
            }
            return self.one_in;
        }
        self.mean += (share - self.mean) / 4.0;
        let wanted = wanted(self.mean);
        self.calm = if share < LITTLE { self.calm + time } else { 0 };
        if self.calm >= CALM {
            *self = Judge::new(self.most);
        } else if wanted * 4 > self.one_in * 5 || wanted * 3 < self.one_in * 2 {
            self.one_in = wanted;
        }
        self.one_in
    }
}

/// For how long a collector counted between two reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Nanoseconds that what was counted stands for: those between the reads; or, of `later`, those after them.
    elapsed: u64,
    /// Nanoseconds in which it counted.
    counted: u64,
    /// Nanoseconds of those that its hooks took.
    taken: u64,
    later: bool,
}

impl Span {
    /// All the time.
    pub const ALL: Span = Span { elapsed: 1, counted: 1, taken: 0, later: false };

    /// `counted` of `elapsed` nanoseconds, of which hooks took the part `share`.
    fn of(elapsed: u64, counted: u64, share: f64) -> Self {
        Span { elapsed, counted, taken: 0, later: false }.with_share(share)
    }

    /// The same, where hooks took such a part of it.
    pub fn with_share(self, share: f64) -> Self {
        let taken = (self.counted as f64 * share.clamp(0.0, MOST_TAKEN)) as u64;
        Span { taken: taken.min(self.counted.saturating_sub(1)), ..self }
    }

    /// The part of it that hooks took of a process that had `events` in this span and used `runtime` nanoseconds of CPU time, counted or not. `None`
    /// where that cannot be, the times being rough.
    pub fn share(self, cost: Cost, events: u64, runtime: u64) -> Option<f64> {
        let while_counted = runtime as f64 * self.counted as f64 / self.elapsed.max(1) as f64;
        Some(events as f64 * cost.each as f64 / while_counted).filter(|share| *share <= MOST_TAKEN)
    }

    /// What was counted in this one stands for `elapsed` nanoseconds after it too, in which nothing was counted and no hooks took anything.
    fn later(self, elapsed: u64) -> Self {
        Span { elapsed, later: true, ..self }
    }

    /// What `value` that was counted comes to in all the time, to the nearest whole number.
    pub fn scaled(self, value: u64) -> u64 {
        let taken = if self.later { 0 } else { self.taken };
        times(value, self.elapsed.saturating_sub(taken), self.counted.saturating_sub(self.taken))
    }

    /// The same of time in which threads waited: no hooks took any of it.
    pub fn scaled_wait(self, value: u64) -> u64 {
        times(value, self.elapsed, self.counted)
    }
}

/// `value` by `elapsed` to `counted`.
fn times(value: u64, elapsed: u64, counted: u64) -> u64 {
    let (elapsed, counted) = (u128::from(elapsed), u128::from(counted.max(1)));
    u64::try_from((u128::from(value) * elapsed + counted / 2) / counted).unwrap_or(u64::MAX)
}

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
    /// The programs, in the order in which they are attached.
    pub sets: &'a [Set<'a>],
    /// What an event costs.
    pub cost: Cost,
    /// How they are thinned out.
    pub rhythm: Rhythm,
}

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

/// The sum of `sets`, for each CPU.
fn sum(sets: &[Vec<u64>]) -> Vec<u64> {
    let cpus = sets.iter().map(Vec::len).max().unwrap_or(0);
    (0..cpus).map(|cpu| sets.iter().filter_map(|set| set.get(cpu)).sum()).collect()
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
        let mut gate = Gate {
            host,
            map: programs.map("gate")?,
            closing,
            one_in: 1,
            proposed: None,
            thinned: 0,
            stretch: true,
            reading: false,
            attached: now,
            opened: 0,
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
        if exact {
            kept = hooks;
        } else {
            let sets = hooks.into_iter().map(|hooks| Attached { hooks, is: true, seldom: true }).collect();
            let work = Work { shared: Arc::clone(&shared), sets };
            let started = std::thread::Builder::new().name("thin".into()).spawn(move || work.run());
            thread = Some(started.map_err(|e| Unavailable::failed(format!("a thread could not be started: {e}")))?);
        }
        Ok(Thin { shared, thread, _hooks: kept, what: plan.what, said: false })
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
                BUDGET * 100.0
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

/// The hooks of a set.
struct Attached {
    hooks: Hooks,
    /// Whether they are attached.
    is: bool,
    /// Whether they stay so between stretches.
    seldom: bool,
}

impl Attached {
    fn attach(&mut self) -> Result<(), Unavailable> {
        if !self.is {
            self.hooks.attach()?;
            self.is = true;
        }
        Ok(())
    }

    fn detach(&mut self) {
        if !self.seldom {
            self.hooks.detach();
            self.is = false;
        }
    }
}

/// What the thread does.
struct Work {
    shared: Arc<Shared>,
    sets: Vec<Attached>,
}

impl Work {
    fn run(mut self) {
        // On a busy machine a stretch must not go on while this waits for a CPU. Only root may; for others it stays as it is.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -10);
        let shared = Arc::clone(&self.shared);
        let mut gate = shared.lock();
        let mut judge = Judge::new(gate.rhythm.most);
        // Chance enough for the place of a stretch: xorshift of the time of the start.
        let mut random = gate.host.now() | 1;
        let mut seen = gate.events_of_sets().unwrap_or_default();
        let mut from = (gate.host.now(), gate.counted(gate.host.now()));
        while !gate.end {
            if gate.one_in == 1 {
                gate = begin(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, JUDGED);
            } else {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let (cycle, stretch) = gate.cycle();
                let before = random % (cycle - stretch + 1);
                gate = cease(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, before);
                if gate.end {
                    break;
                }
                gate = begin(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, stretch);
                gate = cease(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, cycle - stretch - before);
            }
            let now = gate.host.now();
            let (time, counted) = (now.saturating_sub(from.0), gate.counted(now).saturating_sub(from.1));
            // Less is no judgement: a change of what is done, or the end.
            if counted == 0 || time < JUDGED / 2 {
                continue;
            }
            let events = gate.events_of_sets().unwrap_or_default();
            for ((set, before), now) in self.sets.iter_mut().zip(&seen).zip(&events) {
                set.seldom = is_seldom(before, now, counted);
            }
            let (_, share) = gate.cost.shares(&sum(&seen), &sum(&events), counted);
            (seen, from) = (events, (now, gate.counted(now)));
            let one_in = judge.judge(share, time);
            gate.propose(one_in);
        }
    }
}

/// Whether events were so few on each CPU, in `time` nanoseconds in which they were counted: `now`, `before` at their beginning.
fn is_seldom(before: &[u64], now: &[u64], time: u64) -> bool {
    let most = SELDOM * time as f64 / 1e9;
    now.iter().zip(before).all(|(now, before)| now.saturating_sub(*before) as f64 <= most)
}

/// Attaches the hooks and opens the gate. Attaching waits for other CPUs: without the lock, for a read must not wait for it.
fn begin<'a>(shared: &'a Shared, sets: &mut [Attached], gate: MutexGuard<'a, Gate>) -> MutexGuard<'a, Gate> {
    if gate.stretch {
        return gate;
    }
    drop(gate);
    let result = sets.iter_mut().try_for_each(Attached::attach);
    let mut gate = shared.lock();
    match result {
        Ok(()) => {
            gate.attached = gate.host.now();
            gate.stretch = true;
        }
        Err(why) => gate.failed = Some(why),
    }
    gate.settle();
    gate
}

/// Shuts the gate and detaches those hooks that do not run seldom.
fn cease<'a>(shared: &'a Shared, sets: &mut [Attached], mut gate: MutexGuard<'a, Gate>) -> MutexGuard<'a, Gate> {
    if !gate.stretch {
        return gate;
    }
    gate.stretch = false;
    gate.settle();
    drop(gate);
    sets.iter_mut().for_each(Attached::detach);
    shared.lock()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_burst_is_counted_and_a_load_is_thinned() {
        let mut judge = Judge::new(Rhythm::SHORT.most);
        assert_eq!([judge.judge(0.2, JUDGED), judge.judge(0.0045, JUDGED), judge.judge(0.2, JUDGED)], [1, 1, 1]);
        assert_eq!(judge.judge(0.025, JUDGED), 30, "twice in a row: so that it keeps to a sixth of its budget");
        assert_eq!(judge.judge(0.0225, JUDGED), 30, "little less changes nothing");
        let last = |judge: &mut Judge, share| (0..20).map(|_| judge.judge(share, JUDGED)).last();
        assert_eq!(last(&mut judge, 0.03), Some(30), "little more neither");
        assert_eq!(last(&mut judge, 0.0125), Some(19));
        assert_eq!(last(&mut judge, 9.0), Some(Rhythm::SHORT.most));
        let calm = |judge: &mut Judge| (0..60).map(|_| judge.judge(0.0026, JUDGED)).last();
        assert!(
            calm(&mut judge).is_some_and(|n| (4..=6).contains(&n)),
            "within its budget by little: not yet all the time"
        );
    }

    #[test]
    fn calm_ends_it() {
        let mut judge = Judge::new(Rhythm::SHORT.most);
        judge.judge(0.1, JUDGED);
        judge.judge(0.1, JUDGED);
        let needed = CALM / JUDGED;
        for _ in 0..needed - 1 {
            assert!(judge.judge(0.001, JUDGED) > 1);
        }
        assert!(judge.judge(0.007, JUDGED) > 1, "it begins anew");
        for _ in 0..needed - 1 {
            assert!(judge.judge(0.001, JUDGED) > 1);
        }
        assert_eq!(judge.judge(0.001, JUDGED), 1);
    }

    #[test]
    fn what_was_counted_all_the_time_is_not_scaled() {
        assert_eq!(Span::ALL.scaled(u64::MAX), u64::MAX);
        assert_eq!(Span::of(10, 4, 0.0).scaled(3), 8);
        assert_eq!(Span::of(0, 0, 0.0).scaled(3), 0);
        assert_eq!(Span::of(u64::MAX, 0, 1.0).scaled(u64::MAX), u64::MAX);
    }

    #[test]
    fn what_counting_takes_is_made_up_for() {
        let cost = Cost { each: 100 };
        // 2,500 events of 0.1 µs in 1 ms, all on the second CPU.
        assert_eq!(cost.shares(&[7, 50], &[7, 2550], 1_000_000), (0.25, 0.25));
        assert_eq!(cost.shares(&[], &[1_000, 1_000], 1_000_000), (0.1, 0.1));
        assert_eq!(cost.shares(&[5], &[4], 0), (0.0, 0.0));
        // A loop that a quarter slower counted 750 in a tenth of the time does 1000 in each of the other nine.
        assert_eq!(Span::of(10_000, 1_000, 0.25).scaled(750), 750 + 9_000);
        assert_eq!(Span::of(10_000, 1_000, 0.25).scaled_wait(750), 7_500);
        assert_eq!(Span::of(10, 4, 9.0), Span { taken: 2, ..Span::of(10, 4, 0.0) });
        // A process that had half of a CPU: of its 500 in the stretch the hooks took 100.
        let (span, cost) = (Span::of(10_000, 1_000, 0.05), Cost { each: 50 });
        assert_eq!(span.share(cost, 2, 5_000).map(|share| span.with_share(share)), Some(Span { taken: 200, ..span }));
        assert_eq!(span.share(cost, 2, 0), None, "more than there was cannot have been taken");
        assert_eq!(Span::ALL.with_share(0.2).scaled(7), 7);
        assert_eq!(Span::of(10, 0, f64::NAN).taken, 0);
    }

    #[test]
    fn what_comes_after_the_last_stretch_is_like_it() {
        // 300 in 1,000, which hooks made 750: 0.4 each.
        let span = Span::of(10_000, 1_000, 0.25);
        assert_eq!([span.later(2_000).scaled(300), span.later(500).scaled(300)], [800, 200]);
        assert_eq!(span.later(0).scaled(300), 0);
        assert_eq!(Span::of(1_000, 1_000, 0.0).later(500).scaled(300), 150, "of what was counted all the time");
        assert_eq!(Span::of(1_600, 800, 0.0).later(100).with_share(0.05).scaled(760), 100, "of 800 the hooks took 40");
    }

    #[test]
    fn a_short_recording_has_stretches_too() {
        let rhythm = Rhythm::SHORT;
        let (mut since, mut stretches, mut open) = (0, 0, 0);
        while since < 3_000_000_000 {
            let (cycle, stretch) = rhythm.cycle(80, since);
            assert!(stretch == 20_000_000 && cycle <= rhythm.cycle);
            (since, stretches, open) = (since + cycle, stretches + 1, open + stretch);
        }
        assert!(stretches >= 5 && open < since / 20 + 1, "{stretches} in {since}: {open}");
        assert_eq!(rhythm.cycle(80, 60_000_000_000), (1_600_000_000, 20_000_000));
        assert_eq!(rhythm.cycle(2, 60_000_000_000), (1_600_000_000, 800_000_000));
        assert_eq!(rhythm.cycle(2, 0), (400_000_000, 200_000_000));
    }

    #[test]
    fn hooks_that_run_seldom_stay() {
        // 20 ms: 30 on a CPU are as many as may be.
        assert!(is_seldom(&[5, 100], &[35, 130], 20_000_000));
        assert!(!is_seldom(&[5, 100], &[6, 131], 20_000_000));
        assert!(is_seldom(&[], &[], 0));
        assert_eq!(sum(&[vec![1, 2], vec![10, 20], vec![100]]), [111, 22]);
    }

    proptest! {
        /// Events at any pace, seen in stretches anywhere: the sum of the scaled is that of all, within the events at the edges.
        #[test]
        fn an_even_pace_is_found_again(
            every in 1u64..1_000,
            spans in prop::collection::vec((0u64..1_000_000, 1_000u64..100_000), 1..50)
        ) {
            let (mut all, mut found) = (0.0, 0.0);
            for (at, length) in spans {
                let counted = (at + length) / every - at / every;
                let span = Span::of(length * 10, length, 0.0);
                found += span.scaled(counted) as f64;
                all += (length * 10) as f64 / every as f64;
                prop_assert!((span.scaled(counted) as f64 - (length * 10) as f64 / every as f64).abs() <= 10.5);
            }
            prop_assert!(found >= 0.0 && all >= 0.0);
        }
    }
}
