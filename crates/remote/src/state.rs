//! `hosts.json`: what has become of each host, so that the same command again does only what is missing.

use files::Rules;
use serde::{Deserialize, Serialize};
use std::fs::File;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The version of the file.
pub const VERSION: u32 = 1;

/// The file's name in the folder of recordings.
pub const FILE: &str = "hosts.json";

/// At most so often is it written while hosts change.
const OFTEN: Duration = Duration::from_millis(500);

/// How far a host has come.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Nothing was done yet, or it failed before anything was recorded.
    #[default]
    Missing,
    /// A recorder is there.
    Ready,
    /// It records, or waits for its time, or has recorded.
    Recording,
    /// Its recording is here.
    Fetched,
}

/// A host, or a pod on one.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Host {
    /// As it was named.
    pub host: String,
    /// The file of its recording, in the folder of this one.
    pub file: String,
    /// How far it has come.
    pub step: Step,
    /// What failed last: the step, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why it cannot be recorded at all.
    #[serde(skip)]
    pub unfit: Option<String>,
    /// The recorder there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recorder: String,
    /// The folder of this recording there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The file there of a running recorder that is asked for something; "" for the only one that runs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Whether the recorder is root's, by sudo.
    pub sudo: bool,
    /// Its clock ahead of ours, nanoseconds, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_ahead: Option<i64>,
    /// By how much that may be wrong, nanoseconds.
    pub clock_error: i64,
    /// When it was to begin, nanoseconds since 1970 by our clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begins: Option<i64>,
    /// When it began, nanoseconds since 1970 by our clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<i64>,
    /// The node of a pod.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// The recorder's pod.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pod: String,
    /// The unique id of the pod that is recorded, where it is not the whole node.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

impl Host {
    /// The path of its recording there.
    pub fn there(&self) -> String {
        format!("{}/{}", self.folder, self.file)
    }
}

/// What recorders do.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// They record.
    #[default]
    Record,
    /// Those that run save what they hold.
    Snapshot,
    /// Those that run put a mark with this text.
    Mark(String),
}

/// How hosts are reached.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By this ssh program, with its first words.
    Ssh(Vec<String>),
    /// By this kubectl, with its first words, in a namespace ("" for that of its context).
    Kubectl(Vec<String>, String),
}

/// The file as a whole.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct State {
    /// See [`VERSION`].
    pub version: u32,
    /// A word that no other run has.
    pub run: String,
    /// What recorders do.
    #[serde(default)]
    pub what: What,
    /// How hosts are reached.
    pub by: By,
    /// The options of `record` that the recorders got.
    pub options: Vec<String>,
    /// The command that is recorded.
    pub command: Vec<String>,
    /// How long is recorded, nanoseconds; none until the command ends, or someone stops it.
    pub duration: Option<i64>,
    /// The hosts.
    pub hosts: Vec<Host>,
}

/// The file, open: only one program at a time.
#[derive(Debug)]
pub struct Book {
    folder: PathBuf,
    _lock: File,
    state: Mutex<(State, Instant)>,
}

