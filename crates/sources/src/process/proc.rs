//! Reads processes from `/proc`: the way that works without privileges. Files are held open as far as the limit of open files allows.
//! Costly files (`status`, `schedstat`, `io`) are read for processes that moved, and now and then for the others.

use super::info::{Infos, Mark};
use super::stat::{Stat, TICK};
use super::tables::{COUNTERS, GAUGES, counter, gauge};
use super::track::{Comm, Counters, Sample, ThreadSample, Tracker};
use crate::parse;
use host::{HeldFile, Host, ReadError};
use model::{NULL, Out, Unavailable};
use std::collections::HashMap;

/// Files left for everything else in the program.
const SPARE_FILES: u64 = 256;
/// Every so many reads, the costly files of a process that did not move are read all the same.
const REFRESH: u64 = 30;
/// Processes with more threads than this have their threads read only every [`SLOW`] reads, unless threads are asked for.
const MANY_THREADS: usize = 32;
/// See [`MANY_THREADS`].
const SLOW: u64 = 10;
/// Every so many reads, the control group of a process is looked at again.
const REGROUP: u64 = 120;

/// What a tick needs to read files: where, into what, and how many more may stay open.
struct Door<'a> {
    host: &'a Host,
    buffer: &'a mut Vec<u8>,
    room: &'a mut u64,
}

/// A file of a process that is kept open while there is room.
#[derive(Debug, Default)]
struct Slot(Option<HeldFile>);

impl Slot {
    /// Reads the file, opening it at `path` when it is not open.
    fn read<'b>(&mut self, door: &'b mut Door<'_>, path: impl FnOnce() -> String) -> Result<&'b [u8], ReadError> {
        if let Some(file) = &mut self.0 {
            return file.read_record_into(door.host, door.buffer);
        }
        let mut file = door.host.open(&path())?;
        let read = file.read_record_into(door.host, door.buffer)?;
        if *door.room > 0 {
            *door.room -= 1;
            self.0 = Some(file);
        }
        Ok(read)
    }

    fn close(&mut self, room: &mut u64) {
        if self.0.take().is_some() {
            *room += 1;
        }
    }
}

/// A thread of a process.
#[derive(Debug, Default)]
struct Thread {
    tid: i64,
    stat: Slot,
    schedstat: Slot,
    status: Slot,
    /// Voluntary and involuntary switches, run-queue wait, times on a CPU; [`NULL`] where never read.
    sums: [i64; 4],
    swap: i64,
    alive: bool,
}

impl Thread {
    fn read(&mut self, pid: i64, door: &mut Door<'_>) {
        let tid = self.tid;
        // A thread that ended in between keeps what it was last seen with.
        if let Ok(line) = self.schedstat.read(door, || format!("/proc/{pid}/task/{tid}/schedstat")) {
            let mut words = parse::words(line.trim_ascii());
            words.next();
            self.sums[2] = words.number();
            self.sums[3] = words.number();
        }
        if let Ok(text) = self.status.read(door, || format!("/proc/{pid}/task/{tid}/status")) {
            for line in parse::lines(text) {
                let (to, rest) = if let Some(rest) = line.strip_prefix(b"voluntary_ctxt_switches:") {
                    (&mut self.sums[0], rest)
                } else if let Some(rest) = line.strip_prefix(b"nonvoluntary_ctxt_switches:") {
                    (&mut self.sums[1], rest)
                } else if let Some(rest) = line.strip_prefix(b"VmSwap:") {
                    (&mut self.swap, rest)
                } else {
                    continue;
                };
                *to = parse::words(rest).number();
            }
        }
    }

    fn close(&mut self, room: &mut u64) {
        for slot in [&mut self.stat, &mut self.schedstat, &mut self.status] {
            slot.close(room);
        }
    }
}

/// Adds `b` to `a`, where [`NULL`] is nothing.
fn add(a: &mut i64, b: i64) {
    if b != NULL {
        *a = (*a).max(0).saturating_add(b);
    }
}

