//! What is read at a tick: the sources that are due, the recorder's own cost, the work done.

use super::{OWN, Recorder};
use crate::keeper::{Keeper, Message, Tick};
use crate::own;
use crate::schedule::due;
use model::{Coverage, Fact, Kind, Out, Rows, Shape, Table, Unavailable};
use sources::{Reader, Source};
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::TableId;

/// Rows are committed this often, or at each tick where ticks are rarer: a commit waits for the disk.
const COMMIT: Duration = Duration::from_secs(1);

/// A read that takes longer is costly: 36 ms of CPU time go into `/proc/pagetypeinfo` of a host with 24 GiB.
const COSTLY: i64 = 10_000_000;

/// The governor looks this often at what the recorder took.
const GOVERNED: Duration = Duration::from_secs(1);
/// Sources whose last read is work on what was taken before: it waits until nothing is measured any more.
const AFTERWARDS: [&str; 1] = ["instructions"];

/// Strings that have passed are forgotten this often.
const FORGET: Duration = Duration::from_secs(10);

/// A source that is being read.
pub(super) struct Active {
    source: &'static Source,
    reader: Box<dyn Reader>,
    tables: Vec<TableId>,
    /// In ticks; 0 for once.
    every: u64,
    last: u64,
    /// When it was last read, as the host's clock says, and how often it shall be, nanoseconds.
    read_at: u64,
    interval: u64,
    reads: i64,
    nanoseconds: i64,
    rows: i64,
    errors: i64,
    /// Whether it uses strings that pass (see [`model::Symbols`]).
    passing: bool,
    /// The last error that was written down, so that each is said once.
    said: Option<Unavailable>,
}

impl Active {
    /// A source that was opened, to be read every so many ticks, which are `interval` nanoseconds.
    pub(super) fn new(
        source: &'static Source,
        reader: Box<dyn Reader>,
        tables: Vec<TableId>,
        every: u64,
        interval: u64,
    ) -> Self {
        Active {
            source,
            reader,
            tables,
            every,
            last: 0,
            read_at: 0,
            interval,
            reads: 0,
            nanoseconds: 0,
            rows: 0,
            errors: 0,
            passing: false,
            said: None,
        }
    }

    /// The name of the source.
    pub(super) fn name(&self) -> &'static str {
        self.source.name
    }

    /// Whether the last read can be left out. Counters need it: what they counted since the read before would be lost. Levels do not, and where
    /// they are costly they are not read again before half of their interval is over.
    fn may_end_early(&self, now: u64) -> bool {
        let counts = |table: &&Table| match table.shape {
            Shape::Long { unknown } => matches!(unknown, Kind::Counter | Kind::Histogram),
            Shape::Wide => table.columns.iter().any(|c| c.is_cumulative()),
        };
        let is_costly = self.nanoseconds > self.reads.saturating_mul(COSTLY);
        is_costly && now.saturating_sub(self.read_at) < self.interval / 2 && !self.source.tables.iter().any(counts)
    }
}

