//! Names for code that had none where it was recorded: a recording keeps the build id of each file and the address in it, and here the file, or the one with
//! its debug information, may be at hand.

use crate::symbols::{Elf, debug_files};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Files looked at in the folders that were named, at most.
const MOST_FILES: usize = 100_000;

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Places in code that had no name.
    pub unnamed: usize,
    /// Of those, the ones that have one now.
    pub named: usize,
    /// The files of the others, and why they have none; most places first.
    pub left: Vec<Left>,
}

/// A file in which places have no name.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    /// Its path where it was recorded.
    pub module: String,
    /// Its build id; empty where it has none.
    pub build_id: String,
    /// How many places.
    pub places: usize,
    /// Why.
    pub why: String,
}

/// ELF files by their build ids.
#[derive(Debug, Default)]
struct Shelf {
    paths: HashMap<String, Vec<PathBuf>>,
    open: HashMap<(String, String), Result<Elf, String>>,
}

impl Shelf {
    /// All ELF files with a build id among these files and below these folders.
    fn of(places: &[PathBuf]) -> Result<Self, crate::Error> {
        let mut shelf = Shelf::default();
        let mut next: Vec<PathBuf> = Vec::new();
        for place in places {
            let found = std::fs::metadata(place);
            found.map_err(|why| crate::Error::Io { path: place.clone(), why })?;
            next.push(place.clone());
        }
        let mut seen = 0;
        while let Some(path) = next.pop() {
            // Links into folders could lead round in circles; those to files are taken.
            if path.is_dir() && (places.contains(&path) || !path.is_symlink()) {
                let inside = std::fs::read_dir(&path).into_iter().flatten().flatten();
                next.extend(inside.map(|entry| entry.path()));
            } else if path.is_file() && seen < MOST_FILES {
                seen += 1;
                if let Some(build_id) = Elf::build_id(&path) {
                    shelf.paths.entry(build_id).or_default().push(path);
                }
            }
        }
        Ok(shelf)
    }

    /// The file of a module, or the one of its symbols.
    fn get(&mut self, module: &str, build_id: &str) -> &Result<Elf, String> {
        let Shelf { paths, open } = self;
        open.entry((module.to_owned(), build_id.to_owned())).or_insert_with(|| {
            if build_id.is_empty() {
                return Err("it has no build id, so that no file can be told to be the same".into());
            }
            let named = paths.get(build_id).cloned().unwrap_or_default();
            let mut why =
                "no file with this build id; name a folder that holds it, or its debug file, by --debug".to_owned();
            // What has most functions: a stripped file beside its debug file has few.
            let mut best: Option<Elf> = None;
            for path in named.into_iter().chain([PathBuf::from(module)]).chain(debug_files(build_id)) {
                match Elf::open(&path, build_id) {
                    Ok(elf) if best.as_ref().is_none_or(|b| b.functions() < elf.functions()) => best = Some(elf),
                    Ok(_) => {}
                    Err(error) if path.exists() => why = format!("{}: {error}", path.display()),
                    Err(_) => {}
                }
            }
            best.ok_or(why)
        })
    }
}

/// Names the places of a recording that have no name, by the programs and debug files of this machine and those in `debug`: files, and folders that are looked
/// through. The recording is changed in place.
///
/// # Errors
/// Where a file or folder of `debug` is not there, or the recording cannot be read or changed.
pub fn resolve(recording: &Path, debug: &[PathBuf]) -> Result<Resolved, crate::Error> {
    let mut shelf = Shelf::of(debug)?;
    let mut resolved = Resolved::default();
    let mut left: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
    store::amend(recording, "frame", |rows| {
        let mut changed = false;
        for row in 0..rows.len() {
            let (None, Some(module)) = (rows.text("function", row), rows.text("module", row)) else { continue };
            // Code that a program made itself, and the kernel's, lies in no file.
            if module.starts_with('[') || !rows.stands(row) {
                continue;
            }
            resolved.unnamed += 1;
            let (module, build_id) = (module.to_owned(), rows.text("build_id", row).unwrap_or_default().to_owned());
            let found = match (shelf.get(&module, &build_id), u64::try_from(rows.number("offset", row))) {
                (Ok(elf), Ok(address)) => elf.name(address).map(str::to_owned).ok_or("it has no symbol there"),
                (Ok(_), Err(_)) => Err("the place in it was not recorded"),
                (Err(why), _) => Err(why.as_str()),
            };
            match found {
                Ok(name) => {
                    rows.set_text("function", row, &name);
                    resolved.named += 1;
                    changed = true;
                }
                Err(why) => {
                    let why = why.to_owned();
                    left.entry((module, build_id)).or_insert((0, why)).0 += 1;
                }
            }
        }
        changed
    })?;
    let as_left = |((module, build_id), (places, why))| Left { module, build_id, places, why };
    resolved.left = left.into_iter().map(as_left).collect();
    resolved.left.sort_by(|a, b| b.places.cmp(&a.places).then_with(|| a.module.cmp(&b.module)));
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Manifest;
    use query::testing;
    use store::{Recording, Select};

    #[test]
    fn places_are_named_by_the_file_with_their_build_id() {
        let own = std::env::current_exe().unwrap();
        let Some(build_id) = Elf::build_id(&own) else {
            eprintln!("SKIPPED: resolving by build id: this linker writes none");
            return;
        };
        let (address, name) = Elf::open(&own, &build_id).unwrap().first_function("named_by_the_file").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.twin");
        let frames = format!(
            "t number function module            build_id   offset    source kind
             0 0      -        /srv/gone/program {build_id} {address} -      -
             0 1      -        /srv/gone/program 00ff       64        -      -
             0 2      -        /srv/gone/no-id   -          64        -      -
             0 3      -        [jit]             -          -         -      -"
        );
        testing::write(&path, &Manifest::default(), &[(&testing::FRAME, &frames)]);

        // Without the file there is nothing to go by.
        let none = resolve(&path, &[]).unwrap();
        assert_eq!((none.unnamed, none.named, none.left.len()), (3, 0, 3));
        assert!(none.left.iter().any(|l| l.why.contains("--debug")), "{:?}", none.left);
        assert!(resolve(&path, &[folder.path().join("nowhere")]).is_err());

        std::os::unix::fs::symlink(&own, folder.path().join("a program of another name")).unwrap();
        let some = resolve(&path, &[folder.path().to_owned()]).unwrap();
        assert_eq!((some.unnamed, some.named), (3, 1));
        let recording = Recording::open(&path).unwrap();
        let frame = recording.load("frame", &Select::default()).unwrap();
        assert_eq!(frame.symbols.text(frame.column("function").unwrap()[0]), Some(name.as_str()));
        assert!(recording.damage().is_empty());
        assert_eq!(resolve(&path, &[]).unwrap().unnamed, 2, "a name stays");
    }
}