/// A process that is followed.
#[derive(Debug)]
struct Held {
    stat: Slot,
    io: Slot,
    io_denied: bool,
    threads: Vec<Thread>,
    /// Sums of threads that ended while they were followed.
    ended: [i64; 4],
    sample: Sample,
    /// Times, then faults, of itself and of children that were waited for.
    own: [i64; 4],
    children: [i64; 4],
    seen: u64,
}

impl Held {
    fn close(&mut self, room: &mut u64) {
        self.stat.close(room);
        self.io.close(room);
        for thread in &mut self.threads {
            thread.close(room);
        }
    }

    /// Reads `io`. Says whether it was refused for the first time.
    fn read_io(&mut self, door: &mut Door<'_>) -> bool {
        if self.io_denied || self.sample.kernel_thread {
            return false;
        }
        let pid = self.sample.pid;
        let text = match self.io.read(door, || format!("/proc/{pid}/io")) {
            Ok(text) => text,
            Err(error) => {
                self.io_denied = error.is_denied();
                return self.io_denied;
            }
        };
        for line in parse::lines(text) {
            let mut words = parse::words(line);
            let place = match words.next() {
                Some(b"rchar:") => counter::READ_CHARS,
                Some(b"wchar:") => counter::WRITE_CHARS,
                Some(b"syscr:") => counter::READ_CALLS,
                Some(b"syscw:") => counter::WRITE_CALLS,
                Some(b"read_bytes:") => counter::READ_BYTES,
                Some(b"write_bytes:") => counter::WRITE_BYTES,
                _ => continue,
            };
            self.sample.counters[place] = words.number();
        }
        false
    }

    /// Finds the threads that there are now.
    fn list_threads(&mut self, count: i64, door: &mut Door<'_>, tids: &mut Vec<i64>) {
        let pid = self.sample.pid;
        if count <= 1 {
            tids.clear();
            tids.push(pid);
        } else if door.host.numbers_in(&format!("/proc/{pid}/task"), tids).is_err() {
            return;
        }
        for thread in &mut self.threads {
            thread.alive = tids.binary_search(&thread.tid).is_ok();
            if !thread.alive {
                thread.close(door.room);
                for (sum, last) in self.ended.iter_mut().zip(thread.sums) {
                    add(sum, last);
                }
            }
        }
        self.threads.retain(|t| t.alive);
        for &tid in tids.iter() {
            if let Err(place) = self.threads.binary_search_by_key(&tid, |t| t.tid) {
                let new = Thread { tid, sums: [NULL; 4], swap: NULL, ..Thread::default() };
                self.threads.insert(place, new);
            }
        }
    }

    /// Reads the costly files of its threads and sums them up.
    fn read_threads(&mut self, door: &mut Door<'_>) {
        let mut sums = self.ended;
        for thread in &mut self.threads {
            thread.read(self.sample.pid, door);
            for (sum, value) in sums.iter_mut().zip(thread.sums) {
                add(sum, value);
            }
            if thread.swap != NULL {
                self.sample.gauges[gauge::SWAP] = thread.swap.saturating_mul(1024);
            }
        }
        let [voluntary, involuntary, wait, slices] = sums;
        self.sample.counters[counter::VOLUNTARY] = voluntary;
        self.sample.counters[counter::INVOLUNTARY] = involuntary;
        self.sample.counters[counter::RUN_WAIT] = wait;
        self.sample.counters[counter::SLICES] = slices;
    }
}

/// Clock ticks in nanoseconds.
fn nanoseconds(ticks: i64) -> i64 {
    if ticks == NULL { NULL } else { ticks.saturating_mul(TICK) }
}

/// Reads all processes from `/proc`.
#[derive(Debug)]
pub struct ProcReader {
    with_threads: bool,
    page: i64,
    /// Further files that may be held open.
    room: u64,
    held: HashMap<i64, Held>,
    pids: Vec<i64>,
    tids: Vec<i64>,
    buffer: Vec<u8>,
    read: u64,
    io_refused: bool,
    /// What rows have shown of processes that were found gone at the last read, but that had not been added to the times of this ancestor's
    /// children when it was read: the child ended after its parent was read.
    owed: HashMap<i64, [i64; 4]>,
}

