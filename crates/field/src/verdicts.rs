//! Verdicts that are kept in the repository, `fixtures/field/verdicts.zst`. Recording all pairs takes hours, and recordings are too large to
//! be kept; with the verdicts a machine that recorded some of the pairs writes the figures of all.
//!
//! The file is compressed JSON, so that nobody reads a verdict on a held-out pair by chance.

use crate::judge::{Asked, Outcome};
use crate::pair::{Pair, Set, Side, hex};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders whose files decide what `explain` answers.
const RULES: [&str; 8] = [
    "causes",
    "stdlib",
    "lexicon",
    "crates/compare/src",
    "crates/explain/src",
    "crates/lexicon/src",
    "crates/model/src",
    "crates/query/src",
];

/// Refuse a larger file: ours has some kilobytes.
const LARGEST: u64 = 16 << 20;

/// A verdict on one pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Verdict {
    /// The scripts and variables of both sides as they were recorded.
    keys: [String; 2],
    /// The rules that it was judged by.
    rules: String,
    outcome: Outcome,
}

/// All verdicts, by the name of the pair.
pub(crate) struct Verdicts {
    file: PathBuf,
    by_name: BTreeMap<String, Verdict>,
    rules: String,
}

impl Verdicts {
    /// Reads the file, if there is one. `root` is the repository.
    ///
    /// # Errors
    /// Where the file or the rules cannot be read.
    pub(crate) fn read(file: &Path, root: &Path) -> anyhow::Result<Self> {
        let by_name = match std::fs::File::open(file) {
            Ok(open) => {
                let size = open.metadata()?.len();
                anyhow::ensure!(size <= LARGEST, "{}: {size} bytes are too many for verdicts", file.display());
                let text = zstd::decode_all(open).with_context(|| file.display().to_string())?;
                serde_json::from_slice(&text).with_context(|| file.display().to_string())?
            }
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(why) => return Err(anyhow::Error::new(why).context(file.display().to_string())),
        };
        Ok(Verdicts { file: file.to_owned(), by_name, rules: rules(root)? })
    }

    /// The verdict on a pair as it is now, and whether the present rules gave it.
    ///
    /// # Errors
    /// If the pair's own files cannot be read.
    pub(crate) fn of(&self, pair: &Pair) -> anyhow::Result<Option<(Outcome, bool)>> {
        let Some(verdict) = self.by_name.get(&pair.name) else { return Ok(None) };
        let is_same = verdict.keys == keys(pair)?;
        Ok(is_same.then(|| (verdict.outcome.clone(), verdict.rules == self.rules)))
    }

    /// Stores a verdict. Drops the answer of a held-out pair.
    ///
    /// # Errors
    /// If the pair's own files cannot be read.
    pub(crate) fn set(&mut self, pair: &Pair, outcome: &Outcome) -> anyhow::Result<()> {
        let mut outcome = outcome.clone();
        if let Outcome::Asked(asked) = &mut outcome
            && pair.form.set != Some(Set::Tuned)
        {
            let Asked { said, expected, .. } = &mut **asked;
            said.clear();
            expected.clear();
        }
        let verdict = Verdict { keys: keys(pair)?, rules: self.rules.clone(), outcome };
        self.by_name.insert(pair.name.clone(), verdict);
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let bytes = zstd::encode_all(&*serde_json::to_vec(&self.by_name)?, 19)?;
        files::write(&self.file, &bytes, files::Rules { replace: true, ..files::Rules::default() })
            .with_context(|| self.file.display().to_string())
    }
}

fn keys(pair: &Pair) -> anyhow::Result<[String; 2]> {
    Ok([pair.record_key(Side::Slow)?, pair.record_key(Side::Fast)?])
}

/// A hash of all files under [`RULES`].
fn rules(root: &Path) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    for folder in RULES {
        let mut folders = vec![root.join(folder)];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
        found.sort();
        for file in found {
            let text = std::fs::read(&file).with_context(|| file.display().to_string())?;
            let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
            hash.update(format!("{name} {}\n", text.len()));
            hash.update(&text);
        }
    }
    Ok(hex(&hash.finalize()).chars().take(16).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::testing;

    fn root() -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        folder.canonicalize().unwrap()
    }

    #[test]
    fn verdicts_are_kept_for_the_pair_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fixtures/verdicts.zst");
        let pair = testing::pair(folder.path(), "a", testing::WHOLE).unwrap();
        let mut verdicts = Verdicts::read(&file, &root()).unwrap();
        assert!(verdicts.of(&pair).unwrap().is_none());
        verdicts.set(&pair, &Outcome::Out("not reproduced".into())).unwrap();
        verdicts.write().unwrap();
        let mut verdicts = Verdicts::read(&file, &root()).unwrap();
        assert!(matches!(verdicts.of(&pair).unwrap(), Some((Outcome::Out(why), true)) if why == "not reproduced"));
        verdicts.rules = "other".into();
        assert!(matches!(verdicts.of(&pair).unwrap(), Some((_, false))));
        let changed = testing::pair(folder.path(), "a", &testing::WHOLE.replace("bench", "bench -c 2")).unwrap();
        assert!(verdicts.of(&changed).unwrap().is_none());
        std::fs::write(&file, "no verdicts").unwrap();
        assert!(Verdicts::read(&file, &root()).is_err());
    }

    #[test]
    fn answers_to_held_out_pairs_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let asked = Asked { said: "a headline".into(), expected: "a lock".into(), ..Asked::default() };
        for (set, kept) in [("held", ""), ("tuned", "a headline")] {
            let text = testing::WHOLE.replacen("language", &format!("set = \"{set}\"\nlanguage"), 1);
            let pair = testing::pair(folder.path(), set, &text).unwrap();
            let mut verdicts = Verdicts::read(&folder.path().join("v"), &root()).unwrap();
            verdicts.set(&pair, &Outcome::Asked(Box::new(asked.clone()))).unwrap();
            let Some((Outcome::Asked(asked), _)) = verdicts.of(&pair).unwrap() else { panic!("not kept") };
            assert_eq!(asked.said, kept);
        }
    }
}
