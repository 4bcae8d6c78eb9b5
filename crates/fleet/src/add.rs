//! Recordings reduced and added to a folder: several at a time, each once.

use crate::folder::{Folder, FolderError, RECORDING};
use crate::summary::{self, Rows};
use compare::Choice;
use query::stats::Comparer;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows of so many bytes are written as a part, some 140 recordings: what is added in one go is in few files, and little is held in memory.
const PART_BYTES: usize = 32 << 20;

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// It was reduced; where it was damaged, what was wrong.
    Reduced {
        /// What of it could not be read.
        damage: Vec<String>,
    },
    /// Its summary was there.
    Known,
    /// It could not be reduced.
    Failed {
        /// Why, with the file.
        why: String,
    },
}

/// What became of all files.
#[derive(Debug, Default)]
pub struct Report {
    /// Each file with what became of it, in the order in which they were given.
    pub files: Vec<(PathBuf, Added)>,
}

impl Report {
    /// How many were reduced.
    pub fn reduced(&self) -> usize {
        self.files.iter().filter(|(_, added)| matches!(added, Added::Reduced { .. })).count()
    }

    /// How many were there.
    pub fn known(&self) -> usize {
        self.files.iter().filter(|(_, added)| *added == Added::Known).count()
    }
}

/// Rows that wait to be written, and what is known of files.
struct Shared {
    rows: Rows,
    /// Files whose rows wait.
    waiting: Vec<usize>,
    ids: HashSet<String>,
    outcomes: Vec<Option<Added>>,
    /// The first part that could not be written.
    error: Option<FolderError>,
}

/// Reduces recordings and adds them to a folder, on as many threads as there are CPUs. Those that are there already are passed over; one that
/// cannot be read stops none of the others. `told` is called for each file when it was looked at.
///
/// # Errors
/// Where the folder cannot be read or written; what was written by then stays, and is passed over when the same is asked again.
pub fn add(
    folder: &Folder,
    files: &[PathBuf],
    choice: &Choice,
    told: &(dyn Fn(usize) + Sync),
) -> Result<Report, FolderError> {
    let mut ids = HashSet::new();
    folder.read(&RECORDING, &["id"], &[], |batch| {
        let id = RECORDING.place("id").unwrap_or(0);
        ids.extend((0..batch.len()).filter_map(|row| batch.text(row, id).map(str::to_owned)));
    })?;
    let outcomes = vec![None; files.len()];
    let shared = Mutex::new(Shared { rows: Rows::default(), waiting: Vec::new(), ids, outcomes, error: None });
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut comparer = Comparer::new();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(at) else { break };
                    if !one(folder, (at, file), choice, &mut comparer, &shared) {
                        break;
                    }
                    told(at);
                }
            });
        }
    });
    let mut shared = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    shared.write(folder);
    match shared.error {
        Some(error) => Err(error),
        None => {
            let outcome = |(path, added): (&PathBuf, Option<Added>)| Some((path.clone(), added?));
            Ok(Report { files: files.iter().zip(shared.outcomes).filter_map(outcome).collect() })
        }
    }
}

/// Looks at one file. Says whether to go on.
fn one(
    folder: &Folder,
    (at, file): (usize, &Path),
    choice: &Choice,
    comparer: &mut Comparer,
    shared: &Mutex<Shared>,
) -> bool {
    let mut rows = Rows::default();
    let lock = || shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut id = None;
    let outcome = match query::open(&[file]) {
        Err(error) => Added::Failed { why: error.to_string() },
        Ok(runs) => match runs.first() {
            None => Added::Failed { why: format!("{}: no recording", file.display()) },
            Some(run) => {
                let own = summary::id(run.recording.manifest(), &run.name);
                // Claimed at once: the same recording may be given twice, under two names.
                if !lock().ids.insert(own.clone()) {
                    Added::Known
                } else {
                    id = Some(own);
                    match summary::reduce(run, &whole_path(file), choice, comparer, &mut rows) {
                        Ok(()) => {
                            let damage = run.recording.damage().iter().map(ToString::to_string).collect();
                            Added::Reduced { damage }
                        }
                        Err(error) => Added::Failed { why: format!("{}: {error}", file.display()) },
                    }
                }
            }
        },
    };
    let mut shared = lock();
    match (&outcome, id) {
        (Added::Reduced { .. }, _) => {
            shared.rows.append(&rows);
            shared.waiting.push(at);
        }
        (Added::Failed { .. }, Some(id)) => {
            shared.ids.remove(&id);
        }
        _ => {}
    }
    if let Some(slot) = shared.outcomes.get_mut(at) {
        *slot = Some(outcome);
    }
    if shared.rows.size() >= PART_BYTES {
        shared.write(folder);
    }
    shared.error.is_none()
}

/// Where a file is, whatever folder the program is called in later.
fn whole_path(file: &Path) -> String {
    std::path::absolute(file).map_or_else(|_| file.display().to_string(), |path| path.display().to_string())
}

impl Shared {
    /// Writes the rows that wait.
    fn write(&mut self, folder: &Folder) {
        if self.waiting.is_empty() || self.error.is_some() {
            return;
        }
        match folder.add(&std::mem::take(&mut self.rows)) {
            Ok(()) => self.waiting.clear(),
            Err(error) => self.error = Some(error),
        }
    }
}
