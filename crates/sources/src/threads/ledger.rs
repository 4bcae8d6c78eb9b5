//! From the kernel's ledgers to rows of `thread_time` and `run_queue`: divides running time into user, kernel and stolen, and the
//! waits for futexes into lock and idle, so that the sum of the states stays what the kernel measured.

use super::records::{BUCKETS, Name, STATES as KERNEL_STATES, Thread, state};
use super::tables::{RUN_QUEUE, STATES, THREAD_TIME, column};
use crate::cputime;
use model::Out;
use std::collections::HashMap;

/// Number of counters of a row: the states and four events.
const COUNTERS: usize = STATES + 4;
/// Until the kernel has updated the run time of a thread on a CPU, which it does at each tick, so much may be missing (HZ = 100).
const TICK: u64 = 10_000_000;
/// A thread that no read finds is remembered for so many more: one that ends leaves the kernel's list before it is told of its end, and where
/// CPUs are busy a read can come between.
const LINGER: u64 = 20;
/// Clock ticks in which `start` is given.
const START_UNIT: u64 = 10_000_000;

/// What waits for futexes were, by what is known of the waiting code: time per [`column`], from `LOCK` on.
pub(super) type Shares = [u64; 8];

/// One thread.
#[derive(Debug)]
struct Known {
    pid: u32,
    start: u64,
    born: u64,
    name: Name,
    process: Name,
    /// User, kernel, stolen as last shown.
    running: [u64; 3],
    /// Of the waits for futexes, the parts per state, in all.
    undecided: Shares,
    /// Where the last wait for a futex went, for time of which nothing else is known.
    last_share: usize,
    /// All counters since the ledger was begun, and what of them was shown under another name.
    totals: [u64; COUNTERS],
    base: [u64; COUNTERS],
    queue: [u32; BUCKETS],
    /// Whether it was in a row, and whether it has ended.
    shown: bool,
    ended: bool,
    seen: u64,
}

/// Threads of one process, or of all processes of one name, that came and went between two reads.
#[derive(Debug, Default)]
struct Folded {
    totals: [u64; COUNTERS],
    changed: u64,
}

/// A histogram per process name.
#[derive(Debug)]
struct Queue {
    buckets: [i64; BUCKETS],
    alive: u64,
}

/// All threads in scope.
#[derive(Debug, Default)]
pub(super) struct Ledgers {
    threads: HashMap<u32, Known>,
    folded: HashMap<(u32, Name), Folded>,
    queues: HashMap<Name, Queue>,
    /// Process, name and name of the process of each thread that this read found, or that ended since the read before.
    present: HashMap<u32, (u32, Name, Name)>,
    read: u64,
}

