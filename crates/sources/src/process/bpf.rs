//! Reads all tasks in one pass by eBPF (`processes.bpf.c`), and hears of the end of each process.
//!
//! The times of a process are the sums that its signal_struct holds of ended threads plus those of the threads alive. The kernel
//! measures run time exactly and guesses its parts in user mode and in the kernel at each tick; what `/proc` shows is the exact time, divided
//! as the guesses are (`cputime_adjust` in kernel/sched/cputime.c). The same is done here, from the same state, so that both
//! agree; `/proc` cuts them off at 10 ms, here they are exact.

use super::info::{Infos, Mark};
use super::stat::{PF_KTHREAD, TICK};
use super::tables::{COUNTERS, GAUGES, counter, gauge};
use super::track::{Comm, Counters, Ended, Sample, ThreadSample, Tracker};
use crate::cputime;
use crate::tally::{Counts, Fields, trimmed, whole};
use host::Host;
use host::bpf::{Iterator as TaskIterator, Map, Programs, Ring};
use model::{NULL, Out, Unavailable};
use std::collections::HashMap;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/processes.bpf.o"));

/// `KIND_THREAD` and `KIND_PROCESS` of processes.bpf.c.
const KIND_THREAD: u32 = 1;
const KIND_PROCESS: u32 = 2;
/// `HAS_…` of processes.bpf.c.
const HAS_MEMORY: u32 = 1;
const HAS_SCHED_INFO: u32 = 2;
const HAS_CHARS: u32 = 4;
const HAS_BYTES: u32 = 8;
/// How long after the exit of a process the kernel is waited for to tell that it was freed, nanoseconds. It comes after an RCU grace
/// period, some tens of milliseconds as a rule.
const PATIENCE: u64 = 5_000_000_000;
/// How often it is looked for processes of which it never came, nanoseconds.
const LOOK_FOR_MISSED: u64 = 2_000_000_000;
/// How long it is remembered that an end was counted from its note, nanoseconds: should the kernel tell of it after all.
const REMEMBER: u64 = 600_000_000_000;
/// Every so many reads, the control group of a process is looked at again: eBPF sees a change in version 2 only.
const REGROUP: u64 = 120;

/// `struct own`.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    utime: u64,
    stime: u64,
    runtime: u64,
    /// Faults, switches, waiting, slices, bytes, characters and calls, in the order of the structure.
    others: [u64; 12],
}

impl Own {
    const SIZE: usize = 15 * 8;

    fn read(fields: &mut Fields<'_>) -> Self {
        Own { utime: fields.u64(), stime: fields.u64(), runtime: fields.u64(), others: fields.numbers() }
    }

    fn add(&mut self, more: &Own) {
        self.utime = self.utime.wrapping_add(more.utime);
        self.stime = self.stime.wrapping_add(more.stime);
        self.runtime = self.runtime.wrapping_add(more.runtime);
        for (sum, value) in self.others.iter_mut().zip(more.others) {
            *sum = sum.wrapping_add(value);
        }
    }

    fn counters(&self, [user, system]: [u64; 2], children: [u64; 2], has: u32) -> Counters {
        let mut cells = [NULL; COUNTERS];
        let [minor, major, voluntary, involuntary, wait, slices, read, write, rchar, wchar, syscr, syscw] = self.others;
        let all = [
            (counter::USER, user, true),
            (counter::SYSTEM, system, true),
            (counter::CHILDREN_USER, children[0], true),
            (counter::CHILDREN_SYSTEM, children[1], true),
            (counter::MINOR_FAULTS, minor, true),
            (counter::MAJOR_FAULTS, major, true),
            (counter::VOLUNTARY, voluntary, true),
            (counter::INVOLUNTARY, involuntary, true),
            (counter::RUN_WAIT, wait, has & HAS_SCHED_INFO != 0),
            (counter::SLICES, slices, has & HAS_SCHED_INFO != 0),
            (counter::READ_BYTES, read, has & HAS_BYTES != 0),
            (counter::WRITE_BYTES, write, has & HAS_BYTES != 0),
            (counter::READ_CHARS, rchar, has & HAS_CHARS != 0),
            (counter::WRITE_CHARS, wchar, has & HAS_CHARS != 0),
            (counter::READ_CALLS, syscr, has & HAS_CHARS != 0),
            (counter::WRITE_CALLS, syscw, has & HAS_CHARS != 0),
        ];
        for (place, value, there) in all {
            if let Some(cell) = cells.get_mut(place)
                && there
            {
                *cell = whole(value);
            }
        }
        cells
    }

