//! The thread that takes bursts: now and then, for some tenths of a second, samples of the busy threads with their registers. It reads made code at once,
//! for that may move; code of files is read at the end.

use super::calls::{self, Calls};
use super::code::Kept;
use super::sharing::{self, Budget, Codes, Lines, Looked};
use super::skid::{self, Skid};
use crate::Thinning;
use crate::cputime::own_time;
use crate::stacks::{Busy, Site, Stacks};
use host::registers::{OfThread, Registers};
use model::{NULL, Status, Unavailable};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// CPU time between samples of each of the two timers, ns: within a tenth of it, so a thousand a second together.
const PERIOD: u64 = 2_000_000;

/// Early bursts, so that short commands have some: when they begin, and how long each is.
const EARLY: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];
const SHORT: Duration = Duration::from_millis(100);
/// Later ones.
const LONG: Duration = Duration::from_millis(300);
/// Where shared lines are looked for: when the first begin, and how long all are.
const EARLY_LOOKS: [Duration; 3] = [Duration::from_millis(300), Duration::from_secs(3), Duration::from_secs(6)];
const LOOK: Duration = Duration::from_secs(1);
/// Lines that are watched after one.
const WATCHED: usize = 6;

/// A thread is looked at if it had this part of the time, and of those the busiest.
const PART: u64 = 10;
const THREADS: usize = 32;

/// Rows that nobody fetches are not kept beyond this.
const MOST: usize = 100_000;

/// A row of `instruction_sample`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub thread: Busy,
    pub burst: i64,
    pub stack: i64,
    pub code: i64,
    pub address: u64,
    pub sample: Registers,
}

/// A row of `instruction_burst`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    pub number: i64,
    /// CLOCK_MONOTONIC, ns.
    pub at: u64,
    pub length: u64,
    pub threads: i64,
    /// Hz; NaN where it could not be told.
    pub frequency: f64,
}

/// What was taken since somebody last fetched.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub rows: Vec<Row>,
    pub bursts: Vec<Burst>,
    pub skid: Option<Skid>,
    /// Made code that is new.
    pub code: Vec<super::code::Row>,
    pub samples: u64,
    pub lost: u64,
    pub cost: u64,
    /// What could not be done, at its first time.
    pub failed: Option<Unavailable>,
    /// Samples by address of files.
    pub in_files: HashMap<(u32, u64), u64>,
    /// Cache lines that threads share, of each burst.
    pub shared: Vec<Shares>,
    /// What accesses cost here.
    pub machine: Option<sharing::Machine>,
    /// How often functions are called.
    pub calls: Vec<calls::Look>,
}

/// Shared lines of a burst.
#[derive(Debug)]
pub(super) struct Shares {
    /// CLOCK_MONOTONIC, ns.
    pub at: u64,
    pub looked: Looked,
    pub budget: Budget,
}

/// What a burst leaves for the next.
struct Known {
    kept: Kept,
    codes: Codes,
    lines: Lines,
    skid: instructions::Skid,
    /// Of watchpoints; `None` where none are asked for.
    budget: Option<Budget>,
    /// `None` where calls are not counted.
    calls: Option<Calls>,
}

/// What is looked for, beside samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Longer bursts, after which lines are watched.
    pub sharing: bool,
    /// How often functions are called.
    pub calls: bool,
}

/// The thread, and what it shares.
pub(super) struct Bursts {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Kept>>,
}

struct Shared {
    taken: Mutex<Taken>,
    stop: AtomicBool,
}

impl Shared {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bursts {
    /// Starts it: a burst every so many seconds, after the early ones.
    pub(super) fn start(stacks: Stacks, thinning: Thinning, every: Duration, asked: Asked) -> Bursts {
        let shared = Arc::new(Shared { taken: Mutex::default(), stop: AtomicBool::new(false) });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("instructions".into());
        let thread = thread.spawn(move || run(&of_thread, &stacks, &thinning, every, asked));
        Bursts { shared, thread: thread.ok() }
    }

    /// What was taken since the last call; counts stay.
    pub(super) fn take(&self) -> Taken {
        let mut taken = self.shared.taken();
        let counts = Taken { samples: taken.samples, lost: taken.lost, cost: taken.cost, ..Taken::default() };
        std::mem::replace(&mut *taken, counts)
    }

