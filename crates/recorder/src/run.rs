//! A recording from its start to its end: opens the sources, starts the command, and loops over ticks and signals. What is read at a tick is in
//! `read`.

mod fire;
mod name;
mod read;
mod recorders;

use crate::away;
use crate::command::{self, Workload};
use crate::control::{self, Control, Request, report_error};
use crate::governor::Governor;
use crate::keeper::{Keeper, Message};
use crate::last;
use crate::moment::unix_now;
use crate::notify::Notify;
use crate::options::Record;
use crate::own;
use crate::plan::{Ticks, chosen, manifest, output, ticks};
use crate::program::say;
use crate::progress::{self, Progress};
use crate::rotate::rotate;
use crate::schedule::Schedule;
use crate::signals::{self, Wake};
use crate::then::Runs;
use crate::work::{Counter, Course, Follow};
use anyhow::Result;
use fire::Firing;
use host::Host;
use model::{Coverage, Exit, Figure, Manifest, Mark, OwnCost, Status, Symbols, Table, Unavailable, Work};
use read::Active;
use sources::scope::{Roots, Target};
use sources::stacks::Stacks;
use sources::{Flight, Flights, Scope, Start, Thinning};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::TrySendError;
use std::time::Duration;
use store::{TableId, Writer};

/// Samples a second on each CPU where a command is recorded. Not 100: what runs at an even pace must not be seen always or never.
pub(crate) const HERTZ: u32 = 99;

/// Seconds between bursts of samples with registers.
const BURSTS: u32 = 10;

/// The tail is sealed at this age.
const SEAL: Duration = Duration::from_secs(600);

/// When properties of the host are read a second time, because the workload has started what it starts.
const SECOND_LOOK: Duration = Duration::from_secs(2);

/// With less of a CPU the recorder is late: it takes about as much for a moment when it begins and when it ends.
const ENOUGH: f64 = 0.5;

/// The last read comes at least so long after the one before.
const SHORTEST: Duration = Duration::from_millis(20);

/// The recorder's own tables are read this often.
const OWN: Duration = Duration::from_secs(5);

/// Why a recording of processes ended: [`Manifest::ended`].
const PROCESSES_ENDED: &str = "the processes ended";

/// So many snapshots may be asked for before the first is saved.
const MOST_WAITING: usize = 16;

struct Recorder<'a> {
    options: &'a Record,
    /// The group that may put marks and ask for snapshots.
    control_group: Option<u32>,
    host: Host,
    start: u64,
    symbols: Symbols,
    last_forgot: u64,
    sources: Vec<Active>,
    own: [TableId; 3],
    schedule: Schedule,
    counter: Option<Arc<Counter>>,
    /// Why the report of a tool could not be read.
    no_report: Option<String>,
    stacks: Stacks,
    /// How often stacks were numbered again, and the dictionaries of them.
    renewals: u32,
    of_stacks: Vec<TableId>,
    course: Course,
    page: i64,
    last_commit: u64,
    /// When the last tick was read, nanoseconds since the start.
    last_read: u64,
    last_own: u64,
    governor: Governor,
    thinning: Thinning,
    last_governed: u64,
    /// CPU time at the start, nanoseconds, and resident memory at most, bytes.
    cpu_before: i64,
    memory: i64,
    unavailable: usize,
    /// Those of them that want privileges.
    denied: usize,
    /// How much that was asked for by name is missing.
    missing_by_name: usize,
    firing: Firing,
    then: Runs,
    /// The processes that were named, whose end is that of the recording.
    processes: Roots,
    recorders: recorders::Seen,
    /// The processes that were asked for.
    chosen: Vec<u32>,
}

/// What is measured before a recording begins, once it is sure that it will: figures of the machine, and what disturbed them.
pub type Before<'a> = &'a dyn Fn() -> Result<(Vec<Figure>, Option<String>), Unavailable>;

/// What came of a recording.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// The exit code: that of the command where there is one.
    pub code: u8,
    /// The recording; `None` where nothing was recorded.
    pub path: Option<PathBuf>,
}