impl Ledgers {
    /// Begins a read that found these threads.
    pub fn begin<'a>(&mut self, threads: impl Iterator<Item = &'a Thread>) {
        self.read += 1;
        self.present.clear();
        self.present.extend(threads.map(|thread| (thread.tid, (thread.pid, thread.name, thread.process))));
    }

    /// Takes what the kernel holds of a thread now, or held at its end. `shares` is what its waits for futexes since the read before
    /// were.
    pub fn take(&mut self, thread: &Thread, ended: bool, shares: &Shares) {
        let known = self.threads.entry(thread.tid).or_insert_with(|| Known::new(thread));
        if (known.start, known.born) != (thread.start, thread.born) {
            // Another thread under this number; the end of the one before was lost.
            *known = Known::new(thread);
        }
        known.seen = self.read;
        if known.ended {
            // Its end came before what was read of it.
            return;
        }
        known.ended = ended;
        if (known.name, known.process) != (thread.name, thread.process) {
            known.base = known.totals;
            (known.name, known.process) = (thread.name, thread.process);
            known.shown = false;
        }
        known.add(thread, shares);
        let queue = self.queues.entry(thread.process).or_insert(Queue { buckets: [0; BUCKETS], alive: 0 });
        queue.alive = self.read;
        for ((sum, now), before) in queue.buckets.iter_mut().zip(thread.queue).zip(&mut known.queue) {
            *sum += i64::from(now.wrapping_sub(*before));
            *before = now;
        }
    }

    /// The name of a thread and of its process.
    pub fn names(&self, tid: u32) -> Option<(&Name, &Name)> {
        self.present.get(&tid).map(|(_, name, process)| (name, process))
    }

    /// The processes that this read found, each with its name.
    pub fn processes(&self) -> HashMap<u32, Name> {
        self.present.values().map(|(pid, _, process)| (*pid, *process)).collect()
    }

    /// Whether `tid` is a thread of the process `pid`.
    pub fn is_thread(&self, pid: u32, tid: u32) -> bool {
        self.present.get(&tid).is_some_and(|known| known.0 == pid)
    }

    /// Puts the rows, and forgets what is gone. Of processes that are `left_out` there are none, and when there are again, they count from then on.
    pub fn put(&mut self, left_out: impl Fn(u32) -> bool, out: &mut Out<'_>) {
        let read = self.read;
        let mut order: Vec<u32> = self.threads.keys().copied().collect();
        order.sort_unstable();
        let alive = |threads: &HashMap<u32, Known>, pid: u32| threads.get(&pid).is_some_and(|t| t.shown || !t.ended);
        for tid in order {
            let Some(known) = self.threads.get(&tid) else { continue };
            if known.seen != read || known.ended && !known.shown {
                continue;
            }
            if left_out(known.pid) {
                if let Some(known) = self.threads.get_mut(&tid) {
                    (known.base, known.shown) = (known.totals, false);
                }
                continue;
            }
            let labels = [
                i64::from(known.pid),
                i64::from(tid),
                (known.start / START_UNIT) as i64,
                out.bytes(text(&known.process)),
                out.bytes(text(&known.name)),
            ];
            put(out, labels, &known.since_base());
            if let Some(known) = self.threads.get_mut(&tid) {
                known.shown = true;
            }
        }
        let brief: Vec<(u32, Name, [u64; COUNTERS])> = self
            .threads
            .values()
            .filter(|known| known.ended && !known.shown && !left_out(known.pid))
            .map(|known| {
                let pid = if alive(&self.threads, known.pid) { known.pid } else { 0 };
                (pid, known.process, known.since_base())
            })
            .collect();
        for (pid, process, counters) in brief {
            let folded = self.folded.entry((pid, process)).or_default();
            folded.changed = read;
            for (sum, more) in folded.totals.iter_mut().zip(counters) {
                *sum += more;
            }
        }
        self.threads.retain(|_, known| !known.ended && read - known.seen < LINGER);
        let mut folded: Vec<_> = self.folded.iter().collect();
        folded.sort_unstable_by_key(|(key, _)| **key);
        for ((pid, process), folded) in folded {
            let name = out.bytes(text(process));
            let all = out.text("(ended)");
            put(out, [i64::from(*pid), 0, 0, name, all], &folded.totals);
        }
        // Once out of the rows, it would count from zero again.
        self.folded.retain(|(pid, _), folded| {
            folded.changed == read || *pid == 0 || self.threads.get(pid).is_some_and(|t| !t.ended)
        });
        let mut queues: Vec<_> = self.queues.iter().collect();
        queues.sort_unstable_by_key(|(name, _)| **name);
        for (name, queue) in queues {
            let mut row = [0; BUCKETS + 1];
            row[0] = out.bytes(text(name));
            for (cell, count) in row.iter_mut().skip(1).zip(queue.buckets) {
                *cell = count;
            }
            out.row(RUN_QUEUE, &row);
        }
        // Names that have not been seen for long make room; who comes back counts from zero.
        self.queues.retain(|_, queue| read - queue.alive < 600);
    }
}

fn put(out: &mut Out<'_>, labels: [i64; 5], counters: &[u64; COUNTERS]) {
    let mut row = [0; 5 + COUNTERS];
    for (cell, value) in row.iter_mut().zip(labels.into_iter().chain(counters.iter().map(|&c| c as i64))) {
        *cell = value;
    }
    out.row(THREAD_TIME, &row);
}

/// A name without what comes after its end.
pub(super) fn text(name: &Name) -> &[u8] {
    name.split(|&byte| byte == 0).next().unwrap_or_default()
}

impl Known {
    fn new(thread: &Thread) -> Self {
        Known {
            pid: thread.pid,
            start: thread.start,
            born: thread.born,
            name: thread.name,
            process: thread.process,
            running: [0; 3],
            undecided: [0; 8],
            last_share: column::OTHER - column::LOCK,
            totals: [0; COUNTERS],
            base: [0; COUNTERS],
            queue: [0; BUCKETS],
            shown: false,
            ended: false,
            seen: 0,
        }
    }

