//! Follows turns of servers through threads: where the time of each went (`path.rs`), from moments that `follow.h` tells.
//!
//! All that threads of the scope do is told for stretches of the time, as few as the budget needs (`thin/`); of the turns that lie in a stretch whole some are
//! followed, of slow ones a greater part than of fast ones: a few of each class of latency, and each stands for those of its class.

mod moment;
mod path;
#[cfg(test)]
mod tests;

use crate::Thinning;
use crate::thin::{Cost, Found, Rhythm, Set, Thin, Thinned};
use crate::threads::{SharedLedgers, Waits};
use host::Host;
use host::bpf::{Programs, Ring};
use model::{Unavailable, real};
use moment::Moment;
use path::Timeline;
pub use path::{Path, Turn};
use std::collections::{BTreeMap, HashMap};

/// `COUNT_MOMENTS` and `LOST_MOMENTS` of turns.bpf.c.
const COUNT_MOMENTS: u32 = 4;
const LOST_MOMENTS: u32 = 5;
const PROGRAMS: [&str; 3] = ["follow_switch", "follow_waking", ARRIVALS];
const ARRIVALS: &str = "follow_data";
/// What a moment costs: where it happens, and here.
const COST: Cost = Cost { each: 250 };
/// Moments that a turn has at least, with the switches of who asked.
const MOMENTS_OF_TURN: f64 = 4.0;
/// The share of a CPU that following may take.
const BUDGET: f64 = 0.003;
/// Moments that are kept of turns that are not over.
const MOST_KEPT: usize = 150_000;
/// How long they are kept, nanoseconds: a turn that takes longer is followed as far as that goes.
const LONGEST: u64 = 10_000_000_000;
/// Turns of a class that are followed at one read, and how many classes a doubling of the time has.
const OF_CLASS: usize = 4;
const CLASSES: f64 = 2.0;

/// A turn that was followed.
pub(super) struct Followed {
    pub turn: Turn,
    pub path: Path,
    /// How many turns it stands for.
    pub weight: f64,
}

/// Follows turns.
pub(super) struct Follower {
    ring: Ring,
    thin: Thin,
    timeline: Timeline,
    /// Turns that ended since the last read.
    ended: Vec<Turn>,
    ledgers: SharedLedgers,
    lost: u64,
    names: HashMap<u32, Vec<u8>>,
}

