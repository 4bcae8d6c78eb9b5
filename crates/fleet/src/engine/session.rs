//! An engine that runs: a program that reads JSON lines and answers each with one, as docs/engines.md has it. It is started once, and ended with
//! the session. Answers come in files of a folder that goes with it too.

use super::question::Question;
use crate::folder::{Batch, Dataset, part};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::fs::{self, DirBuilder};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An engine may take so long to end by itself.
const END: Duration = Duration::from_secs(10);

/// Bytes of a line at most: an answer has no more than a few numbers, or words on what went wrong.
const LINE: u64 = 1 << 20;

/// Characters of what an engine said that are quoted.
const QUOTED: usize = 300;

/// What an engine can do wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// It cannot be started.
    #[error("the engine cannot be started: {command}: {why}; see that the program is there, and can be run by itself")]
    Missing {
        /// The command.
        command: String,
        /// What the system said.
        why: String,
    },
    /// It ended.
    #[error("the engine ended ({status}) before it answered {asked:?}{said}; run it by itself to see why: {command}")]
    Ended {
        /// The command.
        command: String,
        /// How.
        status: String,
        /// What was asked.
        asked: String,
        /// The last that it wrote to standard error.
        said: String,
    },
    /// It does not answer.
    #[error(
        "the engine did not answer {asked:?} in {seconds} s and was ended; give it longer: --engine-timeout SECONDS"
    )]
    Silent {
        /// What was asked.
        asked: String,
        /// For how long it was waited.
        seconds: u64,
    },
    /// It answers in another language.
    #[error("the engine answered {asked:?} with {line:?}, which is no answer; docs/engines.md says what is")]
    Rubbish {
        /// What was asked.
        asked: String,
        /// What it said.
        line: String,
    },
    /// It says that it cannot answer.
    #[error("the engine cannot answer {asked:?}: {why}")]
    Failed {
        /// What was asked.
        asked: String,
        /// In its words.
        why: String,
    },
    /// The file with the answer is another than it should be.
    #[error("the engine's answer to {asked:?} cannot be used: {why}; docs/engines.md says what it should be")]
    Answer {
        /// What was asked.
        asked: String,
        /// What is wrong with it.
        why: String,
    },
    /// The folder for answers cannot be written.
    #[error("{}: {why}; answers of the engine are put there: name another folder in TMPDIR", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}

/// Who is asked questions in SQL.
pub trait Asker: std::fmt::Debug {
    /// Tells what the tables of questions are: by name, where their files are, and which columns have other names there.
    ///
    /// # Errors
    /// Where the engine does not take them.
    fn views(&mut self, views: &Value) -> Result<(), EngineError>;

    /// Gives small tables.
    ///
    /// # Errors
    /// Where they cannot be written, or the engine does not take them.
    fn give(&mut self, tables: &[&Batch]) -> Result<(), EngineError>;

