//! `record --then`: a command that is run, without a shell, when a recording or a snapshot is complete: the way to object stores.

use crate::program::{say, spawn};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long to wait before each further try.
const AGAIN: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// A try that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(600);

/// Where the file's name goes; without it the name is the last word.
const FILE: &str = "{}";

/// A command in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Then(Vec<String>);

/// Splits a command into words as a shell does, with quotes and backslashes; nothing is expanded.
///
/// # Errors
/// In words: an open quote, or no word.
pub fn then(text: &str) -> Result<Then, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = letters.next().ok_or("ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".into());
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) {
        return Err("names no program".into());
    }
    Ok(Then(words))
}

impl Then {
    /// Its words as they were given.
    pub fn into_words(self) -> Vec<String> {
        self.0
    }

    /// The command for a file.
    fn words(&self, file: &Path) -> Vec<OsString> {
        let named = self.0.iter().any(|word| word.contains(FILE));
        let put = |word: &String| {
            let mut parts = word.split(FILE);
            let mut out = OsString::from(parts.next().unwrap_or_default());
            for part in parts {
                out.push(file);
                out.push(part);
            }
            out
        };
        let mut words: Vec<OsString> = self.0.iter().map(put).collect();
        if !named {
            words.push(file.into());
        }
        words
    }

    /// Runs it for a file, again where it fails. What goes wrong is said; the file stays. Whether it was done.
    fn run(&self, file: &Path, limit: Duration, again: &[Duration]) -> bool {
        let shown = || self.0.join(" ");
        for number in 0..=again.len() {
            let why = match spawn(&self.words(file)) {
                Ok(child) => match ended(child, limit) {
                    Ok(()) => return true,
                    Err(why) => why,
                },
                Err(why) => {
                    say!("twinscope: --then: {}: cannot be started: {why}; {} stays", shown(), file.display());
                    return false;
                }
            };
            match again.get(number) {
                Some(wait) => {
                    say!("twinscope: --then: {}: {why}; once more in {} s", shown(), wait.as_secs());
                    std::thread::sleep(*wait);
                }
                None => say!("twinscope: --then: {}: {why}; {} stays", shown(), file.display()),
            }
        }
        false
    }
}

/// Waits for a child; the error says how it failed.
fn ended(mut child: Child, limit: Duration) -> Result<(), String> {
    let end = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("failed ({status})")),
            Ok(None) if Instant::now() >= end => {
                // SAFETY: plain system call: the group that the child leads.
                unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
                let _ = child.wait();
                return Err(format!("did not end within {} s", limit.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(why) => return Err(why.to_string()),
        }
    }
}

/// The runs of a recording, those for snapshots in threads of their own: recording goes on meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    then: Option<Then>,
    running: Arc<Mutex<Vec<JoinHandle<bool>>>>,
}

impl Runs {
    pub(crate) fn new(then: Option<Then>) -> Self {
        Runs { then, running: Arc::default() }
    }

    /// A file is complete.
    pub(crate) fn complete(&self, file: PathBuf) {
        let Some(then) = self.then.clone() else { return };
        let thread = std::thread::spawn(move || then.run(&file, LIMIT, &AGAIN));
        self.running.lock().unwrap_or_else(|e| e.into_inner()).push(thread);
    }

    /// Waits for all of them. Whether all were done.
    pub(crate) fn wait(&self) -> bool {
        let threads = std::mem::take(&mut *self.running.lock().unwrap_or_else(|e| e.into_inner()));
        let done: Vec<bool> = threads.into_iter().map(|thread| thread.join().unwrap_or(false)).collect();
        done.into_iter().all(|done| done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_command() {
        let words = |text: &str| then(text).map(|then| then.0);
        assert_eq!(words("aws s3 cp {} s3://b/"), Ok(["aws", "s3", "cp", "{}", "s3://b/"].map(String::from).to_vec()));
        assert_eq!(
            words(r#"curl -T '{}' "a b"c\ d ''"#),
            Ok(["curl", "-T", "{}", "a bc d", ""].map(String::from).to_vec())
        );
        for bad in ["", "  ", "'a", "a\\", "''"] {
            assert!(words(bad).is_err(), "{bad}");
        }
        // Nothing of a name reaches a shell, and it is one word.
        let of = |text: &str| then(text).unwrap().words(Path::new("/a b;$(c).twin"));
        assert_eq!(of("cp x={}"), ["cp", "x=/a b;$(c).twin"]);
        assert_eq!(of("gzip -k"), ["gzip", "-k", "/a b;$(c).twin"]);
    }

    #[test]
    fn what_fails_is_tried_again_and_what_hangs_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.twin");
        std::fs::write(&file, "recording").unwrap();
        let count = dir.path().join("count");
        let run = |text: &str, limit| then(text).unwrap().run(&file, limit, &[Duration::from_millis(1); 2]);
        let long = Duration::from_secs(60);
        assert!(run("true", long));
        let counting = format!("sh -c 'echo x >> {0}; test $(wc -l < {0}) -ge 3' sh", count.display());
        assert!(run(&counting, long), "the third try succeeds");
        assert!(!run("false", long) && !run("/no/such/program", long));
        assert!(!run("sleep 100 {}s", Duration::from_millis(30)));
        assert!(file.exists());
    }
}
