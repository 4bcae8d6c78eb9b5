//! Adds up what threads count now and what was folded of threads that ended (`syscalls.bpf.c`).
//!
//! A thread may fold its counts while it is read. The folded ones are read first, so that nothing counts twice; what was missed is there the
//! next time, and until then a row keeps what it showed. Of processes that are gone, what was folded is read once more: all of it is there.
//!
//! What was counted in a part of the time is scaled up read by read (`thin/`). What runs when such a part ends is asked for then and kept here.

use super::names;
use crate::tally::{BUCKETS, Counts, Fields, Losses, collector_row, trimmed, whole};
use crate::thin::{BUDGET, Cost, Found, GATE, Rhythm, Set, Span, Thin, Thinned};
use crate::{Reader, Scope, scope};
use host::Host;
use host::bpf::{Iterator as TaskIterator, Map, Need, Programs};
use model::{NULL, Out, Unavailable};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/syscalls.bpf.o"));

/// `NO_CALL`, `LOST_…` of syscalls.bpf.c.
const NO_CALL: u32 = u32::MAX;
const LOST_THREADS: u32 = 0;
const LOST_CALLS: u32 = 1;
/// What counts calls, and `COUNT_CALLS`.
const SETS: [Set<'_>; 1] = [Set { counter: 2, programs: &["call_ends", "call_begins"] }];
/// What a call costs with both hooks, by scripts/bench/syscalls.sh on the machine that dearness.rs compares with.
const COST: Cost = Cost { each: 120 };
/// Bytes of `struct slot` and of `struct folded_key`.
const SLOT: usize = 8 + 6 * 8 + BUCKETS * 4;
/// So many reads in a row without a call, and the sums of processes that are gone are forgotten. They begin at zero again.
const FORGET: u32 = 120;

/// Whose sums: process (0: those that came and went), name, number of the call.
type Key = (u32, [u8; 16], u32);

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums {
    /// Count, errors, time, bytes, then the buckets.
    counters: [u64; 4 + BUCKETS],
    longest: u64,
    /// Time of calls that ran when a stretch ended. It is in none of the counters.
    open: u64,
}

/// Where the time in calls is among the counters.
const TIME: usize = 2;

impl Default for Sums {
    fn default() -> Self {
        Sums { counters: [0; 4 + BUCKETS], longest: 0, open: 0 }
    }
}

impl Sums {
    fn add(&mut self, more: &Sums) {
        for (sum, value) in self.counters.iter_mut().zip(more.counters) {
            *sum = sum.wrapping_add(value);
        }
        self.longest = self.longest.max(more.longest);
    }

    /// `struct slot` after its number. `epoch`: the one that has just ended.
    fn of_slot(fields: &mut Fields<'_>, epoch: u32) -> Self {
        let (written, mut sums) = (fields.u32(), Sums::default());
        for counter in sums.counters.iter_mut().take(4) {
            *counter = fields.u64();
        }
        sums.longest = longest(written, [fields.u64(), fields.u64()], epoch);
        for bucket in sums.counters.iter_mut().skip(4) {
            *bucket = u64::from(fields.u32());
        }
        sums
    }

    /// `struct folded`.
    fn of_folded(record: &[u8], epoch: u32) -> Self {
        let (mut fields, mut sums) = (Fields::of(record), Sums::default());
        for counter in sums.counters.iter_mut().take(4) {
            *counter = fields.u64();
        }
        let both = [fields.u64(), fields.u64()];
        sums.longest = longest(fields.u64() as u32, both, epoch);
        for bucket in sums.counters.iter_mut().skip(4) {
            *bucket = fields.u64();
        }
        sums
    }
}

/// The longest of `epoch`, of those of even and odd epochs that were last written in `written`.
fn longest(written: u32, [even, odd]: [u64; 2], epoch: u32) -> u64 {
    match written.wrapping_sub(epoch) {
        0 | 1 if epoch & 1 == 0 => even,
        0 | 1 => odd,
        _ => 0,
    }
}

/// A row as it was put out last.
struct Row {
    comm: i64,
    call: i64,
    has_bytes: bool,
    /// As the kernel counted, and scaled.
    counted: Sums,
    shown: Sums,
    idle: u32,
}

/// Reads system calls.
pub struct Syscalls {
    threads: TaskIterator,
    folded: Map,
    epoch_map: Map,
    epoch: u32,
    lost: Counts,
    losses: [Losses; 2],
    events: u64,
    thin: Thin,
    /// What was found last, where it may have to be found again.
    last: HashMap<Key, Sums>,
    /// Time of calls that ran when a stretch ended, since the read before and in all.
    open: Arc<Mutex<HashMap<Key, u64>>>,
    opened: HashMap<Key, u64>,
    /// CPU time of each process: of all its life, and since the read before where it was there.
    runtimes: HashMap<u32, u64>,
    used: HashMap<u32, u64>,
    /// Which part of its CPU time the hooks took of each while they were attached, as found last.
    shares: HashMap<u32, f64>,
    /// Holds the programs attached.
    programs: Programs,
    buffer: Vec<u8>,
    /// In the order in which they first came up.
    order: Vec<Key>,
    rows: HashMap<Key, Row>,
    /// Processes that were put out under their own pid.
    shown: HashSet<u32>,
    /// What was taken out of the kernel's map: of processes that came and went, by name and call.
    gone: HashMap<([u8; 16], u32), Sums>,
    calls: HashMap<u32, (i64, bool)>,
}

/// One reading of the hash `folded`.
type Folded = Vec<(Vec<u8>, Vec<u8>)>;

/// `struct open_call`.
fn open_calls(bytes: &[u8], mut each: impl FnMut(Key, u64)) {
    let mut fields = Fields::of(bytes);
    while !fields.is_empty() {
        let (pid, nr, comm) = (fields.u32(), fields.u32(), fields.name());
        each((pid, comm, nr), fields.u64());
    }
}

/// `struct folded_key`: the key of the row, and the epoch.
fn folded_key(bytes: &[u8]) -> (Key, u32) {
    let mut fields = Fields::of(bytes);
    let (pid, nr, epoch) = (fields.u32(), fields.u32(), fields.u32());
    ((pid, fields.name(), nr), epoch)
}

impl Syscalls {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        Need::all(host, &[Need::TASK_STORAGE, Need::TASK_REGISTERS])?;
        let marks = scope::shared(host, scope)?;
        let mut programs = marks.load(host, "syscalls", OBJECT, &[], &[], &[])?;
        for program in ["thread_exits", "process_is_renamed"] {
            programs.attach(program)?;
        }
        let open = Arc::<Mutex<HashMap<Key, u64>>>::default();
        let (running, times, mut buffer) = (programs.iterator("read_open")?, Arc::clone(&open), Vec::new());
        let closing = move || {
            running.read_into(&mut buffer)?;
            let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
            open_calls(&buffer, |key, time| *times.entry(key).or_default() += time);
            Ok(())
        };
        let plan = Thinned {
            what: "system calls",
            sets: &SETS,
            cost: COST,
            rhythm: Rhythm::SHORT,
            budget: BUDGET,
            expected: 0.0,
            gate: GATE,
        };
        let thin = Thin::attach(&programs, &plan, (scope.exact, &scope.thinning), Box::new(closing))?;
        Ok(Syscalls {
            threads: programs.iterator("read_threads")?,
            folded: programs.map("folded")?,
            epoch_map: programs.map("epoch")?,
            epoch: 0,
            lost: Counts::of(&programs)?,
            losses: Default::default(),
            events: 0,
            thin,
            last: HashMap::new(),
            open,
            opened: HashMap::new(),
            runtimes: HashMap::new(),
            used: HashMap::new(),
            shares: HashMap::new(),
            programs,
            buffer: Vec::new(),
            order: Vec::new(),
            rows: HashMap::new(),
            shown: HashSet::new(),
            gone: HashMap::new(),
            calls: HashMap::new(),
        })
    }

    /// What all threads and processes have counted by now.
    fn collect(&mut self) -> Result<HashMap<Key, Sums>, Unavailable> {
        let ended = self.epoch;
        self.epoch = ended.wrapping_add(1);
        self.epoch_map.set(&0u32.to_ne_bytes(), &self.epoch.to_ne_bytes())?;
        let before = self.folded.entries()?;
        self.threads.read_into(&mut self.buffer)?;
        let mut sums: HashMap<Key, Sums> = HashMap::new();
        let mut alive = HashSet::new();
        let mut runtimes: HashMap<u32, (u64, u64)> = HashMap::new();
        let mut fields = Fields::of(&self.buffer);
        while !fields.is_empty() {
            let (pid, nr, comm) = (fields.u32(), fields.u32(), fields.name());
            let [runtime, of_ended] = fields.numbers();
            alive.insert(pid);
            if nr == NO_CALL {
                let process = runtimes.entry(pid).or_default();
                *process = (process.0 + runtime, process.1.max(of_ended));
            } else {
                let mut slot = Fields::of(fields.bytes(SLOT));
                slot.u32();
                sums.entry((pid, comm, nr)).or_default().add(&Sums::of_slot(&mut slot, ended));
            }
        }
        let runtimes: HashMap<u32, u64> =
            runtimes.into_iter().map(|(pid, (live, ended))| (pid, live + ended)).collect();
        let used = runtimes.iter().filter_map(|(pid, now)| Some((*pid, now.saturating_sub(*self.runtimes.get(pid)?))));
        self.used = used.collect();
        self.runtimes = runtimes;
        self.add_folded(&before, &alive, ended, &mut sums)?;
        self.add_open(&alive, &mut sums);
        Ok(sums)
    }

    /// Adds the time of calls that ran when a stretch ended. Where nothing else is known of them, they have no count.
    fn add_open(&mut self, alive: &HashSet<u32>, sums: &mut HashMap<Key, Sums>) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for (key, time) in open {
            *self.opened.entry(key).or_default() += time;
        }
        // A process that is gone has its last row now, or never had one.
        self.opened.retain(|key, time| {
            if alive.contains(&key.0) || sums.contains_key(key) {
                sums.entry(*key).or_default().open = *time;
            }
            alive.contains(&key.0)
        });
    }

    /// Adds what was folded: as read before the threads for processes that live, as it is now for those that are gone.
    fn add_folded(
        &mut self,
        before: &Folded,
        alive: &HashSet<u32>,
        ended: u32,
        sums: &mut HashMap<Key, Sums>,
    ) -> Result<(), Unavailable> {
        for (bytes, record) in before {
            let (key, _) = folded_key(bytes);
            if alive.contains(&key.0) {
                sums.entry(key).or_default().add(&Sums::of_folded(record, ended));
            }
        }
        for (bytes, record) in self.folded.entries()? {
            let ((pid, comm, nr), epoch) = folded_key(&bytes);
            if alive.contains(&pid) {
                continue;
            }
            let now = Sums::of_folded(&record, ended);
            if pid != 0 && self.shown.contains(&pid) {
                sums.entry((pid, comm, nr)).or_default().add(&now);
                self.folded.delete(&bytes);
            } else if pid != 0 || epoch < ended {
                // Nobody writes to it any more.
                self.gone.entry((comm, nr)).or_default().add(&now);
                self.folded.delete(&bytes);
            } else {
                sums.entry((0, comm, nr)).or_default().add(&now);
            }
        }
        for ((comm, nr), gone) in &mut self.gone {
            sums.entry((0, *comm, *nr)).or_default().add(gone);
            gone.longest = 0;
        }
        self.shown = alive.clone();
        Ok(())
    }

    /// The row of `key`, made where it is new.
    fn row(&mut self, key: Key, out: &mut Out<'_>) -> &mut Row {
        let (_, comm, nr) = key;
        let calls = &mut self.calls;
        let order = &mut self.order;
        self.rows.entry(key).or_insert_with(|| {
            order.push(key);
            let (call, has_bytes) = *calls.entry(nr).or_insert_with(|| {
                let name = names::name(nr);
                (out.text(&name), names::moves_bytes(&name))
            });
            let comm = out.bytes(trimmed(&comm));
            Row { comm, call, has_bytes, counted: Sums::default(), shown: Sums::default(), idle: 0 }
        })
    }
}

