//! Applying changes and undoing them. What was there before is on disk before anything is written, so an undo is exact after a crash too.
//!
//! The state file is JSON. Each entry is one file that was written: what it held at first (`before`), and each value that was
//! set since by us (`ours`). Undo puts `before` back where the file still holds one of ours; a value that is neither is somebody else's, and
//! stays. Settings of `/proc/sys` and `/sys` end with the kernel, so entries of another boot are only forgotten. What the kernel changes
//! along with a setting ([`coupled`]) is remembered with it, and put back after it.

mod coupled;
mod left;
#[cfg(test)]
mod tests;

pub use coupled::exclusive;
pub use left::{Left, left};

use crate::{Host, ReadError};
use files::state::Folder;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What can go wrong beside the settings themselves.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The state file can't be kept: then nothing is changed.
    #[error("{0}: what was set before can't be kept: {1}")]
    State(PathBuf, std::io::Error),
    /// The state file is not ours, or damaged.
    #[error(
        "{0}: not understood: {1}; nothing was changed. It holds what settings were before: look at it, then move it away"
    )]
    Damaged(PathBuf, String),
    /// Another program is at it.
    #[error("{0}: another twinscope is applying or undoing changes")]
    Locked(PathBuf),
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// The check that wanted it.
    check: String,
    path: String,
    /// What it held before the first write of ours.
    before: String,
    /// What we wrote, and what the kernel made of it.
    ours: Vec<String>,
    /// What the kernel changes along with it: files, and what they held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    with: Vec<(String, String)>,
    /// It may be written just now, so whatever it holds is what the kernel made of our value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    writing: bool,
    /// It may be put back just now, so where it is as before, what goes along with it may not be yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    restoring: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    version: u32,
    /// `/proc/sys/kernel/random/boot_id` when it was written.
    boot: String,
    /// Whose changes these are, where the file does not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    by: String,
    entries: Vec<Entry>,
}

const VERSION: u32 = 2;

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It holds the new value.
    Done,
    /// It held it already.
    Same,
    /// The kernel did not take it; it is as it was.
    Refused(String),
    /// Undo: somebody else has set it since; it was left.
    Foreign(String),
    /// Undo: the machine was booted since, which undid it.
    Booted,
}

/// One file, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// The check that wanted it.
    pub check: String,
    /// The file.
    pub path: String,
    /// What it held.
    pub from: String,
    /// What it was to hold.
    pub to: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// A write of a file that would change a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Write {
    /// The file, as the host sees it.
    pub path: String,
    /// What to write.
    pub value: String,
}

impl Write {
    /// A write of `value` to the file at `path`.
    pub fn new(path: impl Into<String>, value: impl Into<String>) -> Self {
        Write { path: path.into(), value: value.into() }
    }
}

/// The word in brackets of a setting that lists its choices: "always [madvise] never". The whole text where there are none.
pub fn chosen(text: &str) -> &str {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    inside.unwrap_or(text).trim()
}

/// The choices of a setting that lists them.
pub fn choices(text: &str) -> Vec<&str> {
    text.split_ascii_whitespace().map(|w| w.trim_matches(['[', ']'])).collect()
}

/// What a setting's file holds: the chosen word of a list.
fn value(host: &Host, path: &str) -> Result<String, ReadError> {
    Ok(chosen(&host.read_text(path)?).to_owned())
}

/// Numbers of a sysctl with several are separated by tabs when read; masks get zeroes and commas.
fn same(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mask = |text: &str| {
        let digits: String = text.chars().filter(|c| *c != ',').collect();
        let is = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
        is.then(|| digits.trim_start_matches('0').to_ascii_lowercase())
    };
    plain(a) == plain(b) || (mask(a).is_some() && mask(a) == mask(b))
}

/// The file of this name in the folder of what must outlast a program ([`files::state::lasting`]).
///
/// # Errors
/// Where this user has no such folder.
pub fn state_file(name: &str) -> Result<PathBuf, ChangeError> {
    let folder = files::state::lasting().map_err(|why| ChangeError::State(PathBuf::from(name), why))?;
    Ok(folder.join(name))
}

/// More than any state is.
const LONGEST: u64 = 16 << 20;

/// The folder and the name of a state file.
fn place(file: &Path) -> std::io::Result<(PathBuf, String)> {
    let parts = file.parent().zip(file.file_name().and_then(|name| name.to_str()));
    let (folder, name) = parts.ok_or(std::io::ErrorKind::InvalidFilename)?;
    Ok((folder.to_owned(), name.to_owned()))
}

/// The lock of a state file.
fn lock_of(name: &str) -> String {
    format!("{}.lock", name.rsplit_once('.').map_or(name, |(stem, _)| stem))
}

/// The remembered changes, held so that no other program writes them meanwhile.
#[derive(Debug)]
pub struct Changes<'a> {
    host: &'a Host,
    file: PathBuf,
    folder: Folder,
    /// Its name in the folder.
    name: String,
    state: State,
    /// Held open for its lock.
    _lock: std::fs::File,
}