/// `twinscope record`. `before` is done before anything is recorded.
///
/// # Errors
/// Where the recording cannot be begun, or could not be written to its end.
pub fn record(options: &Record, before: Option<Before<'_>>) -> Result<Ended> {
    recorded(options, before).inspect_err(|why| {
        // A limit that was meant for the command keeps nobody from running it.
        if let Some(store::Error::TooLarge { path, .. }) = why.downcast_ref()
            && !options.command.is_empty()
            && !last::has_started()
        {
            for suffix in ["", "-wal", "-shm"] {
                let mut name = path.as_os_str().to_owned();
                name.push(suffix);
                // It holds nothing.
                let _ = std::fs::remove_file(name);
            }
            say!("twinscope: {why}; the command runs unrecorded");
            last::go_on();
        }
    })
}

fn recorded(options: &Record, before: Option<Before<'_>>) -> Result<Ended> {
    let path = output(options)?;
    let pace = Ticks::of(options);
    let chosen = chosen(options, &pace)?;
    if let Some(program) = options.command.first()
        && let Some((code, why)) = command::refused(program)
    {
        say!("twinscope: {}: {why}", program.display());
        return Ok(Ended { code, path: None });
    }
    host::keep_heap_small();
    let host = if options.root == Path::new("/") { Host::live() } else { Host::at(&options.root) };
    let target = options.target(&host)?;
    let read_from = options.read_from(&target)?;
    let counters = options.groups()?;
    let control_group = options.control_group.as_deref().map(control::group).transpose()?;
    if options.detach {
        away::check(&path)?;
    }
    let away = if options.detach { Some(away::leave()?) } else { None };
    let _otherwise = last::Otherwise;
    // Outlives all that may be attached to programs, on every way out of here.
    let _holding = host::holder::start().inspect_err(|why| {
        say!("twinscope: no further process can be started ({why}): nothing is attached to programs");
    });
    signals::block();
    let firing = Firing::begin(options, &host, &path)?;
    if let Some(most) = options.rotate {
        rotate(&path, most as usize)?;
    }
    let seal = options.keep.map_or(SEAL, |keep| (keep / 10).clamp(Duration::from_secs(10), SEAL));
    let mut writer = Writer::create(&path, options.force, seal.as_nanos() as i64)?;
    if let Some(away) = away {
        away.ready(&path)?;
    }
    if let Some(at) = options.at
        && !options.quiet
    {
        let wait = at.saturating_sub(unix_now()).max(0) as f64 / 1e9;
        say!("twinscope: recording begins at {}, in {wait:.0} s", model::utc(at));
    }
    let measured = before.map(|measure| measure());
    if let Some(at) = options.at
        && !wait_until(at)
    {
        drop(writer);
        let _ = std::fs::remove_file(&path);
        say!("twinscope: stopped before it was time to record: nothing is recorded");
        return Ok(Ended { code: 1, path: None });
    }
    let (start, cpu_before) = (Start::at(host.now()), own::cpu());
    let mut manifest = manifest(options, &pace, &host, &path, start.get());
    let no_figures = measured.as_ref().and_then(|measured| measured.as_ref().err().cloned());
    let (figures, figures_disturbed) = measured.and_then(Result::ok).unwrap_or_default();
    let scope = Scope {
        figures,
        figures_disturbed,
        unmasked: options.unmasked,
        cloud_metadata: options.cloud_metadata,
        threads: options.threads,
        exact: options.exact,
        keeps_last: options.keep.is_some(),
        bursts: options.instructions.unwrap_or(BURSTS),
        sharing: options.sharing,
        count_calls: options.count_calls,
        working_set: options.working_set,
        counters,
        hertz: options.stacks.unwrap_or(if target == Target::Nobody { 0 } else { HERTZ }),
        target,
        read_from: read_from.clone(),
        own: sources::scope::own(),
        start: start.clone(),
        // What is saved of a recording that has no end shall have names.
        names_meanwhile: options.keep.is_some() || !options.trigger.is_empty(),
        ..Scope::default()
    };
    manifest.scope = scope.target.to_string();
    writer.manifest(&manifest)?;
    let mut coverage = Vec::new();
    let (mut active, mut of_stacks) = (Vec::new(), Vec::new());
    if let Some(why) = &no_figures {
        say!("twinscope: --doctor: {why}");
    }
    if let Some(cpus) = sources::cpu_quota(&host).filter(|cpus| *cpus < ENOUGH)
        && !options.quiet
    {
        say!(
            "twinscope: the control group allows {cpus:.2} of a CPU, which the recorder needs part of: the recording begins and ends late, and \
             so does a command"
        );
    }
    for (source, every) in chosen {
        match (source.open)(&host, &scope) {
            Ok(reader) => {
                let asked = options.every.iter().any(|(name, _)| name == source.name);
                let every = match Duration::from_secs(reader.at_least()) {
                    time if asked || every == 0 || time.is_zero() => every,
                    time => every.max(ticks(time, pace.base)),
                };
                let interval = pace.base.as_nanos() as u64 * if every == 1 { pace.stride } else { every };
                writer.source(source.name, source.title, interval as i64, source.charts);
                let tables: Vec<TableId> = source.tables.iter().map(|t| writer.define(source.name, t)).collect();
                let numbered =
                    source.tables.iter().zip(&tables).filter(|(table, _)| sources::stacks::is_numbered(table));
                of_stacks.extend(numbered.map(|(_, id)| *id));
                active.push(Active::new(source, reader, tables, every, interval));
            }
            Err(why) => {
                let why = no_figures.clone().filter(|_| source.name == "machine").unwrap_or(why);
                coverage.push(Coverage::unavailable(source.name, "", why));
            }
        }
    }
    host::settle();
    let read: Vec<&str> = active.iter().map(Active::name).collect();
    if let Err(why) = firing.check(&read) {
        drop(writer);
        let _ = std::fs::remove_file(&path);
        return Err(why.into());
    }
    let missing_by_name = say_missing(options, &coverage);
    for source in sources::ALL {
        if options.leaves_out(source.name) {
            let why = Unavailable::not_applicable("left out by --only or --skip");
            coverage.push(Coverage::unavailable(source.name, "", why));
        }
    }
    let unavailable = coverage.iter().filter(|c| c.status != Status::NotApplicable).count();
    let denied = coverage.iter().filter(|c| c.status == Status::Denied).count();
    writer.source("recorder", "the recorder itself", OWN.as_nanos() as i64, own::CHARTS);
    let mut define = |table: &'static Table| writer.define("recorder", table);
    let own = [define(&own::RECORDER), define(&own::RECORDER_SOURCE), define(&own::WORK)];
    writer.coverage(&coverage)?;

    // It begins when all is set up: beside programs that keep all CPUs busy, eBPF programs take seconds to load.
    let moved = host.now().saturating_sub(start.get());
    start.set(start.get() + moved);
    manifest.start_unix = manifest.start_unix.saturating_add(moved as i64);
    manifest.start_monotonic = start.get() as i64;
    let start = start.get();
    let chosen = match &scope.target {
        Target::Trees(pids) => pids.clone(),
        _ => Vec::new(),
    };
    let then = Runs::new(options.then.clone());
    let keeper = Keeper::start(writer, options.keep.map(|k| k.as_nanos() as i64), then.clone());
    let progress = Arc::new(Progress::new(options.quiet));
    let counter = Counter::new(options).map(Arc::new);
    let mut recorder = Recorder {
        options,
        control_group,
        start,
        symbols: Symbols::default(),
        last_forgot: 0,
        sources: active,
        own,
        schedule: Schedule::new(pace.base, pace.sprint, pace.stride),
        counter,
        no_report: None,
        stacks: scope.stacks.clone(),
        renewals: 0,
        of_stacks,
        course: Course::default(),
        page: manifest.page_size,
        last_commit: 0,
        last_read: 0,
        last_own: 0,
        governor: Governor::new(options.budget.of(manifest.cpus as f64), scope.target == Target::Everything),
        thinning: scope.thinning.clone(),
        last_governed: 0,
        cpu_before,
        memory: 0,
        unavailable,
        denied,
        missing_by_name,
        firing,
        then: then.clone(),
        processes: Roots::of(&host, &scope),
        recorders: recorders::Seen::default(),
        chosen,
        host,
    };
    let flights = options
        .jfr
        .clone()
        .map(|settings| Flights::begin(Host::at(recorder.host.root()), scope.target.clone(), settings, path.clone()));
    let ended = match recorder.run(&keeper, &progress, &mut manifest, &path) {
        Ok(ended) => ended,
        Err(why) => {
            // What is there is a recording of nothing; that it cannot be finished or removed adds nothing to why.
            let _ = keeper.finish(manifest);
            let _ = std::fs::remove_file(&path);
            say!("twinscope: {why}");
            return Ok(Ended { code: command::NOT_STARTED, path: None });
        }
    };

    manifest.recorder = Some(recorder.cost());
    recorder.name(&keeper, &progress);
    // Probes are taken out while the file is finished.
    recorder.sources.clear();
    manifest.late_ticks = recorder.schedule.late;
    manifest.skipped_ticks = recorder.schedule.skipped;
    manifest.ended = Some(ended);
    let rows = keeper.state.rows.load(Ordering::Relaxed);
    let (written, path, has_moved) = match keeper.finish(manifest.clone()) {
        // It is whole.
        Err(store::Error::Moved { path, to }) => {
            say!("twinscope: {}", store::Error::Moved { path, to: to.clone() });
            (Ok(()), to, true)
        }
        written => (written, path, false),
    };
    if !options.quiet {
        // What could not be sealed is in the log.
        let log = {
            let mut name = path.as_os_str().to_owned();
            name.push("-wal");
            PathBuf::from(name)
        };
        let size = [&path, &log].into_iter().filter_map(|p| std::fs::metadata(p).ok()).map(|m| m.len()).sum();
        let seconds = manifest.duration.unwrap_or(0) as f64 / 1e9;
        progress.clear_for(|| {
            say!(
                "recorded {seconds:.1} s in {} ({}, {rows} rows read{})",
                path.display(),
                progress::bytes(size),
                recorder.left_out()
            );
        });
    }
    say_flights(flights, options.quiet);
    if let Some(cost) = manifest.recorder.as_ref().filter(|_| !options.quiet) {
        say!("recorder: {}", cost.words(manifest.cpus));
    }
    if recorder.counter.is_some() && manifest.work.is_none() && !options.quiet {
        let why = recorder.no_report.as_deref().unwrap_or("nothing matched");
        say!("twinscope: --throughput: {why}; so runs can only be compared per run or per second");
    }
    let could_be_seen = !coverage.iter().any(|c| c.source == "reads" && c.item.is_empty());
    if let Some(from) = read_from.filter(|from| could_be_seen && !from.was_read())
        && !options.quiet
    {
        say!("twinscope: {from}: nothing was read from it, so that runs can only be compared per second");
    }
    if let Err(why) = written {
        // A full disk says that itself.
        let kept = if why.is_disk_full() { "" } else { "; what came before is kept" };
        let command = manifest.exit.map_or(String::new(), |exit| format!("; the command went on without ({exit})"));
        then.wait();
        return Err(anyhow::Error::new(why).context(format!("the recording stopped early{kept}{command}")));
    }
    then.complete(path.clone());
    let incomplete = !then.wait() || recorder.missing_by_name > 0 || has_moved;
    let code = match manifest.exit {
        Some(Exit::Code(0)) | None if incomplete => 3,
        Some(exit) => command::code(exit),
        None => 0,
    };
    Ok(Ended { code, path: Some(path) })
}

