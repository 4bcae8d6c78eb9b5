//! A pair: `field/NAME/pair.toml`, whose form docs/field.md describes.

use anyhow::{Context, bail};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The file of a pair.
pub(crate) const FILE: &str = "pair.toml";

/// A pair of the exam.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// The name of its folder.
    pub(crate) name: String,
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// What its file says.
    pub(crate) form: Form,
}

/// What `pair.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    pub(crate) title: String,
    pub(crate) family: Family,
    pub(crate) language: String,
    pub(crate) set: Option<Set>,
    #[serde(default)]
    pub(crate) packages: Vec<String>,
    pub(crate) slow: Variables,
    pub(crate) fast: Variables,
    pub(crate) scripts: Scripts,
    #[serde(default)]
    pub(crate) work: Work,
    pub(crate) record: Record,
    pub(crate) truth: Truth,
}

/// The variables of a side.
pub(crate) type Variables = BTreeMap<String, Value>;

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Real(f64),
    Flag(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Integer(number) => number.fmt(f),
            Value::Real(number) => number.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
        }
    }
}

/// Where a pair belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Family {
    Releases,
    Databases,
    Web,
    Runtimes,
    Builds,
    Scaling,
    Kernel,
    Tails,
    Innocent,
}

impl Family {
    /// As it stands in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Releases => "releases",
            Family::Databases => "databases",
            Family::Web => "web",
            Family::Runtimes => "runtimes",
            Family::Builds => "builds",
            Family::Scaling => "scaling",
            Family::Kernel => "kernel",
            Family::Tails => "tails",
            Family::Innocent => "innocent",
        }
    }
}

/// What a pair may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Set {
    /// It judges rules that were never changed by what it shows.
    Held,
    /// Rules may be changed by what it shows.
    Tuned,
}

impl Set {
    /// As it stands in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Set::Held => "held",
            Set::Tuned => "tuned",
        }
    }
}

/// Scripts of bash, of which all but `load` may be missing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scripts {
    pub(crate) install: Option<String>,
    pub(crate) prepare: Option<String>,
    pub(crate) serve: Option<String>,
    pub(crate) ready: Option<String>,
    pub(crate) warm: Option<String>,
    pub(crate) load: String,
}

impl Scripts {
    /// Each script that is there, by its name.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("install", self.install.as_deref()),
            ("prepare", self.prepare.as_deref()),
            ("serve", self.serve.as_deref()),
            ("ready", self.ready.as_deref()),
            ("warm", self.warm.as_deref()),
            ("load", Some(self.load.as_str())),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)))
    }
}

/// How work is counted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Work {
    pub(crate) tool: Option<String>,
    pub(crate) count: Option<String>,
    pub(crate) total: Option<String>,
    pub(crate) tail_ms: Option<String>,
    pub(crate) unit: Option<String>,
}

/// What is recorded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) what: What,
    #[serde(default)]
    pub(crate) options: Vec<String>,
}

/// Whose threads are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    Serve,
    Load,
    Machine,
}

/// What a right answer says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Truth {
    pub(crate) classes: Vec<String>,
    #[serde(default)]
    pub(crate) names: Vec<String>,
    pub(crate) effect: Effect,
    pub(crate) share: Option<f64>,
    pub(crate) why: String,
    pub(crate) sources: Vec<String>,
}

/// What is slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Effect {
    Mean,
    Tail,
    Both,
    None,
}

/// A side of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Slow,
    Fast,
}

impl Side {
    /// The slow one first, as they are recorded.
    pub(crate) const BOTH: [Side; 2] = [Side::Slow, Side::Fast];

    /// As it stands in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::Slow => "slow",
            Side::Fast => "fast",
        }
    }
}

