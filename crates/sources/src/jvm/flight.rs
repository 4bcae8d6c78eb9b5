//! Flight recordings (JFR) of the JVMs that a recording looks at, where that was asked for: started by attach as soon as a JVM is found, written at its end
//! or at that of the recording. It is not free, so what it cost is told: CPU time of the threads that do it, and memory.

use super::found::Found;
use crate::hotspot::{Attached, tmp_of};
use crate::scope::Target;
use files::{Aside, Rules};
use host::Host;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So long a JVM may take to start a recording (its first loads some 800 classes), and to write one.
const PATIENCE: Duration = Duration::from_secs(20);
/// A JVM that is still starting is asked again after so long, and for so long.
const AGAIN: Duration = Duration::from_millis(100);
const MOST_STARTING: Duration = Duration::from_secs(5);
/// However a process that says it is a JVM behaves, its flight recording is fetched in this time or not at all.
const MOST_TIME: Duration = Duration::from_secs(60);
/// A flight recording that is larger stays where it is. JFR itself keeps 250 MB unless it is told otherwise.
const MOST_BYTES: u64 = 2 << 30;
/// What it answers to a command that it does not have, or not yet.
const UNKNOWN: &str = "Unknown diagnostic command";
/// JVMs that are recorded.
const MOST_JVMS: usize = 16;
/// The longest pause between two looks at what it costs.
const LOOK: Duration = Duration::from_millis(500);
/// What our recording is called.
const NAME: &str = "twinscope";
/// Threads of a JVM that do it: who answers us, and those of JFR.
const THREADS: [&str; 2] = ["Attach Listener", "JFR "];

/// What came of one.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The JVM.
    pub pid: u32,
    /// Its process's name.
    pub comm: String,
    /// What was written, or in words why not.
    pub written: Result<Written, String>,
}

/// A flight recording that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// CPU time of the threads that recorded, as last seen, and by how much the process grew when it began; `None` of a recording that was running before.
    pub cost: Option<(Duration, u64)>,
}

/// The flight recordings that run.
#[derive(Debug)]
pub struct Flights {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Flight>>>,
}

impl Flights {
    /// Begins them, with these settings of JFR (`default`, `profile`, or a file). Each goes to `to` with the number of its process: `slow.PID.jfr`.
    #[must_use]
    pub fn begin(host: Host, target: Target, settings: String, to: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let run = move || Work { host: Arc::new(host), settings, to, running: BTreeMap::new() }.run(&target, &ends);
        let thread = std::thread::Builder::new().name("flights".into()).spawn(run);
        Flights { stop, thread: thread.ok() }
    }

    /// Ends them, and says what came of each.
    #[must_use]
    pub fn finish(mut self) -> Vec<Flight> {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return Vec::new() };
        thread.thread().unpark();
        thread.join().unwrap_or_default()
    }
}

struct Work {
    host: Arc<Host>,
    settings: String,
    to: PathBuf,
    running: BTreeMap<u32, Running>,
}

/// A JVM that is recorded.
struct Running {
    comm: String,
    /// Its `/tmp`, which stays open when the JVM has ended.
    tmp: Option<File>,
    /// Starting takes up to a second.
    starting: Option<JoinHandle<Result<Begun, String>>>,
    begun: Result<Begun, String>,
    /// CPU time of the threads that record, as last seen.
    cpu: Duration,
}

/// A recording that runs in a JVM.
struct Begun {
    jvm: Attached,
    /// Of a new one the file in its `/tmp`, and by how much the process grew; of one that ran before, what it is called.
    how: Result<(String, u64), String>,
}

impl Work {
    fn run(mut self, target: &Target, stop: &AtomicBool) -> Vec<Flight> {
        let mut found = Found::default();
        while !stop.load(Ordering::Relaxed) {
            for pid in found.list(&self.host, target) {
                if self.running.len() < MOST_JVMS && !self.running.contains_key(&pid) {
                    let running = self.start(pid);
                    self.running.insert(pid, running);
                }
            }
            for (pid, running) in &mut self.running {
                running.cpu = running.cpu.max(cpu_time(&self.host, *pid));
            }
            std::thread::park_timeout(found.wait().min(LOOK));
        }
        let Work { host, to, running, .. } = self;
        let until = Instant::now() + MOST_TIME;
        let begin = |(pid, running): (u32, Running)| {
            let (host, to) = (Arc::clone(&host), to.with_extension(format!("{pid}.jfr")));
            let comm = running.comm.clone();
            (pid, comm, Fetching::begin(move |part| running.finish(&host, pid, &to, part)))
        };
        // All at once: one that does not answer takes no time from the others.
        let fetching: Vec<_> = running.into_iter().map(begin).collect();
        fetching.into_iter().map(|(pid, comm, it)| Flight { pid, comm, written: it.wait(until) }).collect()
    }