    fn since_base(&self) -> [u64; COUNTERS] {
        let mut counters = self.totals;
        for (now, base) in counters.iter_mut().zip(self.base) {
            *now = now.saturating_sub(base);
        }
        counters
    }

    fn add(&mut self, thread: &Thread, shares: &Shares) {
        let of = |totals: &[u64; KERNEL_STATES], at: usize| totals.get(at).copied().unwrap_or(0);
        let totals = thread.totals();
        self.run(thread, of(&totals, state::RUNNING));
        self.decide(of(&totals, state::UNDECIDED), shares);
        let mut counters = [0; COUNTERS];
        counters[..3].copy_from_slice(&self.running);
        counters[column::RUNNABLE] = of(&totals, state::RUNNABLE);
        counters[column::THROTTLED] = of(&totals, state::THROTTLED);
        for (at, counter) in counters.iter_mut().enumerate().take(STATES).skip(column::LOCK) {
            let share = self.undecided.get(at - column::LOCK).copied().unwrap_or(0);
            // The kernel's blocked states lie in the same order.
            *counter = of(&totals, at - column::LOCK + state::LOCK) + share;
        }
        // The state that a thread is in counts up to now. Where it was left a moment before now, on another CPU, that is some microseconds too much,
        // which are kept: a counter that falls would be taken for one that was reset.
        for (counter, before) in counters.iter_mut().zip(self.totals).take(STATES) {
            *counter = before.max(*counter);
        }
        for (counter, event) in counters.iter_mut().skip(STATES).zip(thread.events) {
            *counter = event;
        }
        self.totals = counters;
    }

    /// Divides the time on a CPU. What the wall clock has more than the kernel's account was taken by someone else.
    fn run(&mut self, thread: &Thread, total: u64) {
        let [user, kernel, stolen] = self.running;
        let left = thread.states[state::RUNNING];
        let closed = left.saturating_sub(thread.runtime.saturating_sub(thread.runtime_born));
        // Of the present stretch the kernel's account lags behind by up to a tick.
        let open = (total.saturating_sub(left))
            .saturating_sub(thread.runtime_now.saturating_sub(thread.runtime))
            .saturating_sub(TICK);
        let stolen = (closed + open).max(stolen).min(total.saturating_sub(user + kernel));
        let [user, kernel] = cputime::divide(thread.guessed, total - stolen, [user, kernel]);
        self.running = [user, kernel, stolen];
    }

