//! The loop of a recording.

use crate::command::{self, Workload};
use crate::control::{Control, Request};
use crate::keeper::{Keeper, Message, Tick};
use crate::options::{Record, Usage};
use crate::own;
use crate::progress::{self, Progress};
use crate::schedule::{Schedule, due};
use crate::signals::{self, Wake};
use crate::work::Counter;
use anyhow::{Context, Result, bail};
use host::Host;
use model::{Coverage, Exit, Fact, Kind, Manifest, Mark, Out, Rows, Shape, Status, Symbols, Table, Unavailable, Work};
use sources::stacks::Stacks;
use sources::{Pace, Reader, Scope, Source};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::{TableId, Writer};

/// The interval unless one is asked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// The interval at the start of a command unless one is asked for, and for how long.
const SPRINT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(20));

/// Samples a second on each CPU where a command is recorded. Not 100: what runs at an even pace must not be seen always or never.
pub(crate) const HERTZ: u32 = 99;

/// Rows are committed this often, or at each tick where ticks are rarer: a commit waits for the disk.
const COMMIT: Duration = Duration::from_secs(1);

/// The tail is sealed at this age.
const SEAL: Duration = Duration::from_secs(600);

/// When properties of the host are read a second time, because the workload has started what it starts.
const SECOND_LOOK: Duration = Duration::from_secs(2);

/// The last read comes at least so long after the one before.
const SHORTEST: Duration = Duration::from_millis(20);

/// A read that takes longer is costly: 36 ms of CPU time go into `/proc/pagetypeinfo` of a host with 24 GiB.
const COSTLY: i64 = 10_000_000;

/// Strings that have passed are forgotten this often.
const FORGET: Duration = Duration::from_secs(10);

/// The recorder's own tables are read this often.
const OWN: Duration = Duration::from_secs(5);

/// A source that is being read.
struct Active {
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
    /// Whether it uses strings that pass (see [`Symbols`]).
    passing: bool,
    /// The last error that was written down, so that each is said once.
    said: Option<Unavailable>,
}

impl Active {
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

struct Recorder<'a> {
    options: &'a Record,
    host: Host,
    start: u64,
    symbols: Symbols,
    last_forgot: u64,
    sources: Vec<Active>,
    own: [TableId; 3],
    schedule: Schedule,
    counter: Option<Arc<Counter>>,
    stacks: Stacks,
    progress_points: Vec<(f64, f64)>,
    page: i64,
    last_commit: u64,
    /// When the last tick was read, nanoseconds since the start.
    last_read: u64,
    last_own: u64,
    unavailable: usize,
}