/// Adds to `row` what has been counted since the read before, `now` being all of it; and what that is.
fn add_counted(row: &mut Row, now: &Sums, span: Span) -> Sums {
    let mut new = Sums::default();
    let each = row.shown.counters.iter_mut().zip(&mut row.counted.counters).zip(&mut new.counters);
    for (((shown, counted), new), now) in each.zip(now.counters) {
        // What was missed this time comes the next.
        *new = now.saturating_sub(*counted);
        *shown = shown.saturating_add(span.scaled(*new));
        *counted = now.max(*counted);
    }
    new.open = now.open.saturating_sub(row.counted.open);
    row.shown.counters[TIME] = row.shown.counters[TIME].saturating_add(span.scaled_wait(new.open));
    row.counted.open = now.open.max(row.counted.open);
    new
}

impl Syscalls {
    /// Adds what the read before found once more, as if it had been counted again.
    fn repeat(&mut self, sums: &mut HashMap<Key, Sums>) {
        for (key, last) in std::mem::take(&mut self.last) {
            let Some(row) = self.rows.get(&key) else { continue };
            let sums = sums.entry(key).or_insert(Sums { longest: 0, ..row.counted });
            sums.add(&last);
            sums.open = row.counted.open.saturating_add(last.open);
        }
    }

    /// Puts out the rows; `sums` were counted in `span`.
    fn put(&mut self, mut sums: HashMap<Key, Sums>, span: Span, again: bool, out: &mut Out<'_>) {
        let mut new: Vec<Key> = sums.keys().filter(|key| !self.rows.contains_key(*key)).copied().collect();
        new.sort_unstable();
        for key in new {
            self.row(key, out);
        }
        let mut calls: HashMap<u32, u64> = HashMap::new();
        for (key, now) in &sums {
            let before = self.rows.get(key).map_or(0, |row| row.counted.counters[0]);
            *calls.entry(key.0).or_default() += now.counters[0].saturating_sub(before);
        }
        if !again {
            self.events = calls.values().fold(self.events, |sum, calls| sum.wrapping_add(*calls));
        }
        let cost = self.thin.cost();
        for (pid, calls) in calls.into_iter().filter(|(_, calls)| *calls > 0) {
            // Of who is gone it is as it was.
            if let Some(share) = self.used.get(&pid).and_then(|used| span.share(cost, calls, *used)) {
                self.shares.insert(pid, share);
            }
        }
        let span_of = |pid: u32| self.shares.get(&pid).map_or(span, |share| span.with_share(*share));
        let keeps = self.thin.one_in() > 1;
        self.last.clear();
        let mut cells = Vec::with_capacity(super::COLUMNS.len());
        let (rows, gone, shown, last) = (&mut self.rows, &mut self.gone, &self.shown, &mut self.last);
        self.order.retain(|key| {
            let Some(row) = rows.get_mut(key) else { return false };
            let now = sums.remove(key);
            row.idle = if now.is_some_and(|now| (now.counters, now.open) != (row.counted.counters, row.counted.open)) {
                0
            } else {
                row.idle + 1
            };
            if (now.is_none() && key.0 != 0 && !shown.contains(&key.0)) || (key.0 == 0 && row.idle > FORGET) {
                if key.0 == 0 {
                    gone.remove(&(key.1, key.2));
                }
                rows.remove(key);
                return false;
            }
            let now = now.unwrap_or_default();
            let new = add_counted(row, &now, span_of(key.0));
            if keeps && new != Sums::default() {
                last.insert(*key, new);
            }
            let [count, errors, time, bytes, buckets @ ..] = row.shown.counters;
            cells.clear();
            cells.extend([i64::from(key.0), row.comm, row.call, whole(count), whole(errors), whole(time)]);
            cells.push(if row.has_bytes { whole(bytes) } else { NULL });
            cells.extend(buckets.map(whole));
            cells.push(if now.longest == 0 { NULL } else { whole(now.longest) });
            out.row(0, &cells);
            true
        });
        self.shares.retain(|pid, _| self.shown.contains(pid));
    }
}

impl Reader for Syscalls {
    fn ends(&mut self) {
        self.thin.ends();
    }

    fn read(&mut self, _: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let (found, mut sums) = (self.thin.pause()?, Ok(HashMap::new()));
        if found != Found::Nothing {
            sums = self.collect();
        }
        self.thin.resume();
        let mut sums = sums?;
        match found {
            Found::Counted(span) => self.put(sums, span, false, out),
            Found::Again(span) => {
                self.repeat(&mut sums);
                self.put(sums, span, true, out);
            }
            Found::Nothing => {}
        }
        let [threads, calls] = [self.lost.sum(LOST_THREADS)?, self.lost.sum(LOST_CALLS)?];
        let [of_threads, of_calls] = &mut self.losses;
        of_threads.say(out, "threads", threads, "the kernel had no memory to count the calls of a thread in");
        of_calls.say(
            out,
            "calls",
            calls,
            "more kinds of calls of more processes ended between two reads than there is room for",
        );
        self.thin.say(out, "syscall");
        let one_in = u64::from(self.thin.one_in());
        collector_row(out, 1, "calls", self.events, calls, Some(one_in), self.programs.run_time());
        Ok(())
    }
}
