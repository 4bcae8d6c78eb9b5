//! Waits for contended locks: rows of `lock`, by lock, waiting code and holder.

use super::calls;
use super::ledger::{Ledgers, text};
use super::monitors::{Monitor, Monitors};
use super::parked::{self, Known, Parked};
use super::records::{Name, OPEN, Site};
use super::tables::LOCKS;
use crate::hotspot::PendingKind;
use crate::memory::{Memory, Process};
use crate::stacks::Stacks;
use lexicon::wait::{JAVA_LOCK, Wait as Verdict};
use model::{NULL, Out};
use std::collections::HashMap;
use std::sync::Arc;

/// A wait that was for a lock.
#[derive(Debug)]
pub(super) struct Wait<'a> {
    pub site: &'a Site,
    pub verdict: Verdict,
    /// Name of its process.
    pub process: Name,
    /// Where it waited, whether that was followed to the start of the thread, and the stack pointer there; 0 where that is not known.
    pub stack: i64,
    pub is_whole: bool,
    pub sp: u64,
    pub waker_stack: i64,
    /// Since the read before.
    pub count: u64,
    pub time: u64,
}

/// Sums of waits that are alike.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub count: u64,
    pub time: u64,
    /// Those whose time ran out, and how long they were.
    pub timed_out: [u64; 2],
    pub longest: u64,
    pub waiters: u64,
}

impl Sums {
    pub fn add(&mut self, count: u64, time: u64, timed_out: [u64; 2], site: &Site) {
        self.put_in(Sums { count, time, timed_out, longest: site.longest, waiters: site.waiters.into() });
    }

    fn put_in(&mut self, other: Sums) {
        self.count = self.count.saturating_add(other.count);
        self.time = self.time.saturating_add(other.time);
        for (sum, more) in self.timed_out.iter_mut().zip(other.timed_out) {
            *sum = sum.saturating_add(more);
        }
        self.longest = self.longest.max(other.longest);
        self.waiters = self.waiters.max(other.waiters);
    }
}

/// What rows of `lock` are told apart by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    pid: u32,
    process: Name,
    kind: i64,
    address: u64,
    is_kernel: bool,
    /// Of a monitor, what it is of; of a lock of java.util.concurrent, its class.
    of: Option<Arc<str>>,
    is_parked: bool,
    stack: i64,
    holder: i64,
    holder_tid: i64,
    holder_stack: i64,
}

impl Key {
    /// What it is called, where it has a name.
    fn name(&self, stacks: &Stacks) -> Option<String> {
        match &self.of {
            Some(of) if self.is_parked => Some(of.to_string()),
            Some(of) => Some(format!("monitor of {of}")),
            None if self.address == 0 => None,
            None if self.is_kernel => stacks.kernel_symbol(self.address).map(|name| name.to_string()),
            None => stacks.data_symbol(self.pid, self.address),
        }
    }
}

/// Waits of a JVM's thread for a monitor, until it is known for which.
#[derive(Debug)]
struct OfMonitor {
    parked: Parked,
    key: Key,
    sums: Sums,
}

/// All waits for locks since the read before.
pub(super) struct Locks {
    locks: HashMap<Key, Sums>,
    waits: Vec<OfMonitor>,
    monitors: Monitors,
    known: Known,
    /// Of threads that wait still, what for.
    open: HashMap<u32, Key>,
}

impl Locks {
    pub fn new(stacks: &Stacks) -> Self {
        Locks {
            locks: HashMap::new(),
            waits: Vec::new(),
            monitors: Monitors::new(stacks.clone()),
            known: Known::default(),
            open: HashMap::new(),
        }
    }

    /// Begins a read.
    pub fn begin(&mut self) {
        self.locks.clear();
        self.waits.clear();
        self.open.clear();
        self.monitors.begin();
    }

