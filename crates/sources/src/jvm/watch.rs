//! What is read of a JVM between the reads of the source: its pauses, each after it ended, since single ones cannot be told from sums once the next has
//! begun; and heap, compilers and threads.

use super::lack::Lack;
use super::pauses::{Collector, Kind, Pause, Pauses, Reading, Sum, is_collection};
use super::since::Since;
use crate::cputime::{own_time, process_time};
use crate::hotspot::{CodeHeap, CodeHeaps, Counters, Internals, JavaThread, Roster, Safepoint, Unknown, Way};
use crate::looking::Why;
use crate::memory::{Process, Trouble};
use crate::stacks::{Stacks, own_number};
use host::Host;
use host::wake::Passing;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the VM thread calls when a safepoint ends (safepoint.cpp, JDK 11 to 25). Where it can be probed, that wakes this thread, and it looks after each.
const END: &[&str] = &["_ZN20SafepointSynchronize3endEv"];
/// What cannot be understood is tried again after so long, and so often.
const AGAIN: Duration = Duration::from_millis(250);
const MOST_TRIES: u32 = 60;
/// After so many looks without a new safepoint there is none to be told: the counters of one are written within microseconds of its end.
const SETTLED: u32 = 2;
/// A JVM that had less than this part of a CPU since is passed over then, but not for longer than this: what it would show has hardly changed.
const IDLE_PART: u32 = 100;
const PASSED_OVER: Duration = Duration::from_secs(5);
/// Pauses of a JVM that are kept between two reads.
const MOST_PAUSES: usize = 65_536;
/// The place among the counts of compilers of how often they stopped.
const STOPS: usize = 6;
/// Spaces of a generation, and generations, that any collector has.
const GENERATIONS: usize = 3;
const SPACES: usize = 4;
const COLLECTORS: usize = 4;

/// A part of a JVM's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    pub name: String,
    pub used: Option<i64>,
    pub capacity: Option<i64>,
    pub most: Option<i64>,
    pub peak: Option<i64>,
}

impl Pool {
    fn of_code(heap: CodeHeap) -> Self {
        let [used, capacity, most, peak] = [heap.used, Some(heap.committed), Some(heap.reserved), heap.peak]
            .map(|bytes| bytes.map(|bytes| bytes as i64));
        Pool { name: heap.name.to_string(), used, capacity, most, peak }
    }
}

/// What the compilers did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Compilers {
    /// Methods, of those loops that ran, nanoseconds, bytes, given up, failed: as the counters are called.
    pub counters: [Option<i64>; 6],
    pub queue: Option<u64>,
    pub stopped: Option<bool>,
    pub stops: Option<u64>,
}

/// A JVM that is looked at.
#[derive(Debug)]
pub(super) struct Watched {
    pub comm: String,
    way: Option<Arc<Way>>,
    /// The counters; `None` where the JVM has none.
    counters: Option<Counters>,
    /// Where the counters are read from a file, because memory may not be.
    file: Option<String>,
    pub internals: Internals,
    /// Why there are none.
    no_internals: Option<String>,
    roster: Option<Roster>,
    code: Option<CodeHeaps>,
    /// In a container: thread ids inside to those outside.
    numbers: Option<HashMap<u32, u32>>,
    /// CLOCK_MONOTONIC when the JVM's clock began: told, or the least that any time stamp allows.
    origin: Option<u64>,
    is_estimated: bool,
    failed: Option<Instant>,
    tries: u32,
    pub is_understood: bool,
    steps: Pauses,
    /// The safepoint that ended last, and at how many looks it was that.
    settled: (Option<Safepoint>, u32),
    /// What wakes this thread at the end of a safepoint; whether that was tried.
    passing: Option<Arc<Passing>>,
    is_listened: bool,
    /// When what changes slowly was looked at, and its CPU time then.
    slowly: Option<(Instant, Duration)>,
    pub pauses: Vec<Pause>,
    /// Pauses that found no room.
    pub lost: u64,
    /// Collections and nanoseconds. These and all counters below are since the JVM was first looked at.
    pub collectors: BTreeMap<String, (u64, u64)>,
    pub pools: Vec<Pool>,
    pub compilers: Option<Compilers>,
    pub deoptimizations: Vec<(String, String, u64)>,
    pub threads: Vec<JavaThread>,
    /// All stops, where the JVM does not tell what they were for: number, time, time to stop.
    pub all: Option<[u64; 3]>,
    counted: Counted,
}