impl Book {
    /// Opens the folder, made where it is not there, with the state that it holds or else `fresh`.
    ///
    /// # Errors
    /// In words, where it cannot be made or read, another program is at it, or the file is none.
    pub fn open(folder: &Path, fresh: impl FnOnce() -> Option<State>) -> Result<Self, String> {
        let shown = folder.display();
        let path = folder.join(FILE);
        let fresh = if path.exists() { None } else { fresh() };
        if fresh.is_some() {
            files::make_folder(folder).map_err(|why| format!("{shown}: {why}"))?;
        }
        let lock = File::open(folder).map_err(|why| format!("{shown}: {why}"))?;
        if matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock)) {
            return Err(format!("{shown}: another twinscope is at it"));
        }
        let state = match fresh {
            Some(state) => state,
            None => {
                let text = files::foreign::text(&path).map_err(|why| format!("{}: {why}", path.display()))?;
                read(&text).map_err(|why| format!("{}: {why}", path.display()))?
            }
        };
        let book = Book { folder: folder.to_owned(), _lock: lock, state: Mutex::new((state, Instant::now())) };
        book.save()?;
        Ok(book)
    }

    fn lock(&self) -> MutexGuard<'_, (State, Instant)> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The folder of recordings.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All of it.
    pub fn state(&self) -> State {
        self.lock().0.clone()
    }

    /// A host.
    pub(crate) fn host(&self, number: usize) -> Host {
        self.lock().0.hosts.get(number).cloned().unwrap_or_default()
    }

    /// The numbers of the hosts that `which` takes.
    pub(crate) fn numbers(&self, which: impl Fn(&Host) -> bool) -> Vec<usize> {
        let state = self.lock();
        let all = state.0.hosts.iter().enumerate();
        all.filter(|(_, host)| which(host)).map(|(number, _)| number).collect()
    }

    /// Changes all of it, and writes it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn change(&self, change: impl FnOnce(&mut State)) -> Result<(), String> {
        change(&mut self.lock().0);
        self.save()
    }

    /// Puts what became of a host. It is written now or soon.
    pub(crate) fn put(&self, number: usize, host: Host) {
        let mut state = self.lock();
        if let Some(place) = state.0.hosts.get_mut(number) {
            *place = host;
        }
        if state.1.elapsed() >= OFTEN {
            state.1 = Instant::now();
            // It is written again at the end of each step, and said then.
            let _ = write(&self.folder, &state.0);
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// In words.
    pub(crate) fn save(&self) -> Result<(), String> {
        write(&self.folder, &self.lock().0).map_err(|why| format!("{}: {why}", self.folder.join(FILE).display()))
    }
}

/// Reads a state. What is in it reaches file names, shells and terminals, so names are checked as those of the command line.
fn read(text: &str) -> Result<State, String> {
    let state: State = serde_json::from_str(text).map_err(|why| format!("is not what `fleet record` writes: {why}"))?;
    if state.version != VERSION {
        return Err(format!("is of version {}, and this program reads version {VERSION}", state.version));
    }
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_word(&state.run) {
        return Err("names no run".into());
    }
    for host in &state.hosts {
        crate::names::host_name(&host.host).map_err(|why| format!("{:?} {why}", host.host))?;
        if host.file != format!("{}.twin", crate::names::file_name(&host.host)) {
            return Err(format!("the file of {} has another name: {:?}", host.host, host.file));
        }
    }
    Ok(state)
}

fn write(folder: &Path, state: &State) -> std::io::Result<()> {
    let mut text = serde_json::to_vec_pretty(state)?;
    text.push(b'\n');
    files::write(&folder.join(FILE), &text, Rules { replace: true, ..Rules::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> Option<State> {
        let host = Host { host: "a".into(), file: "a.twin".into(), ..Host::default() };
        Some(State {
            version: VERSION,
            run: "r1".into(),
            what: What::Record,
            by: By::Ssh(vec!["ssh".into()]),
            options: vec![],
            command: vec![],
            duration: Some(1),
            hosts: vec![host],
        })
    }

    #[test]
    fn it_is_kept_and_belongs_to_one_program() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new");
        assert!(Book::open(&folder, || None).unwrap_err().contains("new"), "nothing is made for who only reads");
        let book = Book::open(&folder, fresh).unwrap();
        assert!(Book::open(&folder, fresh).unwrap_err().contains("another twinscope"));
        book.put(0, Host { step: Step::Fetched, ..book.host(0) });
        book.save().unwrap();
        drop(book);
        let book = Book::open(&folder, fresh).unwrap();
        assert_eq!(book.numbers(|host| host.step == Step::Fetched), [0]);
    }

    #[test]
    fn what_others_wrote_is_checked() {
        let text = serde_json::to_string(&fresh()).unwrap();
        assert!(read(&text).is_ok());
        for (from, to, why) in [
            ("\"version\":1", "\"version\":9", "version 9"),
            ("\"host\":\"a\"", "\"host\":\"-oProxyCommand=x\"", "no name of a host"),
            ("a.twin", "../a.twin", "another name"),
            ("\"run\":\"r1\"", "\"run\":\"../x\"", "names no run"),
            ("{", "", "is not what"),
        ] {
            let said = read(&text.replacen(from, to, 1)).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
