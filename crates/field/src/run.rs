//! Runs a pair: installs it, starts its server, loads it, with a recorder or without, and ends all that it started.

use crate::kept::{About, Kept, Run};
use crate::pair::{Pair, Side, What};
use crate::process::{End, Failed, Running, pause, status_in_words, stopped, sweep};
use crate::quiet::{self, Ticks};
use crate::work::Done;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How pairs are run.
pub(crate) struct Bench {
    /// The folder of pairs, with `lib.sh`.
    pub(crate) field: PathBuf,
    /// Where recordings, downloads and what is installed go.
    pub(crate) out: PathBuf,
    /// The program that records.
    pub(crate) twinscope: PathBuf,
    /// The length of a run of fixed length.
    pub(crate) seconds: u32,
    /// How long to wait for a quiet machine.
    pub(crate) patience: Duration,
    /// How long a script may take, but for `install`.
    pub(crate) deadline: Duration,
    /// How long a program has to end when it is asked to.
    pub(crate) grace: Duration,
}

/// Installing may compile.
const INSTALL: Duration = Duration::from_secs(3600);

/// A server has so long until it is ready, or the deadline of scripts where that is shorter; a question takes so long at most.
const READY: Duration = Duration::from_secs(60);
const ASKED: Duration = Duration::from_secs(10);

/// How often a recording is tried, for a port may be taken meanwhile.
const TRIES: usize = 2;

/// Variables that are for this program, its build or `make`, and no business of a pair's programs.
const NOT_FOR_PAIRS: [&str; 16] = [
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "MAKEOVERRIDES",
    "MAKEFILES",
    "NAMES",
    "SET",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_MANIFEST_DIR",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "TWINSCOPE",
    "TWINSCOPE_MARK",
    "LD_PRELOAD",
];

/// A run that goes on: its folder, its ports, its server.
struct Place<'a> {
    pair: &'a Pair,
    side: Side,
    run: PathBuf,
    ports: [u16; 4],
    server: Option<u32>,
}

/// What is known of a load that has ended.
struct Loaded {
    output: String,
    seconds: f64,
}

/// Who loads.
#[derive(Clone, Copy)]
enum How<'a> {
    Plain,
    Recorded(&'a Path),
}

impl Bench {
    /// A script of a pair, with its variables.
    fn script(&self, place: &Place<'_>, text: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", &format!(". \"$FIELD_LIB\"\n{text}")]);
        self.environment(&mut command, place);
        command
    }

    fn environment(&self, command: &mut Command, place: &Place<'_>) {
        for name in NOT_FOR_PAIRS {
            command.env_remove(name);
        }
        let variables = place.pair.variables(place.side).iter().map(|(name, value)| (name.clone(), value.to_string()));
        command
            .envs(variables)
            .env("SIDE", place.side.name())
            .env("HERE", &place.pair.folder)
            .env("FILES", self.files(place.pair, place.side))
            .env("RUN", &place.run)
            .env("SECONDS_EACH", self.seconds.to_string())
            .env("FIELD_CACHE", self.out.join("cache"))
            .env("FIELD_LIB", self.field.join("lib.sh"))
            .current_dir(&place.run)
            .stdin(Stdio::null());
        for (name, port) in ["PORT", "PORT2", "PORT3", "PORT4"].iter().zip(place.ports) {
            command.env(name, port.to_string());
        }
        if let Some(server) = place.server {
            command.env("SERVER", server.to_string());
        }
    }

    /// Where a side is installed.
    fn files(&self, pair: &Pair, side: Side) -> PathBuf {
        self.out.join("files").join(&pair.name).join(side.name())
    }

    /// Runs a script to its end; what it prints goes to the end of a log.
    fn step(&self, what: &str, command: &mut Command, log: &Path, limit: Duration) -> Result<(), Failed> {
        let file = append(log)?;
        let begin = file.metadata()?.len();
        command.stdout(file.try_clone()?).stderr(file);
        let failed = match Running::start(command)?.wait(limit, self.grace) {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => Failed::Why(status_in_words(status)),
            Err(why) => why,
        };
        Err(in_words(what, failed, &last_lines(log, begin)))
    }