impl ProcReader {
    /// Finds out what can be read.
    pub fn open(host: &Host, with_threads: bool) -> Result<Self, Unavailable> {
        let mut pids = Vec::new();
        host.numbers_in("/proc", &mut pids)?;
        let limit = if host.is_fixture() { u64::MAX } else { host::raise_open_files() };
        Ok(ProcReader {
            with_threads,
            page: if host.is_fixture() { 4096 } else { rustix::param::page_size() as i64 },
            room: limit.saturating_sub(SPARE_FILES),
            held: HashMap::new(),
            pids,
            tids: Vec::new(),
            buffer: Vec::new(),
            read: 0,
            io_refused: false,
            owed: HashMap::new(),
        })
    }

    /// Reads once.
    pub fn read(
        &mut self,
        host: &Host,
        tracker: &mut Tracker,
        infos: &mut Infos,
        out: &mut Out<'_>,
    ) -> Result<(), Unavailable> {
        self.read += 1;
        if self.read == 1 {
            say_what_is_hidden(host, out);
        }
        let mut pids = std::mem::take(&mut self.pids);
        host.numbers_in("/proc", &mut pids)?;
        let mut children: Vec<(i64, [i64; 4])> = Vec::new();
        for &pid in &pids {
            // What is gone by the time it is read has ended, which is no error. A held file of a process that is gone reads as
            // absent though its pid may be another's by now: then it is opened afresh, once.
            if !self.process(pid, host, tracker, infos, &mut children, out) && self.held.contains_key(&pid) {
                self.forget(pid);
                self.process(pid, host, tracker, infos, &mut children, out);
            }
        }
        self.pids = pids;
        self.put_ended(&children, tracker, out);
        tracker.sweep(host.now());
        infos.sweep();
        Ok(())
    }

    fn forget(&mut self, pid: i64) {
        if let Some(mut held) = self.held.remove(&pid) {
            held.close(&mut self.room);
        }
    }