/// `twinscope record`. Returns the exit code: that of the command where there is one.
///
/// # Errors
/// Where the recording cannot be begun, or could not be written to its end.
pub fn record(options: &Record) -> Result<u8> {
    let path = output(options)?;
    let pace = Ticks::of(options);
    let chosen = chosen(options, &pace)?;
    if let Some(program) = options.command.first()
        && let Some((code, why)) = command::refused(program)
    {
        eprintln!("twinscope: {}: {why}", program.display());
        return Ok(code);
    }
    host::keep_heap_small();
    let host = if options.root == Path::new("/") { Host::live() } else { Host::at(&options.root) };
    let target = options.whose.target(&host, !options.command.is_empty())?;
    signals::block();
    let seal = options.keep.map_or(SEAL, |keep| (keep / 10).clamp(Duration::from_secs(10), SEAL));
    let mut writer = Writer::create(&path, options.force, seal.as_nanos() as i64)?;
    let start = host.now();
    let mut manifest = manifest(options, &pace, &host, &path);
    let scope = Scope {
        unmasked: options.unmasked,
        cloud_metadata: options.cloud_metadata,
        threads: options.threads,
        target,
        start,
        hertz: options.stacks.unwrap_or(if options.command.is_empty() { 0 } else { HERTZ }),
        ..Scope::default()
    };
    manifest.scope = scope.target.to_string();
    writer.manifest(&manifest)?;
    let mut coverage = Vec::new();
    let mut active = Vec::new();
    for (source, every) in chosen {
        match (source.open)(&host, &scope) {
            Ok(reader) => {
                let asked = options.every.iter().any(|(name, _)| name == source.name);
                let every = match Duration::from_secs(reader.at_least()) {
                    time if asked || every == 0 || time.is_zero() => every,
                    time => every.max(ticks(time, pace.base)),
                };
                let interval = pace.base.as_nanos() as u64 * if every == 1 { pace.stride } else { every };
                writer.source(source.name, source.title, interval as i64, source.charts)?;
                let tables = source.tables.iter().map(|t| writer.define(source.name, t)).collect::<Result<_, _>>()?;
                active.push(Active {
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
                });
            }
            Err(why) => coverage.push(said(source.name, why)),
        }
    }
    host::settle();
    for source in sources::ALL {
        let out = !options.only.is_empty() && !options.only.iter().any(|n| n == source.name)
            || options.skip.iter().any(|n| n == source.name);
        if out {
            coverage.push(said(source.name, Unavailable::not_applicable("left out by --only or --skip")));
        }
    }
    let missing_by_name = options.only.iter().filter(|name| coverage.iter().any(|c| c.source == **name)).count();
    let unavailable = coverage.iter().filter(|c| c.status != Status::NotApplicable).count();
    writer.coverage(&coverage)?;
    writer.source("recorder", "the recorder itself", OWN.as_nanos() as i64, own::CHARTS)?;
    let mut define = |table: &'static Table| writer.define("recorder", table);
    let own = [define(&own::RECORDER)?, define(&own::RECORDER_SOURCE)?, define(&own::WORK)?];

    let keeper = Keeper::start(writer, options.keep.map(|k| k.as_nanos() as i64));
    let progress = Arc::new(Progress::new(options.quiet));
    let counter = Counter::new(options).map(Arc::new);
    let mut recorder = Recorder {
        options,
        start,
        symbols: Symbols::default(),
        last_forgot: 0,
        sources: active,
        own,
        schedule: Schedule::new(pace.base, pace.sprint, pace.stride),
        counter,
        stacks: scope.stacks.clone(),
        progress_points: Vec::new(),
        page: manifest.page_size,
        last_commit: 0,
        last_read: 0,
        last_own: 0,
        unavailable,
        host,
    };
    let ended = match recorder.run(&keeper, &progress, &mut manifest, &path) {
        Ok(ended) => ended,
        Err(why) => {
            // What is there is a recording of nothing; that it cannot be finished or removed adds nothing to why.
            let _ = keeper.finish(manifest);
            let _ = std::fs::remove_file(&path);
            eprintln!("twinscope: {why}");
            return Ok(command::NOT_STARTED);
        }
    };

    manifest.duration = Some(recorder.now() as i64);
    manifest.late_ticks = recorder.schedule.late;
    manifest.skipped_ticks = recorder.schedule.skipped;
    manifest.ended = Some(ended);
    let rows = keeper.state.rows.load(Ordering::Relaxed);
    let written = keeper.finish(manifest.clone());
    if !options.quiet {
        let size = std::fs::metadata(&path).map_or(0, |m| m.len());
        let seconds = manifest.duration.unwrap_or(0) as f64 / 1e9;
        progress.clear_for(|| {
            eprintln!(
                "recorded {seconds:.1} s in {} ({}, {rows} rows read{})",
                path.display(),
                progress::bytes(size),
                recorder.left_out()
            );
        });
    }
    written.with_context(|| {
        let command = manifest.exit.map_or(String::new(), |exit| format!("; the command went on without ({exit})"));
        format!("the recording stopped early, {} holds what came before{command}", path.display())
    })?;
    Ok(match manifest.exit {
        Some(Exit::Code(0)) | None if missing_by_name > 0 => 3,
        Some(Exit::Code(code)) => code as u8,
        Some(Exit::Signal(signal)) => 128u8.saturating_add(signal as u8),
        None => 0,
    })
}

