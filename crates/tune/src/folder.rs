//! A session on disk, `NAME.tune`: the file as it was run, the journal, and a folder for each trial.
//!
//! The journal, `session.jsonl`, is only appended to, and each line is on the disk before what it says is done. Whoever writes to
//! it has it locked.

use crate::event::{Event, lines};
use crate::machine::Journal;
use files::Rules;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXPERIMENT: &str = "experiment.toml";
const JOURNAL: &str = "session.jsonl";

/// Of a journal. A trial takes some kilobytes.
const JOURNAL_LIMIT: files::foreign::Limit = files::foreign::Limit { bytes: 1 << 30, option: "" };
const ABOUT: &str = "about.json";
const TRIALS: &str = "trials";
const TRIAL: &str = "trial.json";

/// What can go wrong with a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file in it.
    #[error("{0}: {1}")]
    File(PathBuf, #[source] std::io::Error),
    /// It is none.
    #[error("{0}: this is no session: it has no {EXPERIMENT} and {JOURNAL}")]
    NoSession(PathBuf),
    /// Another process runs it.
    #[error("{0}: another twinscope runs this session")]
    Locked(PathBuf),
    /// Its journal.
    #[error("{0}: {1}; what it holds was left as it is")]
    Journal(PathBuf, #[source] crate::Error),
}

/// What is known of a session beside its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of Twinscope that began it.
    pub tool: String,
    /// When it began, Unix seconds.
    pub began: f64,
    /// Host name, kernel and CPUs.
    pub host: String,
    /// The folder that paths of its file are relative to.
    pub base: PathBuf,
    /// What its file is called in errors.
    pub called: String,
}

/// What is known of a trial beside its outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// When it began, Unix seconds.
    pub at: f64,
    /// From its preparation to its cleanup, seconds.
    pub seconds: f64,
    /// Part of the machine's CPU time that the hypervisor gave to others meanwhile.
    pub stolen: Option<f64>,
    /// Part of it that other programs used.
    pub others: Option<f64>,
    /// Wall-clock time of the command, seconds.
    pub wall: Option<f64>,
    /// CPU time of the command and what it started and waited for, seconds.
    #[serde(default)]
    pub cpu: Option<f64>,
    /// The CPU that it had for itself while the other trial of its block ran on another.
    #[serde(default)]
    pub on_cpu: Option<usize>,
}

/// A session's folder, locked.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    journal: File,
}

impl Folder {
    /// A new one. `text` is the experiment's file.
    ///
    /// # Errors
    /// That it cannot be written, or is there already.
    pub fn create(path: &Path, text: &str, about: &About) -> Result<Folder, FolderError> {
        let failed = |file: &Path| {
            let file = file.to_owned();
            move |e| FolderError::File(file, e)
        };
        let half = Folder::is_half_made(path, text);
        if !half {
            if path.symlink_metadata().is_ok() {
                return Err(FolderError::File(path.to_owned(), ErrorKind::AlreadyExists.into()));
            }
            files::make_folder(path).map_err(failed(path))?;
        }
        let made = (|| {
            let trials = path.join(TRIALS);
            files::make_folder(&trials).map_err(failed(&trials))?;
            for (name, text) in
                [(EXPERIMENT, text.to_owned()), (ABOUT, serde_json::to_string(about).unwrap_or_default())]
            {
                let file = path.join(name);
                synced(&file, text.as_bytes()).map_err(failed(&file))?;
            }
            let file = path.join(JOURNAL);
            let journal = files::create_new(&file).and_then(|_| files::append(&file)).map_err(failed(&file))?;
            lock(&journal, path)?;
            // The names too must be on the disk.
            for folder in [Some(path), path.parent().filter(|p| !p.as_os_str().is_empty())].into_iter().flatten() {
                File::open(folder).and_then(|f| f.sync_all()).map_err(failed(folder))?;
            }
            Ok(Folder { path: path.to_owned(), journal })
        })();
        if made.is_err() && !half {
            // Half of a folder is no session.
            let _ = std::fs::remove_dir_all(path);
        }
        made
    }