impl Pair {
    /// Reads the pair in a folder.
    ///
    /// # Errors
    /// Where its file cannot be read or has another form: file, place and what was expected.
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Self> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = format!("field/{name}/{FILE}");
        let text = std::fs::read_to_string(folder.join(FILE)).with_context(|| file.clone())?;
        let form = toml::from_str(&text).map_err(|why| anyhow::anyhow!("{file}: {}", why.to_string().trim_end()))?;
        Ok(Pair { name, folder: folder.to_owned(), form })
    }

    /// The variables of a side.
    pub(crate) fn variables(&self, side: Side) -> &Variables {
        match side {
            Side::Slow => &self.form.slow,
            Side::Fast => &self.form.fast,
        }
    }

    /// Whether nothing changed that costs.
    pub(crate) fn is_innocent(&self) -> bool {
        self.form.truth.classes.is_empty()
    }

    /// What was installed for a side is used again as long as this is the same: the script, the variables, and the pair's other files.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub(crate) fn install_key(&self, side: Side) -> anyhow::Result<String> {
        let mut key = Key::new();
        key.add(self.form.scripts.install.as_deref().unwrap_or_default());
        key.add_variables(self.variables(side));
        self.add_files(&mut key)?;
        Ok(key.end())
    }

    /// A recording of a side is of this pair as long as this is the same. What the truth says is no part of it.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub(crate) fn record_key(&self, side: Side) -> anyhow::Result<String> {
        let mut key = Key::new();
        let Form { scripts, work, record, .. } = &self.form;
        scripts.each().for_each(|(name, text)| {
            key.add(name);
            key.add(text);
        });
        key.add_variables(self.variables(side));
        for text in [&work.tool, &work.count, &work.total, &work.tail_ms, &work.unit] {
            key.add(text.as_deref().unwrap_or_default());
        }
        key.add(match record.what {
            What::Serve => "serve",
            What::Load => "load",
            What::Machine => "machine",
        });
        record.options.iter().for_each(|option| key.add(option));
        self.add_files(&mut key)?;
        Ok(key.end())
    }

    fn add_files(&self, key: &mut Key) -> anyhow::Result<()> {
        let mut files = Vec::new();
        list(&self.folder, &mut files).with_context(|| self.folder.display().to_string())?;
        for file in files.iter().filter(|file| **file != self.folder.join(FILE)) {
            key.add(&file.strip_prefix(&self.folder).unwrap_or(file).display().to_string());
            key.add_bytes(&std::fs::read(file).with_context(|| file.display().to_string())?);
        }
        Ok(())
    }
}

/// All files below a folder, in order.
fn list(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_type()?.is_dir() {
            list(&entry.path(), into)?;
        } else {
            into.push(entry.path());
        }
    }
    Ok(())
}

/// SHA-256 of parts, each with its length, so that no two lists of parts have the same.
struct Key(Sha256);

impl Key {
    fn new() -> Self {
        Key(Sha256::new())
    }

    fn add(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn add_variables(&mut self, variables: &Variables) {
        for (name, value) in variables {
            self.add(name);
            self.add(&value.to_string());
        }
    }

    fn end(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All pairs of a folder by name, and what is wrong with the files that cannot be read.
///
/// # Errors
/// Where the folder cannot be read.
pub(crate) fn read_all(folder: &Path) -> anyhow::Result<(Vec<Pair>, Vec<String>)> {
    let (mut pairs, mut wrong) = (Vec::new(), Vec::new());
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let folder = entry?.path();
        if folder.is_dir() {
            match Pair::read(&folder) {
                Ok(pair) => pairs.push(pair),
                Err(why) => wrong.push(format!("{why:#}")),
            }
        }
    }
    pairs.sort_by(|a, b| a.name.cmp(&b.name));
    wrong.sort();
    Ok((pairs, wrong))
}

/// Which pairs are meant.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Chosen {
    /// Names of pairs; all of them without any
    pub(crate) names: Vec<String>,
    /// Only pairs of this set
    #[arg(long)]
    pub(crate) set: Option<Set>,
    /// Only pairs of this family
    #[arg(long)]
    pub(crate) family: Option<Family>,
}

impl Chosen {
    /// These of all pairs.
    ///
    /// # Errors
    /// Where a name is that of no pair, or a pair has another form.
    pub(crate) fn of(&self, folder: &Path) -> anyhow::Result<Vec<Pair>> {
        let (mut pairs, wrong) = read_all(folder)?;
        let is_meant = |name: &str| self.names.is_empty() || self.names.iter().any(|asked| asked == name);
        if let Some(wrong) = wrong.iter().find(|wrong| {
            let name = wrong.strip_prefix("field/").and_then(|rest| rest.split_once('/'));
            name.is_some_and(|(name, _)| is_meant(name))
        }) {
            bail!("{wrong}");
        }
        if let Some(name) = self.names.iter().find(|name| !pairs.iter().any(|pair| pair.name == **name)) {
            bail!("{name}: there is no field/{name}/{FILE}; `field list` lists the pairs");
        }
        pairs.retain(|pair| {
            is_meant(&pair.name)
                && self.set.is_none_or(|set| pair.form.set == Some(set))
                && self.family.is_none_or(|family| pair.form.family == family)
        });
        Ok(pairs)
    }

