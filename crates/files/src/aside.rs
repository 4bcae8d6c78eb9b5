//! A file under a name of its own in the folder of its place, until it is whole.

use crate::name::{Place, Rules, move_new};
use crate::owner;
use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// How the names of files end that are not whole yet. They begin with a dot.
pub const PART: &str = "part";

/// Whether a file of this name is one that was not whole yet when its program was killed.
pub fn is_part(name: &str) -> bool {
    name.starts_with(".twinscope-") && name.strip_suffix(PART).is_some_and(|name| name.ends_with('.'))
}

/// What SQLite may keep in addition to a database's file.
const DATABASE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A number that nobody can guess.
pub(crate) fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// A file that is not in its place yet. Dropped before it is placed, it is removed, and what was in its place is as it was.
#[derive(Debug)]
pub struct Aside {
    place: Place,
    part: OsString,
    path: PathBuf,
    file: File,
    placed: bool,
}

impl Aside {
    /// Creates the file, empty, with a name that is new.
    ///
    /// # Errors
    /// As [`crate::check`].
    pub fn create(path: &Path, rules: &Rules<'_>) -> io::Result<Self> {
        crate::name::is_file(path, rules)?;
        let place = Place::of(path)?;
        place.allows(rules)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let aside = Aside::at(place, &folder, owner::mode())?;
        owner::hand_over(&aside.file);
        Ok(aside)
    }

    /// A file of state, for this user alone.
    pub(crate) fn beside(folder: OwnedFd, name: &OsStr, path: &Path) -> io::Result<Self> {
        Aside::at(Place { folder, name: name.to_owned() }, path, Mode::RUSR | Mode::WUSR)
    }

    fn at(place: Place, folder: &Path, mode: Mode) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            // Short and without the name of its place: that may be as long as names can be.
            let part = OsString::from(format!(".twinscope-{:016x}.{PART}", random()));
            match openat(&place.folder, &part, flags, mode) {
                Err(rustix::io::Errno::EXIST) => {}
                Err(why) => return Err(why.into()),
                Ok(file) => {
                    let path = folder.join(&part);
                    return Ok(Aside { place, part, path, file: file.into(), placed: false });
                }
            }
        }
    }

    /// The file, for reading and writing.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Where it is now, for what opens files by name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves it to its place, and returns it.
    ///
    /// # Errors
    /// As [`crate::check`]: what lies there may have changed.
    pub fn place(mut self, rules: &Rules<'_>) -> io::Result<File> {
        self.place.allows(rules)?;
        if rules.durable {
            self.file.sync_all()?;
        }
        let Place { folder, name } = &self.place;
        if rules.replace {
            renameat(folder, &self.part, folder, name)?;
        } else {
            move_new((folder, &self.part), (folder, name))?;
        }
        self.placed = true;
        if rules.durable {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            File::from(openat(folder, ".", flags, Mode::empty())?).sync_all()?;
        }
        self.file.try_clone()
    }
}

/// An empty file in the place of what was there, which takes what another process writes from now on.
///
/// # Errors
/// As [`crate::check`].
pub fn start_over(path: &Path) -> io::Result<File> {
    let rules = Rules { replace: true, ..Rules::default() };
    Aside::create(path, &rules)?.place(&rules)
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.placed {
            return;
        }
        let _ = unlinkat(&self.place.folder, &self.part, AtFlags::empty());
        for ending in DATABASE {
            let mut name = self.part.clone();
            name.push(ending);
            // Most are not there.
            let _ = unlinkat(&self.place.folder, &name, AtFlags::empty());
        }
    }
}