/// How far apart the ticks are: `base` during the sprint, `stride` times that later.
struct Ticks {
    base: Duration,
    sprint: Duration,
    stride: u64,
}

impl Ticks {
    fn of(options: &Record) -> Self {
        match options.interval {
            Some(base) => Ticks { base, sprint: Duration::ZERO, stride: 1 },
            None if options.command.is_empty() => Ticks { base: INTERVAL, sprint: Duration::ZERO, stride: 1 },
            None => {
                Ticks { base: SPRINT.0, sprint: SPRINT.1, stride: (INTERVAL.as_nanos() / SPRINT.0.as_nanos()) as u64 }
            }
        }
    }
}

/// Where to record to: the name given, or one made of the command's name or the time.
fn output(options: &Record) -> Result<PathBuf> {
    if let Some(path) = &options.output {
        if path.file_name().is_none() || path.is_dir() {
            bail!("{}: is a folder; name a file, such as {}", path.display(), path.join("slow.twin").display());
        }
        return Ok(path.clone());
    }
    let base = match options.command.first() {
        Some(command) => Path::new(command).file_name().map_or("command".into(), |n| n.to_string_lossy().into_owned()),
        None => "recording".into(),
    };
    let free = |n: usize| PathBuf::from(if n == 0 { format!("{base}.twin") } else { format!("{base}-{n}.twin") });
    (0..10_000)
        .map(free)
        .find(|p| !p.exists())
        .context("10,000 recordings of this name are here already; name one with -o")
}

/// How many ticks of length `tick` fill `time`; at least one.
fn ticks(time: Duration, tick: Duration) -> u64 {
    (time.as_nanos() as u64).div_ceil(tick.as_nanos() as u64).max(1)
}

/// The sources that the options choose, each with its interval in ticks (0: once).
fn chosen(options: &Record, pace: &Ticks) -> Result<Vec<(&'static Source, u64)>> {
    let known = || sources::ALL.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
    let named = options.only.iter().chain(&options.skip).chain(options.every.iter().map(|(name, _)| name));
    for name in named {
        if sources::by_name(name).is_none() {
            return Err(Usage(format!("there is no source {name:?}; there are: {}", known())).into());
        }
    }
    let ticks = |time| ticks(time, pace.base);
    let every = |source: &Source| {
        let given = options.every.iter().rev().find(|(name, _)| name == source.name);
        match (given, source.pace) {
            (_, Pace::Once) => 0,
            (Some((_, time)), _) => ticks(*time),
            (None, Pace::Tick) => 1,
            (None, Pace::AtLeast(seconds)) => ticks(Duration::from_secs(seconds)),
        }
    };
    Ok(sources::ALL
        .iter()
        .filter(|s| options.only.is_empty() || options.only.iter().any(|n| n == s.name))
        .filter(|s| !options.skip.iter().any(|n| n == s.name))
        .map(|&s| (s, every(s)))
        .collect())
}

