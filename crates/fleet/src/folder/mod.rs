//! The folder of summaries, FLEET: Parquet by dataset, in parts that are only added. Each part is written aside and renamed, that of the recordings
//! last: a part of another dataset that has no part of recordings of the same name is left over from an `add` that was cut off, and is not there.

mod batch;
mod dataset;
pub(crate) mod part;

pub use batch::{Batch, Cell, NO_INT, NO_TEXT, Texts, Values};
pub use dataset::{Column, DATASETS, DECLARED, Dataset, FACT, METRIC, PLACE, PROCESS, RECORDING, SLICE, Type};
pub(crate) use dataset::{int, real, text};
use part::Only;

use crate::summary::Rows;
use files::Rules;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The format of the folder, in `fleet.json`.
pub const FORMAT: u64 = 1;

/// The file that says what the folder is.
const ABOUT: &str = "fleet.json";

/// How parts end.
const PART: &str = "parquet";

/// What is left unfinished for so long is of an `add` that was ended.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What can be wrong with the folder as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It is not there, or may not be read or written.
    #[error("{}: {why}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// A part of it is gone.
    #[error(
        "{}: {why}; every folder of summaries has one: restore it from a copy, or make a new folder from the recordings: twinscope fleet add NEW RECORDINGS",
        path.display()
    )]
    Incomplete {
        /// The folder of a dataset.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// It is another kind of folder.
    #[error("{}: not a folder of summaries: {why}", path.display())]
    NotAFleet {
        /// The folder.
        path: PathBuf,
        /// What was found instead.
        why: String,
    },
    /// A newer program wrote it.
    #[error("{}: written in format {found}; this program reads format {FORMAT}: use a newer twinscope", path.display())]
    TooNew {
        /// The folder.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
}

/// A part that could not be read as a whole. All else was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// What was wrong.
    pub why: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; the rest of the fleet is used without it", self.path.display(), self.why)
    }
}

/// A folder of summaries.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens one that is there.
    ///
    /// # Errors
    /// Where it is not there, is none, or is newer than this program.
    pub fn open(path: &Path) -> Result<Folder, FolderError> {
        let about = path.join(ABOUT);
        let text = files::foreign::text(&about).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound if path.is_dir() => {
                FolderError::NotAFleet { path: path.into(), why: format!("it has no {ABOUT}") }
            }
            _ => FolderError::Io { path: path.into(), why },
        })?;
        let not = |why: String| FolderError::NotAFleet { path: path.into(), why };
        let about: serde_json::Value = serde_json::from_str(&text).map_err(|e| not(format!("{ABOUT}: {e}")))?;
        match about.get("format").and_then(serde_json::Value::as_u64) {
            Some(found) if found > FORMAT => Err(FolderError::TooNew { path: path.into(), found }),
            Some(_) => Ok(Folder { path: path.into() }),
            None => Err(not(format!("{ABOUT} names no format"))),
        }
    }

    /// Opens one, or makes it where nothing is there.
    ///
    /// # Errors
    /// As [`Folder::open`]; where it cannot be made, or a folder with other things in it is there.
    pub fn open_or_make(path: &Path) -> Result<Folder, FolderError> {
        let io = |why| FolderError::Io { path: path.into(), why };
        if !path.join(ABOUT).exists() {
            files::make_folder(path).map_err(io)?;
            if fs::read_dir(path).map_err(io)?.next().is_some() {
                let why =
                    format!("it has no {ABOUT}, and other files; name an empty folder, or one that does not exist");
                return Err(FolderError::NotAFleet { path: path.into(), why });
            }
            let about = serde_json::json!({ "format": FORMAT, "tool": env!("CARGO_PKG_VERSION") });
            let rules = Rules { replace: true, ..Rules::default() };
            files::write(&path.join(ABOUT), format!("{about}\n").as_bytes(), rules).map_err(io)?;
        }
        let folder = Folder::open(path)?;
        for dataset in DATASETS {
            files::make_folder(&folder.of(dataset)).map_err(io)?;
        }
        folder.remove_abandoned();
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn of(&self, dataset: &Dataset) -> PathBuf {
        self.path.join(dataset.name)
    }

    /// Takes away what other calls left unfinished, long ago.
    fn remove_abandoned(&self) {
        let entries = DATASETS.iter().filter_map(|d| fs::read_dir(self.of(d)).ok()).flatten().flatten();
        for entry in entries.filter(|e| e.path().extension().is_some_and(|end| end == files::PART)) {
            let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            if age.is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Adds rows as new parts. Where that fails, none of them is there.
    ///
    /// # Errors
    /// Where a part cannot be written, as on a full disk.
    pub fn add(&self, rows: &Rows) -> Result<(), FolderError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("part-{now:013}-{}-{number}.{PART}", std::process::id());
        let mut written: Vec<PathBuf> = Vec::new();
        for batch in rows.batches().into_iter().filter(|batch| !batch.is_empty()) {
            let path = self.of(batch.dataset).join(&name);
            if let Err(why) = part::write(&path, batch) {
                for path in written {
                    let _ = fs::remove_file(path);
                }
                return Err(FolderError::Io { path, why });
            }
            written.push(path);
        }
        Ok(())
    }

    /// The parts of a dataset that are there, oldest first.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn parts(&self, dataset: &Dataset) -> Result<Vec<PathBuf>, FolderError> {
        let list = |dataset: &Dataset| -> Result<Vec<PathBuf>, FolderError> {
            let path = self.of(dataset);
            let io = |why: io::Error| match why.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                    FolderError::Incomplete { path: path.clone(), why }
                }
                _ => FolderError::Io { path: path.clone(), why },
            };
            let mut parts = Vec::new();
            for entry in fs::read_dir(&path).map_err(io)? {
                let path = entry.map_err(io)?.path();
                if path.extension().is_some_and(|end| end == PART) {
                    parts.push(path);
                }
            }
            parts.sort();
            Ok(parts)
        };
        let whole: HashSet<_> =
            list(&RECORDING)?.into_iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
        let is_whole = |path: &PathBuf| path.file_name().is_some_and(|name| whole.contains(name));
        Ok(list(dataset)?.into_iter().filter(is_whole).collect())
    }

    /// Reads columns of a dataset, by their names, batch by batch. Row groups in which no row can have the texts of `only` are passed over; rows
    /// that have others are still among those that come. What cannot be read comes back.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn read(
        &self,
        dataset: &'static Dataset,
        columns: &[&str],
        only: &[(&str, &str)],
        mut take: impl FnMut(Batch),
    ) -> Result<Vec<Damage>, FolderError> {
        let parts = self.parts(dataset)?;
        Ok(parts
            .into_iter()
            .filter_map(|path| Folder::read_part(&path, dataset, columns, only, &mut take).err())
            .collect())
    }

    /// The same of one part.
    ///
    /// # Errors
    /// Where it cannot be read as a whole; what came before was handed over.
    pub fn read_part(
        path: &Path,
        dataset: &'static Dataset,
        columns: &[&str],
        only: &[(&str, &str)],
        take: impl FnMut(Batch),
    ) -> Result<(), Damage> {
        let wanted: Vec<usize> = columns.iter().filter_map(|name| dataset.place(name)).collect();
        let only: Vec<Only<'_>> =
            only.iter().filter_map(|&(name, text)| Some(Only { column: dataset.place(name)?, text })).collect();
        part::read(path, dataset, &wanted, &only, take).map_err(|why| Damage { path: path.into(), why })
    }
}