/// Where its counters stood at first.
#[derive(Debug, Default)]
struct Counted {
    collectors: Since<(String, usize)>,
    stops: Since<usize>,
    compilers: Since<usize>,
    deoptimizations: Since<(String, String)>,
    allocated: Since<u32>,
}

/// The thread of a JVM that carries out what stops all others.
fn vm_thread(pid: u32, host: &Host) -> Option<u32> {
    let mut threads = Vec::new();
    host.numbers_in(&format!("/proc/{pid}/task"), &mut threads).ok()?;
    let name = |tid: &i64| host.read_text(&format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
    threads.into_iter().find(|tid| name(tid).trim_end() == "VM Thread")?.try_into().ok()
}

impl Counted {
    fn go_on(&mut self) {
        self.collectors.go_on();
        self.stops.go_on();
        self.compilers.go_on();
        self.deoptimizations.go_on();
        self.allocated.go_on();
    }
}

impl Watched {
    pub(super) fn new(comm: String) -> Self {
        Watched {
            comm,
            way: None,
            counters: None,
            file: None,
            internals: Internals::default(),
            no_internals: None,
            roster: None,
            code: None,
            numbers: None,
            origin: None,
            is_estimated: false,
            failed: None,
            tries: 0,
            is_understood: false,
            steps: Pauses::default(),
            settled: (None, 0),
            passing: None,
            is_listened: false,
            slowly: None,
            pauses: Vec::new(),
            lost: 0,
            collectors: BTreeMap::new(),
            pools: Vec::new(),
            compilers: None,
            deoptimizations: Vec::new(),
            threads: Vec::new(),
            all: None,
            counted: Counted::default(),
        }
    }

    /// What operations came to, with their names.
    pub fn operations(&self) -> impl Iterator<Item = (&str, Sum)> {
        let named = (0u32..).zip(&self.steps.sums).filter(|(_, sum)| sum.count > 0);
        named.filter_map(|(number, sum)| Some((self.internals.operation(number)?, *sum)))
    }

    /// Looks at it. What that cost, but for what is done once or seldom, which has limits of its own.
    pub(super) fn look(&mut self, pid: u32, start: u64, host: &Host, stacks: &Stacks) -> Result<Duration, Why> {
        let memory = Process(pid);
        if !self.is_understood {
            if self.tries >= MOST_TRIES || self.failed.is_some_and(|failed| failed.elapsed() < AGAIN) {
                return Ok(Duration::ZERO);
            }
            self.tries += 1;
            self.failed = Some(Instant::now());
            match self.understand(pid, &memory, host, stacks) {
                Ok(()) => {
                    self.is_understood = true;
                    if self.is_new(start) {
                        self.counted.go_on();
                    }
                }
                Err(unknown) => {
                    let Some(why) = unknown.why() else { return Ok(Duration::ZERO) };
                    self.tries = MOST_TRIES;
                    return Err(why);
                }
            }
        }
        let begin = own_time();
        let before = self.internals.safepoint(&memory).or_else(|trouble| self.without_memory(trouble))?;
        // Most looks find nothing new: then this is all that they cost.
        if before.is_some() && self.settled.0 == before && self.settled.1 >= SETTLED {
            return Ok(own_time().saturating_sub(begin));
        }
        self.read(pid, &memory, host)?;
        let after = self.internals.safepoint(&memory).or_else(|trouble| self.without_memory(trouble))?;
        // What changes while a safepoint goes on is read when it is over.
        let is_quiet = before == after && (before.is_some() || !self.internals.tells_safepoints());
        if is_quiet && let Some(reading) = self.reading(&memory, before)? {
            let is_new = self.is_new(start);
            let found = self.steps.step(reading, is_new);
            self.settled = (before, if self.settled.0 == before { self.settled.1 + 1 } else { 1 });
            self.counted.collectors.go_on();
            self.counted.stops.go_on();
            let room = MOST_PAUSES.saturating_sub(self.pauses.len());
            self.lost += found.len().saturating_sub(room) as u64;
            self.pauses.extend(found.into_iter().take(room));
        }
        Ok(own_time().saturating_sub(begin))
    }

    /// Has the next look read all, though no safepoint came.
    pub(super) fn unsettle(&mut self) {
        self.settled = (None, 0);
    }

    /// Whether it did next to nothing since what changes slowly was looked at. If it did more, that is looked at now.
    pub(super) fn is_idle(&mut self, pid: u32) -> bool {
        let (now, Some(cpu)) = (Instant::now(), process_time(pid)) else { return false };
        let idle = self.slowly.is_some_and(|(at, before)| {
            let since = now.duration_since(at);
            since < PASSED_OVER && cpu.saturating_sub(before) < since / IDLE_PART
        });
        if !idle {
            self.slowly = Some((now, cpu));
        }
        idle
    }

    /// Has the end of its safepoints wake this thread, if that can be.
    pub(super) fn listen(&mut self, pid: u32, host: &Host, stacks: &Stacks) {
        if host.is_fixture() || std::mem::replace(&mut self.is_listened, true) {
            return;
        }
        let Some(Ok((file, offsets))) = stacks.functions(pid, "libjvm.so", &[END]) else { return };
        let Some(thread) = vm_thread(pid, host) else { return };
        // Where the kernel allows none, as without privileges, it is looked at now and then.
        self.passing =
            offsets.first().copied().flatten().and_then(|at| Passing::open(&file, at, thread).ok()).map(Arc::new);
    }

    /// What wakes this thread.
    pub(super) fn wakes(&self) -> Option<Arc<Passing>> {
        self.passing.clone().filter(|passing| !passing.is_over())
    }

    /// Whether it began while it was recorded; where that is only estimated, it did not.
    fn is_new(&self, start: u64) -> bool {
        !self.is_estimated && self.origin.is_some_and(|origin| origin >= start)
    }

    /// Where only the file of the counters can be read, what else there would be is left out.
    fn without_memory<T>(&self, trouble: Trouble) -> Result<Option<T>, Why> {
        if self.file.is_some() { Ok(None) } else { Err(trouble.into()) }
    }

    fn understand(&mut self, pid: u32, memory: &Process, host: &Host, stacks: &Stacks) -> Result<(), Unknown> {
        let way = match stacks.hotspot(pid) {
            Ok(way) => way,
            Err(Unknown::Trouble(Trouble::Denied)) => return self.understand_file(pid, host),
            Err(unknown) => return Err(unknown),
        };
        self.counters = Counters::find(memory, &way)?;
        (self.internals, self.no_internals) = match Internals::find(pid, &way, stacks) {
            Ok(internals) => (internals, None),
            Err(why) => (Internals::default(), Some(why)),
        };
        self.steps.collects = self.internals.operations.iter().map(|name| is_collection(name)).collect();
        self.origin = self.internals.origin;
        self.is_estimated = self.origin.is_none();
        self.roster = match Roster::new(memory, &way) {
            Ok(roster) => Some(roster),
            Err(Unknown::Starting) => return Err(Unknown::Starting),
            Err(Unknown::Trouble(trouble)) => return Err(trouble.into()),
            Err(Unknown::Missing(_) | Unknown::Words(_)) => None,
        };
        self.numbers = stacks.is_in_namespace(pid).then(|| stacks.inner_numbers(pid));
        self.way = Some(way);
        Ok(())
    }

    /// The same user may read the file of the counters where a process may not be traced (kernel.yama.ptrace_scope).
    fn understand_file(&mut self, pid: u32, host: &Host) -> Result<(), Unknown> {
        let status = host.read_text(&format!("/proc/{pid}/status")).unwrap_or_default();
        let inner = own_number(&status, pid);
        let folder = host::seen_by(pid, "/tmp");
        let names = host.list(&folder).unwrap_or_default();
        let files =
            names.iter().filter(|name| name.starts_with("hsperfdata_")).map(|name| format!("{folder}/{name}/{inner}"));
        for file in files {
            if let Ok(bytes) = host.read(&file) {
                let counters = Counters::of_file(bytes);
                if !counters.is_empty() {
                    (self.counters, self.file, self.is_estimated) = (Some(counters), Some(file), true);
                    return Ok(());
                }
            }
        }
        Err(Unknown::Trouble(Trouble::Denied))
    }

    /// Reads the counters again.
    fn read(&mut self, pid: u32, memory: &Process, host: &Host) -> Result<(), Why> {
        let Some(counters) = &mut self.counters else { return Ok(()) };
        match &self.file {
            None => counters.read(memory)?,
            Some(file) => {
                if !host.exists(&format!("/proc/{pid}")) {
                    return Err(Why::Gone);
                }
                counters.take(host.read(file).map_err(|_| Why::Gone)?);
            }
        }
        Ok(())
    }

    /// What single pauses are told by; `None` while a collection goes on.
    fn reading(&mut self, memory: &Process, last: Option<Safepoint>) -> Result<Option<Reading>, Why> {
        let operations = self
            .internals
            .counts(memory)
            .or_else(|trouble| Ok::<_, Why>(self.without_memory::<Vec<u64>>(trouble)?.unwrap_or_default()))?;
        let mut reading = Reading { last, operations, ..Reading::default() };
        let Some(counters) = &self.counters else {
            reading.safepoints = reading.operations.iter().sum();
            return Ok(Some(reading));
        };
        let frequency = counters.long("sun.os.hrt.frequency").filter(|hertz| *hertz > 0).unwrap_or(1_000_000_000);
        let nanoseconds = |ticks: i64| {
            (i128::from(ticks) * 1_000_000_000 / i128::from(frequency)).clamp(0, i128::from(i64::MAX)) as u64
        };
        let long = |name: &str| counters.long(name);
        let mut names = Vec::new();
        let mut latest = 0;
        for place in 0..COLLECTORS {
            let of = |what: &str| long(&format!("sun.gc.collector.{place}.{what}"));
            let Some(collections) = of("invocations") else { continue };
            let name = counters.text(&format!("sun.gc.collector.{place}.name")).unwrap_or("?").to_owned();
            // These count what runs beside the program as well: their pauses are told by the safepoints.
            if name.starts_with("Shenandoah") || name.starts_with('Z') {
                continue;
            }
            let [entry, exit, time] =
                ["lastEntryTime", "lastExitTime", "time"].map(|what| nanoseconds(of(what).unwrap_or(0)));
            if collections > 0 && entry > exit {
                return Ok(None);
            }
            latest = latest.max(exit);
            let kind = Kind::of_collector(place);
            reading.collectors.push(Collector { kind, collections: collections.max(0) as u64, time, entry, exit });
            names.push(name);
        }
        if self.is_estimated && latest > 0 {
            let least = monotonic().saturating_sub(latest);
            self.origin = Some(self.origin.map_or(least, |origin| origin.min(least)));
        }
        let origin = self.origin.unwrap_or(0);
        for collector in &mut reading.collectors {
            (collector.entry, collector.exit) = (collector.entry + origin, collector.exit + origin);
        }
        for (name, collector) in names.into_iter().zip(&reading.collectors) {
            let counted = &mut self.counted.collectors;
            let collections = counted.count((name.clone(), 0), collector.collections);
            let time = counted.count((name.clone(), 1), collector.time);
            self.collectors.insert(name, (collections, time));
        }
        reading.cause = counters.text("sun.gc.lastCause").filter(|cause| *cause != "No GC").map(str::to_owned);
        let [all, time, to_stop] =
            ["safepoints", "safepointTime", "safepointSyncTime"].map(|what| long(&format!("sun.rt.{what}")));
        reading.safepoints = all.unwrap_or(0).max(0) as u64;
        (reading.safepoint_time, reading.to_stop) = (nanoseconds(time.unwrap_or(0)), nanoseconds(to_stop.unwrap_or(0)));
        if reading.operations.is_empty() && all.is_some() {
            let stood = reading.safepoint_time.saturating_sub(reading.to_stop);
            let mut place = 0..;
            let all = [reading.safepoints, stood, reading.to_stop];
            self.all = Some(all.map(|now| self.counted.stops.count(place.next().unwrap_or(0), now)));
        }
        for (generation, space) in spaces() {
            let used = long(&format!("sun.gc.generation.{generation}.space.{space}.used")).unwrap_or(0).max(0) as u64;
            reading.used += used;
            if (generation, space) == (0, 0) {
                reading.eden = used;
            }
        }
        Ok(Some(reading))
    }

    pub(super) fn look_slowly(&mut self, pid: u32, stacks: &Stacks) -> Result<(), Why> {
        let memory = &Process(pid);
        if let Some(counters) = &self.counters {
            self.pools = pools(counters);
            let names =
                ["totalCompiles", "osrCompiles", "totalTime", "nmethodSize", "totalInvalidates", "totalBailouts"];
            let found = names.map(|name| {
                ["sun.ci.", "java.ci."].into_iter().find_map(|prefix| counters.long(&format!("{prefix}{name}")))
            });
            let mut place = 0..;
            let counters = found.map(|now| {
                let place = place.next().unwrap_or(0);
                now.map(|now| self.counted.compilers.count(place, now.max(0) as u64) as i64)
            });
            self.compilers = Some(Compilers { counters, ..Compilers::default() });
        }
        if self.way.is_none() {
            return Ok(());
        }
        let (queue, (compiles, stops)) = (self.internals.queued(memory)?, self.internals.compiles(memory)?);
        if let Some(compilers) = &mut self.compilers {
            (compilers.queue, compilers.stopped) = (queue, compiles.map(|compiles| !compiles));
            compilers.stops = stops.map(|now| self.counted.compilers.count(STOPS, now));
        }
        // The code cache comes to be early, but not before the JVM is understood.
        if let (None, Some(way)) = (&self.code, &self.way) {
            self.code = CodeHeaps::new(memory, way).ok();
        }
        if let Some(code) = &self.code {
            self.pools.retain(|pool| !pool.name.starts_with("code"));
            self.pools.extend(code.look(memory)?.into_iter().map(Pool::of_code));
        }
        let counted = &mut self.counted;
        let owned = |(reason, action, now): (&str, &str, u64)| {
            let (reason, action) = (reason.to_owned(), action.to_owned());
            let times = counted.deoptimizations.count((reason.clone(), action.clone()), now);
            (reason, action, times)
        };
        self.deoptimizations = self.internals.deoptimizations(memory)?.into_iter().map(owned).collect();
        // What it takes may not have been there when the JVM was first understood.
        if let (None, Some(way)) = (&self.roster, &self.way) {
            self.roster = Roster::new(memory, way).ok();
        }
        if let Some(roster) = &mut self.roster {
            self.threads = roster.look(memory)?;
            for thread in &mut self.threads {
                let counted = &mut self.counted.allocated;
                thread.allocated = thread.allocated.map(|now| counted.count(thread.tid, now));
            }
            if let Some(numbers) = &mut self.numbers {
                if self.threads.iter().any(|thread| !numbers.contains_key(&thread.tid)) {
                    *numbers = stacks.inner_numbers(pid);
                }
                for thread in &mut self.threads {
                    thread.tid = numbers.get(&thread.tid).copied().unwrap_or(0);
                }
                self.threads.retain(|thread| thread.tid != 0);
            }
        }
        self.counted.go_on();
        Ok(())
    }

    /// What of this JVM cannot be told, said once.
    pub(super) fn lacks(&mut self) -> Option<Lack> {
        if !self.is_understood || self.failed.take().is_none() {
            return None;
        }
        match () {
            () if self.file.is_some() => Some(Lack::Memory),
            () if self.counters.is_none() => Some(Lack::Counters),
            () if self.internals.origin.is_none() => {
                let why = self.no_internals.take();
                Some(Lack::Symbols(
                    why.unwrap_or_else(|| "its libjvm.so does not name what its clocks count from".into()),
                ))
            }
            () if !self.internals.tells_safepoints() => Some(Lack::Safepoints),
            () => None,
        }
    }
}

fn spaces() -> impl Iterator<Item = (usize, usize)> {
    (0..GENERATIONS).flat_map(|generation| (0..SPACES).map(move |space| (generation, space)))
}

/// The parts of the heap, and what is kept of classes.
fn pools(counters: &Counters) -> Vec<Pool> {
    let mut found: Vec<Pool> = Vec::new();
    let limit = |most: Option<i64>| most.filter(|most| (0..1 << 46).contains(most));
    for (generation, space) in spaces() {
        let of = |what: &str| counters.long(&format!("sun.gc.generation.{generation}.space.{space}.{what}"));
        let Some(used) = of("used") else { continue };
        let name = counters.text(&format!("sun.gc.generation.{generation}.space.{space}.name")).unwrap_or("?");
        let name = match name {
            "s0" | "s1" => "survivor",
            "space" => "old",
            name => name,
        };
        let (capacity, most) = (of("capacity"), limit(of("maxCapacity")));
        match found.iter_mut().find(|pool| pool.name == name) {
            // Of the survivor spaces one is empty.
            Some(pool) => {
                pool.used = pool.used.map(|before| before + used);
                pool.capacity = pool.capacity.zip(capacity).map(|(a, b)| a + b);
            }
            None => found.push(Pool { name: name.to_owned(), used: Some(used), capacity, most, peak: None }),
        }
    }
    for (name, prefix) in [("metaspace", "sun.gc.metaspace"), ("class space", "sun.gc.compressedclassspace")] {
        let of = |what: &str| counters.long(&format!("{prefix}.{what}"));
        if let Some(used) = of("used") {
            let (capacity, most) = (of("capacity"), limit(of("maxCapacity")));
            found.push(Pool { name: name.to_owned(), used: Some(used), capacity, most, peak: None });
        }
    }
    found
}

pub(super) fn monotonic() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
