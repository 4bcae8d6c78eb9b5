//! Contended monitors of Java, by class. A JVM parks each thread that waits for a monitor on a futex of the thread's own: nothing that the kernel sees
//! says which monitor it was. So, while threads of a JVM wait for monitors, its memory is looked at (`hotspot/`) some dozens of times a second by a
//! thread of its own, and the time that the kernel measured goes to the monitors in proportion to how often they were seen. A JVM whose threads do not
//! wait is looked at a few times a second, to see when they begin to: a wait that is over cannot be asked what it was for.

use crate::cputime::own_time;
use crate::hotspot::{Machine, Pending, PendingKind};
use crate::looking::{Look, Looker, Looking, Next, Why};
use crate::memory::Process;
use crate::stacks::Stacks;
use model::Unavailable;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at JVMs whose threads wait for monitors, and at others; and between two at most.
const PAUSE: Duration = Duration::from_millis(20);
const IDLE: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(2);
/// JVMs that are looked at.
const MOST_JVMS: usize = 64;
/// A look that took so long is followed by a pause so many times as long: the share of a CPU that all looks take.
const PAUSES: u32 = 500;
/// So long after its last wait for a monitor a JVM is looked at often, and so long after it has ended it is remembered.
const AFTER: Duration = Duration::from_secs(5);
/// What cannot be understood is tried again after so long, and so often.
const AGAIN: Duration = Duration::from_millis(500);
const MOST_TRIES: u32 = 5;
/// Different sightings that are kept between two reads.
const MOST_SEEN: usize = 65_536;
/// Failures that are said.
const MOST_SAID: usize = 8;

/// A monitor that threads waited for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Monitor {
    /// Of the JVM's `ObjectMonitor`.
    pub address: u64,
    /// What it is of, in words; `None` where that could not be told.
    pub of: Option<Arc<str>>,
    /// The thread that owned it; 0 where that is not known.
    pub owner: u32,
    pub kind: PendingKind,
}

/// Who was seen waiting for what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sighting {
    pub tid: u32,
    /// What waits lies below this address of the thread's stack.
    pub sp: u64,
    pub monitor: Monitor,
}

/// What was seen of a process since the read before.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// How often.
    pub sightings: HashMap<Sighting, u64>,
    /// Most threads that waited for a monitor at once, by its address.
    pub at_once: HashMap<u64, u64>,
}

impl Seen {
    fn add(&mut self, found: Vec<Pending>, mut outside: impl FnMut(u32) -> u32) {
        let mut at_once: HashMap<u64, u64> = HashMap::new();
        for Pending { tid, sp, monitor, of, owner, kind } in found {
            if kind == PendingKind::Monitor {
                *at_once.entry(monitor).or_default() += 1;
            }
            let monitor = Monitor { address: monitor, of, owner: owner.map_or(0, &mut outside), kind };
            let sighting = Sighting { tid: outside(tid), sp, monitor };
            if self.sightings.len() < MOST_SEEN || self.sightings.contains_key(&sighting) {
                *self.sightings.entry(sighting).or_default() += 1;
            }
        }
        for (monitor, threads) in at_once {
            let most = self.at_once.entry(monitor).or_default();
            *most = threads.max(*most);
        }
    }
}

/// A JVM that is looked at, or has been.
#[derive(Debug)]
struct Watched {
    machine: Option<Machine>,
    /// Until when it is looked at often, and when it was last looked at; and until when for what threads are parked for.
    until: Instant,
    parked: Option<Instant>,
    looked: Option<Instant>,
    /// When it could last not be understood, and how often.
    failed: Option<Instant>,
    tries: u32,
    /// In a container: thread ids inside to those outside, and when they were read.
    numbers: Option<(HashMap<u32, u32>, Option<Instant>)>,
    seen: Seen,
}

#[derive(Debug, Default)]
struct State {
    watched: HashMap<u32, Watched>,
    /// When the JVMs were last listed.
    listed: Option<Instant>,
    missing: Vec<Unavailable>,
    said: usize,
}

/// The monitors of all JVMs in scope.
#[derive(Debug)]
pub(super) struct Monitors(Looking<State>);

impl Monitors {
    pub fn new(stacks: Stacks) -> Self {
        Monitors(Looking::new(stacks))
    }

    /// Whether a process is a JVM, or was one that was looked at: the read after its end still tells of its waits.
    pub fn is_jvm(&self, pid: u32) -> bool {
        self.0.stacks().is_jvm(pid) || self.0.found().watched.contains_key(&pid)
    }

    /// Begins to look, if that has not been done.
    pub fn begin(&mut self) {
        self.0.begin();
    }

    /// Says that threads of a JVM wait for monitors, and takes what was seen of them since this was last said.
    ///
    /// `parked`: some of them wait for locks of java.util.concurrent.
    pub fn take(&mut self, pid: u32, parked: bool) -> Seen {
        let now = Instant::now();
        let mut state = self.0.found();
        let watched = state.watched.entry(pid).or_insert_with(|| Watched::new(now));
        watched.until = now + AFTER;
        if parked {
            watched.parked = Some(now + AFTER);
        }
        if watched.looked.is_none() {
            // They may be waiting still.
            state.look(pid, self.0.stacks());
        }
        state.watched.get_mut(&pid).map(|watched| std::mem::take(&mut watched.seen)).unwrap_or_default()
    }

