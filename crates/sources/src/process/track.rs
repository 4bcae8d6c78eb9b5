//! Who is who from one read to the next: names that change, processes that end, and what they used in between. Both readers
//! (eBPF and `/proc`) hand their samples in here, so that their rows mean the same.

use super::tables::{COUNTERS, GAUGES, PROCESS, PROCESS_EXIT, THREAD, counter};
use model::{NULL, Out};
use std::collections::HashMap;

/// A name as the kernel keeps it: at most 15 bytes of any kind, filled up with zero bytes (`TASK_COMM_LEN`, include/linux/sched.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Comm([u8; 16]);

impl Comm {
    /// The name in `bytes`, which ends at its first zero byte. Kernel threads are known by what stands before the slash: the rest
    /// (`kworker/0:1-events`) is the CPU or the work in hand.
    pub fn new(bytes: &[u8], kernel_thread: bool) -> Self {
        let end = |b: &u8| *b == 0 || (kernel_thread && *b == b'/');
        let mut comm = Comm::default();
        for (to, from) in comm.0.iter_mut().zip(bytes.iter().take_while(|b| !end(b)).take(15)) {
            *to = *from;
        }
        comm
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.split(|&b| b == 0).next().unwrap_or_default()
    }
}

/// The [`COUNTERS`] of a process or thread; [`NULL`] where one was not read.
pub type Counters = [i64; COUNTERS];

/// A process as one read found it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Process id.
    pub pid: i64,
    /// Start, hundredths of a second since boot.
    pub start: i64,
    /// Process id of the parent.
    pub parent: i64,
    /// Whether it is a thread of the kernel.
    pub kernel_thread: bool,
    /// Name.
    pub comm: Comm,
    /// Counters since the process began.
    pub counters: Counters,
    /// Levels.
    pub gauges: [i64; GAUGES],
    /// State letter.
    pub state: u8,
}

/// A thread as one read found it.
#[derive(Clone, Debug)]
pub struct ThreadSample {
    /// Process id.
    pub pid: i64,
    /// Thread id.
    pub tid: i64,
    /// Start, hundredths of a second since boot.
    pub start: i64,
    /// Name.
    pub comm: Comm,
    /// Counters since the thread began.
    pub counters: Counters,
    /// CPU on which it last ran.
    pub cpu: i64,
    /// State letter.
    pub state: u8,
}

/// A process that ended, as the kernel told of its end.
#[cfg(any(test, feature = "bpf"))]
#[derive(Clone, Debug)]
pub struct Ended {
    /// Process id.
    pub pid: i64,
    /// Start, hundredths of a second since boot.
    pub start: i64,
    /// Last name.
    pub comm: Comm,
    /// Name of the parent.
    pub parent: Comm,
    /// Nanoseconds from start to end.
    pub lifetime: i64,
    /// Whether it began after the first read of the recording.
    pub recorded: bool,
    /// Final counters.
    pub counters: Counters,
}

/// The counters of one process or thread over time.
#[derive(Debug)]
struct Entity {
    start: i64,
    comm: Comm,
    name: i64,
    /// Counters when it took its name.
    base: Counters,
    /// Counters at the last read; they never fall.
    last: Counters,
    /// The read that last saw it.
    seen: u64,
}

impl Entity {
    fn new(start: i64, comm: Comm, out: &mut Out<'_>) -> Self {
        let nothing = [0; COUNTERS];
        Entity { start, comm, name: out.passing_bytes(comm.bytes()), base: nothing, last: [NULL; COUNTERS], seen: 0 }
    }

    /// Takes in what a read found and gives the counters since the entity has its name.
    fn update(&mut self, comm: Comm, now: &Counters, out: &mut Out<'_>) -> Counters {
        if comm != self.comm {
            self.comm = comm;
            self.name = out.passing_bytes(comm.bytes());
            self.base = self.last.map(|last| if last == NULL { 0 } else { last });
        }
        let mut since = [NULL; COUNTERS];
        for (((since, last), base), now) in since.iter_mut().zip(&mut self.last).zip(&self.base).zip(now) {
            // Threads that end between the reading of theirs and of their process's counters can count twice or not at all for
            // one read; NULL is less than any counter. What could not be read this time is as it was.
            *last = (*last).max(*now);
            if *last != NULL {
                *since = *last - base;
            }
        }
        since
    }
}

