//! The corpus: pairs of recordings of programs whose fault is known, and pairs of equal runs, kept small under `fixtures/explain/`, with what
//! `explain` should say of them. It tells how often the cause comes first, apart for pairs by which rules may be changed (*tuned*) and for
//! those that only judge them (*held out*).
//!
//! A pair is a folder `fixtures/explain/NAME/` with
//!
//! - `expected.json`: an [`Expected`];
//! - `runs.tar.zst`: `slow.twin` and `fast.twin`, recordings without the tables that no question asks ([`keep`]), compressed with zstd after
//!   what all recordings have in common, which is `fixtures/explain/common.zst`. By hand:
//!   `zstd -d common.zst && zstd -d --long=27 --patch-from=common NAME/runs.tar.zst`.

pub mod answers;
pub mod field;
pub mod keep;

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What is known of a pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What is wrong with the slow variant, in a line; of equal runs, what ran.
    pub title: String,
    /// Language of the program.
    pub language: String,
    /// Where the case is from: a post-mortem, an issue, a lesson of our own.
    pub origin: String,
    /// Whether rules may be changed by what this pair shows.
    pub set: Set,
    /// Identifiers of causes of which any is right; none for equal runs, of which nothing may be found. Those of a pair of the field exam are
    /// not in its file: [`pairs`] makes them of its classes.
    pub causes: Vec<String>,
    /// Of a pair of the field exam, its classes (`field/classes.toml`), in place of causes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub classes: Vec<String>,
    /// Of a pair of the field exam, regular expressions: one found in the first two lines of the answer is enough.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<String>,
    /// Of a pair of the field exam, its family.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub family: Option<String>,
    /// The part of the lost time that the fault makes, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<f64>,
    /// A second fault of the program, that has to be among the first three, with its part of the lost time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub also: Option<(String, Option<f64>)>,
    /// Elapsed time per unit of work, slow over fast, by what the programs themselves say, where they do; of a fault of the tail, the time that 99 % of the
    /// requests do not exceed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ratio: Option<f64>,
    /// Whether other programs loaded the machine while both were recorded.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub neighbour: bool,
    /// Whether only the slowest requests are slower: then `explain --tail` is asked.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub tail: bool,
    /// When and on what it was recorded.
    pub recorded: String,
}

impl Expected {
    /// Whether nothing may be found.
    pub fn is_equal(&self) -> bool {
        self.causes.is_empty() && self.classes.is_empty()
    }
}

/// What a pair may be used for. All pairs of one program are in the same set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Set {
    /// Rules of diagnosis may be changed by what it shows.
    #[default]
    Tuned,
    /// It judges the rules, which are never changed by what it shows.
    HeldOut,
}

/// A pair of the corpus.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The name of its folder.
    pub name: String,
    /// What is known of it.
    pub expected: Expected,
    folder: PathBuf,
}

impl Pair {
    /// Unpacks its recordings into a folder that is deleted when the result is dropped: `slow.twin` and `fast.twin`.
    ///
    /// # Errors
    /// Where the archive is damaged or the disk is full.
    pub fn unpack(&self) -> anyhow::Result<tempfile::TempDir> {
        let folder = tempfile::tempdir()?;
        self.unpack_into(folder.path())?;
        Ok(folder)
    }

    /// Unpacks its recordings into a folder that is there: `slow.twin` and `fast.twin`; of a pair of the field exam also `again.twin`, a
    /// second recording of the fast side.
    ///
    /// # Errors
    /// Where the archive is damaged or the disk is full.
    pub fn unpack_into(&self, folder: &Path) -> anyhow::Result<()> {
        let (runs, common) = (std::fs::read(self.folder.join(RUNS))?, keep::common(&self.folder)?);
        let mut decoder = zstd::stream::Decoder::with_ref_prefix(runs.as_slice(), &common)?;
        decoder.window_log_max(keep::WINDOW)?;
        tar::Archive::new(decoder).unpack(folder)?;
        Ok(())
    }

    /// Size of its archive in bytes.
    pub fn bytes(&self) -> u64 {
        std::fs::metadata(self.folder.join(RUNS)).map_or(0, |about| about.len())
    }
}

/// The archive of a pair.
pub(crate) const RUNS: &str = "runs.tar.zst";

/// What is known of a pair.
pub(crate) const EXPECTED: &str = "expected.json";

/// All pairs of a folder, by name.
///
/// # Errors
/// Where a folder cannot be read, or what is known of a pair is not of the form of [`Expected`].
pub fn pairs(folder: &Path) -> anyhow::Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    let mut classes = None;
    for entry in std::fs::read_dir(folder)? {
        let folder = entry?.path();
        let Ok(text) = std::fs::read_to_string(folder.join(EXPECTED)) else { continue };
        let mut expected: Expected =
            serde_json::from_str(&text).map_err(|why| anyhow::anyhow!("{}: {why}", folder.join(EXPECTED).display()))?;
        if !expected.classes.is_empty() {
            let known = match &mut classes {
                Some(known) => known,
                none => none.insert(field::Classes::built_in()?),
            };
            expected.causes = known.causes(&expected.classes);
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        pairs.push(Pair { name, expected, folder });
    }
    pairs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pairs)
}

/// `fixtures/field/` of this repository: pairs of the field exam, in the same form.
pub fn field_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/field")
}

/// `fixtures/explain/` of this repository.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/explain")
}