    /// Whether these are all pairs.
    pub(crate) fn is_all(&self) -> bool {
        self.names.is_empty() && self.set.is_none() && self.family.is_none()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Pairs for tests.

    use super::{FILE, Pair};
    use std::path::Path;

    /// The file of a pair that has all it needs.
    pub(crate) const WHOLE: &str = r#"
title = "a log on the disk"
family = "databases"
language = "C"
packages = ["postgresql"]

[slow]
SYNC = "on"
[fast]
SYNC = "off"

[scripts]
serve = "exec server $SYNC"
load = "bench"

[work]
count = '^done (\d+)'
unit = "transactions"

[record]
what = "serve"

[truth]
classes = ["sync-writes"]
names = ["fdatasync"]
effect = "mean"
why = "It waits."
sources = ["the manual"]
"#;

    /// A pair in this folder, with this file.
    pub(crate) fn pair(field: &Path, name: &str, text: &str) -> anyhow::Result<Pair> {
        let folder = field.join(name);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(FILE), text)?;
        Pair::read(&folder)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{WHOLE, pair};
    use super::*;

    #[test]
    fn unknown_keys_and_words_are_refused_with_file_and_key() {
        let field = tempfile::tempdir().unwrap();
        for (from, to, what) in [
            ("language", "lang", "unknown field `lang`"),
            ("serve = ", "start = ", "unknown field `start`"),
            ("unit = ", "units = ", "unknown field `units`"),
            ("what = \"serve\"", "what = \"all\"", "unknown variant `all`"),
            ("databases", "database", "unknown variant `database`"),
            ("effect = \"mean\"", "effect = \"mean\"\nset = \"tuned\"", "unknown field `set`"),
            ("why = \"It waits.\"", "", "missing field `why`"),
            ("load = ", "ready = ", "missing field `load`"),
        ] {
            let text = WHOLE.replacen(from, to, 1);
            let why = format!("{:#}", pair(field.path(), "a", &text).unwrap_err());
            assert!(why.starts_with("field/a/pair.toml: ") && why.contains(what), "{why}");
        }
        let text = WHOLE.replace("SYNC = \"on\"", "SYNC = \"on\"\nN = 4\nOFF = false");
        let pair = pair(field.path(), "a", &text).unwrap();
        assert_eq!((pair.form.slow["N"].to_string(), pair.form.slow["OFF"].to_string()), ("4".into(), "false".into()));
    }

    #[test]
    fn what_was_installed_and_recorded_is_known_by_what_it_is_made_of() {
        let field = tempfile::tempdir().unwrap();
        let whole = pair(field.path(), "a", WHOLE).unwrap();
        let keys =
            |pair: &Pair| Side::BOTH.map(|side| (pair.install_key(side).unwrap(), pair.record_key(side).unwrap()));
        let before = keys(&whole);
        assert_ne!(before[0], before[1]);
        let changed = |from: &str, to: &str| keys(&pair(field.path(), "a", &WHOLE.replacen(from, to, 1)).unwrap());
        // What the truth says, the title and the set are no part of what is recorded.
        assert_eq!(changed("It waits.", "It waits long."), before);
        assert_eq!(changed("language", "set = \"held\"\nlanguage"), before);
        let load = changed("load = \"bench\"", "load = \"bench -c 2\"");
        assert!(load[0].0 == before[0].0 && load[0].1 != before[0].1);
        let side = changed("SYNC = \"on\"", "SYNC = \"local\"");
        assert!(side[0].0 != before[0].0 && side[1] == before[1]);
        std::fs::create_dir(field.path().join("a/rust")).unwrap();
        std::fs::write(field.path().join("a/rust/main.rs"), "fn main() {}").unwrap();
        let after = keys(&whole);
        assert!(after[0].0 != before[0].0 && after[1].1 != before[1].1);
    }
}
