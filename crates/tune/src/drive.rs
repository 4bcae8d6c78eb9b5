//! A session from beginning to end: begins it or goes on with it, in its folder, with processes.

use crate::experiment::Experiment;
use crate::file::{Budget, File};
use crate::folder::{About, Folder, FolderError};
use crate::runner::{Runner, Tools, Watch};
use crate::session::{End, Session};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The session.
    #[error("{path}: {error}")]
    Session {
        /// Its folder.
        path: PathBuf,
        /// What is wrong.
        error: crate::Error,
    },
    /// The folder holds a session of another file.
    #[error("{path} holds a session of another experiment; the files differ:\n{differences}{hint}")]
    Another {
        /// The folder.
        path: PathBuf,
        /// The lines that differ.
        differences: String,
        /// What to do.
        hint: &'static str,
    },
    /// What is run once failed.
    #[error("{0}")]
    Once(String),
}

/// What to do with a session.
#[derive(Debug)]
pub struct Drive<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its file's text, kept with the session.
    pub text: &'a str,
    /// The session's folder; it is made where it is not there.
    pub path: &'a Path,
    /// What is kept of where it began.
    pub about: &'a About,
    /// After its end: so many more blocks.
    pub more: Option<usize>,
}

/// Begins a session, or goes on where it was, until all is done or somebody wants to stop.
///
/// # Errors
/// What keeps it from going on; what was measured before is kept.
pub fn drive(what: &Drive, tools: &Tools, watch: &mut dyn Watch) -> Result<(Session, End), DriveError> {
    let path = what.path;
    let failed = |error| DriveError::Session { path: path.to_owned(), error };
    let (mut folder, events) = if path.exists() {
        let (folder, events) = Folder::open(path)?;
        same(path, &Folder::text(path)?, &what.experiment.file)?;
        (folder, events)
    } else {
        (Folder::create(path, what.text, what.about)?, Vec::new())
    };
    let mut session = match events.is_empty() {
        true => Session::begin(what.experiment.plan(any_seed()), &mut folder),
        false => Session::resume(&events),
    }
    .map_err(failed)?;
    if let Some(blocks) = what.more {
        session.more(blocks, &mut folder).map_err(failed)?;
    }
    let mut runner = Runner::new(what.experiment, path, tools, watch, &session);
    if session.trials() == 0 && !session.finished() {
        runner.once().map_err(DriveError::Once)?;
    }
    let end = session.run(&mut runner, &mut folder).map_err(failed)?;
    Ok((session, end))
}

/// Whether a session's file is this one, but for how long it may take.
fn same(path: &Path, kept: &str, file: &File) -> Result<(), DriveError> {
    let timeless = |file: &File| {
        let budget = Budget { time: None, ..file.budget.clone() };
        File { name: None, budget, ..file.clone() }
    };
    let old = File::parse(kept, "experiment.toml").map(|old| timeless(&old));
    let new = timeless(file);
    if old.as_ref() == Ok(&new) {
        return Ok(());
    }
    let old = old.map_or_else(|_| kept.to_owned(), |old| old.text());
    let new = new.text();
    let only = |a: &str, b: &str, mark: char| {
        let mut lines = String::new();
        for line in a.lines().filter(|line| !line.trim().is_empty() && !b.lines().any(|other| other == *line)) {
            lines.push_str(&format!("  {mark} {line}\n"));
        }
        lines
    };
    Err(DriveError::Another {
        path: path.to_owned(),
        differences: only(&old, &new, '-') + &only(&new, &old, '+'),
        hint: "only its time may change while it runs: give the new one another name (-o), or remove the folder",
    })
}

/// A seed that nobody chose.
fn any_seed() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_refused_with_the_difference() {
        let text = "[workload]\ncommand = [\"a\"]\n";
        let changed = File::parse("effect = \"5%\"\n[workload]\ncommand = [\"b\"]\n", "e").unwrap();
        let refused = same(Path::new("x.tune"), text, &changed).unwrap_err().to_string();
        assert!(refused.contains("- command = [\"a\"]") && refused.contains("+ command = [\"b\"]"), "{refused}");
        let longer = File::parse("budget = { time = \"1h\" }\n[workload]\ncommand = [\"a\"]\n", "e").unwrap();
        assert!(same(Path::new("x.tune"), text, &longer).is_ok());
    }
}