fn manifest(options: &Record, pace: &Ticks, host: &Host, path: &Path) -> Manifest {
    let text = |path: &str| host.read_text(path).unwrap_or_default();
    let uname = rustix::system::uname();
    let word = |s: &std::ffi::CStr| s.to_string_lossy().into_owned();
    let unix = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let memory = text("/proc/meminfo")
        .lines()
        .find_map(|l| l.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<i64>().ok());
    let command = (!options.command.is_empty()).then(|| {
        let words: Vec<_> = options.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        if options.unmasked { words } else { sources::mask::arguments(&words) }
    });
    Manifest {
        tool: crate::VERSION.into(),
        name: options
            .name
            .clone()
            .unwrap_or_else(|| path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())),
        host: word(uname.nodename()),
        kernel: word(uname.release()),
        machine: word(uname.machine()),
        boot_id: text("/proc/sys/kernel/random/boot_id"),
        start_unix: unix.tv_sec.saturating_mul(1_000_000_000).saturating_add(unix.tv_nsec),
        start_monotonic: host.now() as i64,
        interval: pace.base.as_nanos() as i64 * pace.stride as i64,
        sprint: (!pace.sprint.is_zero()).then_some((pace.base.as_nanos() as i64, pace.sprint.as_nanos() as i64)),
        page_size: rustix::param::page_size() as i64,
        cpus: host.read("/sys/devices/system/cpu/online").map_or(0, |list| sources::parse::list(&list).len() as i64),
        memory: memory.unwrap_or(0).saturating_mul(1024),
        command,
        labels: options.label.iter().cloned().collect(),
        ..Manifest::default()
    }
}

fn said(source: &str, why: Unavailable) -> Coverage {
    Coverage { source: source.into(), item: String::new(), status: why.status, why: why.why, remedy: why.remedy }
}