    fn start(&self, pid: u32) -> Running {
        let comm = self.host.read_text(&format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned();
        let tmp = tmp_of(&self.host, pid).ok();
        let (host, settings) = (Arc::clone(&self.host), self.settings.clone());
        let starting = std::thread::Builder::new().name("flights".into()).spawn(move || start(&host, pid, &settings));
        let begun = Err("it was not started".into());
        Running { comm, tmp, starting: starting.ok(), begun, cpu: Duration::ZERO }
    }
}

/// Starts a recording in a JVM, unless it has one.
fn start(host: &Host, pid: u32, settings: &str) -> Result<Begun, String> {
    let until = Instant::now() + MOST_STARTING;
    let again = |why: String| {
        if Instant::now() >= until || !host.exists(&format!("/proc/{pid}")) {
            return Err(why);
        }
        std::thread::sleep(AGAIN);
        Ok(())
    };
    let jvm = loop {
        match Attached::to(host, pid) {
            Ok(jvm) => break jvm,
            Err(why) => again(why)?,
        }
    };
    let answer = loop {
        match jvm.ask("JFR.check", PATIENCE) {
            // It can be attached to some time before its commands of JFR are there.
            Err(why) if why.contains(UNKNOWN) => again(format!("{why}: JFR.check"))?,
            other => break other?,
        }
    };
    if let Some(name) = running_one(&answer) {
        return Ok(Begun { jvm, how: Err(name) });
    }
    let file = new_name();
    let before = memory(host, pid);
    let command = format!("JFR.start name={NAME} settings={settings} dumponexit=true filename=/tmp/{file}");
    let answer = jvm.ask(&command, PATIENCE)?;
    if !answer.contains("Started recording") {
        return Err(answer.lines().find(|line| !line.trim().is_empty()).unwrap_or("JFR did not start").into());
    }
    Ok(Begun { jvm, how: Ok((file, memory(host, pid).saturating_sub(before))) })
}

/// The name of a new file: nobody can put something else in the place of one that cannot be guessed.
fn new_name() -> String {
    format!("twinscope-{:016x}.jfr", RandomState::new().build_hasher().finish())
}

/// What the recording is called that runs already, by the answer to `JFR.check`: `Recording 1: name=night maxsize=250MB (running)`.
fn running_one(answer: &str) -> Option<String> {
    let line = answer.lines().find(|line| line.starts_with("Recording ") && line.ends_with("(running)"))?;
    let name = line.split_once("name=")?.1;
    // A name in quotes may hold blanks.
    Some(match name.strip_prefix('"') {
        Some(rest) => format!("\"{}\"", rest.split('"').next()?),
        None => name.split(' ').next()?.to_owned(),
    })
}

impl Running {
    fn finish(mut self, host: &Host, pid: u32, to: &Path, part: &Mutex<Option<Aside>>) -> Result<Written, String> {
        if let Some(starting) = self.starting.take() {
            self.begun = starting.join().unwrap_or_else(|_| Err("it was not started".into()));
        }
        let Begun { jvm, how } = self.begun?;
        self.cpu = self.cpu.max(cpu_time(host, pid));
        let is_there = host.exists(&format!("/proc/{pid}"));
        // One that ends just now does not answer, but writes it all the same.
        let mut refused = None;
        let (file, cost) = match how {
            Ok((file, grew)) => {
                if is_there {
                    refused = jvm.ask(&format!("JFR.stop name={NAME} filename=/tmp/{file}"), PATIENCE).err();
                }
                (file, Some((self.cpu, grew)))
            }
            Err(_) if !is_there => return Err("the recording that ran in it ended with it".into()),
            Err(name) => {
                let file = new_name();
                let answer = jvm.ask(&format!("JFR.dump name={name} filename=/tmp/{file}"), PATIENCE)?;
                if !answer.contains("Dumped") {
                    return Err(answer.lines().find(|line| !line.trim().is_empty()).unwrap_or("not dumped").into());
                }
                (file, None)
            }
        };
        let tmp = self.tmp.ok_or("its /tmp cannot be opened")?;
        let taken = take(&tmp, &file, to, is_there && refused.is_none(), part);
        let bytes = taken.map_err(|why| refused.unwrap_or(why))?;
        Ok(Written { path: to.to_owned(), bytes, cost })
    }
}

/// A flight recording that is fetched in a thread of its own: opening and reading what another process made can take for ever.
struct Fetching {
    /// The file while it is not whole. Who takes it out decides what becomes of it.
    part: Arc<Mutex<Option<Aside>>>,
    done: Receiver<Result<Written, String>>,
}

impl Fetching {
    fn begin(fetch: impl FnOnce(&Mutex<Option<Aside>>) -> Result<Written, String> + Send + 'static) -> Self {
        let (send, done) = channel();
        let part = Arc::new(Mutex::new(None));
        let own = Arc::clone(&part);
        let run = move || drop(send.send(fetch(&own)));
        // Where there is no thread, nobody sends, and the wait says so.
        let _ = std::thread::Builder::new().name("flights".into()).spawn(run);
        Fetching { part, done }
    }

