//! Applying changes and undoing them. What was there before is on disk before anything is written, so an undo is exact after a crash too.
//!
//! The state file is JSON. Each entry is one file that was written: what it held at first (`before`), and each value that was
//! set since by us (`ours`). Undo puts `before` back where the file still holds one of ours; a value that is neither is somebody else's, and
//! stays. Settings of `/proc/sys` and `/sys` end with the kernel, so entries of another boot are only forgotten.

use crate::check::Write;
use crate::machine;
use host::Host;
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What can go wrong beside the settings themselves.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The state file can't be kept: then nothing is changed.
    #[error("{0}: what was set before can't be kept: {1}")]
    State(PathBuf, #[source] std::io::Error),
    /// The state file is not ours, or damaged.
    #[error(
        "{0}: not understood: {1}; nothing was changed. It holds what settings were before: look at it, then move it away"
    )]
    Damaged(PathBuf, String),
    /// Another doctor is at it.
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
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    version: u32,
    /// `/proc/sys/kernel/random/boot_id` when it was written.
    boot: String,
    entries: Vec<Entry>,
}

const VERSION: u32 = 1;

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

/// What a setting's file holds: the chosen word of a list.
fn value(host: &Host, path: &str) -> Result<String, host::ReadError> {
    Ok(machine::chosen(&host.read_text(path)?).to_owned())
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

/// Where applied changes are remembered: `/var/lib/twinscope` for root, else `$XDG_STATE_HOME/twinscope` or `~/.local/state/twinscope`.
pub fn state_file() -> PathBuf {
    let folder = if rustix::process::geteuid().is_root() {
        PathBuf::from("/var/lib/twinscope")
    } else {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
        state.unwrap_or_else(std::env::temp_dir).join("twinscope")
    };
    folder.join("doctor.json")
}

/// The remembered changes, held so that no other program writes them meanwhile.
#[derive(Debug)]
pub struct Changes<'a> {
    host: &'a Host,
    file: PathBuf,
    state: State,
    /// Held open for its lock.
    _lock: std::fs::File,
}

