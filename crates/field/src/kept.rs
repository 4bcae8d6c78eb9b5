//! What is kept of a pair below `target/field`: recordings, what the load printed, and what it said of its work.

use crate::pair::{Pair, Side};
use crate::work::{Done, ratio};
use anyhow::Context;
use files::Rules;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// So many runs of each side, and so many more of the fast one.
pub(crate) const REPEATS: usize = 3;

/// A run of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// The slow side.
    Slow(usize),
    /// The fast side.
    Fast(usize),
    /// The fast side again, which nothing may be found to differ in.
    Again(usize),
}

impl Run {
    /// All of them in the order in which they are recorded: the sides by turns, so that what changes with time changes both.
    pub(crate) fn all() -> impl Iterator<Item = Run> {
        (1..=REPEATS).flat_map(|n| [Run::Slow(n), Run::Fast(n)]).chain((1..=REPEATS).map(Run::Again))
    }

    /// Whose variables it has.
    pub(crate) fn side(self) -> Side {
        match self {
            Run::Slow(_) => Side::Slow,
            Run::Fast(_) | Run::Again(_) => Side::Fast,
        }
    }

    /// "slow-1".
    pub(crate) fn name(self) -> String {
        match self {
            Run::Slow(n) => format!("slow-{n}"),
            Run::Fast(n) => format!("fast-{n}"),
            Run::Again(n) => format!("again-{n}"),
        }
    }
}

/// What is known of a recording, beside it as `slow-1.json`. Written last: where it is, the recording is whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct About {
    /// Of which scripts and variables it is.
    pub(crate) key: String,
    /// The day.
    pub(crate) day: String,
    /// The part of the machine that others used just before it, and meanwhile.
    pub(crate) others: [f64; 2],
    /// Work and time.
    #[serde(flatten)]
    pub(crate) done: Done,
}

/// A run was disturbed where others used so much of the machine.
const DISTURBED: f64 = 0.2;

impl About {
    /// Whether others used much of the machine.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.others.iter().any(|others| *others >= DISTURBED)
    }
}

/// The folder of a pair below `target/field`.
pub(crate) struct Kept {
    folder: PathBuf,
}

/// Replaces a file that is there.
const OVER: Rules<'static> = Rules { replace: true, recording: false, inputs: &[], result: false, durable: false };

impl Kept {
    /// That of a pair.
    pub(crate) fn of(out: &Path, pair: &Pair) -> Self {
        Kept { folder: out.join(&pair.name) }
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn make(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)
    }

    /// A file of a run, or of the pair.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The recording of a run.
    pub(crate) fn recording(&self, run: Run) -> PathBuf {
        self.file(&format!("{}.twin", run.name()))
    }

    /// What is known of a run of this pair, where its recording is whole and of the pair as it is now.
    ///
    /// # Errors
    /// Where the pair's own files cannot be read.
    pub(crate) fn about(&self, pair: &Pair, run: Run) -> anyhow::Result<Option<About>> {
        let Ok(text) = std::fs::read_to_string(self.file(&format!("{}.json", run.name()))) else { return Ok(None) };
        let Ok(about) = serde_json::from_str::<About>(&text) else { return Ok(None) };
        let has_bytes = self.recording(run).metadata().is_ok_and(|file| file.len() > 0);
        Ok(Some(about).filter(|about| has_bytes && pair.record_key(run.side()).is_ok_and(|key| key == about.key)))
    }

