//! Which processes are JVMs, and whether the recording looks at them.

use crate::cputime::own_time;
use crate::scope::{Place, Target};
use host::Host;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at the list of processes, and how many times as long as one took: the share of a CPU that they take.
const LISTED: Duration = Duration::from_millis(200);
const PAUSES: u32 = 2000;
/// The same while the recording is young: that is when the command starts, and short ones have most of their pauses then.
const YOUNG: Duration = Duration::from_secs(2);
const EARLY: Duration = Duration::from_millis(20);
const EARLY_PAUSES: u32 = 50;
/// A process is asked again after so long whether it has become a JVM: its library is loaded some time after it began. Then never again. Those that are
/// called `java` become one within some milliseconds.
const AGES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(400), Duration::from_secs(2), Duration::from_secs(10)];
const AGES_OF_JAVA: [Duration; 8] = [
    Duration::ZERO,
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_secs(2),
    Duration::from_secs(10),
];
/// Programs of other names than `java` that are asked at one look: each costs some ten microseconds.
const MOST_ASKED: usize = 8;
/// Parents that are followed.
const MOST_PARENTS: usize = 64;
/// The end of the path of HotSpot's library.
const LIBRARY: &[u8] = b"/libjvm.so\n";

/// The JVMs there are, for all sources that look at them. Empty until the first asks; copies share it.
#[derive(Clone, Debug, Default)]
pub struct Jvms(Arc<Mutex<Found>>);

impl Jvms {
    /// The JVMs that the recording looks at, in order.
    pub(crate) fn list(&self, host: &Host, target: &Target) -> Vec<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).list(host, target)
    }

    /// How long until the list of processes is looked at again.
    pub(crate) fn wait(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wait()
    }

    /// Forgets that a process is a JVM: it runs another program now.
    pub(crate) fn forget(&self, pid: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).forget(pid);
    }
}

/// A process that was met.
#[derive(Debug)]
struct Met {
    at: Instant,
    /// How often it was asked.
    asked: usize,
    /// Whether its program is called `java`.
    is_java: bool,
    is_jvm: bool,
}

impl Met {
    fn is_due(&self, now: Instant) -> bool {
        let ages: &[Duration] = if self.is_java { &AGES_OF_JAVA } else { &AGES };
        !self.is_jvm && ages.get(self.asked).is_some_and(|&age| now >= self.at + age)
    }
}

/// The JVMs there are.
#[derive(Debug, Default)]
pub(super) struct Found {
    met: HashMap<u32, Met>,
    /// When it began to look.
    began: Option<Instant>,
    /// When to look again.
    next: Option<Instant>,
    /// Which processes a JVM's being in scope was settled for.
    scoped: HashMap<u32, bool>,
}

impl Found {
    pub fn list(&mut self, host: &Host, target: &Target) -> Vec<u32> {
        let now = Instant::now();
        if self.next.is_none_or(|next| now >= next) {
            let begin = own_time();
            self.look(host, target, now);
            let is_young = now < *self.began.get_or_insert(now) + YOUNG;
            let (pauses, least) = if is_young { (EARLY_PAUSES, EARLY) } else { (PAUSES, LISTED) };
            self.next = Some(now + (own_time().saturating_sub(begin) * pauses).max(least));
        }
        let in_scope = |pid: &&u32| self.scoped.get(pid) == Some(&true);
        let mut found: Vec<u32> =
            self.met.iter().filter(|(_, met)| met.is_jvm).map(|(pid, _)| pid).filter(in_scope).copied().collect();
        found.sort_unstable();
        found
    }

    fn look(&mut self, host: &Host, target: &Target, now: Instant) {
        let mut pids = Vec::new();
        // A system that hides its processes has none.
        let _ = host.numbers_in("/proc", &mut pids);
        let pids: HashSet<u32> = pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).collect();
        self.met.retain(|pid, _| pids.contains(pid));
        self.scoped.retain(|pid, _| pids.contains(pid));
        let mut group: Option<HashSet<u32>> = None;
        let mut asked = 0;
        for pid in pids {
            let met = self.met.entry(pid).or_insert(Met { at: now, asked: 0, is_java: false, is_jvm: false });
            if !met.is_due(now) {
                continue;
            }
            // Threads of the kernel have no program; nor has, for us, what may not be looked at.
            let Ok(program) = host.link(&format!("/proc/{pid}/exe")) else {
                met.asked = usize::MAX;
                continue;
            };
            met.is_java = program.file_name().is_some_and(|name| name == "java");
            if !met.is_java {
                if asked >= MOST_ASKED {
                    continue;
                }
                asked += 1;
            }
            met.asked += 1;
            met.is_jvm = maps_library(host, pid);
            if met.is_jvm {
                let is_in = match target {
                    Target::Everything | Target::Nobody => true,
                    Target::Children => descends(host, pid, std::process::id()),
                    Target::Trees(roots) => roots.iter().any(|root| descends(host, pid, *root)),
                    Target::Cgroup(path) => group
                        .get_or_insert_with(|| {
                            Place::find(host, path)
                                .map(|place| place.processes().into_iter().collect())
                                .unwrap_or_default()
                        })
                        .contains(&pid),
                };
                self.scoped.insert(pid, is_in);
            }
        }
    }

    /// How long until it looks at the list of processes again.
    pub fn wait(&self) -> Duration {
        self.next.map_or(LISTED, |next| next.saturating_duration_since(Instant::now()))
    }

    /// Forgets that a process is a JVM: it runs another program now.
    pub fn forget(&mut self, pid: u32) {
        self.met.remove(&pid);
        self.scoped.remove(&pid);
    }
}

fn maps_library(host: &Host, pid: u32) -> bool {
    let maps = host.read(&format!("/proc/{pid}/maps")).unwrap_or_default();
    memchr::memmem::find(&maps, LIBRARY).is_some()
}

/// Whether a process is another or has it among its parents.
fn descends(host: &Host, mut pid: u32, root: u32) -> bool {
    for _ in 0..MOST_PARENTS {
        if pid == root {
            return true;
        }
        let status = host.read_text(&format!("/proc/{pid}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
        match parent {
            Some(parent) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    false
}