impl Recorder<'_> {
    /// Reads every source that is due at `tick`; all of them at the first and at the last one. `once` reads the properties of the host too.
    pub(super) fn read(&mut self, tick: u64, once: bool, keeper: &Keeper) {
        let last = tick == u64::MAX;
        self.last_read = self.now();
        let mut now = Tick { t: self.last_read as i64, ..Tick::default() };
        let (mut coverage, mut facts): (Vec<Coverage>, Vec<Fact>) = Default::default();
        let mut failed = false;
        for active in &mut self.sources {
            let is_due = match active.every {
                // Large sets of properties do not change while a program runs.
                0 => once && (tick == 0 || active.source.tables.is_empty()),
                _ if last => !AFTERWARDS.contains(&active.name()) && !active.may_end_early(self.host.now()),
                every => tick == 0 || due(active.last, tick, every),
            };
            if !is_due {
                continue;
            }
            active.last = tick;
            let mut rows = vec![Rows::default(); active.source.tables.len()];
            let passed = self.symbols.passed();
            let mut out = Out::new(
                active.source.name,
                active.source.tables,
                &mut rows,
                &mut self.symbols,
                &mut coverage,
                &mut facts,
            );
            let begin = self.host.now();
            active.read_at = begin;
            if last {
                active.reader.ends();
            }
            let result = active.reader.read(&self.host, &mut out);
            active.passing |= self.symbols.passed() > passed;
            let t = begin.saturating_sub(self.start) as i64;
            active.reads += 1;
            active.nanoseconds += self.host.now().saturating_sub(begin) as i64;
            active.rows += rows.iter().map(|r| r.len() as i64).sum::<i64>();
            match result {
                Ok(()) if active.reads == 1 => coverage.push(Coverage::read(active.source.name, "")),
                Ok(()) => {}
                Err(why) => {
                    failed = true;
                    active.errors += 1;
                    if active.said.as_ref() != Some(&why) {
                        coverage.push(Coverage::unavailable(active.source.name, "", why.clone()));
                        active.said = Some(why);
                    }
                }
            }
            // Microseconds are as exact as a read is, and take half the room.
            let t = t - t % 1000;
            if !self.firing.triggers.is_empty() {
                for (table, rows) in active.source.tables.iter().copied().zip(&rows) {
                    self.firing.triggers.rows(table, t, rows, &self.symbols);
                }
            }
            now.reads.extend(
                active.tables.iter().zip(rows).filter(|(_, rows)| !rows.is_empty()).map(|(&id, rows)| (id, t, rows)),
            );
        }
        let renewals = self.stacks.renewals();
        if std::mem::replace(&mut self.renewals, renewals) != renewals {
            now.renewed.clone_from(&self.of_stacks);
        }
        self.read_own(&mut now, last, keeper);
        now.symbols = self.symbols.take_new();
        if !failed {
            self.forget(&mut now, tick);
        }
        let time = self.now();
        // Whether it can wait for the next tick: what counts is when that one is due, not how late this one came.
        let next = self.schedule.deadline();
        now.commit = last || tick == 0 || next > self.last_commit.saturating_add(COMMIT.as_nanos() as u64);
        if now.commit {
            self.last_commit = time;
        }
        keeper.send(Message::Tick(now));
        if !facts.is_empty() {
            keeper.send(Message::Facts(facts));
        }
        if tick == 0 {
            self.missing_by_name += super::say_missing(self.options, &coverage);
        }
        if !coverage.is_empty() {
            keeper.send(Message::Coverage(coverage));
        }
    }

    /// Reads what is worked out after the last read, which it belongs to.
    pub(super) fn read_afterwards(&mut self, keeper: &Keeper) {
        self.read_late(keeper, |name| AFTERWARDS.contains(&name));
    }

    /// Reads the names that were found since the last read: they belong to it.
    pub(super) fn read_names(&mut self, keeper: &Keeper) {
        self.read_late(keeper, |name| name == sources::stacks::SOURCE.name);
    }

    fn read_late(&mut self, keeper: &Keeper, wanted: impl Fn(&str) -> bool) {
        let mut now = Tick { t: self.last_read as i64, commit: true, ..Tick::default() };
        let (mut coverage, mut facts): (Vec<Coverage>, Vec<Fact>) = Default::default();
        for active in self.sources.iter_mut().filter(|active| wanted(active.name())) {
            active.reader.ends();
            // A microsecond after the source's own last read: the reads of a table have different times, which ascend.
            let t = active.read_at.saturating_sub(self.start) as i64 / 1000 * 1000 + 1000;
            now.t = now.t.max(t);
            let mut rows = vec![Rows::default(); active.source.tables.len()];
            let (name, tables) = (active.source.name, active.source.tables);
            let mut out = Out::new(name, tables, &mut rows, &mut self.symbols, &mut coverage, &mut facts);
            if let Err(why) = active.reader.read(&self.host, &mut out) {
                coverage.push(Coverage::unavailable(name, "", why));
            }
            let read = active.tables.iter().zip(rows).filter(|(_, rows)| !rows.is_empty());
            now.reads.extend(read.map(|(&id, rows)| (id, t, rows)));
        }
        now.symbols = self.symbols.take_new();
        keeper.send(Message::Tick(now));
        if !coverage.is_empty() {
            keeper.send(Message::Coverage(coverage));
        }
    }

    /// Forgets the strings that have passed: a tick that read all sources that use such strings, whole, shows which are left.
    fn forget(&mut self, now: &mut Tick, tick: u64) {
        let time = self.now();
        let unread = |s: &Active| s.passing && s.last != tick;
        if time - self.last_forgot < FORGET.as_nanos() as u64 || self.sources.iter().any(unread) {
            return;
        }
        self.last_forgot = time;
        let cells = now.reads.iter().flat_map(|(_, _, rows)| &rows.cells).copied();
        now.forgotten = self.symbols.forget(cells);
    }

    /// Has what is costly thinned, or recorded again, by what the recorder took.
    pub(super) fn govern(&mut self, keeper: &Keeper) {
        let time = self.now();
        if time.saturating_sub(self.last_governed) < GOVERNED.as_nanos() as u64 {
            return;
        }
        self.last_governed = time;
        let Some(degrees) = self.governor.tick(time, own::cpu().max(0) as u64) else { return };
        self.thinning.set(degrees);
        self.schedule.thin(degrees.reads);
        // With the next tick: from when on it is so.
        self.last_own = 0;
        self.say_thinned(keeper);
    }

    /// Says in the coverage what was thinned so far.
    fn say_thinned(&self, keeper: &Keeper) {
        let budget = self.governor.budget().unwrap_or(0.0);
        let said = |(what, _): (&'static str, u64)| {
            let why = format!(
                "the recorder would have taken more than its budget of {budget:.2} CPUs: for a part of the time {what} were thinned (table recorder)"
            );
            Coverage::unavailable(
                "recorder",
                what,
                Unavailable::estimated(why).remedy("--budget none, whatever it takes"),
            )
        };
        keeper.send(Message::Coverage(self.governor.thinned().map(said).collect()));
    }

    /// Adds the recorder's own rows, and the work done.
    fn read_own(&mut self, now: &mut Tick, last: bool, keeper: &Keeper) {
        let time = self.now();
        let t = (time - time % 1000) as i64;
        let [recorder, by_source, work] = self.own;
        // The workload reports at a pace of its own: only its reports are reads.
        let total = self.counter.as_ref().and_then(|c| c.total());
        if let Some(total) = total {
            self.firing.triggers.work(t, total);
        }
        if let Some(total) = total.filter(|t| last || self.course.total() != Some(*t)) {
            // Whole units are what people count; the fraction stays in the manifest.
            now.reads.push((work, t, Rows { width: 1, cells: vec![total as i64] }));
            self.course.add(time as f64 / 1e9, total);
        }
        if !last && self.last_own != 0 && time - self.last_own < OWN.as_nanos() as u64 {
            return;
        }
        self.last_own = time.max(1);
        if last {
            // A step that was taken a moment ago had no time yet when it was.
            self.say_thinned(keeper);
        }
        self.look_for_recorders();
        let bytes = keeper.state.bytes.load(Ordering::Relaxed);
        let rss = own::rss(self.page);
        self.memory = self.memory.max(rss);
        let ticks = [self.schedule.late, self.schedule.skipped];
        now.reads.push((recorder, t, own::row(rss, ticks, &self.thinning, self.governor.degrees(), bytes)));
        let mut rows = Rows { width: own::RECORDER_SOURCE.width(), cells: Vec::new() };
        for s in &self.sources {
            rows.cells.extend([self.symbols.cell(s.source.name), s.reads, s.nanoseconds, s.rows, s.errors]);
        }
        if !rows.is_empty() {
            now.reads.push((by_source, t, rows));
        }
    }
}