/// The name of the row for all that have none of their own.
const OTHERS: &str = "(others)";

/// Counters of the rows of `process_exit`: ended, short-lived, lifetime, then all counters but those of children.
const EXIT_COUNTERS: usize = 3 + COUNTERS - 2;
/// Most rows of `process_exit`, so that names made from numbers cannot fill the memory. Where another is needed, those go that were not
/// counted for [`IDLE`]; where there are none, what comes goes into one row for all.
const MOST_EXITS: usize = 2_000;
/// A row of `process_exit` that was not counted for so many nanoseconds may go.
const IDLE: u64 = 60_000_000_000;
/// How long the counters of a process that is gone are kept for the message of its end, nanoseconds, and to the next read at least. It
/// comes after an RCU grace period, which is some tens of milliseconds and seldom more than a second.
const WAIT_FOR_END: u64 = 10_000_000_000;

/// What was last read of a process that is gone, and when that was found.
#[derive(Debug)]
struct Departed {
    since: u64,
    read: u64,
    // Only eBPF tells of ends.
    #[cfg_attr(not(any(test, feature = "bpf")), expect(dead_code))]
    last: Counters,
}

/// A row of `process_exit`.
#[derive(Debug)]
struct Exit {
    labels: [i64; 2],
    sums: [i64; EXIT_COUNTERS],
    /// Whether its first row is still to come and must show zeros, for its name may have had a row before: the difference to the next read
    /// is then all that was counted.
    from_zero: bool,
    /// When it was last counted.
    at: u64,
}

/// All processes and threads, from read to read.
#[derive(Debug, Default)]
pub struct Tracker {
    processes: HashMap<i64, Entity>,
    threads: HashMap<i64, Entity>,
    /// Counters of processes that are gone, until the message of their end comes: by pid and start.
    departed: HashMap<(i64, i64), Departed>,
    exits: Vec<Exit>,
    exit_places: HashMap<[i64; 2], usize>,
    /// Whether rows of `process_exit` have gone, so that names may return.
    have_gone: bool,
    /// When the last read was swept.
    now: u64,
    states: HashMap<u8, i64>,
    read: u64,
}

impl Tracker {
    /// Begins a read.
    pub fn begin(&mut self) {
        self.read += 1;
    }

    /// Takes in a process and puts out its row.
    pub fn process(&mut self, sample: &Sample, out: &mut Out<'_>) {
        let read = self.read;
        let state = state_cell(&mut self.states, sample.state, out);
        let known = self.processes.get(&sample.pid).is_some_and(|p| p.start == sample.start);
        if !known {
            let new = Entity::new(sample.start, sample.comm, out);
            if let Some(old) = self.processes.insert(sample.pid, new) {
                // Another process has its pid now.
                self.departed.insert((sample.pid, old.start), Departed { since: 0, read, last: old.last });
            }
        }
        let Some(entity) = self.processes.get_mut(&sample.pid) else { return };
        let since = entity.update(sample.comm, &sample.counters, out);
        entity.seen = read;
        let mut cells = [NULL; 3 + COUNTERS + GAUGES + 1];
        let values = [sample.pid, sample.start, entity.name].into_iter().chain(since).chain(sample.gauges);
        let values = values.chain([state]);
        for (cell, value) in cells.iter_mut().zip(values) {
            *cell = value;
        }
        out.row(PROCESS, &cells);
    }

    /// Takes in a thread and puts out its row.
    pub fn thread(&mut self, sample: &ThreadSample, out: &mut Out<'_>) {
        let read = self.read;
        let state = state_cell(&mut self.states, sample.state, out);
        if self.threads.get(&sample.tid).is_none_or(|t| t.start != sample.start) {
            self.threads.insert(sample.tid, Entity::new(sample.start, sample.comm, out));
        }
        let Some(entity) = self.threads.get_mut(&sample.tid) else { return };
        let since = entity.update(sample.comm, &sample.counters, out);
        entity.seen = read;
        let [user, system, _, _, minor, major, voluntary, involuntary, wait, slices, ..] = since;
        let counters = [user, system, minor, major, voluntary, involuntary, wait, slices];
        let mut cells = [NULL; 4 + 8 + 2];
        let values = [sample.pid, sample.tid, sample.start, entity.name].into_iter().chain(counters);
        let values = values.chain([sample.cpu, state]);
        for (cell, value) in cells.iter_mut().zip(values) {
            *cell = value;
        }
        out.row(THREAD, &cells);
    }

