//! When JVMs are looked at: as soon as one says that a safepoint has ended, or now and then where none can say so; and all that changes slowly once a second.

use super::found::Jvms;
use super::watch::Watched;
use crate::Scope;
use crate::cputime::own_time;
use crate::looking::{Look, Looker, Next, Why};
use crate::scope::Target;
use crate::stacks::Stacks;
use host::Host;
use host::wake::Passing;
use model::Unavailable;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a thread finds that was woken may be written in a moment only: it looks again so often, after so long.
const EARLY: u32 = 3;
const A_MOMENT: Duration = Duration::from_micros(100);
/// Between two looks at JVMs that wake this thread: others may have begun.
const WOKEN: Duration = Duration::from_secs(1);
/// CPU time of looks that follow one another at once, before they have to wait for their share of a CPU.
const CREDIT: Duration = Duration::from_millis(5);
/// Between two looks where nothing wakes this thread: at first, while pauses come fast, and while none come. Waking up costs more than looking, so that one
/// looks no more often than pauses come: a quarter of the time between two of them.
const FIRST: Duration = Duration::from_millis(25);
const SHORTEST: Duration = Duration::from_millis(5);
const IDLE: Duration = Duration::from_millis(200);
const A_PAUSE: u32 = 4;
/// At most.
const LONGEST: Duration = Duration::from_secs(1);
/// A look that took so long is followed by a pause so many times as long: the share of a CPU that all looks take.
const PAUSES: u32 = 400;
/// Between two looks at what changes slowly: heap, threads, compilers.
const SLOWLY: Duration = Duration::from_secs(1);
/// Looks at threads are followed by a pause so many times as long.
const SLOW_PAUSES: u32 = 1000;
/// JVMs that are looked at.
const MOST_JVMS: usize = 64;

/// What the thread shares with the reads.
#[derive(Debug, Default)]
pub(super) struct State {
    host: Option<Host>,
    target: Target,
    /// CLOCK_MONOTONIC when the recording began.
    start: crate::Start,
    found: Jvms,
    pub watched: BTreeMap<u32, Watched>,
    pub missing: Vec<(&'static str, Unavailable)>,
    said: usize,
    /// How long until the next look, and when one last found a pause.
    pace: Option<Duration>,
    paused: Option<Instant>,
    /// How often it is still looked at for what this thread was woken by.
    early: u32,
    /// CPU time of looks beyond their share of a CPU, and when that was reckoned.
    debt: Duration,
    reckoned: Option<Instant>,
    /// When what changes slowly is looked at next, of all JVMs at once; and whether it was since that was last asked.
    slowly: Option<Instant>,
    pub is_fresh: bool,
}

/// Failures that are said.
const MOST_SAID: usize = 8;

impl Look for State {
    const NAME: &'static str = "jvm";

    fn round(looker: &Looker<Self>, stacks: &Stacks, came: bool) -> Next {
        looker.found().round(stacks, came)
    }
}

impl State {
    /// Looks at the JVMs among these processes.
    pub fn of(host: Host, scope: &Scope) -> Self {
        let (target, found) = (scope.target.clone(), scope.jvms.clone());
        State { host: Some(host), target, found, start: scope.start.clone(), ..State::default() }
    }

    /// Has the next look be at all that is looked at.
    pub fn look_at_all(&mut self) {
        self.slowly = None;
    }

    /// Looks at all JVMs. When to do so again. `came` says that a safepoint just ended in one that wakes this thread.
    pub fn round(&mut self, stacks: &Stacks, came: bool) -> Next {
        let Some(host) = &self.host else { return LONGEST.into() };
        if came {
            // The JVM is about to write what it came to.
            self.early = EARLY;
            return A_MOMENT.into();
        }
        let mut pids = self.found.list(host, &self.target);
        pids.truncate(MOST_JVMS);
        if pids.is_empty() && self.watched.is_empty() {
            return self.found.wait().into();
        }
        self.watched.retain(|pid, watched| pids.contains(pid) || !watched.pauses.is_empty());
        let (mut together, mut found, mut cost) = (false, false, Duration::ZERO);
        let is_due = self.slowly.is_none_or(|at| Instant::now() >= at);
        let mut slow_cost = Duration::ZERO;
        for pid in pids {
            let watched = self.watched.entry(pid).or_insert_with(|| {
                let comm = host.read_text(&format!("/proc/{pid}/comm")).unwrap_or_default();
                Watched::new(comm.trim_end().to_owned())
            });
            let before = watched.pauses.len();
            let is_due = is_due && (self.slowly.is_none() || !watched.is_idle(pid));
            if is_due {
                watched.unsettle();
            }
            match watched.look(pid, self.start.get(), host, stacks) {
                Ok(of_look) => cost += of_look,
                Err(Why::Gone) => self.found.forget(pid),
                Err(why) => {
                    if let Some(why) = why.said(pid, "its JVM").filter(|_| self.said < MOST_SAID) {
                        self.said += 1;
                        self.missing.push(("jvm_pause", why));
                    }
                }
            }
            if watched.is_understood {
                watched.listen(pid, host, stacks);
            }
            if is_due && watched.is_understood {
                let begin = own_time();
                // One that ended meanwhile is found out at the next look.
                let _ = watched.look_slowly(pid, stacks);
                slow_cost += own_time().saturating_sub(begin);
            }
            if let Some(item) = watched.lacks()
                && self.said < MOST_SAID
            {
                self.said += 1;
                self.missing.push(item.said(pid));
            }
            found |= watched.pauses.len() > before;
            together |= watched.pauses.iter().skip(before).any(|pause| pause.together > 1);
        }
        if is_due {
            self.slowly = Some(Instant::now() + (slow_cost * SLOW_PAUSES).max(SLOWLY));
            self.is_fresh = true;
        }
        self.owe(cost);
        let passings: Vec<Arc<Passing>> = self.watched.values().filter_map(Watched::wakes).collect();
        if passings.len() == self.watched.len() {
            self.early = if found { 0 } else { self.early.saturating_sub(1) };
            let least = self.debt.saturating_sub(CREDIT) * PAUSES;
            let slowly = self.slowly.map_or(WOKEN, |at| at.saturating_duration_since(Instant::now()));
            return match self.early {
                0 => Next { least, passings, most: least.max(slowly.min(WOKEN)) },
                _ => A_MOMENT.into(),
            };
        }
        let pace = self.pace.unwrap_or(FIRST);
        let pace = match found {
            _ if together => pace / 2,
            true => pace.min(self.paused.map_or(FIRST, |paused| paused.elapsed() / A_PAUSE)),
            false => pace * 21 / 20,
        };
        if found {
            self.paused = Some(Instant::now());
        }
        self.pace = Some(pace.clamp(SHORTEST, IDLE));
        (cost * PAUSES).clamp(pace.clamp(SHORTEST, IDLE), LONGEST).into()
    }

    /// Adds up what looks cost beyond their share.
    fn owe(&mut self, cost: Duration) {
        let now = Instant::now();
        let since = self.reckoned.replace(now).map_or(Duration::ZERO, |at| now.duration_since(at));
        self.debt = self.debt.saturating_sub(since / PAUSES) + cost;
    }
}
