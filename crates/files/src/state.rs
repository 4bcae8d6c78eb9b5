//! The folders of state: what recorders that run are reached by, and what must outlast a command. Nothing in them is believed
//! before it was looked at: the folder is no link, belongs to this user (or root), and nobody else may write to it.

use crate::aside::Aside;
use crate::name::{Rules, refused};
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, Stat, fchmod, flock, fstat, mkdirat, openat, unlinkat,
};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The folder of root's recorders.
pub const OF_ROOT: &str = "/run/twinscope";

/// A path in the environment; one that is relative means nothing (XDG Base Directory Specification).
fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The folder of what goes with the machine's end: `/run/twinscope` for root, else `$XDG_RUNTIME_DIR/twinscope`. It need not be
/// there.
///
/// # Errors
/// In words, where there is none.
pub fn running() -> io::Result<PathBuf> {
    if is_root() {
        return Ok(PathBuf::from(OF_ROOT));
    }
    let none = || refused("$XDG_RUNTIME_DIR is not set: there is no folder that is this user's alone");
    Ok(absolute("XDG_RUNTIME_DIR").ok_or_else(none)?.join("twinscope"))
}

/// The folder of what must outlast a command: `/var/lib/twinscope` for root, else `$XDG_STATE_HOME/twinscope` or
/// `~/.local/state/twinscope`. It need not be there.
///
/// # Errors
/// In words, where there is none.
pub fn lasting() -> io::Result<PathBuf> {
    if is_root() {
        return Ok(PathBuf::from("/var/lib/twinscope"));
    }
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    let none = || refused("neither $XDG_STATE_HOME nor $HOME is set: there is no folder to remember anything in");
    Ok(state.ok_or_else(none)?.join("twinscope"))
}

/// Whether only this user and root can have put something there.
fn is_trusted(there: &Stat) -> Result<(), String> {
    if there.st_uid != rustix::process::geteuid().as_raw() && there.st_uid != 0 {
        return Err(format!("belongs to another user ({})", there.st_uid));
    }
    let mode = Mode::from_raw_mode(there.st_mode);
    if mode.intersects(Mode::WGRP | Mode::WOTH) {
        return Err(format!("others may write to it (mode {:o})", mode.bits()));
    }
    Ok(())
}

fn distrusted(path: &Path, why: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, format!("{}: {why}; it is not used", path.display()))
}

