//! `record --rotate`: what an earlier recorder left at the name of the recording is finished and kept under another one, so that a service that
//! starts again loses nothing.

use crate::program::say;
use crate::trigger::utc;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use store::Recording;

/// Moves a recording that exists to NAME-TIME.twin, the time being that of its start, and removes the oldest of such files beyond `most`.
///
/// # Errors
/// Where it cannot be moved, or its recorder still runs.
pub(crate) fn rotate(path: &Path, most: usize) -> Result<()> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
    // Not open any more when it is closed: that wants to be alone with it.
    let unfinished = Recording::open(path).map(|recording| recording.is_unfinished());
    let closed = unfinished.and_then(|unfinished| if unfinished { store::close(path) } else { Ok(()) });
    // What is damaged, or is no recording, is kept as it is.
    match closed {
        Err(why @ store::Error::InUse { .. }) => return Err(anyhow::Error::new(why).context("--rotate")),
        Err(why) => say!("twinscope: --rotate: {why}; it is kept as it is"),
        Ok(()) => {}
    }
    let start = Recording::open(path).ok().map(|recording| recording.manifest().start_unix / 1_000_000_000);
    let changed = || {
        let time = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(time.as_secs()).ok()
    };
    let time = utc(start.filter(|start| *start > 0).or_else(changed).unwrap_or(0));
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let free = |number: u32| {
        let more = if number == 0 { String::new() } else { format!(".{number}") };
        path.with_file_name(format!("{stem}-{time}{more}.twin"))
    };
    let to = (0..).map(free).find(|to| to.symlink_metadata().is_err()).unwrap_or_else(|| path.with_extension("old"));
    files::rename_new(path, &to).with_context(|| format!("{} cannot be kept as {}", path.display(), to.display()))?;
    for ending in ["-wal", "-shm"] {
        let with = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        if with(path).exists() {
            files::rename_new(&with(path), &with(&to)).with_context(|| format!("{}", with(path).display()))?;
        }
    }
    say!("twinscope: the recording of before is kept as {}", to.display());
    forget(path, &stem, most);
    Ok(())
}

/// Removes the oldest that were kept, beyond `most`.
fn forget(path: &Path, stem: &str, most: usize) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let is_kept = |name: &str| {
        let time = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".twin"));
        time.is_some_and(|time| {
            time.len() >= 16 && time.chars().all(|c| c.is_ascii_digit() || matches!(c, 'T' | 'Z' | '.'))
        })
    };
    let mut kept: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_kept))
        .map(|entry| entry.path())
        .collect();
    kept.sort_unstable();
    for old in kept.iter().take(kept.len().saturating_sub(most)) {
        match std::fs::remove_file(old) {
            Ok(()) => say!("twinscope: removed {}, the oldest recording of before (--rotate)", old.display()),
            Err(why) => say!("twinscope: {}: cannot be removed: {why}", old.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_is_kept_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flight.twin");
        rotate(&path, 2).unwrap();
        for old in ["flight-20200101T000000Z.twin", "flight-20200102T000000Z.twin", "flight-20200102T000000Z-busy.twin"]
        {
            std::fs::write(folder.path().join(old), "old").unwrap();
        }
        std::fs::write(&path, "not even a recording").unwrap();
        rotate(&path, 2).unwrap();
        let mut names: Vec<String> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names.len(), 3, "{names:?}");
        assert_eq!(names[0], "flight-20200102T000000Z-busy.twin");
        assert_eq!(names[1], "flight-20200102T000000Z.twin");
        assert!(!path.exists() && names[2].starts_with("flight-2"));
    }
}