/// Waits until so many nanoseconds since 1970. Whether the time came, and not a signal before.
fn wait_until(at: i64) -> bool {
    loop {
        let left = at.saturating_sub(unix_now());
        if left <= 0 {
            return true;
        }
        // In parts: a clock that is set meanwhile is followed.
        if matches!(signals::wait(left.min(200_000_000) as u64), Wake::Stop(_)) {
            return false;
        }
    }
}

/// Says what of `coverage` was asked for by name and is missing. Returns how much.
fn say_missing(options: &Record, coverage: &[Coverage]) -> usize {
    // A part of which some was lost has failed, and is there.
    let is_missing = |c: &&Coverage| match c.status {
        Status::Read => false,
        Status::Failed => c.item.is_empty(),
        _ => true,
    };
    let missing = coverage.iter().filter(is_missing).filter(|c| options.names(&c.source, &c.item));
    let mut count = 0;
    for c in missing {
        count += 1;
        if !options.quiet {
            let item = if c.item.is_empty() { c.source.clone() } else { format!("{} {}", c.source, c.item) };
            let remedy = c.remedy.as_deref().map_or(String::new(), |remedy| format!("; to change that: {remedy}"));
            say!("twinscope: {item}: {}: {}{remedy}", c.status.as_str(), c.why);
        }
    }
    count
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
        let (requests, snapshots) = std::sync::mpsc::sync_channel(MOST_WAITING);
        let start = self.start;
        let sender = keeper.sender();
        let control = Control::open(path, self.control_group, move |request| match request {
            Request::Mark(text, at) => {
                let _ = sender.send(Message::Mark(Mark { t: at.saturating_sub(start) as i64, text }));
            }
            Request::Snapshot(path) if !path.is_absolute() => {
                report_error(&format!("{}: a recorder needs the whole path", path.display()));
            }
            Request::Snapshot(path) => {
                if let Err(TrySendError::Full(path)) = requests.try_send(path) {
                    report_error(&format!("{}: {MOST_WAITING} snapshots wait already", path.display()));
                }
                // Wakes the loop, which knows the manifest.
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1).ok();
            }
        });
        if !self.options.quiet {
            match &control {
                Err(error) => say!("twinscope: marks and snapshots are not possible: {error}"),
                Ok(Control { hidden: Some(why), .. }) => {
                    say!("twinscope: `mark` and `snapshot` cannot find this recorder: {why}");
                }
                Ok(_) => {}
            }
        }
        self.read(0, true, keeper);
        let marks = control.as_ref().ok().map(Control::marks);
        let mut workload = None;
        let mut follow = Follow::new(self.options.throughput_file.as_deref());
        if !self.options.command.is_empty() {
            manifest.command_start = Some(self.now() as i64);
            let counter = self.counter.clone().filter(|_| self.options.throughput_file.is_none());
            let (command, untouched) = (&self.options.command, self.options.tty);
            let started = self
                .options
                .placement()
                .and_then(|place| Workload::start(command, place, untouched, marks.as_deref(), counter, progress));
            let name = || command.first().map(|n| n.display().to_string()).unwrap_or_default();
            let started = started.map_err(|why| {
                if is_of_limit(&why) {
                    say!("twinscope: no process can be started ({why}); the command runs unrecorded");
                    last::go_on();
                }
                format!("{}: cannot be started: {why}", name())
            })?;
            if let Some(joined) = started.joined {
                manifest.command_start = Some(joined.saturating_sub(self.start) as i64);
            }
            manifest.pid = Some(i64::from(started.pid()));
            self.thinning.workload(started.pid());
            workload = Some(started);
        }
        self.look_for_recorders();
        manifest.recorders = self.recorders.list();
        keeper.send(Message::Manifest(Box::new(manifest.clone())));
        // A command has all of the time for itself.
        let begin = manifest.command_start.map_or(0, |_| self.now());
        let end = self.options.duration.map(|d| begin + d.as_nanos() as u64);
        let mut notify = Notify::of_environment();
        notify.tell("READY=1");
        let (mut looked_twice, mut told, mut stops, mut drawn) = (false, false, 0, 0);
        let ended = loop {
            if workload.as_mut().is_some_and(Workload::poll) {
                manifest.wall = manifest.command_start.map(|s| self.now() as i64 - s);
                break "command exited".to_owned();
            }
            if end.is_some_and(|end| self.now() >= end) {
                break model::DURATION_OVER.to_owned();
            }
            let failed = keeper.state.has_failed();
            if failed && workload.is_none() {
                break "could not be written".to_owned();
            }
            if failed && !told {
                // At once: the command may run for hours.
                told = true;
                let why = keeper.state.why().unwrap_or_default();
                progress.clear_for(|| say!("twinscope: {why}; the command goes on, unrecorded"));
            }
            let deadline = self
                .schedule
                .deadline()
                .min(end.unwrap_or(u64::MAX))
                .min(self.firing.deadline())
                .min(notify.deadline());
            match signals::wait(deadline.saturating_sub(self.now())) {
                Wake::Child | Wake::Time | Wake::Pressure => {}
                Wake::Snapshot => {
                    let to = snapshots.try_recv().unwrap_or_else(|_| snapshot_name(path));
                    keeper.send(Message::Snapshot(to, Box::new(self.snapshot(manifest))));
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
                    self.govern(keeper);
                    self.say_silent();
                }
                if workload.is_none() && self.processes.have_ended(&self.host) {
                    if !self.options.quiet {
                        progress.clear_for(|| say!("twinscope: {} ended: so does the recording", self.processes));
                    }
                    break PROCESSES_ENDED.to_owned();
                }
            }
            self.fire(keeper, manifest);
            notify.alive(self.now());
            if progress.is_shown() && !failed && now / 1_000_000_000 > drawn {
                drawn = now / 1_000_000_000;
                let rows = keeper.state.rows.load(Ordering::Relaxed);
                let size = progress::bytes(keeper.state.bytes.load(Ordering::Relaxed));
                progress.draw(&format!("recording {drawn} s · {rows} rows · {size}{}", self.left_out()));
            }
        };
        notify.tell("STOPPING=1");
        if let Some(mut running) = workload {
            if !running.poll() {
                stop(&mut running);
                manifest.wall = manifest.command_start.map(|s| self.now() as i64 - s);
            }
            manifest.output = running.output();
            if running.is_passed_on && !self.options.quiet {
                progress.clear_for(|| {
                    say!("twinscope: something that the command started goes on: what it writes is passed on until it ends");
                });
            }
            if let Some((exit, usage)) = running.ended {
                (manifest.exit, manifest.usage) = (Some(exit), Some(usage));
            }
        }
        if let Some(counter) = &self.counter {
            let seconds = manifest.wall.unwrap_or_else(|| self.now() as i64) as f64 / 1e9;
            self.no_report = follow.finish(counter, seconds).err();
        }
        // A counter in hundredths of a second says nothing over an interval that is shorter.
        let since = self.now().saturating_sub(self.last_read);
        std::thread::sleep(SHORTEST.saturating_sub(Duration::from_nanos(since)));
        self.stacks.finish();
        self.read(u64::MAX, false, keeper);
        manifest.duration = Some(self.now() as i64);
        self.look_for_recorders();
        manifest.recorders = self.recorders.list();
        self.finish_firing(keeper, manifest);
        if let Some(total) = self.counter.as_ref().and_then(|c| c.total()) {
            let progress = std::mem::take(&mut self.course).points();
            manifest.work = Some(Work { unit: self.options.unit().to_owned(), total, progress, how: String::new() });
        }
        Ok(ended)
    }

    /// What a snapshot says of itself.
    fn snapshot(&self, manifest: &Manifest) -> Manifest {
        Manifest {
            duration: Some(self.now() as i64),
            recorder: Some(self.cost()),
            ended: Some("snapshot".into()),
            ..manifest.clone()
        }
    }

    /// What it took since the start.
    fn cost(&self) -> OwnCost {
        OwnCost {
            cpu: own::cpu().saturating_sub(self.cpu_before),
            time: self.now() as i64,
            memory: self.memory.max(own::rss(self.page)).max(0),
            hooks: i64::try_from(self.thinning.hooks()).unwrap_or(i64::MAX),
            budget: self.governor.budget(),
            thinned: self.governor.thinned().map(|(what, time)| (what.to_owned(), time as i64)).collect(),
        }
    }

    fn left_out(&self) -> String {
        let denied = match self.denied {
            0 => String::new(),
            n => format!(", {n} of them for want of privileges"),
        };
        match self.unavailable {
            0 => String::new(),
            1 => format!(", 1 source unavailable{denied}: see `twinscope sources`"),
            n => format!(", {n} sources unavailable{denied}: see `twinscope sources`"),
        }
    }
}

