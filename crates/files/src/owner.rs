//! Whose new files are, and who may read them.

use rustix::fs::{CWD, Gid, Mode, OFlags, Uid, fchmod, fchown, openat};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Recordings and what is made of them hold command lines, registers and code of all processes.
const PRIVATE: u32 = 0o600;

/// The mode that was asked for; 0 where none was.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// The mode of files that are created from here on, whatever the umask says. Without it only their owner may read them.
pub fn set_mode(mode: u32) {
    ASKED.store(mode, Ordering::Relaxed);
}

/// The mode that was asked for, to hand it on to another process.
pub fn asked_mode() -> Option<u32> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|mode| *mode != 0)
}

/// Reads a mode such as `0644`.
///
/// # Errors
/// In words: no octal number, or one that keeps the owner out or lets a file be executed or set ids.
pub fn parse_mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).map_err(|_| "expected an octal mode such as 0644 or 0640".to_owned())?;
    if mode & 0o600 != 0o600 || mode & !0o666 != 0 {
        return Err("expected a mode from 0600 to 0666: the owner reads and writes, and nobody executes".into());
    }
    Ok(mode)
}

/// The mode in which files are created.
pub(crate) fn mode() -> Mode {
    Mode::from_raw_mode(asked_mode().unwrap_or(PRIVATE) as _)
}

/// The mode in which folders are created: who may read the files may list them.
fn folder_mode() -> Mode {
    let mode = mode().bits();
    Mode::from_raw_mode(mode | (mode & 0o444) >> 2)
}

/// Who called `sudo`, where this process is root by it. The numbers are from the environment: what is no number, or root, is
/// not believed, and a process that is not root could not give files away anyway.
fn caller() -> Option<(Uid, Gid)> {
    if !rustix::process::geteuid().is_root() || !rustix::process::getuid().is_root() {
        return None;
    }
    sane(&std::env::var("SUDO_UID").ok()?, &std::env::var("SUDO_GID").ok()?)
}

fn sane(uid: &str, gid: &str) -> Option<(Uid, Gid)> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number != u32::MAX);
    let (uid, gid) = (number(uid)?, number(gid)?);
    (uid != 0).then(|| (Uid::from_raw(uid), Gid::from_raw(gid)))
}

/// Gives a file that was just created the mode that was asked for, and to who called `sudo`. A file system that knows neither
/// keeps the file as it was created, for its owner alone.
pub(crate) fn hand_over(file: impl AsFd) {
    if asked_mode().is_some() {
        let _ = fchmod(&file, mode());
    }
    if let Some((uid, gid)) = caller() {
        let _ = fchown(&file, Some(uid), Some(gid));
    }
}

/// Creates a file under its final name, for reading and writing. A link there is not followed.
///
/// # Errors
/// `AlreadyExists` where anything has the name, else what the system says.
pub fn create_new(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, mode())?;
    hand_over(&file);
    Ok(file.into())
}

/// Opens a file to add to its end; it is created where it is not there. A link is not followed.
///
/// # Errors
/// `InvalidInput` where it is no file, else what the system says.
pub fn append(path: &Path) -> io::Result<File> {
    match create_new(path) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
        other => drop(other?),
    }
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(crate::name::refused("is no file that could be added to"));
    }
    Ok(file)
}

/// Makes a folder, and those above it, which have the mode of files and belong to who called `sudo` like them.
///
/// # Errors
/// What the system says. That it is there is none.
pub fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() || path.as_os_str().is_empty() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        make_folder(above)?;
    }
    match rustix::fs::mkdirat(CWD, path, folder_mode()).map_err(io::Error::from) {
        Ok(()) => {
            // What another user may have put in its place by now is no folder of ours.
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Ok(folder) = openat(CWD, path, flags, Mode::empty()) {
                if asked_mode().is_some() {
                    let _ = fchmod(&folder, folder_mode());
                }
                if let Some((uid, gid)) = caller() {
                    let _ = fchown(&folder, Some(uid), Some(gid));
                }
            }
            Ok(())
        }
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(why) => Err(why),
    }
}

/// A new folder in the folder for temporary files that only this user can enter, under a name that nobody can guess.
///
/// # Errors
/// What the system says.
pub fn private_folder() -> io::Result<PathBuf> {
    let below = std::env::temp_dir();
    loop {
        let path = below.join(format!("twinscope-{:016x}", crate::aside::random()));
        match rustix::fs::mkdirat(CWD, &path, Mode::RWXU) {
            Err(rustix::io::Errno::EXIST) => {}
            Err(why) => return Err(io::Error::new(io::Error::from(why).kind(), format!("{}: {why}", below.display()))),
            Ok(()) => return Ok(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn modes() {
        assert_eq!([parse_mode("0644"), parse_mode("640"), parse_mode("600")], [Ok(0o644), Ok(0o640), Ok(0o600)]);
        for wrong in ["", "rw", "0755", "0444", "04644", "8", "-1"] {
            assert!(parse_mode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn who_called_sudo_must_be_an_ordinary_user() {
        assert!(sane("1000", "100").is_some());
        for (uid, gid) in [("0", "0"), ("", ""), ("-1", "5"), ("4294967295", "5"), ("x", "5"), ("1000", "")] {
            assert!(sane(uid, gid).is_none(), "{uid}:{gid}");
        }
    }

    #[test]
    fn a_new_folder_is_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        make_folder(&path).unwrap();
        make_folder(&path).unwrap();
        for made in [path.parent().unwrap(), &path] {
            assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_new_file_is_for_its_owner_and_takes_nobodys_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        create_new(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        for taken in [&path, &link] {
            assert_eq!(create_new(taken).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        assert!(!folder.path().join("nowhere").exists());
    }
}