    /// Lets go of threads and processes that this read did not find.
    pub fn sweep(&mut self, now: u64) {
        let read = self.read;
        self.now = now;
        self.threads.retain(|_, t| t.seen == read);
        let departed = &mut self.departed;
        self.processes.retain(|&pid, p| {
            if p.seen != read {
                departed.insert((pid, p.start), Departed { since: now, read, last: p.last });
            }
            p.seen == read
        });
        for gone in departed.values_mut() {
            if gone.since == 0 {
                gone.since = now;
            }
        }
        departed.retain(|_, gone| now.saturating_sub(gone.since) < WAIT_FOR_END || gone.read + 1 >= read);
    }

    #[cfg(any(test, feature = "bpf"))]
    /// Takes in the end of a process: what it used since the last row of it goes to the row of its name and its parent's.
    pub fn ended(&mut self, ended: &Ended, out: &mut Out<'_>) {
        let alive = self.processes.get_mut(&ended.pid).filter(|p| p.start == ended.start);
        let (seen, counters) = match (alive, self.departed.remove(&(ended.pid, ended.start))) {
            (Some(entity), _) => {
                let before = entity.last;
                for (last, now) in entity.last.iter_mut().zip(&ended.counters) {
                    *last = (*last).max(*now);
                }
                (true, before)
            }
            (None, Some(gone)) => (true, gone.last),
            (None, None) => (false, [NULL; COUNTERS]),
        };
        if !seen && !ended.recorded {
            return;
        }
        let mut rest = [NULL; COUNTERS];
        for ((rest, now), before) in rest.iter_mut().zip(&ended.counters).zip(counters) {
            if *now != NULL {
                *rest = (*now - before.max(0)).max(0);
            }
        }
        let labels = [out.passing_bytes(ended.comm.bytes()), out.passing_bytes(ended.parent.bytes())];
        self.add_exit(labels, 1, i64::from(!seen), ended.lifetime, &rest, out);
    }

    /// Adds to the row of `process_exit` with these labels. [`NULL`] adds nothing.
    pub fn add_exit(
        &mut self,
        labels: [i64; 2],
        ended: i64,
        short_lived: i64,
        lifetime: i64,
        used: &Counters,
        out: &mut Out<'_>,
    ) {
        let known = self.exit_places.contains_key(&labels);
        if !known && self.exits.len() >= MOST_EXITS {
            self.forget_exits();
        }
        let labels = if known || self.exits.len() < MOST_EXITS { labels } else { [out.text(OTHERS), out.text(OTHERS)] };
        let (now, have_gone) = (self.now, self.have_gone);
        let place = *self.exit_places.entry(labels).or_insert_with(|| {
            self.exits.push(Exit { labels, sums: [NULL; EXIT_COUNTERS], from_zero: have_gone, at: now });
            self.exits.len() - 1
        });
        let Some(exit) = self.exits.get_mut(place) else { return };
        exit.at = now;
        let children = counter::CHILDREN_USER..=counter::CHILDREN_SYSTEM;
        let used = used.iter().enumerate().filter(|(i, _)| !children.contains(i)).map(|(_, &v)| v);
        for (sum, value) in exit.sums.iter_mut().zip([ended, short_lived, lifetime].into_iter().chain(used)) {
            if value != NULL {
                *sum = (*sum).max(0).saturating_add(value);
            }
        }
    }

    /// Lets go of the rows of `process_exit` that were not counted for a while.
    fn forget_exits(&mut self) {
        let now = self.now;
        let before = self.exits.len();
        self.exits.retain(|exit| now.saturating_sub(exit.at) < IDLE);
        if self.exits.len() < before {
            self.have_gone = true;
            self.exit_places = self.exits.iter().enumerate().map(|(place, exit)| (exit.labels, place)).collect();
        }
    }