/// Ends flight recordings, and says where they are and what they cost.
fn say_flights(flights: Option<Flights>, quiet: bool) {
    let Some(flights) = flights else { return };
    let found = flights.finish();
    if found.is_empty() {
        say!("twinscope: --jfr: no JVM was found");
    }
    for Flight { pid, comm, written } in found {
        match written {
            Ok(written) if !quiet => {
                let cost = match written.cost {
                    Some((cpu, memory)) => format!(
                        "; it took {:.2} s of CPU time, and {} of memory when it began",
                        cpu.as_secs_f64(),
                        progress::bytes(memory)
                    ),
                    None => "; it was running before".into(),
                };
                let (path, size) = (written.path.display(), progress::bytes(written.bytes));
                say!("flight recording of {comm} ({pid}) in {path} ({size}){cost}");
            }
            Ok(_) => {}
            Err(why) => say!("twinscope: --jfr: no flight recording of {comm} ({pid}): {why}"),
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

/// Whether a command could not be started because of a limit of descriptors, processes or memory, part of which this program itself has taken.
fn is_of_limit(why: &std::io::Error) -> bool {
    matches!(why.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM))
}

/// The name of a snapshot that was asked for by a signal.
fn snapshot_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let free = |n: &u32| path.with_file_name(format!("{stem}-snapshot-{n}.twin")).symlink_metadata().is_err();
    let number = (1..).find(free).unwrap_or(u32::MAX);
    path.with_file_name(format!("{stem}-snapshot-{number}.twin"))
}