    /// Ends the thread, at once: the code it has kept.
    pub(super) fn stop(&mut self) -> Option<Kept> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        thread.join().ok()
    }
}

impl Drop for Bursts {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits until then, or until it is to end: whether it is.
fn rest(shared: &Shared, until: Instant) -> bool {
    loop {
        if shared.stop.load(Ordering::Relaxed) {
            return true;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        std::thread::park_timeout(left);
    }
}

fn run(shared: &Shared, stacks: &Stacks, thinning: &Thinning, every: Duration, what: Asked) -> Kept {
    let mut known = Known {
        kept: Kept::default(),
        codes: Codes::default(),
        lines: Lines::default(),
        skid: instructions::Skid::Unknown,
        budget: what.sharing.then(Budget::default),
        calls: what.calls.then(Calls::new),
    };
    match skid::calibrate() {
        Ok(skid) => {
            known.skid = match skid.told() {
                Some(0) => instructions::Skid::None,
                Some(1) => instructions::Skid::One,
                _ => instructions::Skid::Unknown,
            };
            shared.taken().skid = Some(skid);
        }
        Err(why) => shared.taken().failed = Some(why),
    }
    shared.taken().machine = Some(sharing::measure());
    let (early, short, long) = if what.sharing { (&EARLY_LOOKS, LOOK, LOOK) } else { (&EARLY, SHORT, LONG) };
    let begin = Instant::now();
    let mut early = early.iter();
    let mut next = begin + every;
    let mut asked = begin;
    let mut random = 0x2545_f491_4f6c_dd1du64 ^ stacks.now();
    for number in 1.. {
        let (at, length) = match early.next().map(|early| begin + *early).filter(|at| *at < next) {
            Some(at) => (at, short),
            None => {
                let at = next;
                next += every;
                (at, long)
            }
        };
        // A burst that was missed, as while the machine slept, is left out.
        if at + length < Instant::now() {
            continue;
        }
        shared.taken().cost = own_time().as_nanos() as u64;
        if rest(shared, at) {
            break;
        }
        let since = asked.elapsed().as_nanos() as u64;
        asked = Instant::now();
        let mut busy = stacks.busy();
        busy.retain(|thread| thread.time.saturating_mul(PART) >= since);
        busy.sort_by_key(|thread| std::cmp::Reverse(thread.time));
        busy.truncate(THREADS);
        if !busy.is_empty() && thinning.takes_burst(number) {
            burst(shared, stacks, &mut known, number, busy, length, &mut random);
        }
        if shared.stop.load(Ordering::Relaxed) {
            break;
        }
    }
    shared.taken().cost = own_time().as_nanos() as u64;
    known.kept
}

/// A period that is another one each time.
fn period(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    PERIOD - PERIOD / 10 + *random % (PERIOD / 5)
}

fn burst(
    shared: &Shared,
    stacks: &Stacks,
    known: &mut Known,
    number: i64,
    busy: Vec<Busy>,
    length: Duration,
    random: &mut u64,
) {
    let mut events = Vec::with_capacity(busy.len());
    for thread in busy {
        let periods = [period(random), period(random)];
        let weight = periods[0] * periods[1] / (periods[0] + periods[1]);
        match OfThread::open(thread.tid, periods, length.as_nanos() as u64) {
            Ok(event) => events.push((thread, event, weight)),
            // It has ended meanwhile.
            Err(why) if why.status == Status::NotApplicable => {}
            Err(why) => {
                shared.taken().failed.get_or_insert(why);
            }
        }
    }
    // What the CPU samples itself, where it does.
    let gathering = stacks.accesses();
    let mut accesses: Vec<(Busy, host::accesses::OfThread)> = Vec::new();
    if let Some(gathering) = &gathering {
        let open = |(thread, ..): &(Busy, OfThread, u64)| Some((thread.clone(), gathering.open(thread.tid)?));
        accesses.extend(events.iter().filter_map(open));
    }
    let at = stacks.now();
    let begin = Instant::now();
    events.retain(|(_, event, _)| event.begin().is_ok());
    accesses.retain(|(_, event)| event.begin().is_ok());
    let frequency = host::speed::frequency().unwrap_or(f64::NAN);
    rest(shared, begin + length);
    let samples: Vec<_> = events.into_iter().map(|(thread, event, weight)| (thread, weight, event.end())).collect();
    for (thread, event) in accesses {
        let operations = event.end();
        known.lines.sampled(stacks, &mut known.codes, &thread, &operations);
        if let Some(gathering) = &gathering {
            gathering.put(stacks, &thread, at, &operations);
        }
    }
    let length = begin.elapsed().as_nanos() as u64;
    let threads = samples.len() as i64;
    let mut rows = Vec::new();
    let mut in_files: HashMap<(u32, u64), u64> = HashMap::new();
    let mut lost = 0;
    let mut of_threads = Vec::with_capacity(samples.len());
    for (thread, weight, (samples, without_room)) in samples {
        lost += without_room;
        let sites: HashMap<u64, (i64, Site)> = {
            let mut addresses: Vec<u64> = samples.iter().map(|s| s.address).collect();
            addresses.sort_unstable();
            addresses.dedup();
            addresses.into_iter().map(|address| (address, stacks.site(thread.pid, address))).collect()
        };
        let made = sites.iter().filter_map(|(&address, (_, site))| match site {
            Site::Made(process, _) => Some((*process, address)),
            _ => None,
        });
        let code = known.kept.made(stacks, thread.pid, made.collect());
        for sample in &samples {
            let (stack, site) = sites.get(&sample.address).copied().unwrap_or((NULL, Site::Other));
            let address = match site {
                Site::File(file, address) => {
                    *in_files.entry((file, address)).or_default() += 1;
                    address
                }
                _ => sample.address,
            };
            let code = code.get(&sample.address).copied().unwrap_or(NULL);
            rows.push(Row { thread: thread.clone(), burst: number, stack, code, address, sample: *sample });
        }
        of_threads.push((thread, weight, samples, sites));
    }
    let shares = shares(shared, stacks, known, &of_threads, at);
    let mut failed = None;
    let mut calls = known.calls.as_mut().map_or_else(Vec::new, |calls| {
        let threads: Vec<calls::OfThread<'_>> =
            of_threads.iter().map(|(thread, _, samples, sites)| (thread, samples.as_slice(), sites)).collect();
        calls.look(stacks, &threads, &mut |length| rest(shared, Instant::now() + length), &mut failed)
    });
    let mut taken = shared.taken();
    taken.samples += rows.len() as u64;
    taken.lost += lost;
    let room = MOST.saturating_sub(taken.rows.len());
    taken.lost += rows.len().saturating_sub(room) as u64;
    rows.truncate(room);
    taken.rows.append(&mut rows);
    taken.code.append(&mut known.kept.new_rows());
    taken.shared.push(shares);
    taken.calls.append(&mut calls);
    taken.failed = taken.failed.take().or(failed);
    for (place, count) in in_files {
        *taken.in_files.entry(place).or_default() += count;
    }
    taken.bursts.push(Burst { number, at, length, threads, frequency });
}

/// A thread, the CPU time that a sample stands for, its samples, and what their addresses are.
type Sampled = (Busy, u64, Vec<Registers>, HashMap<u64, (i64, Site)>);

/// Looks through samples for lines that threads share, and watches these where that was asked for.
fn shares(shared: &Shared, stacks: &Stacks, known: &mut Known, samples: &[Sampled], at: u64) -> Shares {
    let threads: Vec<_> = samples
        .iter()
        .map(|(thread, weight, samples, sites)| sharing::OfThread { thread, weight: *weight, samples, sites })
        .collect();
    known.lines.look(stacks, &mut known.codes, known.skid, &threads);
    if let Some(budget) = &mut known.budget {
        let busy: Vec<Busy> = samples.iter().map(|(thread, ..)| thread.clone()).collect();
        let mut wait = |length: Duration| rest(shared, Instant::now() + length);
        for line in known.lines.suspects(WATCHED) {
            if !budget.is_left() || sharing::watch(stacks, &mut known.codes, line, &busy, budget, &mut wait) {
                break;
            }
        }
    }
    let time = |samples: &[Registers]| samples.last().map_or(0, |sample| sample.task_clock);
    let of = |(thread, _, samples, _): &Sampled| (thread.clone(), time(samples));
    let looked = Looked { lines: known.lines.take(stacks), threads: samples.iter().map(of).collect() };
    Shares { at, looked, budget: known.budget.clone().unwrap_or_default() }
}