    /// Puts out the rows of what ended.
    pub fn put_exits(&mut self, out: &mut Out<'_>) {
        for exit in &mut self.exits {
            let mut cells = [NULL; 2 + EXIT_COUNTERS];
            for (cell, value) in cells.iter_mut().zip(exit.labels.iter().chain(&exit.sums)) {
                *cell = *value;
            }
            if std::mem::take(&mut exit.from_zero) {
                cells.iter_mut().skip(2).filter(|c| **c != NULL).for_each(|c| *c = 0);
            }
            out.row(PROCESS_EXIT, &cells);
        }
    }

    /// The cell of the name of a process.
    pub fn name(&self, pid: i64) -> Option<i64> {
        self.processes.get(&pid).map(|p| p.name)
    }
}

/// The cell of a state letter, which is looked up once.
fn state_cell(states: &mut HashMap<u8, i64>, state: u8, out: &mut Out<'_>) -> i64 {
    if state == 0 { NULL } else { *states.entry(state).or_insert_with(|| out.bytes(&[state])) }
}

#[cfg(test)]
mod tests {
    use super::super::tables::TABLES;
    use super::*;
    use model::{Rows, Symbols};

    fn sample(pid: i64, comm: &[u8], user: i64) -> Sample {
        let mut counters = [NULL; COUNTERS];
        counters[counter::USER] = user;
        Sample {
            pid,
            start: 7,
            parent: 1,
            kernel_thread: false,
            comm: Comm::new(comm, false),
            counters,
            gauges: [0; GAUGES],
            state: b'S',
        }
    }

    /// Runs `step` as one read and gives, for process rows and exit rows, the labels and the user time.
    fn read(
        tracker: &mut Tracker,
        symbols: &mut Symbols,
        step: impl FnOnce(&mut Tracker, &mut Out<'_>),
    ) -> Vec<String> {
        let mut rows = vec![Rows::default(); TABLES.len()];
        let (mut coverage, mut facts) = (Vec::new(), Vec::new());
        let mut out = Out::new("processes", TABLES, &mut rows, symbols, &mut coverage, &mut facts);
        tracker.begin();
        step(tracker, &mut out);
        tracker.put_exits(&mut out);
        let process = rows[PROCESS].iter().map(|r| format!("{} {}", symbols.text(r[2]).unwrap(), r[3]));
        let exits = rows[PROCESS_EXIT]
            .iter()
            .map(|r| format!("exit {} ended {} short {} user {}", symbols.text(r[0]).unwrap(), r[2], r[3], r[5]));
        process.chain(exits).collect()
    }

    fn end(pid: i64, comm: &[u8], user: i64) -> Ended {
        let s = sample(pid, comm, user);
        let parent = Comm::new(b"sh", false);
        Ended { pid, start: 7, comm: s.comm, parent, lifetime: 5, recorded: true, counters: s.counters }
    }

    #[test]
    fn a_new_name_goes_on_from_zero() {
        let (mut t, mut s) = (Tracker::default(), Symbols::default());
        let mut step = |comm: &'static [u8], user| {
            read(&mut t, &mut s, |t, out| {
                t.process(&sample(5, comm, user), out);
            })
        };
        assert_eq!(step(b"sh", 10), ["sh 10"]);
        assert_eq!(step(b"make", 25), ["make 15"]);
        assert_eq!(step(b"make", 30), ["make 20"]);
        // Never backwards.
        assert_eq!(step(b"make", 29), ["make 20"]);
        assert_eq!(step(b"sh", 31), ["sh 1"]);
    }

    #[test]
    fn what_no_row_has_seen_counts_at_the_end() {
        let (mut t, mut s) = (Tracker::default(), Symbols::default());
        let rows = read(&mut t, &mut s, |t, out| {
            t.process(&sample(5, b"job", 10), out);
            t.sweep(1);
            // Ended before the recording: not counted.
            t.ended(&Ended { recorded: false, ..end(8, b"old", 99) }, out);
        });
        assert_eq!(rows, ["job 10"]);
        let rows = read(&mut t, &mut s, |t, out| {
            t.sweep(2);
            t.ended(&end(5, b"job", 14), out);
            t.ended(&end(9, b"true", 3), out);
            t.ended(&end(9, b"true", 4), out);
        });
        assert_eq!(rows, ["exit job ended 1 short 0 user 4", "exit true ended 2 short 2 user 7"]);
    }