impl Recorder<'_> {
    /// Nanoseconds since the start.
    fn now(&self) -> u64 {
        self.host.now().saturating_sub(self.start)
    }

    /// Runs until the command exits, the time is over, or someone stops it; says which. The error is a command that cannot be started.
    fn run(
        &mut self,
        keeper: &Keeper,
        progress: &Arc<Progress>,
        manifest: &mut Manifest,
        path: &Path,
    ) -> Result<String, String> {
        let (requests, snapshots) = std::sync::mpsc::channel();
        let start = self.start;
        let sender = keeper.sender();
        let control = Control::open(path, move |request| match request {
            Request::Mark(text, at) => {
                let _ = sender.send(Message::Mark(Mark { t: at.saturating_sub(start) as i64, text }));
            }
            Request::Snapshot(path) => {
                let _ = requests.send(path);
                // Wakes the loop, which knows the manifest.
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1).ok();
            }
        });
        if let Err(error) = &control
            && !self.options.quiet
        {
            eprintln!("twinscope: marks and snapshots are not possible: {error}");
        }
        self.read(0, true, keeper);
        let marks = control.as_ref().ok().map(Control::marks);
        let mut workload = None;
        let mut follow = Follow::new(self.options.throughput_file.as_deref());
        if !self.options.command.is_empty() {
            manifest.command_start = Some(self.now() as i64);
            let counter = self.counter.clone().filter(|_| self.options.throughput_file.is_none());
            let started = Workload::start(&self.options.command, self.options.tty, marks.as_deref(), counter, progress);
            let name = || self.options.command.first().map(|n| n.display().to_string()).unwrap_or_default();
            let started = started.map_err(|why| format!("{}: cannot be started: {why}", name()))?;
            manifest.pid = Some(i64::from(started.pid()));
            workload = Some(started);
        }
        keeper.send(Message::Manifest(Box::new(manifest.clone())));
        let end = self.options.duration.map(|d| d.as_nanos() as u64);
        let (mut looked_twice, mut told, mut stops, mut drawn) = (false, false, 0, 0);
        let ended = loop {
            if workload.as_mut().is_some_and(Workload::poll) {
                manifest.wall = manifest.command_start.map(|s| self.now() as i64 - s);
                break "command exited".to_owned();
            }
            if end.is_some_and(|end| self.now() >= end) {
                break "duration over".to_owned();
            }
            let failed = keeper.state.has_failed();
            if failed && workload.is_none() {
                break "could not be written".to_owned();
            }
            if failed && !told {
                // At once: the command may run for hours.
                told = true;
                let why = keeper.state.why().unwrap_or_default();
                progress.clear_for(|| eprintln!("twinscope: {why}; the command goes on, unrecorded"));
            }
            let deadline = self.schedule.deadline().min(end.unwrap_or(u64::MAX));
            match signals::wait(deadline.saturating_sub(self.now())) {
                Wake::Child | Wake::Time => {}
                Wake::Snapshot => {
                    let to = snapshots.try_recv().unwrap_or_else(|_| snapshot_name(path));
                    let now = Manifest {
                        duration: Some(self.now() as i64),
                        ended: Some("snapshot".into()),
                        ..manifest.clone()
                    };
                    keeper.send(Message::Snapshot(to, Box::new(now)));
                }
                Wake::Stop(signal) => match &workload {
                    None => break "interrupted".to_owned(),
                    Some(running) => {
                        // A terminal has sent Ctrl-C to the command as well; whoever asks again means it.
                        stops += 1;
                        if signal != libc::SIGINT || stops > 1 {
                            running.signal(if stops > 2 { libc::SIGKILL } else { libc::SIGTERM });
                        } else if !rustix::termios::isatty(std::io::stdin()) {
                            running.signal(signal);
                        }
                    }
                },
            }
            if let Some(counter) = &self.counter {
                follow.read(counter);
            }
            let now = self.now();
            if let Some(tick) = self.schedule.take(now) {
                let again = !looked_twice && now >= SECOND_LOOK.as_nanos() as u64;
                looked_twice |= again;
                if !failed {
                    self.read(tick, again, keeper);
                }
            }
            if progress.is_shown() && !failed && now / 1_000_000_000 > drawn {
                drawn = now / 1_000_000_000;
                let rows = keeper.state.rows.load(Ordering::Relaxed);
                let size = progress::bytes(keeper.state.bytes.load(Ordering::Relaxed));
                progress.draw(&format!("recording {drawn} s · {rows} rows · {size}{}", self.left_out()));
            }
        };
        if let Some(mut running) = workload {
            if !running.poll() {
                stop(&mut running);
                manifest.wall = manifest.command_start.map(|s| self.now() as i64 - s);
            }
            manifest.output = running.output();
            if let Some((exit, usage)) = running.ended {
                (manifest.exit, manifest.usage) = (Some(exit), Some(usage));
            }
        }
        if let Some(counter) = &self.counter {
            follow.read(counter);
        }
        // A counter in hundredths of a second says nothing over an interval that is shorter.
        let since = self.now().saturating_sub(self.last_read);
        std::thread::sleep(SHORTEST.saturating_sub(Duration::from_nanos(since)));
        self.stacks.finish();
        self.read(u64::MAX, false, keeper);
        if let Some(total) = self.counter.as_ref().and_then(|c| c.total()) {
            let progress = std::mem::take(&mut self.progress_points);
            manifest.work = Some(Work { unit: self.options.unit.clone(), total, progress });
        }
        Ok(ended)
    }

    /// Reads every source that is due at `tick`; all of them at the first and at the last one. `once` reads the properties of the host too.
    fn read(&mut self, tick: u64, once: bool, keeper: &Keeper) {
        let last = tick == u64::MAX;
        self.last_read = self.now();
        let mut now = Tick { t: self.last_read as i64, ..Tick::default() };
        let (mut coverage, mut facts): (Vec<Coverage>, Vec<Fact>) = Default::default();
        let mut failed = false;
        for active in &mut self.sources {
            let is_due = match active.every {
                // Large sets of properties do not change while a program runs.
                0 => once && (tick == 0 || active.source.tables.is_empty()),
                _ if last => !active.may_end_early(self.host.now()),
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
            let result = active.reader.read(&self.host, &mut out);
            active.passing |= self.symbols.passed() > passed;
            let t = begin.saturating_sub(self.start) as i64;
            active.reads += 1;
            active.nanoseconds += self.host.now().saturating_sub(begin) as i64;
            active.rows += rows.iter().map(|r| r.len() as i64).sum::<i64>();
            match result {
                Ok(()) if active.reads == 1 => coverage.push(Coverage {
                    source: active.source.name.into(),
                    item: String::new(),
                    status: Status::Read,
                    why: String::new(),
                    remedy: None,
                }),
                Ok(()) => {}
                Err(why) => {
                    failed = true;
                    active.errors += 1;
                    if active.said.as_ref() != Some(&why) {
                        coverage.push(said(active.source.name, why.clone()));
                        active.said = Some(why);
                    }
                }
            }
            // Microseconds are as exact as a read is, and take half the room.
            let t = t - t % 1000;
            now.reads.extend(
                active.tables.iter().zip(rows).filter(|(_, rows)| !rows.is_empty()).map(|(&id, rows)| (id, t, rows)),
            );
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

    /// Adds the recorder's own rows, and the work done.
    fn read_own(&mut self, now: &mut Tick, last: bool, keeper: &Keeper) {
        let time = self.now();
        let t = (time - time % 1000) as i64;
        let [recorder, by_source, work] = self.own;
        // The workload reports at a pace of its own: only its reports are reads.
        if let Some(total) = self
            .counter
            .as_ref()
            .and_then(|c| c.total())
            .filter(|t| last || self.progress_points.last().is_none_or(|p| p.1 != *t))
        {
            // Whole units are what people count; the fraction stays in the manifest.
            now.reads.push((work, t, Rows { width: 1, cells: vec![total as i64] }));
            self.progress_points.push((time as f64 / 1e9, total));
            if self.progress_points.len() > 2000 {
                let mut index = 0;
                self.progress_points.retain(|_| {
                    index += 1;
                    index % 2 == 0
                });
            }
        }
        if !last && self.last_own != 0 && time - self.last_own < OWN.as_nanos() as u64 {
            return;
        }
        self.last_own = time.max(1);
        let bytes = keeper.state.bytes.load(Ordering::Relaxed);
        now.reads.push((recorder, t, own::row(self.page, self.schedule.late, self.schedule.skipped, bytes)));
        let mut rows = Rows { width: own::RECORDER_SOURCE.width(), cells: Vec::new() };
        for s in &self.sources {
            rows.cells.extend([self.symbols.cell(s.source.name), s.reads, s.nanoseconds, s.rows, s.errors]);
        }
        if !rows.is_empty() {
            now.reads.push((by_source, t, rows));
        }
    }

    fn left_out(&self) -> String {
        match self.unavailable {
            0 => String::new(),
            1 => ", 1 source unavailable: see `twinscope sources`".into(),
            n => format!(", {n} sources unavailable: see `twinscope sources`"),
        }
    }
}

/// Ends a command that outlived the recording: asks, waits, insists.
fn stop(running: &mut Workload) {
    for (signal, patience) in [(libc::SIGTERM, 100), (libc::SIGKILL, 20)] {
        running.signal(signal);
        for _ in 0..patience {
            if running.poll() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The name of a snapshot that was asked for by a signal.
fn snapshot_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let free = |n: &u32| !path.with_file_name(format!("{stem}-snapshot-{n}.twin")).exists();
    let number = (1..).find(free).unwrap_or(u32::MAX);
    path.with_file_name(format!("{stem}-snapshot-{number}.twin"))
}

/// Reads what is added to a file.
struct Follow<'a> {
    path: Option<&'a Path>,
    offset: u64,
}

impl<'a> Follow<'a> {
    /// What the file holds before the command starts is of an earlier run.
    fn new(path: Option<&'a Path>) -> Self {
        Follow { path, offset: path.and_then(|p| std::fs::metadata(p).ok()).map_or(0, |m| m.len()) }
    }

    fn read(&mut self, counter: &Counter) {
        use std::os::unix::fs::FileExt;
        let Some(Ok(file)) = self.path.map(std::fs::File::open) else { return };
        if file.metadata().is_ok_and(|m| m.len() < self.offset) {
            self.offset = 0;
        }
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = file.read_at(&mut buffer, self.offset) {
            counter.feed(buffer.get(..count).unwrap_or_default());
            self.offset += count as u64;
        }
    }
}
