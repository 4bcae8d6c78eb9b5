//! The gate of a collector: when it is open, which part of the time was counted between two reads, and when a change of that takes effect.
//!
//! A read whose counts are to be scaled happens while the gate is shut, so that its counts and its times end at the same event. So does the
//! read with which a collector begins to count in a part of the time: a gate that was still open when the next interval began would leave a
//! moment in it whose events were told by the read before, and the whole interval would be taken for as quiet as that moment.

use super::judge::{Cost, Rhythm};
use super::span::Span;
use super::work::sum;
use super::{Closing, Found};
use crate::tally::Counts;
use host::Host;
use host::bpf::Map;
use model::Unavailable;
use std::collections::VecDeque;

/// A change waits so long for the next read.
const PATIENCE: u64 = 1_200_000_000;

/// Openings of a gate that are kept for who asks for them.
const OPENINGS: usize = 32;

/// What a gate stands before: the programs in the kernel, and the clock. Tests have simulated ones.
pub(super) trait Before: Send {
    /// CLOCK_MONOTONIC, nanoseconds.
    fn now(&self) -> u64;

    /// Has events count from `since` to `until`, 0 for ever, of which programs that were attached at `attached` may know.
    fn set(&self, since: u64, until: u64, attached: u64) -> Result<(), Unavailable>;

    /// What is to be done when the gate is shut, before it may open again.
    fn closed(&mut self) -> Result<(), Unavailable>;

    /// Events of each set so far, for each CPU.
    fn events(&self) -> Result<Vec<Vec<u64>>, Unavailable>;
}

/// The programs of a collector.
pub(super) struct InKernel {
    pub host: Host,
    pub map: Map,
    pub closing: Closing,
    pub counts: Counts,
    /// Of each set.
    pub counters: Vec<u32>,
}

impl Before for InKernel {
    fn now(&self) -> u64 {
        self.host.now()
    }

    fn set(&self, since: u64, until: u64, attached: u64) -> Result<(), Unavailable> {
        self.map.set(&0u32.to_ne_bytes(), &[since, until, attached].map(u64::to_ne_bytes).concat())
    }

    fn closed(&mut self) -> Result<(), Unavailable> {
        (self.closing)()
    }

    fn events(&self) -> Result<Vec<Vec<u64>>, Unavailable> {
        self.counters.iter().map(|&counter| self.counts.each(counter)).collect()
    }
}

/// What the thread and the reader share.
pub(super) struct Gate {
    before: Box<dyn Before>,
    /// In force, and what it is to become with the next read, since when.
    pub one_in: u32,
    proposed: Option<(u32, u64)>,
    /// Since when it is thinned out.
    thinned: u64,
    /// Whether this is a stretch in which events count, and whether the source is being read.
    pub stretch: bool,
    reading: bool,
    /// Since when the programs are attached.
    pub attached: u64,
    /// Since when the gate is open; 0: it is shut.
    opened: u64,
    /// When it was opened, the last times since somebody took them.
    pub openings: VecDeque<u64>,
    /// How long it was open, up to when it was shut last.
    open: u64,
    /// Whether it was shut since the last read.
    shut: bool,
    /// The last read that had something to read: when, `open` then, and the events of each CPU; in which part of the time that was counted.
    read: (u64, u64, Vec<u64>),
    span: Span,
    /// Whether the next read is the last.
    pub last: bool,
    pub cost: Cost,
    rhythm: Rhythm,
    pub end: bool,
    pub failed: Option<Unavailable>,
}

impl Gate {
    /// A gate that is still shut, of a collector whose programs are about to be attached.
    pub fn new(before: Box<dyn Before>, cost: Cost, rhythm: Rhythm, one_in: u32) -> Self {
        let now = before.now();
        Gate {
            before,
            one_in,
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
            cost,
            rhythm,
            end: false,
            failed: None,
        }
    }

    pub fn now(&self) -> u64 {
        self.before.now()
    }

    /// Whether what is read now is to be scaled, or what will be read next.
    fn scales(&self) -> bool {
        self.one_in > 1 || self.shut || self.proposed.is_some_and(|(one_in, _)| one_in > 1)
    }

