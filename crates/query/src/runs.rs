//! The recordings that a question is about, each under a name of its own.

use crate::Error;
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
}

/// Opens recordings, in this order, under unique names.
///
/// # Errors
/// That of the first file that is no recording or cannot be read.
pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<Run>, Error> {
    let mut taken = HashSet::new();
    let mut runs = Vec::with_capacity(paths.len());
    for path in paths {
        let recording = Recording::open(path.as_ref())?;
        let mut base = recording.manifest().name.trim().to_owned();
        if base.is_empty() {
            base = path.as_ref().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        let name = unique(&base, &mut taken);
        runs.push(Run { name, recording });
    }
    Ok(runs)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut taken = HashSet::new();
        let names = ["a", "a#2", "a", "a", "b"].map(|n| unique(n, &mut taken));
        assert_eq!(names, ["a", "a#2", "a#3", "a#4", "b"]);
    }
}
