//! Contended monitors of Java, by class. A JVM parks each thread that waits for a monitor on a futex of the thread's own: nothing that the kernel sees
//! says which monitor it was. So, while threads of a JVM wait for monitors, its memory is looked at (`hotspot/`) some dozens of times a second by a
//! thread of its own, and the time that the kernel measured goes to the monitors in proportion to how often they were seen.
//!
//! Nothing is read of JVMs whose threads do not wait for monitors.

use super::hotspot::{EXPORTED, Machine, Pending, Process, Trouble, Unknown};
use crate::stacks::Stacks;
use model::Unavailable;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks, at least and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(2)];
/// A look that took so long is followed by a pause so many times as long: the share of a CPU that all looks take.
const PAUSES: u32 = 500;
/// So long after its last wait for a monitor a JVM is looked at.
const AFTER: Duration = Duration::from_secs(5);
/// What cannot be understood is tried again after so long, and so often.
const AGAIN: Duration = Duration::from_secs(2);
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
        for Pending { tid, sp, monitor, of, owner } in found {
            *at_once.entry(monitor).or_default() += 1;
            let monitor = Monitor { address: monitor, of, owner: owner.map_or(0, &mut outside) };
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
    /// Until when it is looked at.
    until: Instant,
    /// When it could last not be understood, and how often.
    failed: Option<Instant>,
    tries: u32,
    /// In a container: thread ids inside to those outside, and when they were read.
    numbers: Option<(HashMap<u32, u32>, Instant)>,
    seen: Seen,
}

#[derive(Debug, Default)]
struct State {
    watched: HashMap<u32, Watched>,
    missing: Vec<Unavailable>,
    said: usize,
    running: bool,
    closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// The monitors of all JVMs in scope.
#[derive(Debug)]
pub(super) struct Monitors {
    shared: Arc<Shared>,
    stacks: Stacks,
}

impl Monitors {
    pub fn new(stacks: Stacks) -> Self {
        Monitors { shared: Arc::default(), stacks }
    }

    /// Whether a process is a JVM.
    pub fn is_jvm(&self, pid: u32) -> bool {
        self.stacks.is_jvm(pid)
    }

    /// Says that threads of a JVM wait for monitors, and takes what was seen of them since this was last said.
    pub fn take(&mut self, pid: u32) -> Seen {
        let now = Instant::now();
        let mut state = self.shared.state();
        let is_new = !state.watched.contains_key(&pid);
        let watched = state.watched.entry(pid).or_insert_with(|| Watched::new(now));
        watched.until = now + AFTER;
        if is_new {
            // They may be waiting still.
            state.look(pid, &self.stacks);
        }
        let seen = state.watched.get_mut(&pid).map(|watched| std::mem::take(&mut watched.seen)).unwrap_or_default();
        if !std::mem::replace(&mut state.running, true) {
            let (shared, stacks) = (Arc::clone(&self.shared), self.stacks.clone());
            let thread = std::thread::Builder::new().name("monitors".into());
            state.running = thread.spawn(move || shared.run(&stacks)).is_ok();
        }
        drop(state);
        self.shared.changed.notify_all();
        seen
    }

    /// What could not be read, once for each process.
    pub fn missing(&mut self) -> Vec<Unavailable> {
        std::mem::take(&mut self.shared.state().missing)
    }
}

impl Drop for Monitors {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks until it is closed. Sleeps while there is nobody to look at.
    fn run(&self, stacks: &Stacks) {
        let mut state = self.state();
        while !state.closed {
            let now = Instant::now();
            state.watched.retain(|_, watched| watched.until + AFTER * 12 > now);
            let pids: Vec<u32> = state.watched.iter().filter(|(_, w)| w.until > now).map(|(pid, _)| *pid).collect();
            if pids.is_empty() {
                let wait = self.changed.wait_timeout(state, AFTER);
                state = wait.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let begin = cpu_time();
            for pid in pids {
                state.look(pid, stacks);
            }
            let pause = (cpu_time().saturating_sub(begin) * PAUSES).clamp(PAUSE[0], PAUSE[1]);
            drop(state);
            // Being asked for what was seen is no reason to look sooner.
            let until = Instant::now() + pause;
            state = self.state();
            while !state.closed && Instant::now() < until {
                let rest = until.saturating_duration_since(Instant::now());
                let wait = self.changed.wait_timeout(state, rest);
                state = wait.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

/// CPU time of this thread: a look that had to wait for a CPU was not dear.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

impl State {
    fn look(&mut self, pid: u32, stacks: &Stacks) {
        let Some(watched) = self.watched.get_mut(&pid) else { return };
        let Err(unknown) = watched.look(pid, stacks) else { return };
        watched.machine = None;
        watched.failed = Some(Instant::now());
        watched.tries += 1;
        if watched.tries != MOST_TRIES && unknown != Why::Denied || watched.tries > MOST_TRIES {
            return;
        }
        let why = match unknown {
            Why::Denied => {
                watched.tries = MOST_TRIES + 1;
                let why = format!("process {pid}: the classes of its monitors: its memory may not be read");
                Unavailable::denied(why).remedy("root, or CAP_SYS_PTRACE and kernel.yama.ptrace_scope below 3")
            }
            Why::Words(words) => Unavailable::absent(format!("process {pid}: the classes of its monitors: {words}")),
            Why::Gone => return,
        };
        self.said += 1;
        if self.said <= MOST_SAID {
            self.missing.push(why);
        }
    }
}

/// Why a look was in vain.
#[derive(Debug, PartialEq, Eq)]
enum Why {
    Gone,
    Denied,
    Words(String),
}

impl From<Trouble> for Why {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Gone => Why::Gone,
            Trouble::Denied => Why::Denied,
        }
    }
}

impl Watched {
    fn new(until: Instant) -> Self {
        Watched { machine: None, until, failed: None, tries: 0, numbers: None, seen: Seen::default() }
    }

    fn look(&mut self, pid: u32, stacks: &Stacks) -> Result<(), Why> {
        let memory = Process(pid);
        if self.machine.is_none() {
            if self.tries >= MOST_TRIES || self.failed.is_some_and(|failed| failed.elapsed() < AGAIN) {
                return Ok(());
            }
            let found = stacks.exported(pid, "libjvm.so", &EXPORTED).map_err(Why::Words)?;
            let mut exported = [0; EXPORTED.len()];
            for ((place, found), name) in exported.iter_mut().zip(found).zip(EXPORTED) {
                *place = found.ok_or_else(|| Why::Words(format!("its library does not export {name}")))?;
            }
            let machine = Machine::new(&memory, &exported).map_err(|unknown| match unknown {
                Unknown::Trouble(trouble) => trouble.into(),
                Unknown::Missing(what) => Why::Words(format!("its JVM does not tell {what}")),
            })?;
            self.machine = Some(machine);
            self.numbers = stacks.is_in_namespace(pid).then(|| (HashMap::new(), Instant::now() - AGAIN));
        }
        let Some(machine) = &mut self.machine else { return Ok(()) };
        let found = machine.look(&memory)?;
        let numbers = &mut self.numbers;
        self.seen.add(found, |tid| match numbers {
            None => tid,
            Some((known, read)) => {
                if !known.contains_key(&tid) && read.elapsed() >= AGAIN / 2 {
                    (*known, *read) = (stacks.inner_numbers(pid), Instant::now());
                }
                known.get(&tid).copied().unwrap_or(0)
            }
        });
        Ok(())
    }
}