impl Follower {
    /// Programs of the object that are not needed: where threads are not followed; where calls tell of sockets, for they do not tell what comes.
    pub fn without(by_calls: bool, follows: bool) -> Vec<&'static str> {
        PROGRAMS.into_iter().filter(|name| !follows || (by_calls && *name == ARRIVALS)).collect()
    }

    /// Attaches its programs. `rate`: turns a second. Called when somebody serves: else nothing is to be followed.
    pub fn open(
        programs: &Programs,
        ledgers: &SharedLedgers,
        by_calls: bool,
        exact: (bool, &Thinning),
        rate: f64,
    ) -> Result<Self, Unavailable> {
        let without = Self::without(by_calls, true);
        let hooks: Vec<&str> = PROGRAMS.into_iter().filter(|name| !without.contains(name)).collect();
        let sets = [Set { counter: COUNT_MOMENTS, programs: &hooks }];
        let (cost, rhythm, budget) = (COST, Rhythm::BETWEEN, BUDGET);
        let expected = rate * MOMENTS_OF_TURN * COST.each as f64 / 1e9;
        let what = "what threads do for requests";
        let plan = Thinned { what, gate: "follow_gate", sets: &sets, cost, rhythm, budget, expected };
        Ok(Follower {
            ring: programs.ring("moments")?,
            thin: Thin::attach(programs, &plan, exact, Box::new(|| Ok(())))?,
            timeline: Timeline::default(),
            ended: Vec::new(),
            ledgers: ledgers.clone(),
            lost: 0,
            names: HashMap::new(),
        })
    }

    /// The turns that were followed since the last read. `lost`: moments that found no room so far.
    pub fn read(&mut self, lost: u64) -> Result<Vec<Followed>, Unavailable> {
        let found = self.thin.pause()?;
        let mut moments = Vec::new();
        self.ring.drain(|record| moments.extend(Moment::read(record)));
        self.thin.resume();
        // CPUs put theirs down one after the other, and ask the clock before.
        moments.sort_by_key(|moment| moment.at);
        let mut openings = self.thin.openings().into_iter().peekable();
        for moment in &moments {
            while let Some(opening) = openings.next_if(|opening| *opening <= moment.at) {
                self.timeline.begins(opening);
            }
            self.ended.extend(self.timeline.take(moment));
        }
        openings.for_each(|opening| self.timeline.begins(opening));
        let Found::Counted(span) = found else { return Ok(Vec::new()) };
        let turns = std::mem::take(&mut self.ended);
        let now = moments.last().map_or(0, |last| last.at);
        let is_whole = lost == self.lost;
        self.lost = lost;
        let mut all = Vec::new();
        if is_whole {
            for (turn, of) in chosen(&turns) {
                let is_lock = |place| self.ledgers.waits(place).map(|waits| waits == Waits::Lock);
                let path = self.timeline.follow(&turn, &is_lock);
                all.push(Followed { turn, path, weight: of * span.factor() });
            }
        }
        let oldest = if self.timeline.len() > MOST_KEPT || !is_whole { now } else { now.saturating_sub(LONGEST) };
        self.timeline.forget(oldest);
        self.names.clear();
        Ok(all)
    }

    /// The name of a thread that is there, as the kernel has it.
    pub fn name(&mut self, host: &Host, pid: u32, tid: u32) -> &[u8] {
        self.names.entry(tid).or_insert_with(|| {
            // Of a thread of another process too: /proc has threads by their own number, though it does not list them.
            let read = |path: String| host.read(&path).ok();
            let name = read(format!("/proc/{pid}/task/{tid}/comm")).or_else(|| read(format!("/proc/{tid}/comm")));
            name.unwrap_or_default().trim_ascii_end().to_vec()
        })
    }

    /// Says that the next read is the last.
    pub fn ends(&mut self) {
        self.thin.ends();
    }

    /// In one of how many parts of the time it follows.
    pub fn one_in(&self) -> u32 {
        self.thin.one_in()
    }

    /// Moments that found no room are counted there.
    pub const LOST: u32 = LOST_MOMENTS;
    /// And all moments there.
    pub const COUNT: u32 = COUNT_MOMENTS;
}

/// The turns that are followed, each with how many it stands for: of each class of latency of each service the longest, and one in the middle. What a client
/// feels of a question that lay there before it was read is latency too: a server that stands still reads late, and then answers quickly.
fn chosen(turns: &[Turn]) -> Vec<(Turn, f64)> {
    let mut classes: BTreeMap<(u32, i64), Vec<Turn>> = BTreeMap::new();
    for turn in turns {
        let class = (latency(turn).max(1) as f64).log2() * CLASSES;
        classes.entry((turn.service, class as i64)).or_default().push(*turn);
    }
    let mut all = Vec::new();
    for mut class in classes.into_values() {
        class.sort_by_key(|turn| std::cmp::Reverse(latency(turn)));
        let count = class.len();
        let taken = count.min(OF_CLASS);
        for at in 0..taken {
            if let Some(turn) = class.get(at * count / taken) {
                all.push((*turn, count as f64 / taken as f64));
            }
        }
    }
    all
}

/// From when the question came to when the first of its answer was sent, nanoseconds.
fn latency(turn: &Turn) -> u64 {
    (turn.to - turn.from).saturating_add(turn.queued)
}

/// The columns of `turn_followed` from `running` on.
pub(super) fn cells(path: &Path) -> [u64; 16] {
    let Path { running, runnable, throttled, lock, disk, network, pipe, fault, sleep, other, unknown, others, .. } =
        path;
    [
        *running,
        *runnable,
        *throttled,
        *lock,
        *disk,
        *network,
        *pipe,
        *fault,
        *sleep,
        *other,
        *unknown,
        *others,
        u64::from(path.handed),
        path.queued.running,
        path.queued.runnable,
        path.queued.blocked,
    ]
}

/// A row's weight as a cell.
pub(super) fn weight(followed: &Followed) -> i64 {
    real(followed.weight)
}
