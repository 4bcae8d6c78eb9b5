//! Where the time of one turn went: from its answer back to its question, along who did what and who woke whom.
//!
//! The thread that sent the answer is followed back. While it ran, waited for a CPU, a lock, a disk, that is where the time of the turn was. Where it waited for
//! work, whoever woke it had the turn before: it goes on there. Where it read what another server had answered, the turn was there since that
//! had been asked. What a thread did for other connections meanwhile was no work on this turn, and what nobody can tell is said to be unknown.

use super::moment::{Connection, Moment, State, Through, What};
use std::collections::{HashMap, VecDeque};

/// Steps back that are taken at most.
const MOST_STEPS: usize = 2_000;

/// Of threads that wait for one another, so many are looked at.
const CHAIN: usize = 6;

/// What a futex is waited for at a place: whether a lock; `None` where that is not known.
pub(super) type IsLock<'a> = &'a dyn Fn(u64) -> Option<bool>;

/// A stretch of a thread in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    from: u64,
    to: u64,
    state: State,
    place: u64,
    /// Who ended it; 0: nobody who is followed.
    waker: u32,
}

/// A thread as far as it was seen.
#[derive(Debug, Default)]
struct Thread {
    stretches: VecDeque<Stretch>,
    through: VecDeque<(u64, Connection)>,
    /// What it is in, since when; and when it was woken from it, by whom.
    open: Option<(State, u64, u64)>,
    woken: Option<(u64, u32)>,
}

impl Thread {
    fn push(&mut self, from: u64, to: u64, state: State, place: u64, waker: u32) {
        if to > from {
            self.stretches.push_back(Stretch { from, to, state, place, waker });
        }
    }

    fn comes(&mut self, at: u64) {
        if let Some((state, since, place)) = self.open.take() {
            match self.woken.take() {
                Some((woken, waker)) if state.is_blocked() => {
                    self.push(since, woken, state, place, waker);
                    self.push(woken.max(since), at, State::Runnable, 0, 0);
                }
                // It was awake again before it had left.
                _ if state.is_blocked() => self.push(since, at, state, place, 0),
                _ => self.push(since, at, state, 0, 0),
            }
        }
        self.woken = None;
        self.open = Some((State::Running, at, 0));
    }

    fn leaves(&mut self, at: u64, state: State, place: u64) {
        if let Some((State::Running, since, _)) = self.open {
            self.push(since, at, State::Running, 0, 0);
        }
        self.open = Some((state, at, place));
        self.woken = None;
    }

    /// The stretch that `at` is in, or ends; that which it is in now, up to `at`, included.
    fn stretch(&self, at: u64) -> Option<Stretch> {
        if let Some((state, since, place)) = self.open.filter(|(_, since, _)| *since < at) {
            return match self.woken {
                Some((woken, _)) if woken < at => {
                    Some(Stretch { from: woken, to: at, state: State::Runnable, place: 0, waker: 0 })
                }
                _ => Some(Stretch { from: since, to: at, state, place, waker: 0 }),
            };
        }
        let after = self.stretches.partition_point(|s| s.from < at);
        let found = self.stretches.get(after.checked_sub(1)?)?;
        (found.to >= at).then_some(*found)
    }

    /// The last that went through a connection before `at`, where that was not before `from`.
    fn before(&self, at: u64, from: u64) -> Option<(u64, Connection)> {
        let after = self.through.partition_point(|(when, _)| *when < at);
        self.through.get(after.checked_sub(1)?).filter(|(when, _)| *when >= from).copied()
    }
}

/// A turn to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub service: u32,
    pub socket: u64,
    /// Who sent the answer.
    pub thread: u32,
    /// When the question was read, and the first of the answer sent.
    pub from: u64,
    pub to: u64,
    /// How long the question had lain there before.
    pub queued: u64,
}

/// What the thread that read a question did while that lay in the socket, nanoseconds; the rest was not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    pub running: u64,
    pub runnable: u64,
    pub blocked: u64,
}

