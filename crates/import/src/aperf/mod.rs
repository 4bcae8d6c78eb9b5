//! Recordings of APerf (`aperf record`, github.com/aws/aperf, 0.1.15 to 1.3): an archive, its folder, or one of its files beside the others. Most files are one
//! record after another: which kind, the time, the text of a file of `/proc`. Each text is replayed to our own readers (`replay.rs`), so that the tables are
//! those of a recording; counters are read by `counts/aperf.rs`, a profile as any other.

mod record;
#[cfg(feature = "replay")]
mod replay;

pub(crate) use record::Records;

use crate::counts::{self, archive};
use crate::profile::Profile;
use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

/// Files of a run whose content is a profile, by the beginnings of their names.
const PROFILES: [&str; 3] = ["raw_perf_cpu_profile", "perf_profile", "perf.data"];

/// The files of a run, by name.
#[derive(Debug, Default)]
pub(crate) struct Files<'a> {
    files: Vec<(String, Cow<'a, [u8]>)>,
}

impl Files<'_> {
    /// The content of the first file whose name is one of these words, with a time behind it or not, and ends in `.bin`.
    pub(crate) fn kind(&self, words: &[&str]) -> Option<&[u8]> {
        let is_of = |name: &str| {
            let stem = name.strip_suffix(".bin")?;
            let rest = words.iter().find_map(|word| stem.strip_prefix(word))?;
            (rest.is_empty() || rest.starts_with('_')).then_some(())
        };
        self.files.iter().find(|(name, _)| is_of(name).is_some()).map(|(_, content)| &**content)
    }

    /// The content of the file of this name.
    pub(crate) fn named(&self, own: &str) -> Option<&[u8]> {
        self.files.iter().find(|(name, _)| name == own).map(|(_, content)| &**content)
    }
}

/// Whether it is a file of a run: its first record has a time, and texts.
pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let mut records = Records::of(bytes);
    matches!(records.next(), Some((at, text)) if at > 0 && !text.is_empty())
}

/// Reads an archive.
pub(crate) fn read_archive(bytes: &[u8], profile: &mut Profile) -> Result<(), String> {
    let files = archive::files(bytes);
    let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    read(
        &Files { files: files.into_iter().map(|(name, content)| (last(&name), Cow::from(content))).collect() },
        profile,
    )
}

/// Reads a folder.
pub(crate) fn read_folder(folder: &Path, profile: &mut Profile) -> Result<(), String> {
    let names = std::fs::read_dir(folder).map_err(|why| why.to_string())?;
    let mut names: Vec<String> = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let wanted = |name: &str| {
        name.ends_with(".bin") || name == "pmu_config.json" || PROFILES.iter().any(|start| name.starts_with(start))
    };
    let mut files = Vec::new();
    for name in names.into_iter().filter(|name| wanted(name)) {
        let path = folder.join(&name);
        match files::foreign::read(&path, profile.options.limit) {
            Ok(content) => files.push((name, Cow::from(content))),
            Err(why) => profile.note(format!("{name}: {why}; it is left out")),
        }
    }
    read(&Files { files }, profile)
}

/// Reads a file of a run, and what lies beside it.
pub(crate) fn read_beside(path: &Path, profile: &mut Profile) -> Result<(), String> {
    read_folder(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")), profile)
}

fn read(files: &Files<'_>, profile: &mut Profile) -> Result<(), String> {
    let counted = counts::aperf::read(files, profile);
    #[cfg(feature = "replay")]
    let replayed = replay::replay(files, profile)?;
    #[cfg(not(feature = "replay"))]
    let replayed = false;
    let sampled = samples(files, profile);
    if !counted && !replayed && !sampled {
        let notes = profile.notes();
        let why = notes.first().map_or(String::new(), |note| format!(" ({note})"));
        return Err(format!(
            "no file of a run of APerf that holds anything (cpu_utilization, vmstat, perf_stat …){why}"
        ));
    }
    if !counted {
        profile.note("no counters of the CPU (perf_stat): APerf found none, or was not asked");
    }
    Ok(())
}

/// Reads the profile of a run. Its clock is another than that of the other files: it began with them.
fn samples(files: &Files<'_>, profile: &mut Profile) -> bool {
    let is_profile = |file: &&(String, Cow<'_, [u8]>)| {
        PROFILES.iter().any(|start| file.0.starts_with(start)) && file.1.starts_with(b"PERFILE2")
    };
    let Some((name, content)) = files.files.iter().find(is_profile) else { return false };
    let before = profile.samples.len();
    if let Err(why) = crate::perf::read(&mut Cursor::new(&**content), profile) {
        profile.note(format!("{name}: {why}"));
    }
    let own = profile.samples.get_mut(before..).unwrap_or_default();
    let Some(first) = own.iter().map(|sample| sample.at).min() else { return false };
    if let Some(start) = profile.start {
        let later = start.saturating_sub(first);
        own.iter_mut().for_each(|sample| sample.at = sample.at.saturating_add(later));
        profile.note(
            "the profile's clock is another than that of the other files: its first sample is laid where they begin",
        );
    }
    true
}

#[cfg(test)]
mod tests;