    /// User and system time, see [`cputime::divide`].
    fn times(&self, before: [u64; 2]) -> [u64; 2] {
        cputime::divide([self.utime, self.stime], self.runtime, before)
    }
}

/// `struct thread_record`.
#[derive(Clone, Copy, Debug)]
struct Task {
    pid: u32,
    tid: u32,
    cpu: u32,
    start: u64,
    before: [u64; 2],
    own: Own,
    name: [u8; 16],
    state: u32,
    exit_state: u32,
}

impl Task {
    const SIZE: usize = 4 * 4 + 3 * 8 + Own::SIZE + 16 + 2 * 4;

    fn read(fields: &mut Fields<'_>) -> Self {
        // The kind, by which the caller chose what to read.
        fields.u32();
        Task {
            pid: fields.u32(),
            tid: fields.u32(),
            cpu: fields.u32(),
            start: fields.u64(),
            before: fields.numbers(),
            own: Own::read(fields),
            name: fields.name(),
            state: fields.u32(),
            exit_state: fields.u32(),
        }
    }

    /// The letter that `/proc` shows, `task_index_to_char` of include/linux/sched.h.
    fn letter(&self) -> u8 {
        const TASK_IDLE: u32 = 0x402;
        if self.exit_state & 0x20 != 0 {
            return b'Z';
        }
        if self.exit_state & 0x10 != 0 {
            return b'X';
        }
        match self.state {
            0 => b'R',
            state if state & TASK_IDLE == TASK_IDLE => b'I',
            state if state & 0x1 != 0 => b'S',
            state if state & 0x2 != 0 => b'D',
            state if state & 0x4 != 0 => b'T',
            state if state & 0x8 != 0 => b't',
            // Frozen, waiting for a run-queue lock and other short states: not to be ended, not running.
            _ => b'D',
        }
    }
}

/// `struct process_record`.
#[derive(Clone, Copy, Debug)]
struct Process {
    task: Task,
    sums: Own,
    children: [u64; 2],
    before: [u64; 2],
    pages: [u64; 3],
    cgroup: u64,
    threads: u32,
    priority: i32,
    static_priority: i32,
    flags: u32,
    parent: u32,
    uid: u32,
    exec: u32,
    has: u32,
}

impl Process {
    const SIZE: usize = Task::SIZE + Own::SIZE + 8 * 8 + 8 * 4;

    fn read(fields: &mut Fields<'_>) -> Self {
        Process {
            task: Task::read(fields),
            sums: Own::read(fields),
            children: fields.numbers(),
            before: fields.numbers(),
            pages: fields.numbers(),
            cgroup: fields.u64(),
            threads: fields.u32(),
            priority: fields.u32().cast_signed(),
            static_priority: fields.u32().cast_signed(),
            flags: fields.u32(),
            parent: fields.u32(),
            uid: fields.u32(),
            exec: fields.u32(),
            has: fields.u32(),
        }
    }
}

/// `LOST_ENDS` of processes.bpf.c.
const LOST_ENDS: u32 = 0;

/// `struct end_record`.
#[derive(Clone, Copy, Debug)]
struct End {
    start: u64,
    born: u64,
    lifetime: u64,
    before: [u64; 2],
    sums: Own,
    pid: u32,
    flags: u32,
    name: [u8; 16],
    parent: [u8; 16],
}