    /// Installs what a pair needs that is not there.
    ///
    /// # Errors
    /// Where it cannot be had here.
    pub(crate) fn install(&self, pair: &Pair) -> Result<(), Failed> {
        let kept = Kept::of(&self.out, pair);
        kept.make()?;
        self.packages(pair, &kept)?;
        for side in Side::BOTH {
            let files = self.files(pair, side);
            let key = pair.install_key(side)?;
            let done = files.join(".key");
            if std::fs::read_to_string(&done).is_ok_and(|there| there == key) {
                continue;
            }
            if files.exists() {
                std::fs::remove_dir_all(&files)?;
            }
            std::fs::create_dir_all(&files)?;
            if let Some(text) = &pair.form.scripts.install {
                eprintln!("{}: installing {}", pair.name, side.name());
                let log = kept.file(&format!("install-{}.log", side.name()));
                files::start_over(&log)?;
                let place = Place { pair, side, run: files.clone(), ports: ports()?, server: None };
                let ended = self.step("install", &mut self.script(&place, text), &log, INSTALL);
                ended.and_then(|()| sweep(self.grace)).inspect_err(|_| drop(sweep(self.grace)))?;
            }
            files::write(&done, key.as_bytes(), files::Rules::default())?;
        }
        Ok(())
    }