    /// What the threads of a process are waiting for at this moment, if it is a JVM that is understood: monitors, and what they are parked for.
    pub fn now(&mut self, pid: u32) -> Vec<(u32, Monitor)> {
        let now = Instant::now();
        if !self.is_jvm(pid) {
            return Vec::new();
        }
        let mut state = self.0.found();
        let watched = state.watched.entry(pid).or_insert_with(|| Watched::new(now));
        let before = std::mem::take(&mut watched.seen);
        watched.parked = Some(now + AFTER);
        state.look(pid, self.0.stacks());
        let Some(watched) = state.watched.get_mut(&pid) else { return Vec::new() };
        let found = std::mem::replace(&mut watched.seen, before);
        found.sightings.into_keys().map(|sighting| (sighting.tid, sighting.monitor)).collect()
    }

    /// What could not be read, once for each process.
    pub fn missing(&mut self) -> Vec<Unavailable> {
        std::mem::take(&mut self.0.found().missing)
    }
}

impl Look for State {
    const NAME: &'static str = "monitors";

    fn round(looker: &Looker<Self>, stacks: &Stacks, _came: bool) -> Next {
        let (often, cost) = looker.found().round(Instant::now(), stacks);
        (cost * PAUSES).clamp(if often { PAUSE } else { IDLE }, LONGEST).into()
    }
}

impl State {
    /// Looks at all whose turn it is. Whether some are to be looked at often, and what it cost.
    fn round(&mut self, now: Instant, stacks: &Stacks) -> (bool, Duration) {
        let due = |watched: &Watched| watched.until > now || watched.looked.is_none_or(|at| now >= at + IDLE);
        if self.listed.is_none_or(|at| now >= at + IDLE) {
            self.listed = Some(now);
            let jvms = stacks.jvms(MOST_JVMS);
            self.watched.retain(|pid, watched| watched.until + AFTER > now || jvms.contains(pid));
            for pid in jvms {
                self.watched.entry(pid).or_insert_with(|| Watched::new(now));
            }
        }
        let pids: Vec<u32> = self.watched.iter().filter(|(_, watched)| due(watched)).map(|(pid, _)| *pid).collect();
        let cost = pids.into_iter().map(|pid| self.look(pid, stacks)).sum();
        (self.watched.values().any(|watched| watched.until > now), cost)
    }

    /// Looks at a JVM. What that cost, but for finding the way in it, which is done once.
    fn look(&mut self, pid: u32, stacks: &Stacks) -> Duration {
        let Some(watched) = self.watched.get_mut(&pid) else { return Duration::ZERO };
        let unknown = match watched.look(pid, stacks) {
            Ok(cost) => return cost,
            Err(unknown) => unknown,
        };
        watched.machine = None;
        watched.failed = Some(Instant::now());
        watched.tries += 1;
        // Of one that has ended, or begins, more may be known later.
        if unknown != Why::Gone {
            watched.tries = MOST_TRIES;
        }
        if let Some(why) = unknown.said(pid, "the classes of its monitors") {
            self.said += 1;
            if self.said <= MOST_SAID {
                self.missing.push(why);
            }
        }
        Duration::ZERO
    }
}

impl Watched {
    fn new(until: Instant) -> Self {
        Watched {
            machine: None,
            until,
            parked: None,
            looked: None,
            failed: None,
            tries: 0,
            numbers: None,
            seen: Seen::default(),
        }
    }

    fn look(&mut self, pid: u32, stacks: &Stacks) -> Result<Duration, Why> {
        let memory = Process(pid);
        self.looked = Some(Instant::now());
        if self.machine.is_none() {
            if self.tries >= MOST_TRIES || self.failed.is_some_and(|failed| failed.elapsed() < AGAIN) {
                return Ok(Duration::ZERO);
            }
            let machine = stacks.hotspot(pid).and_then(|way| Machine::new(&memory, &way));
            let machine = match machine {
                Ok(machine) => machine,
                Err(unknown) => return unknown.why().map_or(Ok(Duration::ZERO), Err),
            };
            self.machine = Some(machine);
            self.numbers = stacks.is_in_namespace(pid).then(|| (HashMap::new(), None));
        }
        let Some(machine) = &mut self.machine else { return Ok(Duration::ZERO) };
        let begin = own_time();
        let found = machine.look(&memory, self.parked.is_some_and(|until| until > Instant::now()))?;
        let cost = own_time().saturating_sub(begin);
        if found.iter().any(|pending| pending.kind == PendingKind::Monitor) {
            self.until = Instant::now() + AFTER;
        }
        let numbers = &mut self.numbers;
        self.seen.add(found, |tid| match numbers {
            None => tid,
            Some((known, read)) => {
                if !known.contains_key(&tid) && read.is_none_or(|read| read.elapsed() >= AGAIN) {
                    (*known, *read) = (stacks.inner_numbers(pid), Some(Instant::now()));
                }
                known.get(&tid).copied().unwrap_or(0)
            }
        });
        Ok(cost)
    }
}
