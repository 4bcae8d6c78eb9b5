//! Files that others wrote. A name can lead to a FIFO that nobody writes to, to a device that never ends, or to a file too large for memory:
//! [`open`] takes regular files only, and whatever is read into memory has a limit.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{File, FileType};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// How much may be read of one file, after decompression too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Bytes.
    pub bytes: u64,
    /// The option by which a user raises it; empty where there is none.
    pub option: &'static str,
}

impl Limit {
    /// What people write by hand: settings, lists, experiments.
    pub const BY_HAND: Limit = Limit { bytes: 16 << 20, option: "" };

    /// The error of a file that exceeds it.
    pub fn exceeded(self) -> Error {
        let raise = match self.option {
            "" => String::new(),
            option => format!("; {option} raises the limit"),
        };
        Error::new(ErrorKind::FileTooLarge, format!("it holds more than {}{raise}", size(self.bytes)))
    }

    /// Reads to the end, or fails with [`Limit::exceeded`]. `content` keeps what came before an error.
    ///
    /// # Errors
    /// Those of `from`, and where there is more than the limit.
    pub fn fill(self, from: impl Read, content: &mut Vec<u8>) -> Result<()> {
        let before = content.len() as u64;
        from.take(self.bytes.saturating_add(1)).read_to_end(content)?;
        if content.len() as u64 - before > self.bytes { Err(self.exceeded()) } else { Ok(()) }
    }
}

thread_local! {
    static CAUGHT: Cell<u32> = const { Cell::new(0) };
}

/// Does work on foreign bytes by code that is not ours and may panic at them. `None` where it did, which then is damage like any other.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    CAUGHT.set(CAUGHT.get() + 1);
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    CAUGHT.set(CAUGHT.get() - 1);
    done.ok()
}

/// Whether a panic of this thread is caught by [`caught`], so that nobody has to be told of it.
pub fn is_caught() -> bool {
    CAUGHT.get() > 0
}

/// Opens a regular file for reading. What is none is refused without waiting for it, except a descriptor of this process that the caller names as
/// such (`/dev/stdin`, `/dev/fd/3`): whoever started the program connected it.
///
/// # Errors
/// In words where it is no regular file; else what the system says.
pub fn open(path: &Path) -> Result<File> {
    let is_own = is_own_descriptor(path);
    // Before it is opened: to open a device can already change something.
    if !is_own {
        check(std::fs::metadata(path)?.file_type())?;
    }
    let file = open_at_once(path)?;
    if !is_own {
        let about = file.metadata()?;
        check(about.file_type())?;
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if read.len() < MOST_READ {
            read.insert((about.dev(), about.ino()));
        }
    }
    Ok(file)
}

/// Files that this process has opened here, by device and inode: no result takes their place.
static READ: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// A recorder opens files of programs for as long as it runs, and writes no results.
const MOST_READ: usize = 100_000;

/// Whether this process has read a file.
pub(crate) fn has_read(device: u64, inode: u64) -> bool {
    READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&(device, inode))
}

/// Whether `path` may be opened by a library that opens files itself. See [`open`].
///
/// # Errors
/// As [`open`].
pub fn check_regular(path: &Path) -> Result<()> {
    check(std::fs::metadata(path)?.file_type())
}

/// The content of a file.
///
/// # Errors
/// As [`open`], and where it holds more than `limit`.
pub fn read(path: &Path, limit: Limit) -> Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > limit.bytes {
        return Err(limit.exceeded());
    }
    let mut content = Vec::new();
    limit.fill(file, &mut content)?;
    Ok(content)
}

/// The content of a file that people write by hand.
///
/// # Errors
/// As [`read`], and where it is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    String::from_utf8(read(path, Limit::BY_HAND)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is no text in UTF-8"))
}

fn check(kind: FileType) -> Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let what = match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a FIFO",
        () => "a device or a socket",
    };
    Err(Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a regular file")))
}

/// Opens a file without waiting for anyone; reads then wait as usual.
fn open_at_once(path: &Path) -> Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Whether a path names a descriptor of this process: `/dev/stdin`, `/dev/fd/3`.
pub fn is_own_descriptor(path: &Path) -> bool {
    let is_number = |name: &Path| name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
    path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.strip_prefix(folder).is_ok_and(is_number))
}

/// Bytes in the largest unit that divides them.
fn size(bytes: u64) -> String {
    match bytes {
        whole if whole >= 1 << 30 && whole % (1 << 30) == 0 => format!("{} GiB", whole >> 30),
        whole if whole >= 1 << 20 && whole % (1 << 20) == 0 => format!("{} MiB", whole >> 20),
        other => format!("{other} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Limit = Limit { bytes: 4, option: "--size-limit" };

    #[test]
    fn only_regular_files_are_opened_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        std::os::unix::fs::symlink(&fifo, folder.path().join("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        for (path, what) in [
            (fifo.as_path(), "a FIFO"),
            (&folder.path().join("link"), "a FIFO"),
            (&folder.path().join("socket"), "a device or a socket"),
            (Path::new("/dev/zero"), "a device or a socket"),
            (folder.path(), "a folder"),
        ] {
            let why = open(path).unwrap_err().to_string();
            assert_eq!(why, format!("it is {what}, not a regular file"));
            assert!(check_regular(path).is_err());
        }
    }

    #[test]
    fn a_descriptor_that_the_caller_names_is_taken() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"abc").unwrap();
        drop(writer);
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        assert_eq!(read(Path::new(&path), SMALL).unwrap(), b"abc");
        assert!(!is_own_descriptor(Path::new("/proc/self/fd/../3")) && !is_own_descriptor(Path::new("/dev/fd")));
    }

    #[test]
    fn a_panic_at_foreign_bytes_is_no_end() {
        assert_eq!(caught(is_caught), Some(true));
        assert_eq!(caught(|| -> u8 { panic!("on purpose") }), None);
        assert!(!is_caught());
    }

    #[test]
    fn more_than_the_limit_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(read(&path, SMALL).unwrap(), b"1234");
        std::fs::write(&path, "12345").unwrap();
        let why = read(&path, SMALL).unwrap_err().to_string();
        assert_eq!(why, "it holds more than 4 bytes; --size-limit raises the limit");
        let mut content = vec![0; 9];
        assert!(SMALL.fill(std::io::repeat(1), &mut content).is_err());
        // A file of the system has no length to look at before.
        assert!(read(Path::new("/proc/self/status"), SMALL).is_err());
        // A sparse file is not read at all.
        File::create(&path).unwrap().set_len(2 << 40).unwrap();
        assert_eq!(read(&path, Limit::BY_HAND).unwrap_err().to_string(), "it holds more than 16 MiB");
    }
}