impl<'a> Changes<'a> {
    /// Opens what is remembered in `file`; its folder is made.
    ///
    /// # Errors
    /// Where the folder can't be written, another program holds it, or the file is damaged.
    pub fn open(host: &'a Host, file: &Path) -> Result<Self, ChangeError> {
        let failed = |e| ChangeError::State(file.to_owned(), e);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let lock = std::fs::File::create(file.with_extension("lock")).map_err(failed)?;
        match rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(ChangeError::Locked(file.to_owned())),
            Err(error) => return Err(failed(error.into())),
        }
        let damaged = |why: String| ChangeError::Damaged(file.to_owned(), why);
        let state = match std::fs::read(file) {
            Ok(bytes) => serde_json::from_slice::<State>(&bytes).map_err(|e| damaged(e.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::default(),
            Err(error) => return Err(failed(error)),
        };
        if state.version > VERSION {
            return Err(damaged(format!("version {}, and this program knows {VERSION}", state.version)));
        }
        Ok(Changes { host, file: file.to_owned(), state, _lock: lock })
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

    /// Writes the state beside its place, and moves it there when it is on disk.
    fn save(&mut self) -> Result<(), ChangeError> {
        self.state.version = VERSION;
        self.state.boot = self.boot();
        let part = self.file.with_extension("part");
        let write = || -> std::io::Result<()> {
            let mut file = std::fs::File::create(&part)?;
            file.write_all(&serde_json::to_vec_pretty(&self.state)?)?;
            file.sync_all()?;
            std::fs::rename(&part, &self.file)?;
            match self.file.parent() {
                Some(folder) => std::fs::File::open(folder)?.sync_all(),
                None => Ok(()),
            }
        };
        write().map_err(|e| {
            // What is left of it is of no use.
            let _ = std::fs::remove_file(&part);
            ChangeError::State(self.file.clone(), e)
        })
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
                Some(entry) if entry.ours.iter().any(|o| same(o, &change.from)) => entry,
                // Somebody has set it since: what was before us is no longer what undo should give back.
                _ => {
                    self.state.entries.retain(|e| e.path != change.path);
                    self.state.entries.push(Entry {
                        check: change.check.clone(),
                        path: change.path.clone(),
                        before: change.from.clone(),
                        ours: Vec::new(),
                    });
                    match self.state.entries.last_mut() {
                        Some(entry) => entry,
                        None => continue,
                    }
                }
            };
            entry.ours.push(change.to.clone());
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
                if let Some(entry) = self.state.entries.iter_mut().find(|e| e.path == change.path)
                    && change.outcome == Outcome::Done
                    && !entry.ours.contains(&now)
                {
                    entry.ours.push(now);
                }
            }
            done.push(change);
        }
        let host = self.host;
        self.state.entries.retain(|e| !value(host, &e.path).is_ok_and(|now| same(&now, &e.before)));
        self.save()?;
        Ok(done)
    }

    /// Puts back what was there before, last change first.
    ///
    /// # Errors
    /// Where the state file can't be written.
    pub fn undo(&mut self) -> Result<Vec<Changed>, ChangeError> {
        let mut done = Vec::new();
        for entry in self.forget_other_boots() {
            let from = value(self.host, &entry.path).unwrap_or_default();
            done.push(Changed {
                check: entry.check,
                path: entry.path,
                from,
                to: entry.before,
                outcome: Outcome::Booted,
            });
        }
        for entry in std::mem::take(&mut self.state.entries).into_iter().rev() {
            let now = value(self.host, &entry.path);
            let from = now.as_deref().unwrap_or_default().to_owned();
            let outcome = match now {
                Err(error) => Outcome::Refused(error.to_string()),
                // A crash before the write, or somebody put it back.
                Ok(now) if same(&now, &entry.before) => Outcome::Same,
                Ok(now) if !entry.ours.iter().any(|o| same(o, &now)) => Outcome::Foreign(now),
                Ok(_) => match self.host.write_setting(&entry.path, &entry.before) {
                    Err(error) => Outcome::Refused(error.to_string()),
                    Ok(()) => match value(self.host, &entry.path) {
                        Ok(now) if same(&now, &entry.before) => Outcome::Done,
                        Ok(now) => Outcome::Refused(format!("{}: it was written, and is {now}", entry.path)),
                        Err(error) => Outcome::Refused(error.to_string()),
                    },
                },
            };
            done.push(Changed {
                check: entry.check.clone(),
                path: entry.path.clone(),
                from,
                to: entry.before.clone(),
                outcome: outcome.clone(),
            });
            if matches!(outcome, Outcome::Refused(_) | Outcome::Foreign(_)) {
                self.state.entries.insert(0, entry);
            }
        }
        self.save()?;
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;

    const KNOB: &str = "/proc/sys/vm/knob";
    const LIST: &str = "/sys/kernel/list";
    const BOOT: (&str, &str) = ("/proc/sys/kernel/random/boot_id", "boot-1\n");

    fn wanted() -> Vec<(String, Write)> {
        vec![("a".into(), Write::new(KNOB, "1")), ("b".into(), Write::new(LIST, "madvise"))]
    }

    fn outcomes(all: &[Changed]) -> Vec<Outcome> {
        all.iter().map(|c| c.outcome.clone()).collect()
    }

    #[test]
    fn undo_restores_exactly() {
        let (dir, host) = host_of(&[BOOT, (KNOB, "60"), (LIST, "always")]);
        let file = dir.path().join("state/doctor.json");
        let mut changes = Changes::open(&host, &file).unwrap();
        let plan = changes.plan(&wanted());
        assert_eq!(plan.iter().map(|c| c.from.as_str()).collect::<Vec<_>>(), ["60", "always"]);
        assert_eq!(outcomes(&changes.apply(&plan).unwrap()), [Outcome::Done, Outcome::Done]);
        assert_eq!(host.read_text(KNOB).unwrap(), "1");
        // Once more, with another value: what is given back is what was there at first.
        let plan = changes.plan(&[("a".into(), Write::new(KNOB, "2"))]);
        changes.apply(&plan).unwrap();
        drop(changes);
        let mut changes = Changes::open(&host, &file).unwrap();
        assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Done, Outcome::Done]);
        assert_eq!((host.read_text(KNOB).unwrap(), host.read_text(LIST).unwrap()), ("60".into(), "always".into()));
        assert!(changes.is_empty() && changes.undo().unwrap().is_empty());
    }

    /// A crash at any moment between the saved state and the last write.
    #[test]
    fn undo_after_a_crash() {
        for written in 0..=2 {
            let (dir, host) = host_of(&[BOOT, (KNOB, "60"), (LIST, "always")]);
            let file = dir.path().join("doctor.json");
            let mut changes = Changes::open(&host, &file).unwrap();
            let plan = changes.plan(&wanted());
            changes.apply(&plan).unwrap();
            drop(changes);
            // Those that the crash prevented.
            if written < 2 {
                host.write_setting(LIST, "always").unwrap();
            }
            if written < 1 {
                host.write_setting(KNOB, "60").unwrap();
            }
            let mut changes = Changes::open(&host, &file).unwrap();
            let done = changes.undo().unwrap();
            assert_eq!(done.iter().filter(|c| c.outcome == Outcome::Done).count(), written);
            assert_eq!((host.read_text(KNOB).unwrap(), host.read_text(LIST).unwrap()), ("60".into(), "always".into()));
        }
    }

    #[test]
    fn what_others_set_is_left() {
        let (dir, host) = host_of(&[BOOT, (KNOB, "60")]);
        let file = dir.path().join("doctor.json");
        let mut changes = Changes::open(&host, &file).unwrap();
        let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
        changes.apply(&plan).unwrap();
        host.write_setting(KNOB, "7").unwrap();
        assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Foreign("7".into())]);
        assert_eq!(host.read_text(KNOB).unwrap(), "7");
        // Until it is put back by hand.
        host.write_setting(KNOB, "60").unwrap();
        assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Same]);
        assert!(changes.is_empty());
        // What they set is what a later apply gives back.
        host.write_setting(KNOB, "7").unwrap();
        let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
        changes.apply(&plan).unwrap();
        changes.undo().unwrap();
        assert_eq!(host.read_text(KNOB).unwrap(), "7");
    }

    #[test]
    fn a_boot_undoes_by_itself() {
        let (dir, host) = host_of(&[BOOT, (KNOB, "60")]);
        let file = dir.path().join("doctor.json");
        let mut changes = Changes::open(&host, &file).unwrap();
        let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
        changes.apply(&plan).unwrap();
        host.write_setting(BOOT.0, "boot-2\n").unwrap();
        assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Booted]);
        assert_eq!(host.read_text(KNOB).unwrap(), "1", "it was left");
        assert!(changes.is_empty());
    }

    #[test]
    fn nothing_is_changed_where_it_cannot_be_remembered() {
        let (dir, host) = host_of(&[BOOT, (KNOB, "60")]);
        let file = dir.path().join("doctor.json");
        let mut changes = Changes::open(&host, &file).unwrap();
        assert!(matches!(Changes::open(&host, &file), Err(ChangeError::Locked(_))), "one at a time");
        // A folder where the new state is to be written.
        std::fs::create_dir(file.with_extension("part")).unwrap();
        let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
        assert!(matches!(changes.apply(&plan), Err(ChangeError::State(..))));
        assert_eq!(host.read_text(KNOB).unwrap(), "60");
        drop(changes);
        std::fs::write(&file, "{broken").unwrap();
        assert!(matches!(Changes::open(&host, &file), Err(ChangeError::Damaged(..))));
        std::fs::write(&file, "{\"version\": 9, \"boot\": \"\", \"entries\": []}").unwrap();
        assert!(matches!(Changes::open(&host, &file), Err(ChangeError::Damaged(..))));
    }

    #[test]
    fn missing_files_and_equal_values() {
        let (dir, host) = host_of(&[BOOT, (KNOB, "1\n")]);
        let mut changes = Changes::open(&host, &dir.path().join("doctor.json")).unwrap();
        let plan = changes.plan(&wanted());
        assert_eq!(plan.first().map(|c| &c.outcome), Some(&Outcome::Same));
        let done = changes.apply(&plan).unwrap();
        assert!(matches!(done.get(1).map(|c| &c.outcome), Some(Outcome::Refused(why)) if why.contains(LIST)));
        assert!(changes.is_empty());
    }

    #[test]
    fn kernel_spellings_are_equal() {
        assert!(
            same("4096\t87380\t6291456", "4096 87380 6291456")
                && same("00000003", "3")
                && same("1,00000000", "100000000")
        );
        assert!(!same("60", "10") && !same("none", "mq-deadline") && same("0", "00000000"));
    }
}