    /// Takes a wait.
    pub fn take(&mut self, wait: &Wait<'_>, ledgers: &Ledgers, out: &mut Out<'_>) {
        let site = wait.site;
        let key = key(wait, ledgers, out);
        let mut sums = Sums::default();
        sums.add(wait.count, wait.time, [0; 2], site);
        if site.slot == OPEN {
            self.open.insert(site.tid, key.clone());
        }
        if wait.verdict == Verdict::Lock("monitor") && !key.is_kernel && self.monitors.is_jvm(site.pid) {
            // The futex is the thread's own. Timers, too, end waits, in the name of whoever was interrupted.
            let key = match ledgers.is_thread(site.pid, site.waker_thread) {
                true => Key { address: 0, ..key },
                false => Key { address: 0, holder: NULL, holder_tid: NULL, holder_stack: NULL, ..key },
            };
            sums.waiters = 0;
            self.waits.push(OfMonitor { parked: parked(wait, PendingKind::Monitor), key, sums });
            return;
        }
        if wait.verdict == Verdict::Lock(JAVA_LOCK) {
            // Here, too, the futex is the thread's own, and who wakes it has let go of the lock.
            sums.waiters = 0;
            let key = Key { address: 0, ..key };
            if self.monitors.is_jvm(site.pid) {
                self.waits.push(OfMonitor { parked: parked(wait, PendingKind::Synchronizer), key, sums });
            } else {
                self.locks.entry(key).or_default().put_in(sums);
            }
            return;
        }
        self.locks.entry(key).or_default().put_in(sums);
    }

    /// Puts the waits for monitors under those that were seen.
    fn find_monitors(&mut self, ledgers: &Ledgers, out: &mut Out<'_>) {
        let mut waits = std::mem::take(&mut self.waits);
        waits.sort_by_key(|wait| wait.parked.pid);
        for waits in waits.chunk_by(|a, b| a.parked.pid == b.parked.pid) {
            let Some(pid) = waits.first().map(|wait| wait.parked.pid) else { continue };
            let is_parked = waits.iter().any(|wait| wait.parked.kind == PendingKind::Synchronizer);
            let seen = self.monitors.take(pid, is_parked);
            let parked: Vec<&Parked> = waits.iter().map(|wait| &wait.parked).collect();
            let divided = parked::divide(&parked, &seen, &mut self.known);
            // Who ends a wait for a monitor has just let go of it.
            let mut released: HashMap<(u64, i64), i64> = HashMap::new();
            for (wait, monitors) in waits.iter().zip(&divided) {
                let address = monitors.first().map_or(0, |(monitor, _)| monitor.address);
                if wait.key.holder_stack != NULL && monitors.iter().all(|(monitor, _)| monitor.address == address) {
                    released.insert((address, wait.key.holder_tid), wait.key.holder_stack);
                }
            }
            for (wait, monitors) in waits.iter().zip(divided) {
                if monitors.is_empty() {
                    self.locks.entry(wait.key.clone()).or_default().put_in(wait.sums);
                    continue;
                }
                let weights: Vec<u64> = monitors.iter().map(|(_, seen)| *seen).collect();
                let most = weights.iter().max().copied();
                let parts =
                    parked::split(wait.sums.time, &weights).into_iter().zip(parked::split(wait.sums.count, &weights));
                for ((monitor, weight), (time, count)) in monitors.into_iter().zip(parts) {
                    let longest = if Some(weight) == most { wait.sums.longest } else { wait.sums.longest.min(time) };
                    let waiters = seen.at_once.get(&monitor.address).copied().unwrap_or(0);
                    let key = of_monitor(&wait.key, monitor, ledgers, &released, out);
                    self.locks.entry(key).or_default().put_in(Sums {
                        count,
                        time,
                        longest,
                        waiters,
                        ..Sums::default()
                    });
                }
            }
        }
        for why in self.monitors.missing() {
            out.missing("lock.name", why);
        }
    }

    /// What the threads of a process are waiting for at this moment, as its JVM says, and who has it.
    pub fn now(&mut self, pid: u32) -> Vec<(u32, Monitor)> {
        self.monitors.now(pid)
    }

    /// The lock that a thread is waiting for at this moment, in words, and who has it.
    pub fn awaited(&self, tid: u32, stacks: &Stacks) -> Option<(Option<String>, i64)> {
        let key = self.open.get(&tid)?;
        let address = || (key.address != 0).then(|| format!("{:#x}", key.address));
        Some((key.name(stacks).or_else(address), key.holder_tid))
    }

    /// Puts the rows.
    pub fn put(&mut self, stacks: &Stacks, ledgers: &Ledgers, out: &mut Out<'_>) {
        self.find_monitors(ledgers, out);
        let mut locks: Vec<_> = self.locks.iter().collect();
        locks.sort_unstable_by(|a, b| a.0.cmp(b.0));
        for (key, sums) in locks {
            let process = out.bytes(text(&key.process));
            let address = if key.address == 0 { NULL } else { out.text(&format!("{:#x}", key.address)) };
            let row = [
                i64::from(key.pid),
                process,
                key.kind,
                address,
                key.name(stacks).map_or(NULL, |name| out.text(&name)),
                key.stack,
                key.holder,
                key.holder_tid,
                key.holder_stack,
                sums.count as i64,
                sums.time as i64,
                sums.longest as i64,
                if key.is_kernel || sums.waiters == 0 { NULL } else { sums.waiters as i64 },
            ];
            out.row(LOCKS, &row);
        }
    }
}