    /// Opens or shuts the gate, as it should be.
    pub fn settle(&mut self) {
        let result = match (self.stretch && !(self.reading && self.scales()), self.opened) {
            (true, 0) => self.open(),
            (false, 1..) => self.close(),
            _ => Ok(()),
        };
        self.failed = self.failed.take().or(result.err());
    }

    pub fn open(&mut self) -> Result<(), Unavailable> {
        let now = self.now().max(1);
        // In this order, so that no program sees an open gate with the beginning of another stretch.
        self.before.set(now, now, self.attached)?;
        self.before.set(now, 0, self.attached)?;
        self.opened = now;
        self.openings.push_back(now);
        if self.openings.len() > OPENINGS {
            self.openings.pop_front();
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Unavailable> {
        let now = self.now();
        self.before.set(self.opened, now, self.attached)?;
        self.open += now.saturating_sub(self.opened);
        (self.opened, self.shut) = (0, true);
        self.before.closed()
    }

    /// How long the gate was open by now.
    pub fn counted(&self, now: u64) -> u64 {
        self.open + if self.opened == 0 { 0 } else { now.saturating_sub(self.opened) }
    }

    /// Events of each set so far, for each CPU.
    pub fn events_of_sets(&self) -> Result<Vec<Vec<u64>>, Unavailable> {
        self.before.events()
    }

    pub fn propose(&mut self, one_in: u32) {
        let now = self.now();
        self.proposed = match self.proposed {
            _ if one_in == self.one_in => None,
            Some((_, since)) => Some((one_in, since)),
            None => Some((one_in, now)),
        };
        if self.proposed.is_some_and(|(_, since)| now.saturating_sub(since) >= PATIENCE) && !self.reading {
            self.apply();
            self.settle();
        }
    }

    fn apply(&mut self) {
        if let Some((one_in, _)) = self.proposed.take() {
            if self.one_in == 1 {
                self.thinned = self.now();
                // What is counted from here on is counted in a stretch of a cycle, and none has begun.
                self.stretch = false;
            }
            self.one_in = one_in;
        }
    }

    /// The present cycle, and the stretch in it.
    pub fn cycle(&self) -> (u64, u64) {
        self.rhythm.cycle(self.one_in, self.now().saturating_sub(self.thinned))
    }

    /// Begins a read: what there is.
    pub fn begin_read(&mut self) -> Result<Found, Unavailable> {
        if let Some(why) = self.failed.clone() {
            return Err(why);
        }
        let was_shut = self.shut || self.one_in > 1;
        self.reading = true;
        self.settle();
        let now = self.now();
        let (elapsed, counted) = (now.saturating_sub(self.read.0), self.counted(now).saturating_sub(self.read.1));
        if self.shut && counted == 0 {
            return Ok(if self.last { Found::Again(self.span.later(elapsed)) } else { Found::Nothing });
        }
        let events = sum(&self.events_of_sets()?);
        let (share, _) = self.cost.shares(&self.read.2, &events, counted);
        self.read = (now, self.counted(now), events);
        // What was counted all the time stands for the time after it as well.
        self.span = Span::of(elapsed, counted, if was_shut { share } else { 0.0 });
        if !was_shut {
            // Shut for this read alone, all that was until now was counted.
            return Ok(Found::Counted(Span::ALL));
        }
        self.shut = self.opened == 0;
        Ok(Found::Counted(self.span))
    }

    /// Ends it.
    pub fn end_read(&mut self) {
        self.reading = false;
        self.apply();
        self.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::{Arc, Mutex};

    const MS: u64 = 1_000_000;

    /// A program that calls at an even pace, and counts while the gate is open.
    #[derive(Default)]
    struct World {
        now: u64,
        is_open: bool,
        /// Nanoseconds between calls.
        every: u64,
        /// What the program called, and what was counted of it.
        called: u64,
        counted: u64,
    }

    #[derive(Clone, Default)]
    struct Simulated(Arc<Mutex<World>>);

    impl Simulated {
        fn pass(&self, time: u64) {
            let mut world = self.0.lock().unwrap();
            let calls = (world.now + time) / world.every - world.now / world.every;
            world.now += time;
            world.called += calls;
            world.counted += if world.is_open { calls } else { 0 };
        }

        fn counted(&self) -> u64 {
            self.0.lock().unwrap().counted
        }
    }

    impl Before for Simulated {
        fn now(&self) -> u64 {
            self.0.lock().unwrap().now
        }

        fn set(&self, _: u64, until: u64, _: u64) -> Result<(), Unavailable> {
            self.0.lock().unwrap().is_open = until == 0;
            Ok(())
        }

        fn closed(&mut self) -> Result<(), Unavailable> {
            Ok(())
        }

        fn events(&self) -> Result<Vec<Vec<u64>>, Unavailable> {
            Ok(vec![vec![self.counted()]])
        }
    }

    /// What a source does at a read: it takes some milliseconds until it has the counts. Returns what it would say was called.
    fn read(gate: &mut Gate, world: &Simulated, before: &mut (u64, u64)) -> u64 {
        let found = gate.begin_read().unwrap();
        world.pass(4 * MS);
        let said = match found {
            Found::Nothing => 0,
            Found::Again(span) => span.scaled(before.1),
            Found::Counted(span) => {
                let new = world.counted() - before.0;
                *before = (world.counted(), new);
                span.scaled(new)
            }
        };
        gate.end_read();
        said
    }

    /// Runs for `length` ms; from `thinned` ms on it counts in one of `one_in` parts of the time, up to `again`. Returns what was said at
    /// each read and what was called.
    fn run(every: u64, reads: u64, (thinned, again, length): (u64, u64, u64), one_in: u32) -> (Vec<u64>, u64) {
        let world = Simulated::default();
        *world.0.lock().unwrap() = World { every, ..World::default() };
        let mut gate = Gate::new(Box::new(world.clone()), Cost { each: 0 }, Rhythm::SHORT, 1);
        gate.open().unwrap();
        let (mut said, mut before) = (Vec::new(), (0, 0));
        let (mut random, mut cycle, mut place) = (every | 1, (0, 0), 0);
        for ms in 1..=length {
            world.pass(MS);
            if ms == thinned {
                gate.propose(one_in);
            }
            if ms == again {
                gate.propose(1);
            }
            // What the thread does, in each millisecond once.
            let now = gate.now();
            let in_cycle = now.saturating_sub(cycle.0);
            if gate.one_in == 1 {
                gate.stretch = true;
                cycle = (now, 0);
            } else if in_cycle >= cycle.1 {
                let (length, stretch) = gate.cycle();
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                place = random % (length - stretch + 1);
                cycle = (now, length);
                gate.stretch = false;
            } else {
                let stretch = gate.cycle().1;
                gate.stretch = (place..place + stretch).contains(&in_cycle);
            }
            gate.settle();
            if ms % reads == 0 && ms < length {
                said.push(read(&mut gate, &world, &mut before));
            }
        }
        gate.last = true;
        said.push(read(&mut gate, &world, &mut before));
        let called = world.0.lock().unwrap().called;
        (said, called)
    }

    #[test]
    fn the_interval_after_a_collector_was_thinned_is_not_empty() {
        // 700,000 calls a second, counted one by one for half a second, and in a twentieth of the time from then on.
        let (said, called) = run(1_400, 200, (500, u64::MAX, 2_000), 20);
        let found: u64 = said.iter().sum();
        assert!(found.abs_diff(called) * 20 < called, "{found} of {called}: {said:?}");
        // Reads with nothing to read are made up for by later ones; what is said of an interval is never next to nothing.
        let even = called / said.len() as u64;
        assert!(said.iter().all(|&one| one == 0 || one > even / 2), "{said:?}");
        let silent = said.split(|&one| one > 0).map(<[u64]>::len).max();
        assert!(silent <= Some(4), "no cycle, of 400 ms at first, is without a stretch: {said:?}");
    }

    proptest! {
        /// Whenever a collector is thinned and no longer is, and however far reads are apart, what it says adds up to what was called.
        #[test]
        fn what_is_said_adds_up(
            every in 700u64..50_000,
            reads in prop::sample::select(vec![100u64, 200, 500, 1_000]),
            thinned in 300u64..2_000,
            time in 1_500u64..6_000,
            one_in in 2u32..80,
        ) {
            let (said, called) = run(every, reads, (thinned, thinned + time, thinned + time + 1_500), one_in);
            let found: u64 = said.iter().sum();
            prop_assert!(found.abs_diff(called) * 20 < called, "{} of {}: {:?}", found, called, said);
        }
    }
}