    /// Takes a recording for whole.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(crate) fn set_about(&self, run: Run, about: &About) -> anyhow::Result<()> {
        let file = self.file(&format!("{}.json", run.name()));
        files::write(&file, (serde_json::to_string(about)? + "\n").as_bytes(), OVER)
            .with_context(|| file.display().to_string())
    }

    /// Forgets a run.
    pub(crate) fn forget(&self, run: Run) {
        for ending in ["json", "twin", "twin-wal", "twin-shm"] {
            // Most of them are not there.
            let _ = std::fs::remove_file(self.file(&format!("{}.{ending}", run.name())));
        }
    }

    /// Why this pair could not be recorded here, the last time that it was tried.
    pub(crate) fn miss(&self) -> Option<String> {
        std::fs::read_to_string(self.file("miss")).ok().map(|text| text.trim().to_owned())
    }

    /// Remembers why, or that it could.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(crate) fn set_miss(&self, why: Option<&str>) -> anyhow::Result<()> {
        let file = self.file("miss");
        match why {
            Some(why) => {
                files::write(&file, format!("{why}\n").as_bytes(), OVER).with_context(|| file.display().to_string())
            }
            None => {
                // It need not be there.
                let _ = std::fs::remove_file(&file);
                Ok(())
            }
        }
    }

    /// How many recordings are whole.
    ///
    /// # Errors
    /// As [`Kept::about`].
    pub(crate) fn whole(&self, pair: &Pair) -> anyhow::Result<usize> {
        Ok(Run::all().map(|run| self.about(pair, run)).collect::<anyhow::Result<Vec<_>>>()?.iter().flatten().count())
    }

    /// The recordings of `slow`, `fast` and `again`.
    pub(crate) fn recordings(&self) -> [Vec<PathBuf>; 3] {
        let of = |run: fn(usize) -> Run| (1..=REPEATS).map(|n| self.recording(run(n))).collect();
        [of(Run::Slow), of(Run::Fast), of(Run::Again)]
    }

    /// The ratios of the pairs of runs that are whole.
    ///
    /// # Errors
    /// As [`Kept::about`].
    pub(crate) fn ratios(&self, pair: &Pair) -> anyhow::Result<Vec<f64>> {
        self.ratios_of(pair, Run::Slow, Run::Fast)
    }

    /// The same between runs of the fast side.
    ///
    /// # Errors
    /// As [`Kept::about`].
    pub(crate) fn ratios_again(&self, pair: &Pair) -> anyhow::Result<Vec<f64>> {
        self.ratios_of(pair, Run::Again, Run::Fast)
    }

    fn ratios_of(&self, pair: &Pair, a: fn(usize) -> Run, b: fn(usize) -> Run) -> anyhow::Result<Vec<f64>> {
        let mut ratios = Vec::new();
        for n in 1..=REPEATS {
            if let (Some(a), Some(b)) = (self.about(pair, a(n))?, self.about(pair, b(n))?) {
                ratios.extend(ratio(pair.form.truth.effect, &a.done, &b.done));
            }
        }
        Ok(ratios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::testing;

    #[test]
    fn the_sides_are_recorded_by_turns() {
        let names: Vec<String> = Run::all().map(Run::name).collect();
        assert_eq!(names.join(" "), "slow-1 fast-1 slow-2 fast-2 slow-3 fast-3 again-1 again-2 again-3");
    }

    #[test]
    fn a_recording_counts_where_it_is_whole_and_of_the_pair_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let pair = testing::pair(folder.path(), "a", testing::WHOLE).unwrap();
        let kept = Kept::of(&folder.path().join("out"), &pair);
        kept.make().unwrap();
        let key = pair.record_key(Side::Slow).unwrap();
        let done = Done { work: 10.0, seconds: 5.0, tail_ms: None };
        let about = About { key, day: "2026-11-28".into(), others: [0.0, 0.1], done };
        kept.set_about(Run::Slow(1), &about).unwrap();
        assert_eq!(kept.about(&pair, Run::Slow(1)).unwrap(), None, "no recording");
        std::fs::write(kept.recording(Run::Slow(1)), "x").unwrap();
        assert_eq!(kept.about(&pair, Run::Slow(1)).unwrap(), Some(about.clone()));
        assert_eq!(kept.whole(&pair).unwrap(), 1);
        assert!(kept.ratios(&pair).unwrap().is_empty());
        std::fs::write(kept.recording(Run::Fast(1)), "x").unwrap();
        let key = pair.record_key(Side::Fast).unwrap();
        kept.set_about(Run::Fast(1), &About { key, done: Done { work: 20.0, ..done }, ..about }).unwrap();
        assert_eq!(kept.ratios(&pair).unwrap(), [2.0]);
        let changed = testing::pair(folder.path(), "a", &testing::WHOLE.replace("bench", "bench -c 2")).unwrap();
        assert_eq!(kept.whole(&changed).unwrap(), 0);
        kept.forget(Run::Fast(1));
        assert_eq!(kept.whole(&pair).unwrap(), 1);
    }
}