fn parked(wait: &Wait<'_>, kind: PendingKind) -> Parked {
    let &Wait { site, stack, is_whole, sp, .. } = wait;
    Parked { kind, pid: site.pid, tid: site.tid, sp, stack, is_whole }
}

/// What a wait is told apart by.
fn key(wait: &Wait<'_>, ledgers: &Ledgers, out: &mut Out<'_>) -> Key {
    let &Wait { site, verdict, process, stack, waker_stack, .. } = wait;
    let is_kernel = site.lock != 0;
    let kind = match verdict {
        _ if is_kernel => kernel_kind(site.lock),
        Verdict::Lock("futex") if calls::name(site.call) != Some("futex") => "file lock",
        Verdict::Lock(kind) => kind,
        _ => "futex",
    };
    // The owner that a pthread mutex names is who held it when the wait began.
    let is_thread = |tid: &u32| *tid != 0 && *tid != site.tid && ledgers.is_thread(site.pid, *tid);
    let owner = Some(site.owner).filter(is_thread);
    // Of a wait that goes on, who holds it now can be asked.
    let now = || owner_now(site.pid, site.address).filter(is_thread);
    let owner = if site.slot == OPEN { now().or(owner) } else { owner };
    let owner = owner.filter(|_| kind == "pthread mutex");
    let holder_tid = owner.unwrap_or(site.waker_thread);
    let holder = match ledgers.names(holder_tid) {
        Some((thread, _)) => out.bytes(text(thread)),
        None if site.waker != 0 && owner.is_none() => out.bytes(text(&site.waker_name)),
        None => NULL,
    };
    Key {
        pid: site.pid,
        process,
        kind: out.text(kind),
        address: site.address,
        is_kernel,
        of: None,
        is_parked: false,
        stack,
        holder,
        holder_tid: if holder_tid == 0 { NULL } else { i64::from(holder_tid) },
        holder_stack: if holder_tid == site.waker_thread { waker_stack } else { NULL },
    }
}

/// The same of a monitor that a thread was seen waiting for: its owner at that time, else who ended the wait. `released` has where threads let go
/// of monitors.
fn of_monitor(
    wait: &Key,
    monitor: Monitor,
    ledgers: &Ledgers,
    released: &HashMap<(u64, i64), i64>,
    out: &mut Out<'_>,
) -> Key {
    let Monitor { address, of, owner, kind } = monitor;
    let mut key = Key { address, is_parked: kind == PendingKind::Synchronizer, of, ..wait.clone() };
    // `ReentrantLock` of `java.util.concurrent.locks.ReentrantLock`.
    if let Some(of) = key.of.as_deref().filter(|_| key.is_parked) {
        key.kind = out.text(of.rsplit('.').next().unwrap_or(of));
    }
    let is_thread = owner != 0 && ledgers.is_thread(wait.pid, owner);
    let Some((name, _)) = ledgers.names(owner).filter(|_| is_thread) else { return key };
    let holder_tid = i64::from(owner);
    let known = released.get(&(address, holder_tid)).copied();
    let holder_stack = if wait.holder_tid == holder_tid { wait.holder_stack } else { known.unwrap_or(NULL) };
    Key { holder: out.bytes(text(name)), holder_tid, holder_stack, ..key }
}

/// What a pthread mutex of another process says of its owner: `__owner`, 8 bytes into glibc's pthread_mutex_t.
fn owner_now(pid: u32, address: u64) -> Option<u32> {
    let mut owner = [0; 4];
    let read = Process(pid).some(address.wrapping_add(8), &mut owner).ok()?;
    (read == owner.len()).then(|| u32::from_ne_bytes(owner))
}

/// `LCB_F_…` of include/trace/events/lock.h.
fn kernel_kind(flags: u32) -> &'static str {
    match flags {
        f if f & 32 != 0 => "kernel mutex",
        f if f & 16 != 0 => "kernel percpu rwsem",
        f if f & 8 != 0 => "kernel rtmutex",
        f if f & 2 != 0 => "kernel rwsem (read)",
        f if f & 4 != 0 => "kernel rwsem (write)",
        _ => "kernel lock",
    }
}