    /// Waits until then. What is not whole then is removed.
    fn wait(self, until: Instant) -> Result<Written, String> {
        self.done.recv_timeout(until.saturating_duration_since(Instant::now())).unwrap_or_else(|why| {
            drop(self.part.lock().unwrap_or_else(PoisonError::into_inner).take());
            Err(match why {
                RecvTimeoutError::Timeout => format!("it could not be fetched within {} s", MOST_TIME.as_secs()),
                RecvTimeoutError::Disconnected => "the thread that fetches it failed".into(),
            })
        })
    }
}

/// Moves a file from a JVM's `/tmp`, where anything may lie that another process likes. A JVM that has ended may still be writing it.
fn take(tmp: &File, file: &str, to: &Path, is_whole: bool, part: &Mutex<Option<Aside>>) -> Result<u64, String> {
    use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let until = Instant::now() + if is_whole { Duration::ZERO } else { Duration::from_secs(2) };
    let from = loop {
        match openat(tmp, file, flags, Mode::empty()) {
            Ok(found) => break File::from(found),
            Err(error) if Instant::now() >= until => return Err(format!("/tmp/{file}: {error}")),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let about = from.metadata().map_err(|e| format!("/tmp/{file}: {e}"))?;
    if !about.is_file() {
        return Err(format!("/tmp/{file}: is no file that could be fetched"));
    }
    let too_large = || {
        let most = MOST_BYTES >> 30;
        format!("it has more than {most} GiB; it stays in the /tmp of the JVM as {file}")
    };
    if about.len() > MOST_BYTES {
        return Err(too_large());
    }
    let said = |e: std::io::Error| format!("{}: {e}; it stays in the /tmp of the JVM as {file}", to.display());
    let lock = || part.lock().unwrap_or_else(PoisonError::into_inner);
    let mut aside = Aside::create(to, &Rules::default()).map_err(said)?;
    let mut written = aside.file().try_clone().map_err(said)?;
    *lock() = Some(aside);
    // It may grow meanwhile.
    let bytes = std::io::copy(&mut from.take(MOST_BYTES + 1), &mut written).map_err(said)?;
    let aside = lock().take().ok_or("nobody waits for it any more")?;
    if bytes > MOST_BYTES {
        return Err(too_large());
    }
    aside.place(&Rules::default()).map_err(said)?;
    // It was ours, and whoever cleans up /tmp finds it otherwise.
    let _ = unlinkat(tmp, file, AtFlags::empty());
    Ok(bytes)
}

/// Bytes of memory that a process has.
fn memory(host: &Host, pid: u32) -> u64 {
    let status = host.read_text(&format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// CPU time of the threads of a JVM that do it.
fn cpu_time(host: &Host, pid: u32) -> Duration {
    let mut tids = Vec::new();
    // A process that has ended has none.
    let _ = host.numbers_in(&format!("/proc/{pid}/task"), &mut tids);
    let of = |tid: &i64| {
        let comm = host.read_text(&format!("/proc/{pid}/task/{tid}/comm")).ok()?;
        THREADS.iter().any(|name| comm.starts_with(name)).then_some(())?;
        let text = host.read_text(&format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
        text.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(tids.iter().filter_map(of).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_runs_is_found() {
        let answer = "Recording 1: name=1 duration=30s (stopped)\nRecording 2: name=night maxsize=250.0MB (running)\n";
        assert_eq!(running_one(answer).as_deref(), Some("night"));
        assert_eq!(running_one("Recording 1: name=\"by night\" (running)\n").as_deref(), Some("\"by night\""));
        assert_eq!(running_one("No available recordings.\n\nUse jcmd 1 JFR.start to start a recording.\n"), None);
    }

    #[test]
    fn only_a_file_of_a_size_that_can_be_is_fetched() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [tmp, out] = ["tmp", "out"].map(|name| folder.path().join(name));
        for path in [&tmp, &out] {
            std::fs::create_dir(path).unwrap();
        }
        let opened = File::open(&tmp).unwrap();
        std::fs::write(tmp.join("good"), "FLR").unwrap();
        File::create(tmp.join("sparse")).unwrap().set_len(1 << 40).unwrap();
        symlink("good", tmp.join("link")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(&opened, "fifo", rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let take = |file: &str| take(&opened, file, &out.join("a.jfr"), true, &Mutex::new(None));
        for (file, word) in
            [("sparse", "more than 2 GiB"), ("fifo", "is no file"), ("link", "/tmp/link"), ("none", "/tmp/none")]
        {
            let why = take(file).unwrap_err();
            assert!(why.contains(word), "{why}");
            assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "{file}: nothing is left");
        }
        assert_eq!((take("good"), std::fs::read(out.join("a.jfr")).unwrap()), (Ok(3), b"FLR".to_vec()));
        assert_eq!(out.join("a.jfr").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!tmp.join("good").exists() && tmp.join("sparse").exists());
    }

    #[test]
    fn who_never_hands_it_over_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("a.jfr");
        let (begun, has_begun) = channel();
        let fetching = Fetching::begin(move |part| {
            *part.lock().unwrap() = Some(Aside::create(&to, &Rules::default()).unwrap());
            begun.send(()).unwrap();
            loop {
                std::thread::park();
            }
        });
        has_begun.recv().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(fetching.wait(Instant::now()).unwrap_err().contains("could not be fetched"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Fetching::begin(|_| panic!("on purpose")).wait(Instant::now() + MOST_TIME).is_err());
    }
}
