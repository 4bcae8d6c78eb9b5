//! How a running recorder is reached: a folder for each with two named pipes, `marks` (each line a mark) and `control` (each
//! line a path to save a snapshot to). The command that is recorded finds the first in `$TWINSCOPE_MARK`, so that
//! `echo "warm-up over" > $TWINSCOPE_MARK` is all it takes.
//!
//! Both take lines from the recorder's own user, from root, and from a group that `--control-group` names.

use crate::options;
use crate::program::say;
use anyhow::{Context, Result, bail};
use files::state::{self, Folder};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The longest mark, in characters.
const MOST_TEXT: usize = 1000;

/// The longest line that is read, in bytes: that of the longest path. What a line has beyond is passed over.
const MOST_LINE: usize = 4096;

/// So many marks are taken at once, and so many a second from then on: each costs a transaction, and the file must stay small.
const MARKS_AT_ONCE: u64 = 1000;
const MARKS_A_SECOND: u64 = 10;

/// What a recorder says of itself, in its folder.
const RECORDING: &str = "recording";
const MARKS: &str = "marks";
const CONTROL: &str = "control";
const ERROR: &str = "error";

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// The number of a group, by its name or number.
///
/// # Errors
/// [`options::Usage`] where there is none of this name.
pub(crate) fn group(name: &str) -> Result<u32, options::Usage> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let found = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    found
        .ok_or_else(|| options::Usage(format!("--control-group {name}: /etc/group has no such group; give its number")))
}

/// The pipes of this recorder; removed when dropped.
#[derive(Debug)]
pub(crate) struct Control {
    /// What is removed: the folder, or also a private one around it.
    remove: PathBuf,
    folder: PathBuf,
    /// Why only the command itself finds the pipes.
    pub(crate) hidden: Option<std::io::Error>,
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
    /// Makes the pipes, which a group may use too where one is given, and hands each request to `take` from a thread of its own.
    /// Where there is no folder that is this user's alone, they lie in a private one, and only the command is told of it.
    ///
    /// # Errors
    /// Where there is no place for them at all.
    pub(crate) fn open(
        recording: &Path,
        group: Option<u32>,
        take: impl Fn(Request) + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let own = state::running().and_then(|base| Control::open_in(&base, recording, group, take.clone()));
        own.or_else(|why| {
            let private = files::private_folder()?;
            let made = Control::open_in(&private, recording, group, take);
            if made.is_err() {
                let _ = fs::remove_dir(&private);
            }
            made.map(|mut control| {
                (control.remove, control.hidden) = (private, Some(why));
                control
            })
        })
    }

    fn open_in(
        base: &Path,
        recording: &Path,
        group: Option<u32>,
        take: impl Fn(Request) + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let base = Folder::make(base, 0o755)?;
        for entry in fs::read_dir(base.path())?.flatten() {
            // What recorders that were killed left behind.
            if entry.file_name().to_str().and_then(|n| n.parse().ok()).is_some_and(|pid| !is_alive(pid)) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = base.join(&std::process::id().to_string());
        let _ = fs::remove_dir_all(&path);
        let folder = Folder::make(&path, 0o700)?;
        if let Some(group) = group {
            base.let_pass()?;
            folder.let_in(group)?;
        }
        folder.write(RECORDING, std::path::absolute(recording)?.as_os_str().as_encoded_bytes())?;
        let (marks, control) = (folder.make_pipe(MARKS, group)?, folder.make_pipe(CONTROL, group)?);
        let (take_mark, mut allowance, mut told) = (take.clone(), Allowance::new(Instant::now()), false);
        listen(marks, move |line| {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            if !allowance.take(Instant::now()) {
                if !std::mem::replace(&mut told, true) {
                    say!("twinscope: more than {MARKS_A_SECOND} marks a second come in: some are left out");
                }
                return;
            }
            take_mark(Request::Mark(
                line.chars().filter(|c| !model::is_harmful(*c)).take(MOST_TEXT).collect(),
                now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64,
            ));
        });
        listen(control, move |line| take(Request::Snapshot(PathBuf::from(line))));
        Ok(Control { remove: path.clone(), folder: path, hidden: None })
    }

    /// The pipe that takes marks.
    pub(crate) fn marks(&self) -> PathBuf {
        self.folder.join(MARKS)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.remove);
    }
}