    /// Reads one process and puts out its rows. False where it is gone.
    fn process(
        &mut self,
        pid: i64,
        host: &Host,
        tracker: &mut Tracker,
        infos: &mut Infos,
        children: &mut Vec<(i64, [i64; 4])>,
        out: &mut Out<'_>,
    ) -> bool {
        let mut door = Door { host, buffer: &mut self.buffer, room: &mut self.room };
        let new = !self.held.contains_key(&pid);
        let held = self.held.entry(pid).or_insert_with(|| Held {
            stat: Slot::default(),
            io: Slot::default(),
            io_denied: false,
            threads: Vec::new(),
            ended: [NULL; 4],
            sample: Sample {
                pid,
                start: NULL,
                parent: NULL,
                kernel_thread: false,
                comm: Comm::default(),
                counters: [NULL; COUNTERS],
                gauges: [NULL; GAUGES],
                state: 0,
            },
            own: [0; 4],
            children: [0; 4],
            seen: 0,
        });
        let Held { stat, sample, own, children: children_before, .. } = held;
        let parsed = stat.read(&mut door, || format!("/proc/{pid}/stat")).ok().and_then(Stat::parse);
        let Some(stat) = parsed.filter(|s| new || s.start == sample.start) else {
            if new {
                self.forget(pid);
            }
            return false;
        };
        let [user, system] = stat.times.map(nanoseconds);
        let [children_user, children_system] = stat.children_times.map(nanoseconds);
        let [minor, major] = stat.faults;
        let now = [user, system, minor, major];
        let moved = new || now != *own || stat.threads != sample.gauges[gauge::THREADS];
        *own = now;
        let of_children = [children_user, children_system, stat.children_faults[0], stat.children_faults[1]];
        // Of a process that began since the last read, all children ended since then.
        if (!new || self.read > 1) && of_children != *children_before {
            let mut by = [0; 4];
            for ((by, now), before) in by.iter_mut().zip(of_children).zip(*children_before) {
                *by = now.saturating_sub(before);
            }
            children.push((pid, by));
        }
        *children_before = of_children;
        let mark = Mark { exec: stat.arguments, uid: NULL, cgroup: NULL };
        let name = NameBuffer::new(stat.comm);
        sample.start = stat.start;
        sample.parent = stat.parent;
        sample.kernel_thread = stat.kernel_thread;
        sample.comm = Comm::new(stat.comm, stat.kernel_thread);
        sample.state = stat.state;
        sample.counters[counter::USER] = user;
        sample.counters[counter::SYSTEM] = system;
        sample.counters[counter::CHILDREN_USER] = children_user;
        sample.counters[counter::CHILDREN_SYSTEM] = children_system;
        sample.counters[counter::MINOR_FAULTS] = minor;
        sample.counters[counter::MAJOR_FAULTS] = major;
        sample.gauges[gauge::RSS] = if stat.rss == NULL { NULL } else { stat.rss.saturating_mul(self.page) };
        sample.gauges[gauge::SIZE] = stat.size;
        sample.gauges[gauge::THREADS] = stat.threads;
        sample.gauges[gauge::CPU] = stat.cpu;
        sample.gauges[gauge::PRIORITY] = stat.priority;
        sample.gauges[gauge::NICE] = stat.nice;
        let threads = stat.threads;
        held.seen = self.read;

        let turn = |every: u64| (self.read + pid as u64).is_multiple_of(every);
        if moved || turn(REFRESH) {
            let known = i64::try_from(held.threads.len()).unwrap_or(0);
            if known != threads.max(1) || (threads > 1 && turn(SLOW)) {
                held.list_threads(threads, &mut door, &mut self.tids);
            }
            if self.with_threads || held.threads.len() <= MANY_THREADS || turn(SLOW) || new {
                held.read_threads(&mut door);
            }
            if held.read_io(&mut door) && !self.io_refused {
                self.io_refused = true;
                let why = Unavailable::denied(format!(
                    "/proc/{pid}/io and that of other users' processes: permission denied"
                ));
                out.missing("process.read_bytes", why.remedy("run as root, or with CAP_SYS_PTRACE"));
            }
        }
        tracker.process(&held.sample, out);
        infos.put(host, &held.sample, name.bytes(), mark, turn(REGROUP), out);
        if self.with_threads {
            put_threads(held, &mut door, tracker, out);
        }
        true
    }

    /// Processes that ended since the read before: what was waited-for is in the children's times of the nearest ancestor that is
    /// alive; what rows have shown of it already is taken off.
    fn put_ended(&mut self, children: &[(i64, [i64; 4])], tracker: &mut Tracker, out: &mut Out<'_>) {
        let read = self.read;
        let mut rest: HashMap<i64, [i64; 4]> = children.iter().copied().collect();
        for (ancestor, owed) in std::mem::take(&mut self.owed) {
            if let Some(rest) = rest.get_mut(&ancestor) {
                take_off(rest, owed);
            }
        }
        let gone: Vec<i64> = self.held.iter().filter(|(_, h)| h.seen != read).map(|(&pid, _)| pid).collect();
        for pid in &gone {
            let Some(held) = self.held.get(pid) else { continue };
            let mut ancestor = held.sample.parent;
            // No chain of parents is longer than there are processes that ended.
            for _ in 0..=gone.len() {
                match self.held.get(&ancestor) {
                    Some(parent) if parent.seen != read => ancestor = parent.sample.parent,
                    _ => break,
                }
            }
            let mut shown = [0i64; 4];
            for ((shown, own), children) in shown.iter_mut().zip(held.own).zip(held.children) {
                *shown = own.max(0).saturating_add(children.max(0));
            }
            // Where the children's times have not grown by that much, they will have at the next read.
            let owed = rest.get_mut(&ancestor).map_or(shown, |rest| take_off(rest, shown));
            for (sum, owed) in self.owed.entry(ancestor).or_default().iter_mut().zip(owed) {
                *sum = sum.saturating_add(owed);
            }
        }
        for pid in gone {
            self.forget(pid);
        }
        for (pid, _) in children {
            let (Some(used), Some(parent)) = (rest.get(pid), tracker.name(*pid)) else { continue };
            let [user, system, minor, major] = used.map(|v| v.max(0));
            if user + system + minor + major == 0 {
                continue;
            }
            let mut counters: Counters = [NULL; COUNTERS];
            counters[counter::USER] = user;
            counters[counter::SYSTEM] = system;
            counters[counter::MINOR_FAULTS] = minor;
            counters[counter::MAJOR_FAULTS] = major;
            let comm = out.text("(not known)");
            tracker.add_exit([comm, parent], NULL, NULL, NULL, &counters, out);
        }
        tracker.put_exits(out);
    }
}

