//! What is taken of the events of a JFR file, and into which tables.

use super::chunk::{Chunk, Value};
use super::kinds::{Allocated, F, FIELDS, Taken, Takes, period, wanted};
use super::names::{NOBODY, Names, class_name};
use super::pauses::{Part, Pauses};
use crate::profile::{Profile, Sample};
use crate::rows::{Allocation, Lock, Wait};
use crate::tables::{JVM_CPU, JVM_HEAP};
use model::{Fact, NULL, real};
use std::collections::BTreeMap;

/// Methods in native code in which a thread waits: a sample of them is none of CPU time.
const WAITING: [&str; 26] = [
    "epollWait",
    "wait",
    "wait0",
    "poll",
    "poll0",
    "accept",
    "accept0",
    "read0",
    "readv0",
    "read",
    "readBytes",
    "readBytes0",
    "socketRead0",
    "receive0",
    "recv",
    "connect0",
    "park",
    "sleep",
    "sleep0",
    "sleepNanos0",
    "select",
    "kevent",
    "waitForProcessExit0",
    "take",
    "dequeue",
    "socketAccept",
];

/// What is read of a file, over all of its chunks.
pub(super) struct Reading<'p> {
    pub(super) profile: &'p mut Profile,
    names: Names,
    pauses: Pauses,
    allocations: BTreeMap<Allocated, Vec<Allocation>>,
    /// Samples by what they were taken of.
    samples: BTreeMap<&'static str, Vec<Sample>>,
    /// Options that are not at their default, with who gave them.
    flags: BTreeMap<String, String>,
    /// The main class, the version, and what the JVM calls itself.
    main: Option<String>,
    version: Option<String>,
    vm: Option<String>,
    pid: i64,
    comm: i64,
    start: Option<i64>,
    /// Whether async-profiler wrote it.
    of_profiler: bool,
}

