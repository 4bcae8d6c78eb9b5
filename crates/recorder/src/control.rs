//! How a running recorder is reached: a folder for each with two named pipes, `marks` (each line a mark) and `control` (each
//! line a path to save a snapshot to). The command that is recorded finds the first in `$TWINSCOPE_MARK`, so that
//! `echo "warm-up over" > $TWINSCOPE_MARK` is all it takes.

use crate::options;
use anyhow::{Context, Result, bail};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The longest mark, in characters.
const MOST_TEXT: usize = 1000;

/// Where recorders may be found, best first.
fn folders() -> Vec<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    let mut all = Vec::new();
    if uid == 0 {
        all.push(PathBuf::from("/run/twinscope"));
    }
    if let Some(dir) = std::env::var_os("XDG_RUNTIME_DIR") {
        all.push(PathBuf::from(dir).join("twinscope"));
    }
    all.push(std::env::temp_dir().join(format!("twinscope-{uid}")));
    all
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// The pipes of this recorder; removed when dropped.
#[derive(Debug)]
pub(crate) struct Control {
    folder: PathBuf,
}

/// What came through a pipe.
#[derive(Debug)]
pub(crate) enum Request {
    /// A mark, and when it was read, CLOCK_MONOTONIC nanoseconds.
    Mark(String, u64),
    /// Save a snapshot to this path.
    Snapshot(PathBuf),
}

impl Control {
    /// Makes the pipes and hands each request to `take` from a thread of its own.
    pub(crate) fn open(recording: &Path, take: impl Fn(Request) + Clone + Send + 'static) -> std::io::Result<Self> {
        let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
        for base in folders() {
            match Self::open_in(&base, recording, take.clone()) {
                Ok(control) => return Ok(control),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn open_in(
        base: &Path,
        recording: &Path,
        take: impl Fn(Request) + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        fs::create_dir_all(base)?;
        for entry in fs::read_dir(base)?.flatten() {
            // What recorders that were killed left behind.
            if entry.file_name().to_str().and_then(|n| n.parse().ok()).is_some_and(|pid| !is_alive(pid)) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let folder = base.join(std::process::id().to_string());
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o711))?;
        fs::write(folder.join("recording"), std::path::absolute(recording)?.as_os_str().as_encoded_bytes())?;
        // Anyone whom the recorder watches may put a mark; only its owner may have files written.
        let marks = pipe(&folder.join("marks"), 0o622)?;
        let control = pipe(&folder.join("control"), 0o600)?;
        let take_mark = take.clone();
        listen(marks, move |line| {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            take_mark(Request::Mark(
                line.chars().filter(|c| !c.is_control()).take(MOST_TEXT).collect(),
                now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64,
            ));
        });
        listen(control, move |line| take(Request::Snapshot(PathBuf::from(line))));
        Ok(Control { folder })
    }

    /// The pipe that takes marks.
    pub(crate) fn marks(&self) -> PathBuf {
        self.folder.join("marks")
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn pipe(path: &Path, mode: u32) -> std::io::Result<File> {
    #[cfg(target_os = "linux")]
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    // Open for writing too, so that the pipe never ends and a writer never waits for a reader.
    OpenOptions::new().read(true).write(true).open(path)
}

fn listen(pipe: File, take: impl Fn(&str) + Send + 'static) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if !text.is_empty() {
                take(text);
            }
            line.clear();
        }
    });
}

/// The folders of recorders that are running.
fn running() -> Vec<(u32, PathBuf)> {
    let mut all: Vec<(u32, PathBuf)> = folders()
        .iter()
        .filter_map(|base| fs::read_dir(base).ok())
        .flat_map(|entries| entries.flatten())
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .filter(|(pid, _)| is_alive(*pid))
        .collect();
    all.sort();
    all
}

/// The process ids of the recorders of this user that are running, of this one too.
pub(crate) fn running_pids() -> impl Iterator<Item = u32> {
    running().into_iter().map(|(pid, _)| pid)
}

/// The recorders of this user that are running: their process ids, and what they record to.
pub fn recorders() -> Vec<(u32, PathBuf)> {
    let file = |folder: &Path| {
        use std::os::unix::ffi::OsStringExt;
        let bytes = fs::read(folder.join("recording")).ok()?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
    };
    running().into_iter().filter_map(|(pid, folder)| Some((pid, file(&folder)?))).collect()
}

fn choose(pid: Option<u32>, of: Option<&Path>) -> Result<(u32, PathBuf)> {
    let mut all = running();
    if let Some(of) = of {
        let path = std::path::absolute(of).with_context(|| of.display().to_string())?;
        let records = |folder: &Path| {
            fs::read(folder.join("recording")).is_ok_and(|it| it == path.as_os_str().as_encoded_bytes())
        };
        all.retain(|(_, folder)| records(folder));
        if all.is_empty() {
            bail!("{}: no recorder of this user records to it", of.display());
        }
    }
    let list = || all.iter().map(|(pid, _)| pid.to_string()).collect::<Vec<_>>().join(", ");
    match (pid, all.as_slice()) {
        (_, []) => bail!("no recorder of this user is running; start one with `twinscope record`"),
        (Some(pid), _) => {
            let found = all.iter().find(|(p, _)| *p == pid).cloned();
            found.with_context(|| format!("no recorder with process id {pid} is running; there are: {}", list()))
        }
        (None, [one]) => Ok(one.clone()),
        (None, _) => bail!("several recorders are running ({}); choose one with --pid", list()),
    }
}

fn send(path: &Path, line: &str) -> Result<()> {
    // Without waiting: a pipe that nobody reads belongs to a recorder that has just gone.
    let mut pipe = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .with_context(|| format!("{}: the recorder does not listen", path.display()))?;
    pipe.write_all(format!("{line}\n").as_bytes()).with_context(|| format!("{}", path.display()))
}

/// `twinscope mark`: puts a mark into a running recording.
///
/// # Errors
/// Where no recorder is running, or several and none was chosen.
pub fn mark(options: &options::Mark) -> Result<()> {
    let (_, folder) = choose(options.pid, options.of.as_deref())?;
    let text = options.text.join(" ").replace(['\n', '\r'], " ");
    send(&folder.join("marks"), &text)
}

/// `twinscope snapshot`: has a running recorder save what it holds, and waits until it has. Returns the file.
///
/// # Errors
/// Where no recorder is running, the file exists, or the recorder could not write it.
pub fn snapshot(options: &options::Snapshot) -> Result<PathBuf> {
    let (pid, folder) = choose(options.pid, options.of.as_deref())?;
    let path = std::path::absolute(&options.output).with_context(|| format!("{}", options.output.display()))?;
    let Some(text) = path.to_str().filter(|t| !t.contains('\n')) else {
        bail!("{}: the name must be plain text", path.display())
    };
    if path.exists() {
        bail!("{}: exists already; choose another name with -o", path.display());
    }
    let error = folder.join("error");
    let _ = fs::remove_file(&error);
    send(&folder.join("control"), text)?;
    for _ in 0..600 {
        if path.exists() {
            return Ok(path);
        }
        if let Ok(why) = fs::read_to_string(&error) {
            bail!("recorder {pid}: {why}");
        }
        if !is_alive(pid) {
            bail!("recorder {pid} ended before it saved the snapshot");
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    bail!("recorder {pid} did not save the snapshot within a minute")
}

/// Tells a waiting [`snapshot`] why it failed.
pub(crate) fn report_error(why: &str) {
    for (pid, folder) in running() {
        if pid == std::process::id() {
            let _ = fs::write(folder.join("error"), why);
        }
    }
}