impl<'a> Changes<'a> {
    /// Opens what is remembered in `file`; its folder is made.
    ///
    /// # Errors
    /// Where the folder can't be written, others than this user could have written there, another program holds it, or the file is damaged.
    pub fn open(host: &'a Host, file: &Path) -> Result<Self, ChangeError> {
        let failed = |e| ChangeError::State(file.to_owned(), e);
        let (folder, name) = place(file).map_err(failed)?;
        let folder = Folder::make(&folder, 0o700).map_err(failed)?;
        let Some(lock) = folder.lock(&lock_of(&name)).map_err(failed)? else {
            return Err(ChangeError::Locked(file.to_owned()));
        };
        let damaged = |why: String| ChangeError::Damaged(file.to_owned(), why);
        let state = match folder.read(&name, LONGEST).map_err(failed)? {
            Some(bytes) => serde_json::from_slice::<State>(&bytes).map_err(|e| damaged(e.to_string()))?,
            None => State::default(),
        };
        if state.version > VERSION {
            return Err(damaged(format!("version {}, and this program knows {VERSION}", state.version)));
        }
        Ok(Changes { host, file: file.to_owned(), folder, name, state, _lock: lock })
    }

    /// Says whose changes these are, for who finds them when their program is gone. Kept with the next of them.
    pub fn by(&mut self, whose: &str) {
        self.state.by = whose.to_owned();
    }

    /// Removes the file where there is nothing to undo.
    ///
    /// # Errors
    /// That it can't be removed.
    pub fn close(self) -> Result<(), ChangeError> {
        if !self.is_empty() {
            return Ok(());
        }
        self.folder.remove(&self.name).map_err(|error| ChangeError::State(self.file, error))
    }