    /// Installs Debian packages that are missing.
    fn packages(&self, pair: &Pair, kept: &Kept) -> Result<(), Failed> {
        let missing: Vec<&String> = pair.form.packages.iter().filter(|name| !is_installed(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
        let names = names.join(" ");
        if !rustix::process::geteuid().is_root() {
            return Err(Failed::Why(format!("packages are missing, and only root installs them: {names}")));
        }
        eprintln!("{}: apt-get install {names}", pair.name);
        let log = kept.file("packages.log");
        files::start_over(&log)?;
        let mut command = Command::new("apt-get");
        command.args(["-o", "DPkg::Lock::Timeout=600", "install", "-y", "-q", "--no-install-recommends"]);
        command.args(missing).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        self.step("packages", &mut command, &log, INSTALL)?;
        // Some packages start their server.
        sweep(self.grace)
    }

    /// Runs a side once without a recorder.
    ///
    /// # Errors
    /// Where a script fails, or the output has no work in it.
    pub(crate) fn try_once(&self, pair: &Pair, side: Side) -> Result<Done, Failed> {
        let kept = Kept::of(&self.out, pair);
        kept.make()?;
        self.once(pair, side, &kept.file("try.log"), &kept.file("try.out"), How::Plain)
    }

    /// Records a run.
    ///
    /// # Errors
    /// Where a script fails, or the output has no work in it; nothing of the run is left then but what its programs printed.
    pub(crate) fn record(&self, pair: &Pair, run: Run) -> Result<(), Failed> {
        let kept = Kept::of(&self.out, pair);
        let key = pair.record_key(run.side())?;
        for attempt in 1..=TRIES {
            kept.forget(run);
            let before = quiet::wait(self.patience)?;
            if before >= quiet::QUIET && !self.patience.is_zero() {
                eprintln!("the machine is busy with something else; recording all the same");
            }
            let [log, output] = ["log", "out"].map(|ending| kept.file(&format!("{}.{ending}", run.name())));
            let (ticks, own, from) = (Ticks::now(), own_seconds(), Instant::now());
            let recording = kept.recording(run);
            match self.once(pair, run.side(), &log, &output, How::Recorded(&recording)) {
                Ok(done) => {
                    let cpus = std::thread::available_parallelism().map_or(1.0, |cpus| cpus.get() as f64);
                    let own = (own_seconds() - own) / from.elapsed().as_secs_f64() / cpus;
                    let meanwhile = (Ticks::now().used_since(ticks) - own).max(0.0);
                    let about = About { key, day: today(), others: [before, meanwhile].map(hundredths), done };
                    kept.set_about(run, &about)?;
                    return Ok(());
                }
                Err(why) => {
                    kept.forget(run);
                    if attempt == TRIES || !matches!(why, Failed::Why(_)) {
                        return Err(why);
                    }
                    eprintln!("{} {}: {}; once more", pair.name, run.name(), why.why());
                }
            }
        }
        Ok(())
    }

    /// A run of a side from an empty folder to the end of all its programs.
    fn once(&self, pair: &Pair, side: Side, log: &Path, output: &Path, how: How<'_>) -> Result<Done, Failed> {
        let folder = run_folder()?;
        let mut place = Place { pair, side, run: folder.path().to_owned(), ports: ports()?, server: None };
        files::start_over(log)?;
        let mut server = None;
        let loaded = self.steps(&mut place, &mut server, log, output, how);
        if let Some(server) = &mut server {
            Running::finish(server, self.grace);
        }
        let swept = sweep(self.grace);
        let removed = remove(folder);
        let loaded = loaded?;
        swept.and(removed)?;
        Done::read(&pair.form.work, &loaded.output, loaded.seconds).map_err(Failed::Why)
    }

    fn steps(
        &self,
        place: &mut Place<'_>,
        server: &mut Option<Running>,
        log: &Path,
        output: &Path,
        how: How<'_>,
    ) -> Result<Loaded, Failed> {
        let scripts = &place.pair.form.scripts;
        if let Some(text) = &scripts.prepare {
            self.step("prepare", &mut self.script(place, text), log, self.deadline)?;
        }
        if let Some(text) = &scripts.serve {
            let file = append(log)?;
            let mut command = self.script(place, text);
            let running = server.insert(Running::start(command.stdout(file.try_clone()?).stderr(file))?);
            place.server = Some(running.pid());
            self.ready(place, running, log)?;
        }
        if let Some(text) = &scripts.warm {
            self.step("warm", &mut self.script(place, text), log, self.deadline)?;
        }
        let loaded = self.load(place, output, how)?;
        if let Some(status) = server.as_mut().and_then(Running::ended).filter(|status| !status.success()) {
            return Err(in_words("serve", Failed::Why(status_in_words(status)), &last_lines(log, 0)));
        }
        Ok(loaded)
    }

    /// Asks a server until it answers.
    fn ready(&self, place: &Place<'_>, server: &mut Running, log: &Path) -> Result<(), Failed> {
        let text = place.pair.form.scripts.ready.as_deref().unwrap_or("port_open \"$PORT\"");
        let limit = READY.min(self.deadline);
        let until = Instant::now() + limit;
        loop {
            let mut command = self.script(place, text);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            match Running::start(&mut command)?.wait(ASKED.min(limit), Duration::ZERO) {
                Ok(status) if status.success() => return Ok(()),
                Err(Failed::Stopped) => return Err(Failed::Stopped),
                Ok(_) | Err(_) => {}
            }
            if let Some(status) = server.ended() {
                let why = format!("it ended before it was ready: {}", status_in_words(status));
                return Err(in_words("serve", Failed::Why(why), &last_lines(log, 0)));
            }
            if Instant::now() >= until {
                let why = format!("it was not ready in {} s", limit.as_secs());
                return Err(in_words("serve", Failed::Late(why), &last_lines(log, 0)));
            }
            pause(Duration::from_millis(50))?;
        }
    }

    /// Loads. The time is that of the load's own process, not that of a recorder around it.
    fn load(&self, place: &Place<'_>, output: &Path, how: How<'_>) -> Result<Loaded, Failed> {
        let begun = tempfile::NamedTempFile::new()?;
        // `exec` keeps the process id.
        let text = format!("echo \"$$ $EPOCHREALTIME\" >\"$FIELD_BEGUN\"\n{}", place.pair.form.scripts.load);
        let mut command = match how {
            How::Plain => self.script(place, &text),
            How::Recorded(to) => self.recorder(place, &text, to),
        };
        command.env("FIELD_BEGUN", begun.path());
        files::start_over(output)?;
        // Where both go to one file, each adds to its end.
        let file = append(output)?;
        command.stdout(file.try_clone()?).stderr(file);
        let mut running = Running::start(&mut command)?;
        let ended = watch(&mut running, begun.path(), self.deadline);
        let left = running.wait(if ended.is_ok() { self.deadline } else { Duration::ZERO }, self.grace);
        let printed = String::from_utf8_lossy(&std::fs::read(output)?).into_owned();
        let failed = match (ended, left) {
            (Err(why), _) | (_, Err(why)) => why,
            (_, Ok(status)) if !status.success() => Failed::Why(status_in_words(status)),
            (Ok(None), _) => Failed::Why("it did not begin".into()),
            (Ok(Some(_)), _) if matches!(how, How::Recorded(to) if to.metadata().map_or(0, |file| file.len()) == 0) => {
                Failed::Why("there is no recording".into())
            }
            (Ok(Some(seconds)), _) => return Ok(Loaded { output: printed, seconds }),
        };
        Err(in_words("load", failed, &last_lines(output, 0)))
    }

    /// The command that records a load.
    fn recorder(&self, place: &Place<'_>, text: &str, to: &Path) -> Command {
        let form = &place.pair.form;
        let mut command = Command::new(&self.twinscope);
        command.args(["record", "--quiet", "--force", "-o"]).arg(to);
        match (form.record.what, place.server) {
            (What::Serve, Some(server)) => drop(command.args(["--pid", &server.to_string()])),
            (What::Machine, _) => drop(command.arg("--all")),
            (What::Serve | What::Load, _) => {}
        }
        if let Some(work) = form.work.tool.as_ref().or(form.work.count.as_ref()) {
            command.args(["--throughput", work]);
            if let Some(unit) = &form.work.unit {
                command.args(["--unit", unit]);
            }
        }
        command.args(&form.record.options).arg("--");
        let script = self.script(place, text);
        command.arg(script.get_program()).args(script.get_args());
        self.environment(&mut command, place);
        command
    }
}

/// Waits for the end of a load: seconds since it began, or `None` where it did not begin.
fn watch(running: &mut Running, begun: &Path, limit: Duration) -> Result<Option<f64>, Failed> {
    let until = Instant::now() + limit;
    let mut load: Option<(End, f64)> = None;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    let begin = || {
        let text = std::fs::read_to_string(begun).ok()?;
        let (pid, at) = text.strip_suffix('\n')?.split_once(' ')?;
        // Some locales write a comma.
        Some((pid.parse::<u32>().ok()?, at.replace(',', ".").parse::<f64>().ok()?))
    };
    loop {
        if stopped().is_some() {
            return Err(Failed::Stopped);
        }
        if Instant::now() >= until {
            return Err(Failed::Late(format!("it did not end in {} s", limit.as_secs())));
        }
        let tick = Duration::from_millis(if load.is_some() { 50 } else { 10 });
        let ends: Vec<&End> = load.iter().map(|(end, _)| end).chain(running.end()).collect();
        if End::wait(&ends, tick).is_some() || running.ended().is_some() {
            return Ok(load.map(|(_, at)| at).or_else(|| Some(begin()?.1)).map(|at| (now() - at).max(0.0)));
        }
        if load.is_none() {
            load = begin().and_then(|(pid, at)| Some((End::of(pid)?, at)));
        }
    }
}

/// Adds to the end of a file.
fn append(log: &Path) -> Result<File, Failed> {
    Ok(files::append(log)?)
}

/// What failed, how, and the last that it said.
fn in_words(what: &str, failed: Failed, said: &str) -> Failed {
    let with = |why: String| match said {
        "" => format!("{what}: {why}"),
        said => format!("{what}: {why}: {said}"),
    };
    match failed {
        Failed::Stopped => Failed::Stopped,
        Failed::Late(why) => Failed::Late(with(why)),
        Failed::Why(why) => Failed::Why(with(why)),
    }
}

/// The last lines of a file from a place on, in one.
fn last_lines(file: &Path, from: u64) -> String {
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes.get(from as usize..).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join("; ");
    let short: String = last.chars().rev().take(400).collect();
    model::clean(&short.chars().rev().collect::<String>())
}

/// Whether dpkg has a package.
fn is_installed(name: &str) -> bool {
    let asked = Command::new("dpkg-query").args(["-W", "-f=${Status}", name]).stdin(Stdio::null()).output();
    asked.is_ok_and(|said| said.stdout == b"install ok installed")
}

/// Ports that are free now. Another program may take one meanwhile; then the run is tried once more.
fn ports() -> Result<[u16; 4], Failed> {
    let bind = || std::net::TcpListener::bind(("127.0.0.1", 0));
    let listeners = [bind()?, bind()?, bind()?, bind()?];
    let mut ports = [0; 4];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

/// An empty folder into which any user may write. Not below `target`, which servers that run as another user may not reach, nor in
/// memory, as `/tmp` often is: what waits for the disk is to wait for a disk.
fn run_folder() -> Result<tempfile::TempDir, Failed> {
    use std::os::unix::fs::PermissionsExt;
    let disk = Path::new("/var/tmp");
    let below = if disk.is_dir() { disk.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::Builder::new().prefix("field-").tempdir_in(below)?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777))?;
    Ok(folder)
}

/// Removes the folder of a run. What is mounted in it goes first: it must not be emptied.
fn remove(folder: tempfile::TempDir) -> Result<(), Failed> {
    let mounts = || {
        let all = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let places = all.lines().filter_map(|line| line.split(' ').nth(1)).map(PathBuf::from);
        places.filter(|place| place.starts_with(folder.path())).collect::<Vec<_>>()
    };
    for place in mounts().iter().rev() {
        let _ =
            Command::new("umount").arg(place).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
    if let Some(place) = mounts().first() {
        let why = format!("something is still mounted at {}; the folder stays", place.display());
        drop(folder.keep());
        return Err(Failed::Why(why));
    }
    folder.close().map_err(|why| Failed::Why(format!("the folder of the run cannot be removed: {why}")))
}

/// CPU seconds of this program and of its children that have ended.
fn own_seconds() -> f64 {
    let seconds = |of| {
        // SAFETY: the structure is plain numbers, and the system fills it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(of, &raw mut usage);
            usage
        };
        [usage.ru_utime, usage.ru_stime].iter().map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6).sum::<f64>()
    };
    seconds(libc::RUSAGE_SELF) + seconds(libc::RUSAGE_CHILDREN)
}

fn hundredths(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}

/// The day, in UTC.
pub(crate) fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64);
    model::utc(now).chars().take(10).collect()
}