/// Where the time of a turn went, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    pub running: u64,
    pub runnable: u64,
    pub throttled: u64,
    pub lock: u64,
    pub disk: u64,
    pub network: u64,
    pub pipe: u64,
    pub fault: u64,
    pub sleep: u64,
    pub other: u64,
    /// Nobody can tell.
    pub unknown: u64,
    /// Its thread did something for other connections.
    pub others: u64,
    /// Before the question was read, what the thread that read it did.
    pub queued: Queued,
    /// Through so many threads it went, beyond the one that answered.
    pub handed: u32,
    /// The thread with most of it, other than the one that answered, and how much; the time before the question was read is in that.
    pub helper: (u32, u64),
    /// The service of the client's connection that it waited for most, how long, and how many answers on it.
    pub backend: (u32, u64, u32),
}

impl Path {
    fn of_state(&mut self, state: State) -> &mut u64 {
        match state {
            State::Running => &mut self.running,
            State::Runnable => &mut self.runnable,
            State::Throttled => &mut self.throttled,
            State::Lock => &mut self.lock,
            State::Disk => &mut self.disk,
            State::Network => &mut self.network,
            State::Pipe => &mut self.pipe,
            State::Fault => &mut self.fault,
            State::Sleep => &mut self.sleep,
            State::Other => &mut self.other,
            State::Idle | State::Undecided => &mut self.unknown,
        }
    }
}

/// What threads did, as far as it is kept.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    threads: HashMap<u32, Thread>,
    /// Who asked on a client's connection, or read a question of a server's, and when.
    asks: HashMap<u64, VecDeque<(u64, u32)>>,
    /// Since when moments are told without a gap: each time that it began.
    begun: VecDeque<u64>,
    size: usize,
}

impl Timeline {
    /// Takes the next moment, and gives the turn that it ends, if it does.
    pub fn take(&mut self, moment: &Moment) -> Option<Turn> {
        let at = moment.at;
        self.size += 1;
        match moment.what {
            What::Switch { thread, state, place, other } => {
                if thread != 0 {
                    self.threads.entry(thread).or_default().leaves(at, state, place);
                }
                if other != 0 {
                    self.threads.entry(other).or_default().comes(at);
                }
                None
            }
            What::Waking { thread, waker } => {
                let woken = self.threads.entry(thread).or_default();
                if woken.woken.is_none() && woken.open.is_some_and(|(state, ..)| state.is_blocked()) {
                    woken.woken = Some((at, waker));
                }
                None
            }
            What::Connection(connection) => {
                let thread = self.threads.entry(connection.thread).or_default();
                // It runs, since when was not seen.
                if !matches!(thread.open, Some((State::Running, ..))) {
                    thread.open = Some((State::Running, connection.since.min(at), 0));
                    thread.woken = None;
                }
                thread.through.push_back((at, connection));
                if matches!(connection.through, Through::Asks | Through::Asked) {
                    self.asks.entry(connection.socket).or_default().push_back((at, connection.thread));
                }
                let Connection { thread, socket, service, since, waited, .. } = connection;
                (connection.through == Through::Answered && at > since).then_some(Turn {
                    service,
                    socket,
                    thread,
                    from: since,
                    to: at,
                    queued: waited,
                })
            }
        }
    }

    /// Moments are told from `at` on, and were not for some time before. Threads were left as they were then; what is sure of them is that who was
    /// blocked has not been told to run since.
    pub fn begins(&mut self, at: u64) {
        self.begun.push_back(at);
        for thread in self.threads.values_mut() {
            if thread.woken.take().is_some() || thread.open.is_some_and(|(state, ..)| !state.is_blocked()) {
                thread.open = None;
            }
        }
    }