    /// Divides the time in waits for futexes, of which `total` is all and `shares` says what those since the last read were.
    fn decide(&mut self, total: u64, shares: &Shares) {
        let new = total.saturating_sub(self.undecided.iter().sum());
        let all: u64 = shares.iter().sum();
        if all == 0 {
            if let Some(share) = self.undecided.get_mut(self.last_share) {
                *share += new;
            }
            return;
        }
        let mut left = new;
        for (sum, share) in self.undecided.iter_mut().zip(shares) {
            let part = (u128::from(new) * u128::from(*share) / u128::from(all)) as u64;
            *sum += part;
            left -= part;
        }
        let greatest = shares.iter().enumerate().max_by_key(|(_, share)| **share).map_or(7, |(at, _)| at);
        self.last_share = greatest;
        if let Some(sum) = self.undecided.get_mut(greatest) {
            *sum += left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> Thread {
        Thread {
            pid: 1,
            tid: 1,
            now: 0,
            start: 0,
            born: 0,
            since: 0,
            state: 0,
            states: [0; KERNEL_STATES],
            runtime_born: 0,
            runtime: 0,
            runtime_now: 0,
            guessed: [0; 2],
            events: [0; 4],
            queue: [0; BUCKETS],
            name: [0; 16],
            process: [0; 16],
        }
    }

    fn sum(known: &Known) -> u64 {
        known.totals[..STATES].iter().sum()
    }

    #[test]
    fn no_state_falls_that_was_left_just_before_it_was_read() {
        let mut t = thread();
        (t.state, t.since, t.now) = (state::RUNNABLE, 0, 10_000);
        let mut known = Known::new(&t);
        known.add(&t, &[0; 8]);
        assert_eq!(known.totals[column::RUNNABLE], 10_000);
        // It ran since 8 microseconds, as another CPU had it.
        t.states[state::RUNNABLE] = 8_000;
        (t.state, t.since, t.now) = (state::LOCK, 8_000, 20_000);
        known.add(&t, &[0; 8]);
        assert_eq!((known.totals[column::RUNNABLE], known.totals[column::LOCK]), (10_000, 12_000));
    }

    #[test]
    fn a_thread_that_a_read_misses_is_the_same_at_its_end() {
        use super::super::tables::TABLES;
        let (mut ledgers, mut symbols) = (Ledgers::default(), model::Symbols::default());
        let mut read = |thread: Option<(&Thread, bool)>| {
            let mut rows = vec![model::Rows::default(); TABLES.len()];
            let (mut coverage, mut facts) = (Vec::new(), Vec::new());
            let mut out = Out::new("threads", TABLES, &mut rows, &mut symbols, &mut coverage, &mut facts);
            ledgers.begin(thread.iter().map(|(thread, _)| *thread));
            if let Some((thread, ended)) = thread {
                ledgers.take(thread, ended, &[0; 8]);
            }
            ledgers.put(|_| false, &mut out);
            // Thread and time on a CPU of each row.
            let of_row = |row: &[i64]| (row[1], row[5] + row[6]);
            rows[THREAD_TIME].cells.chunks_exact(5 + COUNTERS).map(of_row).collect::<Vec<_>>()
        };
        let mut t = thread();
        t.tid = 7;
        t.states[state::RUNNING] = 100;
        (t.runtime, t.runtime_now, t.state) = (100, 100, state::RUNNABLE);
        assert_eq!(read(Some((&t, false))), [(7, 100)]);
        assert_eq!(read(None), []);
        t.states[state::RUNNING] = 150;
        (t.runtime, t.runtime_now) = (150, 150);
        assert_eq!(read(Some((&t, true))), [(7, 150)], "and not once more among those that came and went");
        assert_eq!(read(None), []);
    }

    #[test]
    fn what_the_account_lacks_was_stolen() {
        let mut t = thread();
        let mut known = Known::new(&t);
        // Off the CPU after 100 ms, of which the kernel counted 60.
        t.states[state::RUNNING] = 100_000_000;
        (t.runtime, t.runtime_now) = (60_000_000, 60_000_000);
        (t.state, t.since, t.now, t.guessed) = (state::LOCK, 100_000_000, 130_000_000, [2, 1]);
        known.add(&t, &[0; 8]);
        assert_eq!(known.running, [40_000_000, 20_000_000, 40_000_000]);
        assert_eq!((known.totals[column::LOCK], sum(&known)), (30_000_000, 130_000_000));
        // On a CPU since, the account lags: nothing is called stolen that may not be.
        t.states[state::LOCK] = 30_000_000;
        (t.state, t.since, t.now) = (state::RUNNING, 130_000_000, 138_000_000);
        known.add(&t, &[0; 8]);
        assert_eq!((known.running[2], sum(&known)), (40_000_000, 138_000_000));
        // What was shown as used is not taken back.
        t.states[state::RUNNING] += 8_000_000;
        (t.state, t.since, t.now) = (state::LOCK, 138_000_000, 138_000_000);
        known.add(&t, &[0; 8]);
        assert_eq!(sum(&known), 138_000_000);
    }

    #[test]
    fn futex_waits_are_divided_to_the_nanosecond() {
        let mut t = thread();
        let mut known = Known::new(&t);
        t.states[state::UNDECIDED] = 100;
        (t.state, t.since, t.now) = (state::RUNNABLE, 100, 100);
        let mut shares = [0; 8];
        (shares[0], shares[6]) = (1, 2);
        known.add(&t, &shares);
        assert_eq!((known.totals[column::LOCK], known.totals[column::IDLE], sum(&known)), (33, 67, 100));
        // Nothing is known of more: it goes where the last went.
        t.states[state::UNDECIDED] = 110;
        (t.since, t.now) = (110, 110);
        known.add(&t, &[0; 8]);
        assert_eq!((known.totals[column::IDLE], sum(&known)), (77, 110));
    }
}
