//! The recordings that a question is about, each under a name of its own.

use crate::{Error, work};
use model::{Window, WorkChoice};
use std::collections::HashSet;
use std::path::Path;
use store::Recording;

/// A recording under a name that no other has.
#[derive(Debug)]
pub struct Run {
    /// The name: the manifest's, or the file's without its extension. The second of two equal names gets "#2", and so on.
    pub name: String,
    /// The recording.
    pub recording: Recording,
    /// Where not all of the recording is meant: which part. The same recording may then be several runs.
    pub stretch: Option<Stretch>,
}

/// A part of a recording that is a run by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// From when to when.
    pub window: Window,
    /// What it is called, as the window was asked for: `10:02..10:05`.
    pub words: String,
}

impl Run {
    /// Makes a run of a stretch of its recording, `name`: nothing but the stretch counts from now on.
    pub fn narrow(&mut self, name: &str, stretch: Stretch) {
        self.name = format!("{name} {}", stretch.words);
        self.stretch = Some(stretch);
    }
}

/// Opens recordings, in this order, under unique names.
///
/// # Errors
/// That of the first file that is no recording or cannot be read.
pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<Run>, Error> {
    open_by(paths, &WorkChoice::Auto)
}

/// The same, with what counts as their work: their manifests say it as if the workload had reported it.
///
/// # Errors
/// As [`open`]; [`Error::NoWork`] where a recording holds none of the work that is asked for by name.
pub fn open_by<P: AsRef<Path>>(paths: &[P], choice: &WorkChoice) -> Result<Vec<Run>, Error> {
    let mut recordings = paths.iter().map(|path| Recording::open(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
    let works = work::of_all(&recordings.iter().collect::<Vec<_>>(), choice);
    for ((recording, work), path) in recordings.iter_mut().zip(works).zip(paths) {
        if work.is_none() && !matches!(choice, WorkChoice::Auto | WorkChoice::None) {
            let (file, wanted) = (path.as_ref().display().to_string(), choice.to_string());
            return Err(Error::NoWork { file, wanted, there: work::offered(recording).join(", ") });
        }
        recording.set_work(work);
    }
    let mut taken = HashSet::new();
    let name = |(recording, path): (&Recording, &P)| {
        let mut base = recording.manifest().name.trim().to_owned();
        if base.is_empty() {
            base = path.as_ref().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        unique(&base, &mut taken)
    };
    let names: Vec<String> = recordings.iter().zip(paths).map(name).collect();
    Ok(recordings.into_iter().zip(names).map(|(recording, name)| Run { name, recording, stretch: None }).collect())
}

fn unique(base: &str, taken: &mut HashSet<String>) -> String {
    let mut name = base.to_owned();
    let mut count = 1;
    while !taken.insert(name.clone()) {
        count += 1;
        name = format!("{base}#{count}");
    }
    name
}

/// What each run is called where there is little room: its labels, where each run has others; else what its name has that the others do not, whole words
/// of it. Names that leave nothing over are shown whole.
pub fn short_names(runs: &[Run]) -> Vec<String> {
    let words: Option<Vec<String>> = runs.iter().map(|run| Some(run.stretch.as_ref()?.words.clone())).collect();
    let is_one_file = |run: &Run| runs.first().is_some_and(|first| first.recording.path() == run.recording.path());
    if let Some(words) = words.filter(|_| runs.iter().all(is_one_file)) {
        return words;
    }
    let labels: Vec<String> = runs
        .iter()
        .map(|run| run.recording.manifest().labels.values().cloned().collect::<Vec<_>>().join(" "))
        .collect();
    let telling = |names: &[String]| {
        let different: HashSet<&String> = names.iter().filter(|name| !name.is_empty()).collect();
        different.len() == runs.len()
    };
    if telling(&labels) {
        return labels;
    }
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let short: Vec<String> = apart(&names).into_iter().map(str::to_owned).collect();
    if telling(&short) { short } else { names.into_iter().map(str::to_owned).collect() }
}

/// What ends a word in a name.
const BREAKS: [char; 6] = ['.', '_', '-', ' ', '/', ':'];

/// Names without the words at which all begin and end.
fn apart<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let Some((first, rest)) = names.split_first().filter(|(_, rest)| !rest.is_empty()) else { return names.to_vec() };
    let words = |name: &'a str, from_end: bool| -> Vec<usize> {
        // Lengths of beginnings, or ends, that end after a break, or before one.
        let at =
            name.match_indices(BREAKS).map(|(at, found)| if from_end { name.len() - at } else { at + found.len() });
        at.collect()
    };
    let begin = |length: &usize| rest.iter().all(|name| name.get(..*length) == first.get(..*length));
    let prefix = words(first, false).into_iter().filter(begin).max().unwrap_or(0);
    let names: Vec<&'a str> = names.iter().map(|name| name.get(prefix..).unwrap_or(name)).collect();
    let (Some(first), rest) = (names.first().copied(), names.get(1..).unwrap_or_default()) else { return names };
    let tail = |name: &'a str, length: usize| name.len().checked_sub(length).and_then(|at| name.get(at..));
    let end = |length: &usize| {
        rest.iter().all(|name| tail(name, *length).is_some() && tail(name, *length) == tail(first, *length))
    };
    let suffix = words(first, true).into_iter().filter(end).max().unwrap_or(0);
    names.iter().map(|name| name.get(..name.len() - suffix).unwrap_or(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_names_have_is_left_out() {
        let short = |names: &[&'static str]| apart(names).join(" ");
        assert_eq!(short(&["m06_settlement.fast", "m06_settlement.slow"]), "fast slow");
        assert_eq!(short(&["2026-11-24-before-run", "2026-11-24-after-run"]), "before after");
        assert_eq!(short(&["fast", "faster"]), "fast faster", "words stay whole");
        assert_eq!(short(&["web-1", "web-2", "web-10"]), "1 2 10");
        assert_eq!(short(&["slow"]), "slow");
        assert_eq!(short(&["größe.a", "größe.ä"]), "a ä");
        // One name is the beginning of the other: then nothing is left of it, and the names are shown whole.
        assert_eq!(apart(&["run-a", "run-a-b"]), ["a", "a-b"]);
        assert_eq!(apart(&["x.", "x.y"]), ["", "y"]);
    }

    #[test]
    fn names_are_unique() {
        let mut taken = HashSet::new();
        let names = ["a", "a#2", "a", "a", "b"].map(|n| unique(n, &mut taken));
        assert_eq!(names, ["a", "a#2", "a#3", "a#4", "b"]);
    }
}