/// Takes `less` off `from`, down to 0, and gives what there was not enough for.
fn take_off(from: &mut [i64; 4], less: [i64; 4]) -> [i64; 4] {
    let mut left = [0; 4];
    for ((left, from), less) in left.iter_mut().zip(from).zip(less) {
        *left = less.saturating_sub((*from).max(0)).max(0);
        *from = from.saturating_sub(less).max(0);
    }
    left
}

/// Puts out the rows of the threads of a process.
fn put_threads(held: &mut Held, door: &mut Door<'_>, tracker: &mut Tracker, out: &mut Out<'_>) {
    let Sample { pid, kernel_thread, .. } = held.sample;
    for thread in &mut held.threads {
        let tid = thread.tid;
        let read = thread.stat.read(door, || format!("/proc/{pid}/task/{tid}/stat"));
        let Some(stat) = read.ok().and_then(Stat::parse) else { continue };
        let mut counters: Counters = [NULL; COUNTERS];
        let [user, system] = stat.times.map(nanoseconds);
        let [minor, major] = stat.faults;
        let [voluntary, involuntary, wait, slices] = thread.sums;
        counters[counter::USER] = user;
        counters[counter::SYSTEM] = system;
        counters[counter::MINOR_FAULTS] = minor;
        counters[counter::MAJOR_FAULTS] = major;
        counters[counter::VOLUNTARY] = voluntary;
        counters[counter::INVOLUNTARY] = involuntary;
        counters[counter::RUN_WAIT] = wait;
        counters[counter::SLICES] = slices;
        let comm = Comm::new(stat.comm, kernel_thread);
        let sample = ThreadSample { pid, tid, start: stat.start, comm, counters, cpu: stat.cpu, state: stat.state };
        tracker.thread(&sample, out);
    }
}

/// A copy of a name out of the buffer that the next file overwrites. Kernel threads have names of up to 64 bytes.
struct NameBuffer {
    bytes: [u8; 64],
    length: usize,
}

impl NameBuffer {
    fn new(name: &[u8]) -> Self {
        let mut bytes = [0; 64];
        let length = name.len().min(64);
        for (to, from) in bytes.iter_mut().zip(name) {
            *to = *from;
        }
        NameBuffer { bytes, length }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// With the mount option `hidepid`, `/proc` does not show processes of other users (Documentation/filesystems/proc.rst).
fn say_what_is_hidden(host: &Host, out: &mut Out<'_>) {
    let Ok(mounts) = host.read("/proc/self/mounts") else { return };
    let hides = parse::lines(&mounts).any(|line| {
        let mut words = parse::words(line);
        let (_, at, kind, options) = (words.next(), words.next(), words.next(), words.next().unwrap_or_default());
        let hiding = |o: &[u8]| matches!(o.strip_prefix(b"hidepid="), Some(v) if v != b"0" && v != b"off");
        at == Some(b"/proc") && kind == Some(b"proc") && options.split(|&b| b == b',').any(hiding)
    });
    if hides && host.read("/proc/1/stat").is_err() {
        let why = Unavailable::denied("/proc is mounted with hidepid: processes of other users are not shown");
        let remedy = "run as root, with CAP_SYS_PTRACE, or in the group that the mount option gid= names";
        out.missing("other users' processes", why.remedy(remedy));
    }
}