    /// Whether this is what somebody left who was killed while making one of this text: all but the journal, or less.
    pub fn is_half_made(path: &Path, text: &str) -> bool {
        let Ok(entries) = std::fs::read_dir(path) else { return false };
        let ours = |entry: std::io::Result<std::fs::DirEntry>| {
            let Ok(entry) = entry else { return false };
            let inside = || std::fs::read_dir(entry.path()).is_ok_and(|mut trials| trials.next().is_none());
            match entry.file_name().to_str() {
                Some(TRIALS) => inside(),
                // Of a file that was being written, a part is there.
                Some(EXPERIMENT) => std::fs::read_to_string(entry.path()).is_ok_and(|kept| text.starts_with(&kept)),
                Some(ABOUT) => true,
                name => name.is_some_and(files::is_part),
            }
        };
        entries.into_iter().all(ours)
    }

    /// One that is there, to go on with: its journal is cut where a line was cut.
    ///
    /// # Errors
    /// That it is none, is in use, or is damaged.
    pub fn open(path: &Path) -> Result<(Folder, Vec<Event>), FolderError> {
        let file = path.join(JOURNAL);
        let mut journal = match files::foreign::check_regular(&file)
            .and_then(|()| OpenOptions::new().append(true).read(true).open(&file))
        {
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(FolderError::NoSession(path.to_owned())),
            other => other.map_err(|e| FolderError::File(file.clone(), e))?,
        };
        lock(&journal, path)?;
        let failed = |e| FolderError::File(file.clone(), e);
        let mut bytes = Vec::new();
        journal.seek(SeekFrom::Start(0)).map_err(failed)?;
        JOURNAL_LIMIT.fill(&journal, &mut bytes).map_err(failed)?;
        let (events, whole) =
            lines(&String::from_utf8_lossy(&bytes)).map_err(|e| FolderError::Journal(file.clone(), e))?;
        journal.set_len(whole as u64).and_then(|()| journal.sync_data()).map_err(failed)?;
        Ok((Folder { path: path.to_owned(), journal }, events))
    }

