//! What may be written over.

use rustix::fs::{AtFlags, FileType, OFlags, Stat, openat, statat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// How a file is to be made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules<'a> {
    /// A file that is there is replaced, once the new one is whole.
    pub replace: bool,
    /// What is written is a recording, the one thing that may replace a recording.
    pub recording: bool,
    /// Files that the command reads: none of them is written over.
    pub inputs: &'a [PathBuf],
    /// A result: no file that this process has read through [`crate::foreign`] is written over either, such as one of a folder that it was
    /// given. What keeps state reads a file and replaces it.
    pub result: bool,
    /// The file and its name are on the disk before it counts as written.
    pub durable: bool,
}

/// Refuses the name of something that a command writes where it begins with `-`. It is nearly always an option in the wrong place,
/// and `rm` takes the file for one.
///
/// # Errors
/// Says how to write it where that is meant.
pub fn plain_name(path: PathBuf) -> Result<PathBuf, String> {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return Err(format!("begins with - as options do; if it is meant, write ./{}", path.display()));
    }
    Ok(path)
}

/// The same for what one file can hold, of which `-` alone is the standard output.
///
/// # Errors
/// As [`plain_name`].
pub fn result_name(path: PathBuf) -> Result<PathBuf, String> {
    if path.as_os_str() == "-" { Ok(path) } else { plain_name(path) }
}

/// A place in a folder that is held open: links that lead to the folder are followed once, and its name is never asked again.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
}

impl Place {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let name = path.file_name().filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
        let name = name.ok_or_else(|| refused("is a folder; name a file in it"))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Place { folder: open_folder(folder)?, name: name.to_owned() })
    }

    /// What lies there; a link is not followed.
    pub(crate) fn look(&self) -> io::Result<Option<Stat>> {
        look(&self.folder, &self.name)
    }

    /// Whether a file may take the place now.
    pub(crate) fn allows(&self, rules: &Rules<'_>) -> io::Result<()> {
        let Some(there) = self.look()? else { return Ok(()) };
        if let Some(kind) = kind(&there) {
            return Err(refused(&format!("is {kind}, which is not written over; name a file")));
        }
        if !rules.replace {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "exists already"));
        }
        let is_there = |input: &PathBuf| rustix::fs::stat(input).is_ok_and(|input| same(&input, &there));
        let was_read = rules.result && crate::foreign::has_read(there.st_dev, there.st_ino);
        if was_read || rules.inputs.iter().any(is_there) {
            return Err(refused("is read by the same command; write to another file"));
        }
        if !rules.recording && self.holds_recording() {
            return Err(refused("is a recording, which nothing but a recording replaces; write to another file"));
        }
        Ok(())
    }

    fn holds_recording(&self) -> bool {
        const MAGIC: &[u8; 16] = b"SQLite format 3\0";
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut start = [0; 16];
        let opened = openat(&self.folder, &self.name, flags, rustix::fs::Mode::empty());
        opened.is_ok_and(|file| File::from(file).read_exact(&mut start).is_ok()) && start == *MAGIC
    }
}

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    // A folder may be one in which this user may write and not look.
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::RDONLY;
    Ok(rustix::fs::open(folder, flags | OFlags::DIRECTORY | OFlags::CLOEXEC, rustix::fs::Mode::empty())?)
}

pub(crate) fn look(folder: impl AsFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) => Ok(Some(there)),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

fn same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

/// What something is that is no regular file.
fn kind(there: &Stat) -> Option<&'static str> {
    Some(match FileType::from_raw_mode(there.st_mode as _) {
        FileType::RegularFile => return None,
        FileType::Symlink => "a symbolic link",
        FileType::Directory => "a folder",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    })
}

pub(crate) fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

/// Whether a file may be written at `path`, before anything that takes time; writing asks again.
///
/// # Errors
/// `AlreadyExists` where a file is there and the rules do not replace it; `InvalidInput`, in words, for what is never written
/// over; else what the system says.
pub fn check(path: &Path, rules: &Rules<'_>) -> io::Result<()> {
    is_file(path, rules)?;
    Place::of(path)?.allows(rules)
}

/// Refuses the names of streams for what cannot be written from its start to its end.
pub(crate) fn is_file(path: &Path, rules: &Rules<'_>) -> io::Result<()> {
    if rules.recording && crate::is_stream(path) {
        return Err(refused(
            "a recording is a database, which no stream or device can hold; name a file, such as slow.twin",
        ));
    }
    Ok(())
}

/// Gives a file another name, which must be free: nothing is replaced.
///
/// # Errors
/// `AlreadyExists` where anything has the name, else what the system says.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (Place::of(from)?, Place::of(to)?);
    move_new((&from.folder, &from.name), (&to.folder, &to.name))
}

pub(crate) fn move_new(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> io::Result<()> {
    use rustix::io::Errno;
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(from.0, from.1, to.0, to.1, rustix::fs::RenameFlags::NOREPLACE) {
        // Not every file system can do it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        done => return done.map_err(io::Error::from),
    }
    match rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty()) {
        Ok(()) => Ok(rustix::fs::unlinkat(from.0, from.1, AtFlags::empty())?),
        // Without links there is no way that leaves no gap between looking and renaming.
        Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => match look(to.0, to.1)? {
            Some(_) => Err(Errno::EXIST.into()),
            None => Ok(rustix::fs::renameat(from.0, from.1, to.0, to.1)?),
        },
        Err(why) => Err(why.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_like_an_option_is_refused() {
        for name in ["--help", "-o", "-", "-x.twin"] {
            assert!(plain_name(name.into()).unwrap_err().ends_with(&format!("./{name}")), "{name}");
            assert_eq!(result_name(name.into()).is_ok(), name == "-", "{name}");
        }
        for name in ["x.twin", "./-x.twin", "a/-x.twin", ""] {
            assert_eq!((plain_name(name.into()), result_name(name.into())), (Ok(name.into()), Ok(name.into())));
        }
    }

    #[test]
    fn another_name_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        std::fs::write(&a, "a").unwrap();
        std::fs::write(&b, "b").unwrap();
        assert_eq!(rename_new(&a, &b).unwrap_err().kind(), ErrorKind::AlreadyExists);
        rename_new(&a, &c).unwrap();
        assert_eq!((std::fs::read(&b).unwrap(), std::fs::read(&c).unwrap()), (b"b".to_vec(), b"a".to_vec()));
    }
}