    /// How many moments are kept.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Forgets what was before `until`.
    pub fn forget(&mut self, until: u64) {
        let mut size = 0;
        self.threads.retain(|_, thread| {
            while thread.stretches.front().is_some_and(|s| s.to < until) {
                thread.stretches.pop_front();
            }
            while thread.through.front().is_some_and(|(at, _)| *at < until) {
                thread.through.pop_front();
            }
            size += thread.stretches.len() + thread.through.len();
            !thread.stretches.is_empty() || !thread.through.is_empty() || thread.open.is_some_and(|o| o.1 >= until)
        });
        while self.begun.get(1).is_some_and(|begun| *begun < until) {
            self.begun.pop_front();
        }
        self.asks.retain(|_, asked| {
            while asked.front().is_some_and(|(at, _)| *at < until) {
                asked.pop_front();
            }
            !asked.is_empty()
        });
        self.size = size;
    }

    /// Who asked on the client's connection `socket` at `at`, or of a server's read the question.
    fn asker(&self, socket: u64, at: u64) -> Option<u32> {
        self.asks.get(&socket)?.iter().rev().find(|(when, _)| *when == at).map(|(_, thread)| *thread)
    }

    /// Follows a turn.
    pub fn follow(&self, turn: &Turn, is_lock: IsLock<'_>) -> Path {
        Walk {
            timeline: self,
            turn,
            is_lock,
            path: Path::default(),
            by_thread: HashMap::new(),
            by_backend: HashMap::new(),
            thread: turn.thread,
            at: turn.to,
            is_own: true,
            jumps_at: 0,
            blames: MOST_STEPS,
        }
        .walk()
    }
}

/// The way back along a turn.
struct Walk<'a> {
    timeline: &'a Timeline,
    turn: &'a Turn,
    is_lock: IsLock<'a>,
    path: Path,
    by_thread: HashMap<u32, u64>,
    by_backend: HashMap<u32, (u64, u32)>,
    /// Where it is.
    thread: u32,
    at: u64,
    /// Whether what the thread does just before is for this turn.
    is_own: bool,
    /// Jumps to another thread without a step back in time.
    jumps_at: usize,
    /// Stretches of others that may still be looked at.
    blames: usize,
}