    /// The events of one that is only looked at: it may be running.
    ///
    /// # Errors
    /// That it is none, or is damaged.
    pub fn events(path: &Path) -> Result<Vec<Event>, FolderError> {
        let file = path.join(JOURNAL);
        let bytes = match files::foreign::read(&file, JOURNAL_LIMIT) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(FolderError::NoSession(path.to_owned())),
            other => other.map_err(|e| FolderError::File(file.clone(), e))?,
        };
        let read = lines(&String::from_utf8_lossy(&bytes));
        read.map(|(events, _)| events).map_err(|e| FolderError::Journal(file, e))
    }

    /// Whether this is the folder of a session.
    pub fn is_one(path: &Path) -> bool {
        path.join(JOURNAL).is_file()
    }

    /// The text of its experiment's file.
    ///
    /// # Errors
    /// That it cannot be read.
    pub fn text(path: &Path) -> Result<String, FolderError> {
        let file = path.join(EXPERIMENT);
        files::foreign::text(&file).map_err(|e| match e.kind() {
            ErrorKind::NotFound => FolderError::NoSession(path.to_owned()),
            _ => FolderError::File(file, e),
        })
    }

    /// Puts another text of the experiment's file in the place of the one that is there, all of it or nothing.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn keep_text(path: &Path, text: &str) -> Result<(), FolderError> {
        let file = path.join(EXPERIMENT);
        synced(&file, text.as_bytes()).map_err(|e| FolderError::File(file, e))
    }

    /// What is known beside it; nothing where that is damaged.
    pub fn about(path: &Path) -> About {
        let text = files::foreign::text(&path.join(ABOUT)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The folder of a trial.
    pub fn trial(path: &Path, number: usize) -> PathBuf {
        path.join(TRIALS).join(format!("{number:04}"))
    }

    /// What is known of a trial beside its outcome; `None` where that was not kept.
    pub fn record(path: &Path, number: usize) -> Option<TrialRecord> {
        let text = files::foreign::text(&Folder::trial(path, number).join(TRIAL)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps it.
    ///
    /// # Errors
    /// That it cannot be written.
    pub fn keep_record(path: &Path, number: usize, record: &TrialRecord) -> std::io::Result<()> {
        let text = serde_json::to_string(record).unwrap_or_default();
        let rules = Rules { replace: true, ..Rules::default() };
        files::write(&Folder::trial(path, number).join(TRIAL), text.as_bytes(), rules)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Journal for Folder {
    fn append(&mut self, event: &Event) -> std::io::Result<()> {
        let length = self.journal.metadata()?.len();
        let line = event.line();
        let written = self.journal.write_all(line.as_bytes()).and_then(|()| self.journal.sync_data());
        if written.is_err() {
            // What is left of a line that found no room would spoil the next; that it cannot be cut adds nothing to why.
            let _ = self.journal.set_len(length);
        }
        written
    }
}

fn synced(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    files::write(file, bytes, Rules { replace: true, durable: true, ..Rules::default() })
}

/// Who was killed while it started a process holds the lock until that process is its own: for a moment.
const MOMENT: Duration = Duration::from_secs(2);

fn lock(journal: &File, path: &Path) -> Result<(), FolderError> {
    use rustix::fs::{FlockOperation, flock};
    let end = Instant::now() + MOMENT;
    while flock(journal, FlockOperation::NonBlockingLockExclusive).is_err() {
        if Instant::now() >= end {
            return Err(FolderError::Locked(path.to_owned()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_cut_where_its_last_line_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tune");
        let about = About { began: 5.0, host: "h".into(), ..About::default() };
        let mut made = Folder::create(&path, "text", &about).unwrap();
        assert!(Folder::create(&path, "text", &about).is_err());
        assert!(matches!(Folder::open(&path), Err(FolderError::Locked(_))));
        let events = [Event::More { blocks: 1 }, Event::TimeUp { stage: 0 }];
        for event in &events {
            made.append(event).unwrap();
        }
        assert_eq!(Folder::events(&path).unwrap(), events);
        drop(made);
        let journal = path.join(JOURNAL);
        let whole = std::fs::read(&journal).unwrap();
        std::fs::write(&journal, &whole[..whole.len() - 3]).unwrap();
        let (mut again, there) = Folder::open(&path).unwrap();
        assert_eq!(there, events[..1]);
        again.append(&events[1]).unwrap();
        assert_eq!(std::fs::read(&journal).unwrap(), whole);
        assert_eq!((Folder::text(&path).unwrap().as_str(), Folder::about(&path)), ("text", about));
        drop(again);
        std::fs::write(&journal, "no JSON\n").unwrap();
        assert!(Folder::open(&path).unwrap_err().to_string().contains("left as it is"));
        assert!(matches!(Folder::open(folder.path()), Err(FolderError::NoSession(_))));
    }

    #[test]
    fn a_folder_that_was_not_finished_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tune");
        let about = About::default();
        let steps: [&dyn Fn(); 5] = [
            &|| std::fs::create_dir(&path).unwrap(),
            &|| std::fs::create_dir(path.join(TRIALS)).unwrap(),
            &|| std::fs::write(path.join(EXPERIMENT), "te").unwrap(),
            &|| std::fs::write(path.join(EXPERIMENT), "text").unwrap(),
            &|| std::fs::write(path.join(ABOUT), "{").unwrap(),
        ];
        for killed in 1..=steps.len() {
            steps.iter().take(killed).for_each(|step| step());
            assert!(Folder::is_half_made(&path, "text"));
            drop(Folder::create(&path, "text", &about).unwrap());
            assert!(!Folder::is_half_made(&path, "text"));
            assert_eq!(Folder::open(&path).unwrap().1, []);
            assert_eq!((Folder::text(&path).unwrap().as_str(), Folder::about(&path)), ("text", about.clone()));
            std::fs::remove_dir_all(&path).unwrap();
        }
        // What is not ours is left alone.
        steps.iter().for_each(|step| step());
        assert!(!Folder::is_half_made(&path, "another"));
        std::fs::write(path.join("notes"), "").unwrap();
        assert!(Folder::create(&path, "text", &about).is_err());
        assert!(path.join("notes").exists());
    }

    #[test]
    fn a_full_disk_leaves_no_half_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tune");
        let mut made = Folder::create(&path, "", &About::default()).unwrap();
        made.append(&Event::More { blocks: 1 }).unwrap();
        // A file opened for reading only stands for a disk that takes nothing.
        made.journal = File::open(path.join(JOURNAL)).unwrap();
        assert!(made.append(&Event::More { blocks: 2 }).is_err());
        assert_eq!(Folder::events(&path).unwrap(), [Event::More { blocks: 1 }]);
    }
}