/// How many marks may still be taken.
struct Allowance {
    left: u64,
    since: Instant,
}

impl Allowance {
    fn new(now: Instant) -> Self {
        Allowance { left: MARKS_AT_ONCE, since: now }
    }

    fn take(&mut self, now: Instant) -> bool {
        let seconds = now.saturating_duration_since(self.since).as_secs();
        if seconds > 0 {
            self.left = self.left.saturating_add(seconds.saturating_mul(MARKS_A_SECOND)).min(MARKS_AT_ONCE);
            self.since = now;
        }
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}

fn listen(pipe: File, mut take: impl FnMut(&str) + Send + 'static) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while next_line(&mut reader, &mut line).unwrap_or(false) {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if !text.is_empty() {
                take(text);
            }
        }
    });
}

/// Reads a line, of which at most [`MOST_LINE`] bytes are kept. Whether there was one before the end.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    loop {
        let bytes = match reader.fill_buf() {
            Err(why) if why.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if bytes.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        line.extend(part.iter().take(MOST_LINE - line.len()));
        let used = end.map_or(bytes.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// A recorder that is running.
struct Running {
    pid: u32,
    folder: Folder,
    recording: PathBuf,
}

/// The recorders that this user may command; and why a folder of them is not believed.
fn running() -> (Vec<Running>, Option<std::io::Error>) {
    let own = state::running().ok();
    let of_root = Some(PathBuf::from(state::OF_ROOT)).filter(|path| own.as_ref() != Some(path));
    let (mut all, mut distrusted) = (Vec::new(), None);
    for base in own.into_iter().chain(of_root) {
        match Folder::open(&base) {
            Ok(base) => all.extend(running_in(&base)),
            Err(why) if why.kind() == ErrorKind::PermissionDenied => distrusted = Some(why),
            Err(_) => {}
        }
    }
    all.sort_by_key(|running| running.pid);
    (all, distrusted)
}

fn running_in(base: &Folder) -> Vec<Running> {
    use std::os::unix::ffi::OsStringExt;
    let entries = fs::read_dir(base.path()).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let open = |pid: u32| {
        // Those of root that let no group of this user's in cannot be opened.
        let folder = Folder::open(&base.join(&pid.to_string())).ok()?;
        let bytes = folder.read(RECORDING, MOST_LINE as u64).ok()??;
        Some(Running { pid, folder, recording: PathBuf::from(std::ffi::OsString::from_vec(bytes)) })
    };
    pids.filter(|pid| is_alive(*pid)).filter_map(open).collect()
}

/// The process ids of the recorders that this user may command, of this one too.
pub(crate) fn running_pids() -> impl Iterator<Item = u32> {
    running().0.into_iter().map(|running| running.pid)
}

/// The recorders that this user may command: their process ids, and what they record to.
pub fn recorders() -> Vec<(u32, PathBuf)> {
    running().0.into_iter().map(|running| (running.pid, running.recording)).collect()
}

fn choose(pid: Option<u32>, of: Option<&Path>) -> Result<Running> {
    let (mut all, distrusted) = running();
    if let Some(of) = of {
        let path = std::path::absolute(of).with_context(|| of.display().to_string())?;
        all.retain(|running| running.recording == path);
        if all.is_empty() {
            bail!("{}: no recorder of this user records to it", of.display());
        }
    }
    let list = all.iter().map(|running| running.pid.to_string()).collect::<Vec<_>>().join(", ");
    match (pid, all.len()) {
        (_, 0) => match distrusted {
            Some(why) => bail!("no recorder of this user can be found: {why}"),
            None => bail!("no recorder of this user is running; start one with `twinscope record`"),
        },
        (Some(pid), _) => {
            let found = all.into_iter().find(|running| running.pid == pid);
            found.with_context(|| format!("no recorder with process id {pid} is running; there are: {list}"))
        }
        (None, 1) => all.pop().context("no recorder is running"),
        (None, _) => bail!("several recorders are running ({list}); choose one with --pid"),
    }
}

fn send(folder: &Folder, pipe: &str, line: &str) -> Result<()> {
    let path = folder.join(pipe);
    // Without waiting: a pipe that nobody reads belongs to a recorder that has just gone.
    let mut pipe =
        folder.open_pipe(pipe).with_context(|| format!("{}: the recorder does not listen", path.display()))?;
    pipe.write_all(format!("{line}\n").as_bytes()).with_context(|| format!("{}", path.display()))
}

/// `twinscope mark`: puts a mark into a running recording.
///
/// # Errors
/// Where no recorder is running, or several and none was chosen.
pub fn mark(options: &options::Mark) -> Result<()> {
    let running = choose(options.pid, options.of.as_deref())?;
    let text: String = options.text.join(" ").replace(['\n', '\r'], " ").chars().take(MOST_TEXT).collect();
    send(&running.folder, MARKS, &text)
}

/// What a recorder said last of a snapshot that failed: the how manieth that was, and why.
fn failure(folder: &Folder) -> Option<(u64, String)> {
    let text = String::from_utf8(folder.read(ERROR, 64 << 10).ok()??).ok()?;
    let (number, why) = text.split_once('\n')?;
    Some((number.parse().ok()?, why.to_owned()))
}

/// `twinscope snapshot`: has a running recorder save what it holds, and waits until it has. Returns the file.
///
/// # Errors
/// Where no recorder is running, the file exists, or the recorder could not write it.
pub fn snapshot(options: &options::Snapshot) -> Result<PathBuf> {
    let Running { pid, folder, .. } = choose(options.pid, options.of.as_deref())?;
    let path = std::path::absolute(&options.output).with_context(|| format!("{}", options.output.display()))?;
    let is_line = |text: &&str| !text.contains('\n') && text.len() < MOST_LINE;
    let Some(text) = path.to_str().filter(is_line) else { bail!("{}: the name must be plain text", path.display()) };
    if path.symlink_metadata().is_ok() {
        bail!("{}: exists already; choose another name with -o", path.display());
    }
    let before = failure(&folder).map_or(0, |(number, _)| number);
    send(&folder, CONTROL, text)?;
    for _ in 0..600 {
        if path.exists() {
            return Ok(path);
        }
        if let Some((_, why)) = failure(&folder).filter(|(number, _)| *number != before) {
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
    let own = state::running().and_then(|base| Folder::open(&base.join(std::process::id().to_string())));
    // Who asked some other way finds it on standard error.
    let Ok(folder) = own else { return };
    let number = failure(&folder).map_or(0, |(number, _)| number) + 1;
    let _ = folder.write(ERROR, format!("{number}\n{why}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let long = [vec![b'x'; 3 * MOST_LINE], b"\nshort\n\nlast".to_vec()].concat();
        let mut reader = BufReader::with_capacity(1000, long.as_slice());
        let mut line = Vec::new();
        let mut lines = Vec::new();
        while next_line(&mut reader, &mut line).unwrap() {
            assert!(line.capacity() <= 4 * MOST_LINE);
            lines.push(line.len());
        }
        assert_eq!(lines, [MOST_LINE, 5, 0, 4]);
    }

    #[test]
    fn marks_are_bounded_and_come_back() {
        let start = Instant::now();
        let mut allowance = Allowance::new(start);
        let mut taken =
            |seconds: u64| (0..5000).filter(|_| allowance.take(start + Duration::from_secs(seconds))).count();
        assert_eq!([taken(0), taken(0), taken(1), taken(3), taken(100_000)], [1000, 0, 10, 20, 1000]);
    }

    #[test]
    fn groups_by_name_and_number() {
        assert_eq!(group("0").unwrap(), 0);
        assert!(group("no-such-group").unwrap_err().0.contains("no-such-group"));
        if fs::read_to_string("/etc/group").is_ok_and(|text| text.starts_with("root:")) {
            assert_eq!(group("root").unwrap(), 0);
        }
    }

    #[test]
    fn a_folder_that_another_could_have_made_holds_no_recorder() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("twinscope");
        let control = Control::open_in(&base, Path::new("a.twin"), None, |_| ()).unwrap();
        let found = |base: &Path| running_in(&Folder::open(base).unwrap()).len();
        assert_eq!(found(&base), 1);
        // One whose file is a pipe is passed over, and nobody waits for its writer.
        let fake = Folder::make(&base.join("1"), 0o700).unwrap();
        let _pipe = fake.make_pipe(RECORDING, None).unwrap();
        assert_eq!(found(&base), 1);
        fs::set_permissions(control.folder.as_path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(found(&base), 0);
        drop(control);
        assert!(!base.join(std::process::id().to_string()).exists());
    }
}