/// A folder of state, held open.
#[derive(Debug)]
pub struct Folder {
    folder: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder that is there.
    ///
    /// # Errors
    /// `PermissionDenied`, in words, where others could have put something there; else what the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match rustix::fs::open(path, flags, Mode::empty()) {
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
                return Err(distrusted(path, "is a link or no folder"));
            }
            other => other?,
        };
        is_trusted(&fstat(&folder)?).map_err(|why| distrusted(path, &why))?;
        Ok(Folder { folder, path: path.to_owned() })
    }

    /// Opens a folder; it is made where it is not there, with this mode, and those above it for this user alone.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub fn make(path: &Path, mode: u32) -> io::Result<Self> {
        let mut missing: Vec<&Path> = path.ancestors().take_while(|part| part.symlink_metadata().is_err()).collect();
        while let Some(part) = missing.pop() {
            let mode = if part == path { mode } else { 0o700 };
            match mkdirat(rustix::fs::CWD, part, Mode::from_raw_mode(mode as _)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(why) => {
                    return Err(io::Error::new(io::Error::from(why).kind(), format!("{}: {why}", part.display())));
                }
            }
        }
        Folder::open(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn open_at(&self, name: &str, flags: OFlags, kind: FileType) -> io::Result<File> {
        // Opening a pipe would wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.folder, name, flags, Mode::from_raw_mode(0o600))?;
        let there = fstat(&file)?;
        let path = self.join(name);
        if FileType::from_raw_mode(there.st_mode) != kind {
            return Err(distrusted(&path, "is not what belongs there"));
        }
        // A pipe is made to be written to, by whom its mode says.
        if kind == FileType::RegularFile {
            is_trusted(&there).map_err(|why| distrusted(&path, &why))?;
        }
        Ok(file.into())
    }

    /// A file's content, of at most so many bytes; `None` where it is not there.
    ///
    /// # Errors
    /// In words, where it is no file, others could have written it, or it is longer.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open_at(name, OFlags::RDONLY, FileType::RegularFile) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(distrusted(&self.join(name), &format!("is longer than {most} bytes")));
        }
        Ok(Some(bytes))
    }

    /// Writes a file, all of it or nothing, so that it outlasts a power cut. A group that was [let in](Folder::let_in) may read it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let rules = Rules { replace: true, durable: true, ..Rules::default() };
        // By the folder that was looked at, whatever its name means by now.
        let mut aside = Aside::beside(self.folder.try_clone()?, OsStr::new(name), &self.path)?;
        aside.file().write_all(bytes)?;
        let folder = fstat(&self.folder)?;
        let others = Mode::from_raw_mode(folder.st_mode) & (Mode::RWXG | Mode::RWXO);
        if others == Mode::RGRP | Mode::XGRP {
            rustix::fs::fchown(aside.file(), None, Some(rustix::fs::Gid::from_raw(folder.st_gid)))?;
            fchmod(aside.file(), Mode::from_raw_mode(0o640))?;
        }
        aside.place(&rules).map(drop)
    }

    /// Removes a file. That it is not there is no error.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.folder, name, AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Takes a lock that only this user and root can take; `None` where another process has it. It ends with the file that is
    /// returned.
    ///
    /// # Errors
    /// As [`Folder::read`].
    pub fn lock(&self, name: &str) -> io::Result<Option<File>> {
        let file = self.open_at(name, OFlags::RDWR | OFlags::CREATE, FileType::RegularFile)?;
        // Older versions made it readable, and whoever can open it can hold it.
        fchmod(&file, Mode::from_raw_mode(0o600))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    /// Waits for nobody: `Ok(None)` where a process has the lock, else what keeps others from taking it, if there is a lock at all.
    ///
    /// # Errors
    /// As [`Folder::read`].
    pub fn unlocked(&self, name: &str) -> io::Result<Option<Option<File>>> {
        let file = match self.open_at(name, OFlags::RDONLY, FileType::RegularFile) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Some(None)),
            other => other?,
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(Some(Some(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    /// Makes a named pipe for this user and, where one is given, a group that may write to it. Open for writing too, so that the
    /// pipe never ends and a writer never waits for a reader.
    ///
    /// # Errors
    /// What the system says.
    #[cfg(target_os = "linux")]
    pub fn make_pipe(&self, name: &str, group: Option<u32>) -> io::Result<File> {
        rustix::fs::mknodat(&self.folder, name, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let pipe = openat(&self.folder, name, flags, Mode::empty())?;
        if let Some(group) = group {
            rustix::fs::fchown(&pipe, None, Some(rustix::fs::Gid::from_raw(group)))?;
            fchmod(&pipe, Mode::from_raw_mode(0o620))?;
        }
        Ok(pipe.into())
    }

    /// Opens a named pipe for writing, without waiting for who reads it.
    ///
    /// # Errors
    /// As [`Folder::read`]; where nobody reads it, what the system says.
    pub fn open_pipe(&self, name: &str) -> io::Result<File> {
        self.open_at(name, OFlags::WRONLY, FileType::Fifo)
    }

    /// Lets a group see into the folder, and nobody else but its owner.
    ///
    /// # Errors
    /// What the system says.
    pub fn let_in(&self, group: u32) -> io::Result<()> {
        rustix::fs::fchown(&self.folder, None, Some(rustix::fs::Gid::from_raw(group)))?;
        Ok(fchmod(&self.folder, Mode::from_raw_mode(0o750))?)
    }

    /// Lets everybody pass through the folder, to what others may see in it.
    ///
    /// # Errors
    /// What the system says.
    pub fn let_pass(&self) -> io::Result<()> {
        Ok(fchmod(&self.folder, Mode::from_raw_mode(0o755))?)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_could_have_made_is_not_used() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("of/twinscope");
        let folder = Folder::make(&path, 0o700).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        folder.write("a", b"text").unwrap();
        assert_eq!(folder.read("a", 4).unwrap().unwrap(), b"text");
        assert_eq!(folder.read("none", 4).unwrap(), None);
        assert!(folder.read("a", 3).unwrap_err().to_string().contains("longer"));
        for mode in [0o770, 0o707, 0o1777] {
            set_mode(&path, mode);
            let why = Folder::open(&path).unwrap_err().to_string();
            assert!(why.contains("others may write to it"), "{why}");
        }
        set_mode(&path, 0o700);
        let link = above.path().join("link");
        symlink(&path, &link).unwrap();
        for wrong in [link.as_path(), &path.join("a")] {
            assert!(Folder::open(wrong).unwrap_err().to_string().contains("is a link or no folder"));
        }
        if is_root() {
            std::os::unix::fs::chown(&path, Some(4242), None).unwrap();
            let why = Folder::make(&path, 0o700).unwrap_err().to_string();
            assert!(why.contains("belongs to another user (4242)"), "{why}");
        }
    }

    #[test]
    fn files_are_files_and_nothing_hangs() {
        let above = tempfile::tempdir().unwrap();
        let folder = Folder::open(above.path()).unwrap();
        fs::write(above.path().join("precious"), "text").unwrap();
        symlink("precious", folder.join("link")).unwrap();
        rustix::fs::mknodat(&folder, "fifo", FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        for name in ["link", "fifo"] {
            assert!(folder.read(name, 10).is_err(), "{name}");
            assert!(folder.lock(name).is_err(), "{name}");
        }
        // No reader: the call returns and does not wait for one.
        assert!(folder.open_pipe("fifo").is_err() && folder.open_pipe("precious").is_err());
        set_mode(&folder.join("precious"), 0o666);
        assert!(folder.read("precious", 10).unwrap_err().to_string().contains("others may write"));
        assert_eq!(fs::read_to_string(folder.join("precious")).unwrap(), "text");
    }

    #[test]
    fn a_lock_is_this_users() {
        let above = tempfile::tempdir().unwrap();
        let folder = Folder::open(above.path()).unwrap();
        fs::write(folder.join("lock"), "").unwrap();
        set_mode(&folder.join("lock"), 0o644);
        let lock = folder.lock("lock").unwrap().unwrap();
        assert_eq!(folder.join("lock").metadata().unwrap().mode() & 0o777, 0o600);
        assert!(folder.lock("lock").unwrap().is_none());
        drop(lock);
        assert!(folder.lock("lock").unwrap().is_some());
    }

    #[test]
    fn pipes_are_this_users_unless_a_group_is_named() {
        let above = tempfile::tempdir().unwrap();
        let folder = Folder::open(above.path()).unwrap();
        let mut own = folder.make_pipe("own", None).unwrap();
        assert_eq!(folder.join("own").metadata().unwrap().mode() & 0o777, 0o600);
        folder.open_pipe("own").unwrap().write_all(b"x").unwrap();
        own.read_exact(&mut [0]).unwrap();
        let group = rustix::process::getegid().as_raw();
        folder.make_pipe("shared", Some(group)).unwrap();
        assert_eq!(folder.join("shared").metadata().unwrap().mode() & 0o777, 0o620);
        assert!(folder.make_pipe("own", None).is_err());
    }
}