    #[test]
    fn a_pid_used_again_is_another_process() {
        let (mut t, mut s) = (Tracker::default(), Symbols::default());
        read(&mut t, &mut s, |t, out| {
            t.process(&sample(5, b"a", 10), out);
        });
        let rows = read(&mut t, &mut s, |t, out| {
            t.process(&Sample { start: 9, ..sample(5, b"a", 2) }, out);
            t.sweep(3);
            t.ended(&end(5, b"a", 11), out);
        });
        assert_eq!(rows, ["a 2", "exit a ended 1 short 0 user 1"]);
    }

    #[test]
    fn names_are_bytes() {
        assert_eq!(Comm::new(b"kworker/0:1-events", true).bytes(), b"kworker");
        assert_eq!(Comm::new(b"a/b\n\xff", false).bytes(), b"a/b\n\xff");
        assert_eq!(Comm::new(b"0123456789abcdefgh", false).bytes(), b"0123456789abcde");
    }

    #[test]
    fn strings_of_what_is_gone_are_forgotten() {
        let (mut t, mut s) = (Tracker::default(), Symbols::default());
        let mut most = 0;
        for step in 0..3_000_i64 {
            let mut rows = vec![Rows::default(); TABLES.len()];
            let (mut coverage, mut facts) = (Vec::new(), Vec::new());
            let mut out = Out::new("processes", TABLES, &mut rows, &mut s, &mut coverage, &mut facts);
            t.begin();
            // Ten processes a second that live for one read, each with a name of its own.
            for pid in step * 10..step * 10 + 10 {
                t.process(&sample(pid, format!("n{pid}").as_bytes(), 1), &mut out);
                if step > 0 {
                    t.ended(&end(pid - 10, format!("n{}", pid - 10).as_bytes(), 1), &mut out);
                }
            }
            t.sweep(step as u64 * 1_000_000_000);
            t.put_exits(&mut out);
            if step % 10 == 0 {
                s.forget(rows.iter().flat_map(|r| &r.cells).copied());
            }
            // Every row can be read.
            let labels = rows[PROCESS_EXIT].iter().all(|r| s.text(r[0]).is_some() && s.text(r[1]).is_some());
            assert!(labels && rows[PROCESS].iter().all(|r| s.text(r[2]).is_some()), "{step}");
            if step > 1_000 {
                most = most.max(s.len());
            }
        }
        assert!(most < MOST_EXITS + 500, "{most} of 30,000 names are held");
    }

    #[test]
    fn a_name_that_returns_begins_at_zero_and_loses_nothing() {
        let (mut t, mut s) = (Tracker::default(), Symbols::default());
        let fill = |t: &mut Tracker, out: &mut Out<'_>, from: i64| {
            for pid in from..from + MOST_EXITS as i64 - 1 {
                t.ended(&end(pid, format!("job{pid}").as_bytes(), 1), out);
            }
        };
        let find = |rows: &[String]| rows.iter().find(|r| r.starts_with("exit again ")).cloned();
        let mut step = |now: u64, from: i64, again: &[i64]| {
            read(&mut t, &mut s, |t, out| {
                t.sweep(now);
                again.iter().for_each(|&user| t.ended(&end(1_000_000 + user, b"again", user), out));
                if from >= 0 {
                    fill(t, out, from);
                }
            })
        };
        assert_eq!(find(&step(1, 0, &[5])).as_deref(), Some("exit again ended 1 short 1 user 5"));
        // Others take the places, a minute later.
        let rows = step(IDLE + 2, 10_000, &[]);
        assert!(find(&rows).is_none() && rows.len() <= MOST_EXITS, "{}", rows.len());
        assert_eq!(find(&step(IDLE + 3, -1, &[7])).as_deref(), Some("exit again ended 0 short 0 user 0"));
        assert_eq!(find(&step(IDLE + 4, -1, &[2])).as_deref(), Some("exit again ended 2 short 2 user 9"));
    }

    #[test]
    fn names_without_end_do_not_fill_the_memory() {
        let (mut t, mut s) = (Tracker::default(), Symbols::default());
        let rows = read(&mut t, &mut s, |t, out| {
            for pid in 0..MOST_EXITS as i64 + 100 {
                t.ended(&end(pid, format!("job{pid}").as_bytes(), 1), out);
            }
        });
        assert_eq!(rows.len(), MOST_EXITS + 1);
        assert_eq!(rows.last().unwrap(), "exit (others) ended 100 short 100 user 100");
    }
}