    /// Whether there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.state.entries.is_empty()
    }

    fn boot(&self) -> String {
        self.host.read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default()
    }

    /// Entries of an earlier boot: their settings ended with that kernel.
    fn forget_other_boots(&mut self) -> Vec<Entry> {
        if self.state.boot == self.boot() {
            return Vec::new();
        }
        std::mem::take(&mut self.state.entries)
    }

    /// Writes the state; it is on the disk when this returns.
    fn save(&mut self) -> Result<(), ChangeError> {
        self.state.version = VERSION;
        self.state.boot = self.boot();
        let written = serde_json::to_vec_pretty(&self.state)
            .map_err(Into::into)
            .and_then(|text| self.folder.write(&self.name, &text));
        written.map_err(|e| ChangeError::State(self.file.clone(), e))
    }

    /// The writes that would change something, with what their files hold now; files that can't be read are given with the reason.
    pub fn plan(&self, writes: &[(String, Write)]) -> Vec<Changed> {
        writes
            .iter()
            .map(|(check, write)| {
                let (from, outcome) = match value(self.host, &write.path) {
                    Ok(now) if same(&now, &write.value) => (now, Outcome::Same),
                    Ok(now) => (now, Outcome::Done),
                    Err(error) => (String::new(), Outcome::Refused(error.to_string())),
                };
                Changed { check: check.clone(), path: write.path.clone(), from, to: write.value.clone(), outcome }
            })
            .collect()
    }

    /// Makes the changes of a plan. What they change is remembered first, all of it.
    ///
    /// # Errors
    /// Where it can't be remembered; then nothing was changed.
    pub fn apply(&mut self, plan: &[Changed]) -> Result<Vec<Changed>, ChangeError> {
        self.forget_other_boots();
        let wanted: Vec<&Changed> = plan.iter().filter(|c| c.outcome == Outcome::Done).collect();
        for change in &wanted {
            let entry = match self.state.entries.iter_mut().find(|e| e.path == change.path) {
                Some(entry) if entry.writing || entry.ours.iter().any(|o| same(o, &change.from)) => entry,
                // Somebody has set it since: what was before us is no longer what undo should give back.
                _ => {
                    self.state.entries.retain(|e| e.path != change.path);
                    self.state.entries.push(Entry {
                        check: change.check.clone(),
                        path: change.path.clone(),
                        before: change.from.clone(),
                        ours: Vec::new(),
                        with: coupled::with(self.host, &change.path, &change.from),
                        writing: false,
                        restoring: false,
                    });
                    match self.state.entries.last_mut() {
                        Some(entry) => entry,
                        None => continue,
                    }
                }
            };
            if !entry.ours.contains(&change.to) {
                entry.ours.push(change.to.clone());
            }
            entry.writing = true;
        }
        self.save()?;
        let mut done = Vec::new();
        for change in plan {
            let mut change = change.clone();
            if change.outcome == Outcome::Done {
                let written = self.host.write_setting(&change.path, &change.to);
                let now = value(self.host, &change.path).unwrap_or_default();
                change.outcome = match written {
                    Err(error) => Outcome::Refused(error.to_string()),
                    Ok(()) if same(&now, &change.from) => {
                        Outcome::Refused(format!("{}: it was written, and still is {now}", change.path))
                    }
                    Ok(()) => Outcome::Done,
                };
                // The kernel may have made something else of it, which undo must know for ours.
                if let Some(entry) = self.state.entries.iter_mut().find(|e| e.path == change.path) {
                    entry.writing = false;
                    if change.outcome == Outcome::Done && !entry.ours.contains(&now) {
                        entry.ours.push(now);
                    }
                }
            }
            done.push(change);
        }
        let host = self.host;
        self.state.entries.retain(|e| !value(host, &e.path).is_ok_and(|now| same(&now, &e.before)));
        self.save()?;
        Ok(done)
    }

    /// Puts back what was there before, last change first. What somebody else has set since stays, and is remembered.
    ///
    /// # Errors
    /// Where the state file can't be written.
    pub fn undo(&mut self) -> Result<Vec<Changed>, ChangeError> {
        self.put_back(true)
    }

    /// The same for who does not come back: what somebody else has set since stays and is forgotten, as are files that are gone.
    ///
    /// # Errors
    /// Where the state file can't be written.
    pub fn undo_for_good(&mut self) -> Result<Vec<Changed>, ChangeError> {
        self.put_back(false)
    }

    fn put_back(&mut self, remember: bool) -> Result<Vec<Changed>, ChangeError> {
        let mut done = Vec::new();
        for entry in self.forget_other_boots() {
            let from = value(self.host, &entry.path).unwrap_or_default();
            done.push(entry.changed(from, Outcome::Booted));
        }
        // Where this ends half-way, whoever goes on must know that files which go along may not be as before yet.
        if self.state.entries.iter().any(|e| !e.with.is_empty() && !e.restoring) {
            let host = self.host;
            for entry in self.state.entries.iter_mut().filter(|e| !e.with.is_empty()) {
                entry.restoring |= value(host, &entry.path).is_ok_and(|now| entry.is_ours(&now));
            }
            self.save()?;
        }
        for entry in std::mem::take(&mut self.state.entries).into_iter().rev() {
            let now = value(self.host, &entry.path);
            let from = now.as_deref().unwrap_or_default().to_owned();
            let mut gone = false;
            let outcome = match now {
                Err(error) => {
                    gone = error.is_absent();
                    Outcome::Refused(error.to_string())
                }
                // A crash before the write, or somebody put it back.
                Ok(now) if same(&now, &entry.before) && !entry.restoring => Outcome::Same,
                Ok(now) if !entry.is_ours(&now) && !same(&now, &entry.before) => Outcome::Foreign(now),
                Ok(_) => self.restore(&entry),
            };
            let kept = match outcome {
                Outcome::Refused(_) => remember || !gone,
                Outcome::Foreign(_) => remember,
                _ => false,
            };
            done.push(entry.changed(from, outcome));
            if kept {
                self.state.entries.insert(0, entry);
            }
        }
        self.save()?;
        Ok(done)
    }

    /// Writes what an entry's files held, those that go along after the setting itself.
    fn restore(&self, entry: &Entry) -> Outcome {
        let mut files = vec![(entry.path.as_str(), entry.before.as_str())];
        files.extend(entry.with.iter().map(|(path, before)| (path.as_str(), before.as_str())));
        if exclusive(&entry.path).is_some() {
            // Of two that exclude each other the one that was in force is written; the kernel sets the other to 0, and takes no 0 for it.
            files.sort_by_key(|(_, before)| *before == "0");
        }
        let mut refused = String::new();
        // Files that limit each other may need a second round: a least frequency cannot be set above the greatest.
        for _ in 0..3 {
            refused.clear();
            for (path, before) in &files {
                if !value(self.host, path).is_ok_and(|now| same(&now, before))
                    && let Err(error) = self.host.write_setting(path, before)
                {
                    refused = error.to_string();
                }
            }
            let differs = files.iter().find_map(|(path, before)| match value(self.host, path) {
                Ok(now) if same(&now, before) => None,
                Ok(now) => Some(format!("{path}: {before} was written, and it is {now}")),
                Err(error) => Some(error.to_string()),
            });
            match differs {
                None => return Outcome::Done,
                Some(differs) if refused.is_empty() => refused = differs,
                Some(_) => {}
            }
        }
        Outcome::Refused(refused)
    }
}

impl Entry {
    /// Whether its file holds what we made it hold.
    fn is_ours(&self, now: &str) -> bool {
        self.writing || self.ours.iter().any(|o| same(o, now))
    }

    fn changed(&self, from: String, outcome: Outcome) -> Changed {
        Changed { check: self.check.clone(), path: self.path.clone(), from, to: self.before.clone(), outcome }
    }
}
