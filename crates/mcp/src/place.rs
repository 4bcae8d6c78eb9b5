//! The folders that a server may read, and what lies below them. A path is followed to its end, through links, before it is opened, and what lies
//! outside is not there.

use crate::args::Failure;
use query::Run;
use std::path::{Path, PathBuf};

/// How deep folders are looked through, and how many files are listed at most.
const DEEPEST: usize = 32;
const MOST_FILES: usize = 100_000;

/// A folder that cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// It is not there, or may not be read.
    #[error("{}: {why}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// It is a file.
    #[error("{}: not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// None was named.
    #[error("no folder was named below which recordings may be read")]
    None,
}

/// The folders.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    folders: Vec<PathBuf>,
}

/// What lies below the folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Below {
    /// Recordings.
    pub(crate) recordings: Vec<PathBuf>,
    /// Folders of summaries.
    pub(crate) fleets: Vec<PathBuf>,
}

impl Place {
    pub(crate) fn new(folders: &[PathBuf]) -> Result<Self, PlaceError> {
        let real = |path: &PathBuf| {
            let found = path.canonicalize().map_err(|why| PlaceError::Io { path: path.clone(), why })?;
            if found.is_dir() { Ok(found) } else { Err(PlaceError::NotAFolder(path.clone())) }
        };
        let folders: Vec<PathBuf> = folders.iter().map(real).collect::<Result<_, _>>()?;
        if folders.is_empty() { Err(PlaceError::None) } else { Ok(Place { folders }) }
    }

    /// The first of the folders.
    pub(crate) fn first(&self) -> &Path {
        self.folders.first().map_or(Path::new("."), PathBuf::as_path)
    }

    /// A path as agents name it: from its folder where there is one folder, else from the root.
    pub(crate) fn name(&self, path: &Path) -> String {
        let shown = match self.folders.as_slice() {
            [folder] => path.strip_prefix(folder).unwrap_or(path),
            _ => path,
        };
        shown.display().to_string()
    }

    /// The recording of this name.
    pub(crate) fn recording(&self, name: &str) -> Result<PathBuf, Failure> {
        self.find(name, "recording", Path::is_file)
    }

    /// The folder of summaries of this name.
    pub(crate) fn fleet(&self, name: &str) -> Result<PathBuf, Failure> {
        self.find(name, "folder of summaries", Path::is_dir)
    }

    /// What lies outside is as if it were not there: whether it is, an agent does not learn.
    fn find(&self, name: &str, what: &str, is_it: fn(&Path) -> bool) -> Result<PathBuf, Failure> {
        if name.is_empty() {
            return Err(format!("no {what} was named; the tool recordings lists them"));
        }
        let real = self.folders.iter().filter_map(|folder| folder.join(name).canonicalize().ok());
        let mut inside = real.filter(|path| self.folders.iter().any(|folder| path.starts_with(folder)));
        inside.find(|path| is_it(path)).ok_or_else(|| {
            let folders: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
            format!("{name}: no such {what} below {}; the tool recordings lists them", folders.join(", "))
        })
    }

    /// Opens recordings under unique names.
    pub(crate) fn open(&self, names: &[String], work: &str) -> Result<Vec<Run>, Failure> {
        if names.is_empty() {
            return Err("no recording was named; the tool recordings lists them".into());
        }
        let paths: Vec<PathBuf> = names.iter().map(|name| self.recording(name)).collect::<Result<_, _>>()?;
        query::open_by(&paths, &crate::args::work(work)?).map_err(|error| error.to_string())
    }

    /// All recordings and folders of summaries, in the order of their names. Folders are not entered by a link, which may lead back up.
    pub(crate) fn below(&self) -> Below {
        let mut below = Below::default();
        for folder in &self.folders {
            self.gather(folder, 0, &mut below);
        }
        below.recordings.dedup();
        below
    }

    fn gather(&self, folder: &Path, depth: usize, below: &mut Below) {
        // A folder that may not be read holds nothing that this server could serve.
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        entries.sort();
        if entries.iter().any(|entry| entry.file_name().is_some_and(|name| name == "fleet.json")) {
            below.fleets.push(folder.to_owned());
            return;
        }
        for entry in entries {
            if below.recordings.len() >= MOST_FILES {
                return;
            }
            if entry.is_dir() {
                if !entry.is_symlink() && depth < DEEPEST {
                    self.gather(&entry, depth + 1, below);
                }
            } else if entry.extension().is_some_and(|end| end == "twin") && self.is_inside(&entry) {
                below.recordings.push(entry);
            }
        }
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.canonicalize()
            .is_ok_and(|real| real.is_file() && self.folders.iter().any(|folder| real.starts_with(folder)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_is_there() {
        let all = tempfile::tempdir().unwrap();
        let (inside, outside) = (all.path().join("in"), all.path().join("in-too"));
        for folder in [&inside, &outside, &inside.join("deep")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        for file in [inside.join("a.twin"), inside.join("deep/b.twin"), outside.join("secret.twin")] {
            std::fs::write(file, "").unwrap();
        }
        symlink(outside.join("secret.twin"), inside.join("out.twin")).unwrap();
        symlink(inside.join("deep/b.twin"), inside.join("within.twin")).unwrap();
        symlink(&outside, inside.join("way-out")).unwrap();
        symlink("/", inside.join("root")).unwrap();
        symlink(&inside, inside.join("round")).unwrap();
        symlink("loop.twin", inside.join("loop.twin")).unwrap();
        let place = Place::new(std::slice::from_ref(&inside)).unwrap();
        for name in ["a.twin", "deep/b.twin", "within.twin", "deep/../a.twin", "round/a.twin"] {
            assert!(place.recording(name).is_ok(), "{name}");
        }
        let secret = outside.join("secret.twin").display().to_string();
        for name in [
            "../in-too/secret.twin",
            "out.twin",
            "way-out/secret.twin",
            &secret,
            "root/etc/passwd",
            "/etc/passwd",
            "",
            ".",
            "deep",
            "loop.twin",
            "a.twin\0",
            "none.twin",
            "../../../../../../etc/passwd",
        ] {
            let why = place.recording(name).unwrap_err();
            assert!(why.contains("lists them"), "{why}");
        }
        let names: Vec<String> = place.below().recordings.iter().map(|path| place.name(path)).collect();
        assert_eq!(names, ["a.twin", "deep/b.twin", "within.twin"]);
    }
}