impl<'p> Reading<'p> {
    pub(super) fn new(profile: &'p mut Profile) -> Reading<'p> {
        let comm = profile.text("java");
        Reading {
            profile,
            names: Names::default(),
            pauses: Pauses::default(),
            allocations: BTreeMap::new(),
            samples: BTreeMap::new(),
            flags: BTreeMap::new(),
            main: None,
            version: None,
            vm: None,
            pid: NULL,
            comm,
            start: None,
            of_profiler: false,
        }
    }

    /// Takes a chunk in.
    pub(super) fn chunk(&mut self, chunk: &Chunk) {
        let of_profiler = chunk.types.classes.iter().any(|class| class.name.starts_with("profiler."));
        self.of_profiler |= of_profiler;
        self.names.next_chunk(of_profiler);
        let start = chunk.header.start();
        self.start = Some(self.start.map_or(start, |before| before.min(start)));
        let mut wanted = wanted(chunk);
        let mut values = vec![Value::Missing; FIELDS.len()];
        // What a sample stands for is in events, too, which may come after it.
        for settings in [true, false] {
            for event in chunk.events() {
                let Some(of) = wanted.get(&event.class).filter(|w| (w.takes == Takes::Setting) == settings) else {
                    continue;
                };
                if chunk.fill(&event, &of.places, &mut values).is_none() {
                    self.profile.count("events are damaged and left out", 1);
                    continue;
                }
                let taken = Taken { chunk, wanted: of, values: &values };
                if settings {
                    let set = period(&taken);
                    if let Some((class, period)) = set
                        && let Some(of) = wanted.get_mut(&class)
                    {
                        of.period = period;
                    }
                } else {
                    self.take(&taken);
                }
            }
        }
    }

    fn take(&mut self, e: &Taken) {
        match e.wanted.takes {
            Takes::Execution => self.sample(e, "jdk.ExecutionSample", e.wanted.period),
            Takes::Native => self.sample(e, "jdk.NativeMethodSample", e.wanted.period),
            Takes::CpuTime if e.number(F::Failed) != Some(1) => {
                let period = e.span(F::SamplingPeriod).filter(|period| *period > 0).unwrap_or(e.wanted.period);
                self.sample(e, "jdk.CPUTimeSample", period);
            }
            Takes::CpuTime => self.profile.count("samples of CPU time have no stack", 1),
            Takes::WallClock => self.wall_clock(e),
            Takes::MonitorEnter => self.monitor(e),
            Takes::MonitorWait => self.wait(e, "idle", "Object.wait", e.number(F::TimedOut) == Some(1)),
            Takes::Park => self.park(e),
            Takes::Sleep => self.wait(e, "sleep", "Thread.sleep", true),
            Takes::Io(state, what) => self.wait(e, state, what, false),
            Takes::Allocation(how) => self.allocation(e, how),
            Takes::Collection => {
                let cause = e.word(F::Cause).map_or(NULL, |cause| self.profile.text(&cause));
                let name = e.word(F::Name).unwrap_or_default();
                self.pauses.collection(e.number(F::GcId).unwrap_or(-1), &name, cause);
            }
            Takes::HeapSummary => {
                if let (Some(gc), Some(when), Some(used)) = (e.number(F::GcId), e.word(F::When), e.number(F::HeapUsed))
                {
                    self.pauses.heap(gc, &when, used);
                    let size = |name: &str| match e.chunk.field(e.value(F::HeapSpace), name) {
                        Value::Number(bytes) if bytes > 0 => bytes,
                        _ => NULL,
                    };
                    let (capacity, most) = (size("committedSize"), size("reservedSize"));
                    let cells = vec![self.pid, self.comm, self.profile.text("heap"), used, capacity, most, NULL];
                    self.profile.row(&JVM_HEAP, e.begin(), cells);
                }
            }
            Takes::PhasePause => {
                let part = self.part(e, F::GcId, F::Name);
                self.pauses.pause(part);
            }
            // Of others threads go on meanwhile.
            Takes::Operation if e.number(F::Safepoint) == Some(1) => {
                let part = self.part(e, F::SafepointId, F::Operation);
                self.pauses.operation(part);
            }
            Takes::SafepointBegin => {
                if let (Some(id), Some(time)) = (e.number(F::SafepointId), e.span(F::Duration)) {
                    self.pauses.stopped(id, time);
                }
            }
            Takes::CpuLoad => {
                let parts = [F::JvmUser, F::JvmSystem, F::MachineTotal].map(|name| real(e.real(name)));
                let mut cells = vec![self.pid, self.comm];
                cells.extend(parts);
                self.profile.row(&JVM_CPU, e.begin(), cells);
            }
            Takes::Deoptimization => {
                let cell = |text: Option<String>| text.map_or(NULL, |text| self.profile.text(&text));
                let [reason, action] = [F::Reason, F::Action].map(|field| e.word(field)).map(cell);
                self.profile.deoptimizations.push((e.begin(), reason, action));
            }
            Takes::Flag => self.flag(e),
            Takes::Jvm => self.jvm(e),
            Takes::Cpus => {
                if let Some(cpus) = e.number(F::HwThreads).filter(|cpus| *cpus > 0) {
                    self.profile.manifest.cpus = cpus;
                }
            }
            Takes::Memory => {
                if let Some(memory) = e.number(F::TotalSize).filter(|memory| *memory > 0) {
                    self.profile.manifest.memory = memory;
                }
            }
            Takes::Loss => self.profile.count("times the JVM lost events before it could write them", 1),
            Takes::Operation | Takes::Setting => {}
        }
    }

    fn part(&mut self, e: &Taken, number: F, name: F) -> Part {
        let name = e.word(name).map_or(NULL, |name| self.profile.text(&name));
        let number = e.number(number).unwrap_or(-1);
        Part { number, at: e.begin(), time: e.span(F::Duration).unwrap_or(0).max(0), name }
    }

    fn sample(&mut self, e: &Taken, event: &'static str, weight: i64) {
        let thread = self.names.thread(e.chunk, e.either(F::SampledThread, F::EventThread), self.profile);
        if event == "jdk.NativeMethodSample" && self.waits(e) {
            self.profile.count("samples of native methods that wait (I/O, sleep, park) are left out", 1);
            return;
        }
        let stack = self.names.stack(e.chunk, e.value(F::StackTrace), self.profile);
        let sample = Sample {
            at: e.begin(),
            pid: self.pid,
            tid: thread.tid,
            comm: self.comm,
            thread: thread.name,
            cpu: NULL,
            stack,
            weight: weight.max(0),
        };
        self.samples.entry(event).or_default().push(sample);
    }

    /// Whether the innermost method of a sample of native code is one that waits.
    fn waits(&self, e: &Taken) -> bool {
        let frames = e.chunk.field(e.value(F::StackTrace), "frames");
        let name = e.chunk.first(frames).and_then(|frame| {
            let method = e.chunk.field(frame, "method");
            e.chunk.word(e.chunk.field(method, "name"))
        });
        name.is_some_and(|name| WAITING.contains(&name.as_str()))
    }

    /// A sample of async-profiler by the clock on the wall: of a thread that runs CPU time, else time that it waited.
    fn wall_clock(&mut self, e: &Taken) {
        let samples = e.number(F::Samples).unwrap_or(1).max(1);
        let weight = e.wanted.period.saturating_mul(samples);
        if e.word(F::State).is_none_or(|state| state.contains("RUNNABLE") || state == "STATE_DEFAULT") {
            return self.sample(e, "profiler.WallClockSample", weight);
        }
        let mut wait = self.waited(e, "other", "sampled while it waited", weight);
        (wait.count, wait.longest) = (samples, e.wanted.period);
        wait.put(self.profile);
    }

    fn waited(&mut self, e: &Taken, state: &str, what: &str, time: i64) -> Wait {
        let thread = self.names.thread(e.chunk, e.either(F::EventThread, F::SampledThread), self.profile);
        let stack = self.names.stack(e.chunk, e.value(F::StackTrace), self.profile);
        Wait {
            pid: self.pid,
            comm: self.comm,
            thread: thread.name,
            state: self.profile.text(state),
            what: self.profile.text(what),
            stack,
            waker: NULL,
            count: 1,
            time,
            longest: time,
            timed_out: false,
            end: e.begin().saturating_add(time),
        }
    }

    fn wait(&mut self, e: &Taken, state: &str, what: &str, timed_out: bool) {
        let time = e.span(F::Duration).unwrap_or(0).max(0);
        let mut wait = self.waited(e, state, what, time);
        wait.timed_out = timed_out;
        wait.put(self.profile);
    }

    fn lock(&mut self, e: &Taken, kind: &str, name: i64, holder: super::names::Thread) {
        let time = e.span(F::Duration).unwrap_or(0).max(0);
        let mut wait = self.waited(e, "lock", kind, time);
        wait.waker = holder.name;
        wait.put(self.profile);
        let address = e.number(F::Address).filter(|address| *address != 0);
        let address = address.map_or(NULL, |address| self.profile.text(&format!("{address:#x}")));
        let lock = Lock {
            pid: self.pid,
            comm: self.comm,
            kind: self.profile.text(kind),
            address,
            name,
            stack: wait.stack,
            holder: holder.name,
            holder_tid: holder.tid,
            time,
            end: wait.end,
        };
        lock.put(self.profile);
    }

    fn monitor(&mut self, e: &Taken) {
        let holder = self.names.thread(e.chunk, e.value(F::PreviousOwner), self.profile);
        let class = class_name(e.chunk, e.value(F::MonitorClass));
        let name = if class.is_empty() { NULL } else { self.profile.text(&format!("monitor of {class}")) };
        self.lock(e, "monitor", name, holder);
    }

    fn park(&mut self, e: &Taken) {
        let class = class_name(e.chunk, e.value(F::ParkedClass));
        // What a programmer calls it is the class that this is a part of.
        let outer = ["$NonfairSync", "$FairSync", "$Sync"].into_iter().find_map(|end| class.strip_suffix(end));
        let called = outer.unwrap_or(&class);
        match lock_of(&class) {
            Some(kind) => {
                let name = self.profile.text(called);
                self.lock(e, kind, name, NOBODY);
            }
            None if class.is_empty() => self.wait(e, "idle", "park", false),
            None => self.wait(e, "idle", &format!("park for {called}"), false),
        }
    }

    fn allocation(&mut self, e: &Taken, how: Allocated) {
        let thread = self.names.thread(e.chunk, e.value(F::EventThread), self.profile);
        let class = self.names.class(e.chunk, e.value(F::ObjectClass), self.profile);
        let stack = self.names.stack(e.chunk, e.value(F::StackTrace), self.profile);
        let stack = self.names.allocating(stack, class, self.profile);
        let bytes = match how {
            Allocated::Sampled => e.number(F::Weight),
            // The object is the first of its buffer, which stands for all that it takes up.
            Allocated::InTlab => e.number(F::TlabSize),
            Allocated::Outside => e.number(F::AllocationSize),
        };
        let allocation = Allocation {
            pid: self.pid,
            comm: self.comm,
            thread: thread.name,
            class,
            stack,
            bytes: bytes.unwrap_or(0).max(0),
            outside: how == Allocated::Outside,
            at: e.begin(),
        };
        self.allocations.entry(how).or_default().push(allocation);
    }

    fn flag(&mut self, e: &Taken) {
        let value = match e.value(F::Value) {
            Value::Number(n) => Some(n.to_string()),
            Value::Real(x) => Some(x.to_string()),
            other => e.chunk.word(other),
        };
        // Which of them nobody gave and the JVM did not choose is no news.
        let origin = match e.word(F::Origin).as_deref() {
            Some("Default") | None => return,
            Some("Environment variable") => "environment".to_owned(),
            Some("Attach on demand") => "attach".to_owned(),
            Some(other) => other.to_lowercase(),
        };
        let (Some(name), Some(value), true) = (e.word(F::Name), value, self.flags.len() < 10_000) else { return };
        let boolean = e.chunk.class(e.class()).is_some_and(|class| class.name == "jdk.BooleanFlag");
        let value = match value.as_str() {
            "1" if boolean => "true".to_owned(),
            "0" if boolean => "false".to_owned(),
            _ => value,
        };
        self.flags.insert(name, format!("{value} ({origin})"));
    }

    /// Of the JVM's own words only what it is, and of its arguments the first, the main class: others may be passwords.
    fn jvm(&mut self, e: &Taken) {
        self.pid = e.number(F::Pid).filter(|pid| *pid > 0).unwrap_or(self.pid);
        let version = e.word(F::JvmVersion);
        // `OpenJDK 64-Bit Server VM (17.0.9+9-Debian) for linux-amd64 JRE …`
        let short = version.as_deref().and_then(|text| Some(text.split_once('(')?.1.split_once(')')?.0.to_owned()));
        self.version = short.or(version).or(self.version.take());
        self.vm = e.word(F::JvmName).or(self.vm.take());
        let arguments = e.word(F::JavaArguments).unwrap_or_default();
        self.main = arguments.split_whitespace().next().map(main_name).or(self.main.take());
    }

    /// What is known of the set-up, by the names that a recorder gives it.
    fn facts(&mut self) {
        let main = self.main.take().unwrap_or_else(|| "[unknown]".into());
        let own = [("vm", self.vm.take()), ("version", self.version.take())];
        let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let flags = std::mem::take(&mut self.flags).into_iter().map(|(name, value)| (format!("flag.{name}"), value));
        for (name, value) in own.chain(flags) {
            self.profile.facts.push(Fact { category: "runtime".into(), name: format!("java.{main}.{name}"), value });
        }
    }

    /// Puts together what is known only when all chunks are read.
    pub(super) fn end(mut self) {
        let pid = self.pid;
        let asked = self.profile.options.event.clone();
        let all = std::mem::take(&mut self.samples);
        let cpu_time = all.contains_key("jdk.CPUTimeSample");
        let own = all.contains_key("jdk.ExecutionSample") || cpu_time;
        for (event, samples) in all {
            let take = match (&asked, event) {
                (Some(asked), event) => asked == event,
                // Of CPU time they say more, and are of the same threads.
                (None, "jdk.ExecutionSample" | "jdk.NativeMethodSample") if cpu_time => false,
                (None, "profiler.WallClockSample") => !own,
                (None, _) => true,
            };
            if !take {
                self.profile.note(format!("{} samples of {event} are left out (--event)", samples.len()));
                continue;
            }
            if matches!(event, "jdk.ExecutionSample" | "jdk.NativeMethodSample") && !self.of_profiler {
                self.profile.note(
                    "the JVM samples a few of the threads that run at a time: with more of them CPU time is understated, and alike for all",
                );
            }
            self.profile.samples.extend(samples);
        }
        // The number of the process is told by an event that comes after the first others.
        self.profile.samples.iter_mut().for_each(|sample| sample.pid = pid);
        self.profile.set_pid(pid);
        let sampled = self.allocations.contains_key(&Allocated::Sampled);
        for (how, all) in std::mem::take(&mut self.allocations) {
            if sampled && how != Allocated::Sampled {
                self.profile
                    .note("allocations are those of jdk.ObjectAllocationSample; those of single TLABs are left out");
                continue;
            }
            all.iter().for_each(|a| Allocation { pid, ..*a }.put(self.profile));
        }
        std::mem::take(&mut self.pauses).write(pid, self.comm, self.profile);
        self.facts();
        self.profile.start = self.start;
        if let Some(start) = self.start {
            self.profile.manifest.start_unix = start;
        }
    }
}

/// The main class, or the jar without its folder and version: `/opt/app-1.4.2.jar` is `app`, the same for the next release.
fn main_name(word: &str) -> String {
    let Some(name) = word.strip_suffix(".jar") else { return word.to_owned() };
    let name = name.rsplit('/').next().unwrap_or(name);
    let is_version = |at: &usize| name.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let version = name.match_indices('-').map(|(at, _)| at).find(is_version);
    version.and_then(|at| name.get(..at)).filter(|name| !name.is_empty()).unwrap_or(name).to_owned()
}

/// The lock of java.util.concurrent whose part a thread is parked for, where it is one: other things to park for are queues, latches
/// and conditions, at which nobody is held up by an owner.
fn lock_of(class: &str) -> Option<&'static str> {
    let own = class.strip_prefix("java.util.concurrent.")?;
    let own = own.strip_prefix("locks.").unwrap_or(own);
    ["ReentrantLock", "ReentrantReadWriteLock", "StampedLock", "Semaphore"]
        .into_iter()
        .find(|kind| own.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('$')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jars_are_called_alike_in_all_releases() {
        for (word, name) in
            [("/opt/app-1.4.2.jar", "app"), ("org.x.Main", "org.x.Main"), ("my-app.jar", "my-app"), ("-1.jar", "-1")]
        {
            assert_eq!(main_name(word), name);
        }
    }

    #[test]
    fn locks_are_told_from_other_things_to_park_for() {
        for (class, kind) in [
            ("java.util.concurrent.locks.ReentrantLock$NonfairSync", Some("ReentrantLock")),
            ("java.util.concurrent.Semaphore$FairSync", Some("Semaphore")),
            ("java.util.concurrent.locks.ReentrantReadWriteLock$Sync", Some("ReentrantReadWriteLock")),
            ("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", None),
            ("java.util.concurrent.CountDownLatch$Sync", None),
            ("ReentrantLock", None),
        ] {
            assert_eq!(lock_of(class), kind, "{class}");
        }
    }
}
