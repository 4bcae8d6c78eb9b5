//! The one door to the machine. Everything that a source reads comes through a [`Host`]: the live one, or a fixture: a
//! folder that holds recorded `/proc` and `/sys` files. A fixture may hold frames, `frame-0/`, `frame-1/` …, each with the files
//! that changed since the one before, so that tests can play a recording forward.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod accesses;
pub mod additions;
#[cfg(feature = "bpf")]
mod ask;
#[cfg(feature = "bpf")]
pub mod bpf;
pub mod breakpoints;
#[cfg(feature = "bpf")]
mod btf;
pub mod cacheline;
pub mod counting;
pub mod cpus;
#[cfg(feature = "bpf")]
mod described;
mod error;
mod ethtool;
mod file;
pub mod groups;
mod heap;
pub mod holder;
#[cfg(feature = "bpf")]
mod hooks;
mod limit;
#[cfg(feature = "bpf")]
mod needs;
pub mod perf;
mod placement;
pub mod registers;
#[cfg(feature = "bpf")]
mod ring;
pub mod settings;
pub mod speed;
pub mod testing;
pub mod wake;

pub use error::ReadError;
pub use ethtool::{DriverStatistics, Setting};
pub use file::HeldFile;
pub use heap::{keep_heap_small, trim_heap};
pub use limit::{raise_open_files, restore_open_files};
pub use placement::{Placement, cpu_list};

#[cfg(target_os = "linux")]
use rustix::fs::RawDir;
use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Gives back the memory that opening sources takes for a short time. To be called when all are open.
pub fn settle() {
    #[cfg(feature = "bpf")]
    described::forget();
    trim_heap();
}

/// Space of a mounted file system, as `statvfs(3)` gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Size of a block, bytes.
    pub block: u64,
    /// Blocks in all, free, and free for users who are not root.
    pub blocks: u64,
    /// Free blocks.
    pub free: u64,
    /// Blocks free for users who are not root.
    pub available: u64,
    /// Inodes in all.
    pub files: u64,
    /// Free inodes.
    pub files_free: u64,
}

/// Where `path` is as process `pid` sees it, which may be in a container: below its link `root` (proc_pid_root(5)).
pub fn seen_by(pid: impl std::fmt::Display, path: &str) -> String {
    format!("/proc/{pid}/root{path}")
}

/// `f_type` of procfs (include/uapi/linux/magic.h).
const PROC_SUPER_MAGIC: u64 = 0x9fa0;

/// The machine, or a recorded one.
#[derive(Debug)]
pub struct Host {
    root: PathBuf,
    /// Files come from a recording, not from a kernel.
    fixture: bool,
    /// The recording is played: frame by frame, with a clock that is set.
    played: bool,
    frame: AtomicU32,
    /// Time of a fixture, nanoseconds.
    time: AtomicU64,
}

impl Host {
    /// The machine that this program runs on.
    pub fn live() -> Self {
        Host {
            root: PathBuf::from("/"),
            fixture: false,
            played: false,
            frame: AtomicU32::new(0),
            time: AtomicU64::new(0),
        }
    }