impl End {
    fn read(record: &[u8]) -> Self {
        let mut fields = Fields::of(record);
        End {
            start: fields.u64(),
            born: fields.u64(),
            lifetime: fields.u64(),
            before: fields.numbers(),
            sums: Own::read(&mut fields),
            pid: fields.u32(),
            flags: fields.u32(),
            name: fields.name(),
            parent: fields.name(),
        }
    }

    /// `first`: when the first read began. What began before and was not seen by it had ended by then.
    fn ended(&self, first: u64, has: u32) -> Ended {
        let kernel_thread = i64::from(self.flags) & PF_KTHREAD != 0;
        Ended {
            pid: i64::from(self.pid),
            start: ticks(self.start),
            comm: Comm::new(&self.name, kernel_thread),
            parent: Comm::new(&self.parent, kernel_thread),
            lifetime: if self.lifetime == 0 { NULL } else { whole(self.lifetime) },
            recorded: self.born >= first,
            counters: self.sums.counters(self.sums.times(self.before), [0; 2], has),
        }
    }
}

/// Times shown last of a process or thread.
#[derive(Clone, Copy, Debug)]
struct Shown {
    start: u64,
    times: [u64; 2],
    seen: u64,
}

/// Reads all processes by eBPF.
pub struct BpfReader {
    with_threads: bool,
    page: i64,
    tasks: TaskIterator,
    ends: Ring,
    /// What exited and was not freed yet, as it was at exit.
    notes: Map,
    /// When it was last looked for notes that stayed, and the pid and start of those that were counted, with the time of that.
    looked: u64,
    counted: HashMap<(u32, u64), u64>,
    /// How long after its exit a process is waited for: not at all where the next read is the last.
    patience: u64,
    lost: Counts,
    lost_before: [u64; 2],
    /// Holds the programs attached.
    _programs: Programs,
    /// When the first read began: what ended before is not of this recording.
    first: u64,
    read: u64,
    has: u32,
    buffer: Vec<u8>,
    processes: Vec<Process>,
    threads: Vec<Task>,
    places: HashMap<u32, usize>,
    shown: HashMap<u32, Shown>,
}