    /// Asks a question, and reads the answer.
    ///
    /// # Errors
    /// Where the engine does not answer, or answers something else.
    fn ask(&mut self, question: &'static Question) -> Result<Vec<Batch>, EngineError>;
}

/// An engine that runs.
#[derive(Debug)]
pub struct Session {
    command: String,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<std::io::Result<String>>,
    /// For tables and answers; removed with the session.
    folder: PathBuf,
    /// Files made in it so far.
    files: u64,
    timeout: Duration,
    /// It did something wrong, and is not waited for.
    broken: bool,
}

impl Session {
    /// Starts an engine: `command` is what a shell would be given. Each answer is waited for so long.
    ///
    /// # Errors
    /// Where it cannot be started, or the folder for answers cannot be made.
    pub fn start(command: &str, timeout: Duration) -> Result<Session, EngineError> {
        let folder = new_folder()?;
        let missing = |why: std::io::Error| EngineError::Missing { command: command.into(), why: why.to_string() };
        let said = files::create_new(&folder.join("stderr"));
        let said = said.map_err(|why| EngineError::Folder { path: folder.join("stderr"), why })?;
        // A process group of its own, so that what it starts ends with it.
        let child = Command::new("/bin/sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(said))
            .process_group(0)
            .spawn();
        let mut child = child.map_err(|e| {
            let _ = fs::remove_dir_all(&folder);
            missing(e)
        })?;
        let (into, lines) = channel();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        std::thread::spawn(move || {
            let Some(mut reader) = output.map(BufReader::new) else { return };
            loop {
                let mut line = Vec::new();
                let read = reader.by_ref().take(LINE).read_until(b'\n', &mut line);
                let last = !matches!(read, Ok(n) if n > 0);
                let line = read.map(|_| String::from_utf8_lossy(&line).into_owned());
                if last || into.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Session { command: command.into(), child, input, lines, folder, files: 0, timeout, broken: false })
    }

    /// Where tables and answers are put.
    #[cfg(test)]
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&mut self, name: &str) -> PathBuf {
        self.files += 1;
        self.folder.join(format!("{}-{name}.parquet", self.files))
    }

    /// Sends a line, and waits for the answer.
    fn talk(&mut self, asked: &str, message: &Value) -> Result<Value, EngineError> {
        let answer = self.answer(asked, message);
        self.broken |= answer.is_err();
        answer
    }

    fn answer(&mut self, asked: &str, message: &Value) -> Result<Value, EngineError> {
        let sent = match &mut self.input {
            Some(input) => input.write_all(format!("{message}\n").as_bytes()).and_then(|()| input.flush()),
            None => Ok(()),
        };
        if sent.is_err() {
            return Err(self.ended(asked));
        }
        let line = match self.lines.recv_timeout(self.timeout) {
            Ok(Ok(line)) => line,
            Err(RecvTimeoutError::Timeout) => {
                return Err(EngineError::Silent { asked: asked.into(), seconds: self.timeout.as_secs() });
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended(asked)),
        };
        let rubbish = || EngineError::Rubbish { asked: asked.into(), line: quoted(&line) };
        let answer: Value = serde_json::from_str(&line).map_err(|_| rubbish())?;
        match answer.get("error") {
            Some(error) => {
                let why = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
                Err(EngineError::Failed { asked: asked.into(), why: quoted(&why) })
            }
            None if answer.get("seconds").is_some_and(Value::is_number) => Ok(answer),
            None => Err(rubbish()),
        }
    }

    /// It has gone.
    fn ended(&mut self, asked: &str) -> EngineError {
        let ended = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if ended.elapsed() < END => std::thread::sleep(Duration::from_millis(10)),
                Ok(None) | Err(_) => break None,
                Ok(Some(status)) => break Some(status),
            }
        };
        let command = self.command.clone();
        let said = fs::read(self.folder.join("stderr")).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).lines().rfind(|line| !line.trim().is_empty()).map(quoted);
        // What a shell answers for a program that is not there, or cannot be run.
        if let Some(why) = status.and_then(|s| s.code()).filter(|code| [126, 127].contains(code)) {
            return EngineError::Missing { command, why: said.unwrap_or_else(|| format!("exit status {why}")) };
        }
        let status = status.map_or_else(|| "its output was closed".to_owned(), |status| status.to_string());
        let said = said.map(|said| format!(", and said last: {said}")).unwrap_or_default();
        EngineError::Ended { command, status, asked: asked.into(), said }
    }
}

impl Asker for Session {
    fn views(&mut self, views: &Value) -> Result<(), EngineError> {
        self.talk("views", &json!({ "views": views })).map(drop)
    }

    fn give(&mut self, tables: &[&Batch]) -> Result<(), EngineError> {
        let mut views = serde_json::Map::new();
        let mut paths = Vec::new();
        for table in tables {
            let path = self.file(table.dataset.name);
            part::write(&path, table).map_err(|why| EngineError::Folder { path: path.clone(), why })?;
            views.insert(table.dataset.name.into(), json!({ "paths": [path], "here": true }));
            paths.push(path);
        }
        self.views(&Value::Object(views))
    }

    fn ask(&mut self, question: &'static Question) -> Result<Vec<Batch>, EngineError> {
        let put = self.file(question.name);
        let answer = self.talk(question.name, &json!({ "ask": question.sql(), "put": put }))?;
        let read = read(&put, &question.answer);
        let _ = fs::remove_file(&put);
        let wrong = |why| EngineError::Answer { asked: question.name.into(), why };
        let batches = read.map_err(wrong)?;
        let rows: usize = batches.iter().map(Batch::len).sum();
        match answer.get("rows").and_then(Value::as_u64) {
            Some(said) if said == rows as u64 => Ok(batches),
            said => {
                self.broken = true;
                let said = said.map_or("no number".to_owned(), |said| said.to_string());
                Err(wrong(format!("it says that there are {said} rows, and the file has {rows}")))
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.input = None;
        let ended = Instant::now();
        while !self.broken && ended.elapsed() < END && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Also where the engine itself has ended: what it started may not have.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A line of an engine, as it may be shown: on one line, and not too long.
fn quoted(text: &str) -> String {
    let plain: String = model::clean(&text.trim().replace(char::is_whitespace, " "));
    match plain.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{} …", plain.get(..at).unwrap_or_default()),
        None => plain,
    }
}

/// A folder that only this user can read.
fn new_folder() -> Result<PathBuf, EngineError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("twinscope-engine-{}-{number}-{now}", std::process::id()));
    match DirBuilder::new().mode(0o700).create(&path) {
        Ok(()) => Ok(path),
        Err(why) => Err(EngineError::Folder { path, why }),
    }
}

/// The rows of an answer.
fn read(path: &Path, answer: &'static Dataset) -> Result<Vec<Batch>, String> {
    let all: Vec<usize> = (0..answer.columns.len()).collect();
    let mut batches = Vec::new();
    part::read(path, answer, &all, &[], |batch| batches.push(batch))?;
    Ok(batches)
}