    /// The machine whose file system is mounted at `root`, such as `/host` in a container that watches its host. Where `root/proc` is no
    /// procfs its files are a recording, and nothing is asked of this machine's kernel but the time.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let fixture =
            rustix::fs::statfs(root.join("proc")).map_or(true, |found| found.f_type as u64 != PROC_SUPER_MAGIC);
        Host { root, fixture, ..Host::live() }
    }

    /// The recorded machine in the folder `root`, at its first frame and at time 0.
    pub fn fixture(root: impl Into<PathBuf>) -> Self {
        Host { root: root.into(), fixture: true, played: true, ..Host::live() }
    }

    /// Whether files come from a recording, so that system calls that bypass the file system must not be made.
    pub fn is_fixture(&self) -> bool {
        self.fixture
    }

    /// Whether the recording is played frame by frame, so that a file that was opened may since be another.
    pub(crate) fn is_played(&self) -> bool {
        self.played
    }

    /// Moves a fixture to frame `frame`, and its clock to `time` nanoseconds.
    pub fn set_frame(&self, frame: u32, time: u64) {
        self.frame.store(frame, Ordering::Relaxed);
        self.time.store(time, Ordering::Relaxed);
    }

    /// CLOCK_MONOTONIC in nanoseconds; of a fixture, the time that was set.
    pub fn now(&self) -> u64 {
        if self.played {
            return self.time.load(Ordering::Relaxed);
        }
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    /// Where the absolute `path` of the host lies. For a fixture, in the newest frame at or before the present one that has it.
    pub fn path(&self, path: &str) -> PathBuf {
        let relative = path.trim_start_matches('/');
        if self.fixture {
            for frame in (0..=self.frame.load(Ordering::Relaxed)).rev() {
                let framed = self.root.join(format!("frame-{frame}")).join(relative);
                if framed.symlink_metadata().is_ok() {
                    return framed;
                }
            }
        }
        self.root.join(relative)
    }

    /// Whether something is at `path`.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Opens a file to be read again and again.
    pub fn open(&self, path: &str) -> Result<HeldFile, ReadError> {
        HeldFile::open(self, path)
    }

    /// Reads a whole file into `buffer`, replacing what it held.
    pub fn read_into(&self, path: &str, buffer: &mut Vec<u8>) -> Result<(), ReadError> {
        file::read_whole(self, path, buffer).map_err(|e| ReadError::new(path, e))
    }

    /// Reads a whole file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        // What the kernel makes up has no size: most of it comes at one read.
        let mut buffer = Vec::with_capacity(4096);
        self.read_into(path, &mut buffer)?;
        Ok(buffer)
    }

    /// Hands each line of a long file to `take`, without its line feed: the file is never in memory as a whole.
    pub fn read_lines(&self, path: &str, take: impl FnMut(&[u8])) -> Result<(), ReadError> {
        file::read_lines(self, path, take).map_err(|e| ReadError::new(path, e))
    }

    /// Reads a small text file, without white space at its ends. What is not UTF-8 is replaced by U+FFFD.
    pub fn read_text(&self, path: &str) -> Result<String, ReadError> {
        Ok(String::from_utf8_lossy(&self.read(path)?).trim().to_owned())
    }

    /// Reads a file that holds one number.
    pub fn read_number(&self, path: &str) -> Result<i64, ReadError> {
        let text = self.read_text(path)?;
        text.parse().map_err(|_| ReadError::not_understood(path, "a number", &text))
    }

    /// Writes a setting: the file must be there, and the kernel gets `text` in one write(2), as it wants it.
    ///
    /// # Errors
    /// What the kernel answers: EINVAL for a value that it does not take, EACCES or EROFS where it may not be changed.
    pub fn write_setting(&self, path: &str, text: &str) -> Result<(), ReadError> {
        use std::io::Write;
        let failed = |e| ReadError::new(path, e);
        let mut file = std::fs::OpenOptions::new().write(true).truncate(true).open(self.path(path)).map_err(failed)?;
        match file.write(text.as_bytes()) {
            Ok(written) if written < text.len() => Err(failed(std::io::ErrorKind::WriteZero.into())),
            Ok(_) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Whether a setting can be written, which changes nothing.
    ///
    /// # Errors
    /// Why not: it is not there, or may not be changed.
    pub fn check_setting(&self, path: &str) -> Result<(), ReadError> {
        let opened = std::fs::OpenOptions::new().write(true).open(self.path(path));
        opened.map(drop).map_err(|e| ReadError::new(path, e))
    }

    /// Makes a folder, which is a control group where that is one; one that is there already will do.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn make_folder(&self, path: &str) -> Result<(), ReadError> {
        match std::fs::create_dir(self.path(path)) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => Err(ReadError::new(path, e)),
            _ => Ok(()),
        }
    }

    /// Removes a control group, which must be empty but for the kernel's files; of a fixture, with the files that stand for these.
    ///
    /// # Errors
    /// What the kernel answers: EBUSY where a process is in it.
    pub fn remove_folder(&self, path: &str) -> Result<(), ReadError> {
        let there = self.path(path);
        let removed = if self.fixture { std::fs::remove_dir_all(there) } else { std::fs::remove_dir(there) };
        removed.map_err(|e| ReadError::new(path, e))
    }

    /// The names in a folder, sorted; numbers by value. Of a fixture, those in any frame up to the present one: a later frame holds
    /// only what has changed.
    pub fn list(&self, path: &str) -> Result<Vec<String>, ReadError> {
        let names_in = |folder: &Path| -> std::io::Result<Vec<String>> {
            Ok(std::fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
        };
        let mut names = names_in(&self.path(path)).map_err(|e| ReadError::new(path, e))?;
        if self.fixture {
            let relative = path.trim_start_matches('/');
            let frames = (0..=self.frame.load(Ordering::Relaxed)).map(|n| self.root.join(format!("frame-{n}")));
            for folder in frames.chain([self.root.clone()]) {
                names.extend(names_in(&folder.join(relative)).unwrap_or_default());
            }
        }
        names.sort_by_key(|name| natural(name));
        names.dedup();
        Ok(names)
    }

    /// The names in a folder that are whole numbers, ascending, into `numbers`: processes of `/proc`, threads of a process.
    #[cfg(target_os = "linux")]
    pub fn numbers_in(&self, path: &str, numbers: &mut Vec<i64>) -> Result<(), ReadError> {
        numbers.clear();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |e: rustix::io::Errno| ReadError::new(path, e.into());
        let folder = rustix::fs::open(self.path(path), flags, Mode::empty()).map_err(failed)?;
        let mut buffer = [const { MaybeUninit::uninit() }; 32 << 10];
        let mut entries = RawDir::new(folder, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if name.iter().all(u8::is_ascii_digit)
                && let Some(number) = std::str::from_utf8(name).ok().and_then(|n| n.parse().ok())
            {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(())
    }

    /// The same, elsewhere than on Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn numbers_in(&self, path: &str, numbers: &mut Vec<i64>) -> Result<(), ReadError> {
        let names = self.list(path)?;
        numbers.clear();
        numbers.extend(names.iter().filter_map(|name| name.parse::<i64>().ok()));
        numbers.sort_unstable();
        Ok(())
    }

    /// The names of the folders in a folder, sorted as by [`Host::list`]; none where it cannot be read.
    pub fn folders(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut names: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_by_cached_key(|name| natural(name));
        names
    }

    /// Keeps the file behind `path`, whatever it is, from being forgotten, without opening it: a FIFO is not waited for (O_PATH of open(2)).
    pub fn hold(&self, path: &str) -> Result<OwnedFd, ReadError> {
        #[cfg(target_os = "linux")]
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        #[cfg(not(target_os = "linux"))]
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::open(self.path(path), flags, Mode::empty()).map_err(|e| ReadError::new(path, e.into()))
    }

    /// Where a symbolic link points.
    pub fn link(&self, path: &str) -> Result<PathBuf, ReadError> {
        std::fs::read_link(self.path(path)).map_err(|e| ReadError::new(path, e))
    }

    /// The paths that match a pattern whose components may hold `*`, sorted: `/sys/block/*/stat`.
    pub fn glob(&self, pattern: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        for component in pattern.split('/').filter(|c| !c.is_empty()) {
            found = if component.contains('*') {
                found
                    .iter()
                    .flat_map(|base| {
                        let names = self.list(if base.is_empty() { "/" } else { base }).unwrap_or_default();
                        names.into_iter().filter(|n| model::matches(component, n)).map(move |n| format!("{base}/{n}"))
                    })
                    .collect()
            } else {
                found.into_iter().map(|base| format!("{base}/{component}")).collect()
            };
        }
        found.retain(|path| self.path(path).symlink_metadata().is_ok());
        found
    }

    /// Space of the file system mounted at `path`. A fixture keeps it in the file `.statvfs` of that folder, as six numbers in
    /// the order of [`Space`].
    pub fn space(&self, path: &str) -> Result<Space, ReadError> {
        if self.fixture {
            let file = format!("{}/.statvfs", path.trim_end_matches('/'));
            let text = self.read_text(&file)?;
            let mut numbers = text.split_ascii_whitespace().map(|n| n.parse().unwrap_or(0));
            let mut next = || numbers.next().unwrap_or(0);
            return Ok(Space {
                block: next(),
                blocks: next(),
                free: next(),
                available: next(),
                files: next(),
                files_free: next(),
            });
        }
        let found = rustix::fs::statvfs(self.path(path)).map_err(|e| ReadError::new(path, e.into()))?;
        Ok(Space {
            block: found.f_frsize,
            blocks: found.f_blocks,
            free: found.f_bfree,
            available: found.f_bavail,
            files: found.f_files,
            files_free: found.f_ffree,
        })
    }

    /// The folder that stands for `/`.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Sort key that orders `cpu2` before `cpu10`.
fn natural(name: &str) -> (String, u64, String) {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (head, rest) = name.split_at(digits);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, tail) = rest.split_at(end);
    (head.to_owned(), number.parse().unwrap_or(0), tail.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_fall_back_to_older_ones() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [("proc/a", "base"), ("frame-0/proc/b", "zero"), ("frame-2/proc/b", "two")] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let host = Host::fixture(dir.path());
        let mut held = host.open("/proc/b").unwrap();
        assert_eq!(held.read(&host).unwrap(), b"zero");
        host.set_frame(1, 5);
        assert_eq!(host.read_text("/proc/b").unwrap(), "zero");
        host.set_frame(2, 7);
        assert_eq!(held.read(&host).unwrap(), b"two");
        assert_eq!(host.read_text("/proc/a").unwrap(), "base");
        assert_eq!(host.list("/proc").unwrap(), ["a", "b"]);
        assert_eq!(host.now(), 7);
        assert!(host.read("/proc/none").unwrap_err().is_absent());
    }

    #[test]
    fn names_sort_by_number() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["cpu10", "cpu2", "cpu1", "online"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let host = Host::fixture(dir.path());
        assert_eq!(host.list("/").unwrap(), ["cpu1", "cpu2", "cpu10", "online"]);
        std::fs::create_dir(dir.path().join("proc")).unwrap();
        for name in ["10", "9", "1x", "self"] {
            std::fs::write(dir.path().join("proc").join(name), "").unwrap();
        }
        let mut numbers = vec![7];
        host.numbers_in("/proc", &mut numbers).unwrap();
        assert_eq!(numbers, [9, 10]);
        assert_eq!(host.glob("/cpu*"), ["/cpu1", "/cpu2", "/cpu10"]);
    }

    #[test]
    fn a_setting_is_written_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("knob"), "always\n").unwrap();
        let host = Host::fixture(dir.path());
        host.write_setting("/knob", "never").unwrap();
        assert_eq!(host.read("/knob").unwrap(), b"never");
        assert!(host.write_setting("/none", "1").unwrap_err().is_absent(), "nothing is made");
        assert!(!host.exists("/none"));
    }

    #[test]
    fn a_folder_without_procfs_is_a_recording() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Host::at(dir.path()).is_fixture());
        assert!(Host::at(dir.path()).now() > 0, "its clock runs");
        assert!(!Host::at("/").is_fixture());
    }

    #[test]
    fn live_files_are_read_again() {
        let host = Host::live();
        let mut held = host.open("/proc/uptime").unwrap();
        assert!(!held.read(&host).unwrap().is_empty());
        assert!(!held.read(&host).unwrap().is_empty());
    }
}