impl BpfReader {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, with_threads: bool) -> Result<Self, Unavailable> {
        let mut programs = Programs::load(host, "processes", OBJECT, &[], &[])?;
        let tasks = programs.iterator("each_task")?;
        programs.attach("process_exits")?;
        programs.attach("task_is_freed")?;
        Ok(BpfReader {
            with_threads,
            page: rustix::param::page_size() as i64,
            tasks,
            ends: programs.ring("ends")?,
            notes: programs.map("exit_notes")?,
            looked: 0,
            counted: HashMap::new(),
            patience: PATIENCE,
            lost: Counts::of(&programs)?,
            lost_before: [0; 2],
            _programs: programs,
            first: 0,
            read: 0,
            has: 0,
            buffer: Vec::new(),
            processes: Vec::new(),
            threads: Vec::new(),
            places: HashMap::new(),
            shown: HashMap::new(),
        })
    }

    /// The next read is the last: who has exited by then counts as its note says, for its end will not be told any more.
    pub fn ends(&mut self) {
        self.patience = 0;
        self.looked = 0;
    }

    /// Reads once. Where it fails, no row was put out.
    pub fn read(
        &mut self,
        host: &Host,
        tracker: &mut Tracker,
        infos: &mut Infos,
        out: &mut Out<'_>,
    ) -> Result<(), Unavailable> {
        self.read += 1;
        if self.first == 0 {
            self.first = host.now();
        }
        self.tasks.read_into(&mut self.buffer)?;
        self.take_records()?;
        let processes = std::mem::take(&mut self.processes);
        for process in &processes {
            self.put(host, process, tracker, infos, out);
        }
        self.processes = processes;
        if self.with_threads {
            self.put_threads(tracker, out);
        }
        let read = self.read;
        self.shown.retain(|_, shown| shown.seen == read);
        tracker.sweep(host.now());
        infos.sweep();
        self.put_ends(host.now(), tracker, out);
        self.say_what_was_lost(out);
        Ok(())
    }

    /// Sorts the records of one pass into processes and threads, and adds up threads.
    fn take_records(&mut self) -> Result<(), Unavailable> {
        self.processes.clear();
        self.threads.clear();
        self.places.clear();
        let mut rest = self.buffer.as_slice();
        while let Some((kind, _)) = rest.split_first_chunk::<4>() {
            let size = match u32::from_ne_bytes(*kind) {
                KIND_THREAD => Task::SIZE,
                KIND_PROCESS => Process::SIZE,
                other => return Err(Unavailable::failed(format!("eBPF processes: a record of unknown kind {other}"))),
            };
            let Some((record, after)) = rest.split_at_checked(size) else {
                return Err(Unavailable::failed("eBPF processes: the last record is cut off"));
            };
            rest = after;
            let mut fields = Fields::of(record);
            if size == Task::SIZE {
                self.threads.push(Task::read(&mut fields));
            } else {
                let mut process = Process::read(&mut fields);
                process.sums.add(&process.task.own);
                self.has |= process.has & !HAS_MEMORY;
                self.places.insert(process.task.pid, self.processes.len());
                self.processes.push(process);
            }
        }
        for thread in &self.threads {
            if let Some(process) = self.places.get(&thread.pid).and_then(|&at| self.processes.get_mut(at)) {
                process.sums.add(&thread.own);
            }
        }
        Ok(())
    }

    /// Divides the run time of a process or thread into user and system time, from what was shown of it before.
    fn times(&mut self, key: u32, start: u64, sums: &Own, kernel: [u64; 2]) -> [u64; 2] {
        let shown = self.shown.entry(key).or_insert(Shown { start, times: kernel, seen: 0 });
        if shown.start != start {
            *shown = Shown { start, times: kernel, seen: 0 };
        }
        shown.seen = self.read;
        shown.times = sums.times(shown.times);
        shown.times
    }

    fn put(&mut self, host: &Host, process: &Process, tracker: &mut Tracker, infos: &mut Infos, out: &mut Out<'_>) {
        let task = &process.task;
        let times = self.times(task.pid, task.start, &process.sums, process.before);
        let kernel_thread = i64::from(process.flags) & PF_KTHREAD != 0;
        let mut gauges = [NULL; GAUGES];
        let [rss, swap, size] = if process.has & HAS_MEMORY != 0 {
            process.pages.map(|p| whole(p).saturating_mul(self.page))
        } else {
            [0; 3]
        };
        gauges[gauge::RSS] = rss;
        gauges[gauge::SWAP] = swap;
        gauges[gauge::SIZE] = size;
        gauges[gauge::THREADS] = i64::from(process.threads);
        gauges[gauge::CPU] = i64::from(task.cpu);
        // MAX_RT_PRIO and NICE_TO_PRIO of include/linux/sched/prio.h.
        gauges[gauge::PRIORITY] = i64::from(process.priority) - 100;
        gauges[gauge::NICE] = i64::from(process.static_priority) - 120;
        let sample = Sample {
            pid: i64::from(task.pid),
            start: ticks(task.start),
            parent: i64::from(process.parent),
            kernel_thread,
            comm: Comm::new(&task.name, kernel_thread),
            counters: process.sums.counters(times, process.children, process.has),
            gauges,
            state: task.letter(),
        };
        tracker.process(&sample, out);
        let mark = Mark { exec: i64::from(process.exec), uid: i64::from(process.uid), cgroup: whole(process.cgroup) };
        let name = trimmed(&task.name);
        infos.put(host, &sample, name, mark, (self.read + u64::from(task.pid)).is_multiple_of(REGROUP), out);
    }

    fn put_threads(&mut self, tracker: &mut Tracker, out: &mut Out<'_>) {
        let mut all: Vec<(Task, u32)> = self.processes.iter().map(|p| (p.task, p.flags)).collect();
        let flags =
            |task: &Task| self.places.get(&task.pid).and_then(|&at| self.processes.get(at)).map_or(0, |p| p.flags);
        all.extend(self.threads.iter().map(|task| (*task, flags(task))));
        all.sort_unstable_by_key(|(task, _)| (task.pid, task.tid));
        for (task, flags) in &all {
            let kernel_thread = i64::from(*flags) & PF_KTHREAD != 0;
            // Numbers of processes and of their first threads are the same: keep their times apart by the top bit.
            let times = self.times(task.tid | 1 << 31, task.start, &task.own, task.before);
            let sample = ThreadSample {
                pid: i64::from(task.pid),
                tid: i64::from(task.tid),
                start: ticks(task.start),
                comm: Comm::new(&task.name, kernel_thread),
                counters: task.own.counters(times, [0; 2], self.has),
                cpu: i64::from(task.cpu),
                state: task.letter(),
            };
            tracker.thread(&sample, out);
        }
    }

    fn put_ends(&mut self, now: u64, tracker: &mut Tracker, out: &mut Out<'_>) {
        let (first, has, counted) = (self.first, self.has, &mut self.counted);
        self.ends.drain(|record| {
            let end = End::read(record);
            if counted.remove(&(end.pid, end.start)).is_none() {
                tracker.ended(&end.ended(first, has), out);
            }
        });
        if now.saturating_sub(self.looked) >= LOOK_FOR_MISSED {
            self.looked = now;
            self.put_missed(now, tracker, out);
        }
        tracker.put_exits(out);
    }

    /// The ends that the kernel did not tell of: exited some time ago, no longer there, and the note is still waiting.
    fn put_missed(&mut self, now: u64, tracker: &mut Tracker, out: &mut Out<'_>) {
        self.counted.retain(|_, since| now.saturating_sub(*since) < REMEMBER);
        let notes = match self.notes.entries() {
            Ok(notes) => notes,
            Err(why) => return out.missing("process_exit", why),
        };
        for (key, note) in notes {
            let end = End::read(&note);
            let exit = end.born.saturating_add(end.lifetime);
            // Until its parent waits for it, it is there: a zombie.
            let there = self
                .places
                .get(&end.pid)
                .and_then(|&at| self.processes.get(at))
                .is_some_and(|p| p.task.start == end.start);
            // Who deletes the note counts it: this, or the program.
            if !there && now.saturating_sub(exit) >= self.patience && self.notes.delete(&key) {
                self.counted.insert((end.pid, end.start), now);
                tracker.ended(&end.ended(self.first, self.has), out);
            }
        }
    }

    /// Says once, and again when it gets worse tenfold, that ends of processes found no room.
    fn say_what_was_lost(&mut self, out: &mut Out<'_>) {
        for (kind, before) in (0u32..).zip(&mut self.lost_before) {
            let lost = match self.lost.sum(kind) {
                Ok(lost) => lost,
                Err(why) => return out.missing("process_exit", why),
            };
            if lost <= before.saturating_mul(10) {
                continue;
            }
            *before = lost;
            if kind == LOST_ENDS {
                let why = format!(
                    "more processes ended between two reads than there is room for: {lost} or more are missing"
                );
                out.missing("process_exit", Unavailable::failed(why).remedy("a shorter interval"));
            } else {
                let why = format!(
                    "more processes ended than were waited for by their parents: {lost} or more are without parent and lifetime"
                );
                out.missing("process_exit.parent", Unavailable::failed(why));
            }
        }
    }
}

/// Start of a process as `/proc` gives it: clock ticks since boot.
fn ticks(start: u64) -> i64 {
    whole(start) / TICK
}