impl Walk<'_> {
    fn walk(mut self) -> Path {
        for _ in 0..MOST_STEPS {
            if self.at <= self.turn.from || !self.step() {
                break;
            }
        }
        self.path.unknown += self.at.saturating_sub(self.turn.from);
        self.lay_there();
        let of_others = self.by_thread.iter().filter(|(thread, _)| **thread != self.turn.thread);
        self.path.handed = of_others.clone().count() as u32;
        self.path.helper =
            of_others.max_by_key(|(thread, time)| (**time, **thread)).map_or((0, 0), |(t, time)| (*t, *time));
        let backend = self.by_backend.iter().max_by_key(|(service, (time, _))| (*time, **service));
        self.path.backend = backend.map_or((0, 0, 0), |(service, (time, count))| (*service, *time, *count));
        self.path
    }

    /// The time from `low` up to here was spent in `state`.
    fn add(&mut self, low: u64, state: State) {
        let time = self.at.saturating_sub(low);
        let is_for_others = !self.is_own && (state == State::Running || state.is_blocked());
        *if is_for_others { &mut self.path.others } else { self.path.of_state(state) } += time;
        *self.by_thread.entry(self.thread).or_default() += time;
        self.at = low;
        self.jumps_at = 0;
    }

    /// What the thread that read the question did before, as long as that lay there.
    fn lay_there(&mut self) {
        let timeline = self.timeline;
        let (mut at, came) = (self.turn.from, self.turn.from.saturating_sub(self.turn.queued));
        let seen = timeline.begun.iter().rev().find(|begun| **begun <= at).map_or(came, |begun| came.max(*begun));
        let Some(reader) = timeline.asker(self.turn.socket, at) else { return };
        let Some(thread) = timeline.threads.get(&reader) else { return };
        for _ in 0..MOST_STEPS {
            let Some(stretch) = thread.stretch(at).filter(|_| at > seen) else { break };
            let low = stretch.from.max(seen);
            let queued = &mut self.path.queued;
            let of_state = match stretch.state {
                State::Running => &mut queued.running,
                State::Runnable | State::Throttled => &mut queued.runnable,
                _ => &mut queued.blocked,
            };
            *of_state += at - low;
            // Whoever let it go on had kept it.
            if stretch.state.is_blocked() && stretch.waker != 0 && stretch.waker != reader {
                self.blame(stretch.waker, low, at, 0);
            }
            at = low;
        }
    }

    /// Between `from` and `to` others waited for `thread`: it had their time, as far as it did not itself wait for another one.
    fn blame(&mut self, thread: u32, from: u64, to: u64, depth: usize) {
        let timeline = self.timeline;
        let mut at = to;
        while at > from && depth < CHAIN && self.blames > 0 {
            self.blames -= 1;
            let Some(stretch) = timeline.threads.get(&thread).and_then(|t| t.stretch(at)) else { break };
            let low = stretch.from.max(from);
            if stretch.state.is_blocked() && stretch.waker != 0 && stretch.waker != thread {
                self.blame(stretch.waker, low, at, depth + 1);
            } else {
                *self.by_thread.entry(thread).or_default() += at - low;
            }
            at = low;
        }
        if at > from {
            *self.by_thread.entry(thread).or_default() += at - from;
        }
    }

    /// One step back; false where it goes no further.
    fn step(&mut self) -> bool {
        let Some(thread) = self.timeline.threads.get(&self.thread) else { return false };
        let Some(stretch) = thread.stretch(self.at) else { return false };
        let low = stretch.from.max(self.turn.from);
        match stretch.state {
            State::Running => match thread.before(self.at, low) {
                Some((when, connection)) => {
                    self.add(when, State::Running);
                    self.passes(connection, when)
                }
                None => {
                    self.add(low, State::Running);
                    true
                }
            },
            State::Idle | State::Undecided if self.is_own => self.waited(stretch, low),
            State::Lock => self.locked(stretch, low),
            state => {
                self.add(low, state);
                true
            }
        }
    }

    /// It waited for a lock: who woke it had it.
    fn locked(&mut self, stretch: Stretch, low: u64) -> bool {
        if self.is_own && stretch.waker != 0 && stretch.waker != self.thread {
            self.blame(stretch.waker, low, self.at, 0);
        }
        self.add(low, State::Lock);
        true
    }

    /// It waited for work, or for a lock.
    fn waited(&mut self, stretch: Stretch, low: u64) -> bool {
        if stretch.state == State::Undecided && (self.is_lock)(stretch.place) == Some(true) {
            return self.locked(stretch, low);
        }
        let is_followed = stretch.waker != 0
            && stretch.waker != self.thread
            && self.timeline.threads.get(&stretch.waker).is_some_and(|t| t.stretch(self.at).is_some());
        if is_followed && self.jumps_at < 8 {
            self.jumps_at += 1;
            self.by_thread.entry(stretch.waker).or_default();
            self.thread = stretch.waker;
            return true;
        }
        self.add(low, stretch.state);
        true
    }

    /// It comes by what went through a connection at `when`, which is where it is now.
    fn passes(&mut self, connection: Connection, when: u64) -> bool {
        let is_this = connection.socket == self.turn.socket;
        match connection.through {
            Through::Answered if !is_this => self.is_own = false,
            Through::Asked if !is_this => self.is_own = true,
            Through::Got if self.is_own => {
                let asked = connection.since.max(self.turn.from);
                let came = when.saturating_sub(connection.waited).clamp(asked, when);
                self.path.others += when - came;
                self.path.network += came - asked;
                let backend = self.by_backend.entry(connection.service).or_default();
                *backend = (backend.0 + (came - asked), backend.1 + 1);
                self.at = asked;
                if let Some(asker) = self.timeline.asker(connection.socket, connection.since) {
                    self.thread = asker;
                }
            }
            _ => {}
        }
        true
    }
}
