//! A session from beginning to end: begins it or goes on with it, in its folder, with processes.

use crate::experiment::Experiment;
use crate::file::{Budget, DesignName, File, Parameter};
use crate::folder::{About, Folder, FolderError};
use crate::runner::{Runner, Tools, Watch};
use crate::session::{End, Session};
use crate::together;
use host::Host;
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
    /// Trials cannot run at the same time here.
    #[error("{0}")]
    Together(String),
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
    // Asked before a folder is made, and of no matter to a session that is over.
    let cpus = together::cpus(&Host::live(), what.experiment).map_err(DriveError::Together);
    let failed = |error| DriveError::Session { path: path.to_owned(), error };
    let (mut folder, events) = if path.exists() && !Folder::is_half_made(path, what.text) {
        let (folder, events) = Folder::open(path)?;
        goes_on(path, &Folder::text(path)?, &what.experiment.file)?;
        (folder, events)
    } else {
        if let Err(DriveError::Together(why)) = cpus {
            return Err(DriveError::Together(why));
        }
        (Folder::create(path, what.text, what.about)?, Vec::new())
    };
    let mut session = match events.is_empty() {
        true => Session::begin(what.experiment.plan(any_seed()), &mut folder),
        false => Session::resume(&events),
    }
    .map_err(failed)?;
    let table = what.experiment.file.budget.table.is_some();
    if let Some(more) = session.extension(&what.experiment.plan(0), table).map_err(failed)? {
        // The file first: where this ends between the two, the next one finds again what the journal lacks.
        Folder::keep_text(path, what.text)?;
        session.extend(more, &mut folder).map_err(failed)?;
    }
    if let Some(blocks) = what.more {
        session.more(blocks, &mut folder).map_err(failed)?;
    }
    let cpus = if session.finished() { None } else { cpus? };
    let mut runner = Runner::new(what.experiment, path, tools, watch, &session).on(cpus);
    if session.trials() == 0 && !session.finished() {
        runner.once().map_err(DriveError::Once)?;
    }
    let end = session.run(&mut runner, &mut folder).map_err(failed)?;
    Ok((session, end))
}

/// Whether a session's file is this one, but for how long it may take, and for what comes after the steps of a ladder.
fn goes_on(path: &Path, kept: &str, file: &File) -> Result<(), DriveError> {
    let old = File::parse(kept, "experiment.toml");
    let same = old.as_ref().is_ok_and(|old| {
        let plain = |file: &File| File { name: None, budget: Budget::default(), ..file.clone() };
        plain(old) == plain(&without_more(old, file))
    });
    if same {
        return Ok(());
    }
    let old = old.map_or_else(|_| kept.to_owned(), |old| old.text());
    let new = file.text();
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
        hint: "only its budget may change while it runs, and steps may be added at the end of a ladder: give the new one another name \
               (-o), or remove the folder",
    })
}

/// A ladder's file without the steps and values of parameters that it has beyond those of before. The usual value is the first, so
/// that what was run before is not touched by values at the end.
fn without_more(old: &File, new: &File) -> File {
    let mut file = new.clone();
    if new.design != DesignName::Ladder {
        return file;
    }
    file.step.truncate(old.step.len());
    for (name, parameter) in &mut file.parameters {
        let values = |of: &Parameter| match of {
            Parameter::List(values) => values.len(),
            Parameter::Env(of) => of.values.len(),
            Parameter::Setting(of) => of.values.len(),
            Parameter::Range(_) | Parameter::One(_) => usize::MAX,
        };
        let before = old.parameters.get(name).map_or(usize::MAX, values);
        match parameter {
            Parameter::List(values) => values.truncate(before),
            Parameter::Env(of) => of.values.truncate(before),
            Parameter::Setting(of) => of.values.truncate(before),
            Parameter::Range(_) | Parameter::One(_) => {}
        }
    }
    file
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
        let refused = goes_on(Path::new("x.tune"), text, &changed).unwrap_err().to_string();
        assert!(refused.contains("- command = [\"a\"]") && refused.contains("+ command = [\"b\"]"), "{refused}");
        let longer = File::parse("budget = { time = \"1h\" }\n[workload]\ncommand = [\"a\"]\n", "e").unwrap();
        assert!(goes_on(Path::new("x.tune"), text, &longer).is_ok());
    }

    #[test]
    fn steps_and_values_may_be_added_at_the_end_of_a_ladder() {
        let text = "design = \"ladder\"\n[workload]\ncommand = [\"a\", \"{x}\"]\n[parameters]\nx = [1, 2]\n\
            [[step]]\nname = \"two\"\nset = { x = 2 }\n";
        let goes_on = |from: &str, to: &str| {
            let file = File::parse(&text.replace(from, to), "e").unwrap();
            goes_on(Path::new("x.tune"), text, &file).is_ok()
        };
        let more = "set = { x = 2 }\n[[step]]\nname = \"three\"\nset = { x = 3 }";
        assert!(goes_on("set = { x = 2 }", more) && goes_on("x = [1, 2]", "x = [1, 2, 3]"));
        assert!(!goes_on("x = [1, 2]", "x = [3, 1, 2]") && !goes_on("x = [1, 2]", "x = [1]"));
        assert!(!goes_on("name = \"two\"", "name = \"too\"") && !goes_on("x = [1, 2]", "x = [1, 2]\ny = [1]"));
        assert!(!goes_on("[[step]]\nname = \"two\"\nset = { x = 2 }\n", ""), "one less");
        assert!(!goes_on("[[step]]\n", "[[step]]\nname = \"first\"\nset = { x = 2 }\n[[step]]\n"), "not at the end");
    }
}
