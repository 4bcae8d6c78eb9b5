//! Folders of summaries: fleet.json of any bytes, and parts of any bytes, or sound ones with some bytes replaced. All is asked of the folder that is
//! asked of any: damage must be said, never end the program.
#![no_main]

use fleet::folder::{DATASETS, Dataset, Folder};
use fleet::{Fleet, Question, ask};
use libfuzzer_sys::fuzz_target;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A sound folder of the recording that all targets damage, under eight names.
struct Sound {
    about: Vec<u8>,
    /// By dataset: the bytes of its part.
    parts: Vec<(&'static Dataset, Vec<u8>)>,
}

fn part(folder: &Path, dataset: &Dataset) -> PathBuf {
    folder.join(dataset.name).join("part-0.parquet")
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let path = common::FOLDER.path().join("sound");
    let folder = Folder::open_or_make(&path).expect("a folder");
    std::fs::write(common::damaged(), &*common::FINISHED).expect("room for a small file");
    let mut rows = fleet::summary::Rows::default();
    for host in 0..8 {
        let recording = store::Recording::open(&common::damaged()).expect("a sound recording");
        let run = query::Run { name: format!("h{host}"), recording, stretch: None };
        let mut comparer = query::stats::Comparer::default();
        fleet::summary::reduce(&run, "x.twin", &compare::Choice::Auto, &mut comparer, &mut rows)
            .expect("it is reduced");
    }
    folder.add(&rows).expect("room for it");
    let one = |dataset: &&'static Dataset| {
        let part = folder.parts(dataset).expect("a list").pop()?;
        Some((*dataset, std::fs::read(part).expect("a part")))
    };
    let parts = DATASETS.iter().filter_map(one).collect();
    Sound { about: std::fs::read(path.join("fleet.json")).expect("fleet.json"), parts }
});

/// Puts the sound folder to where the fuzzed one is.
fn fresh() -> PathBuf {
    let path = common::FOLDER.path().join("fleet");
    for dataset in DATASETS {
        std::fs::create_dir_all(path.join(dataset.name)).expect("a folder");
    }
    std::fs::write(path.join("fleet.json"), &SOUND.about).expect("fleet.json");
    for (dataset, bytes) in &SOUND.parts {
        std::fs::write(part(&path, dataset), bytes).expect("a part");
    }
    path
}

static FRESH: LazyLock<PathBuf> = LazyLock::new(fresh);

/// Everything that a reader of the folder does; questions of bands now and then, since they take long.
fn read_all(path: &Path, questions: bool) {
    let Ok(folder) = Folder::open(path) else { return };
    let Ok(mut fleet) = Fleet::load(&folder, &[]) else { return };
    let _ = fleet.declared();
    let _ = fleet.facts();
    let _ = fleet.places();
    let _ = fleet.starts();
    for metric in fleet.metrics(None).unwrap_or_default().iter().take(4) {
        let _ = fleet.courses(&metric.key);
    }
    if questions {
        let _ = ask(fleet, &Question { within: Some("kernel.release".into()), ..Question::default() });
    }
}

fuzz_target!(init: common::tolerate_parquet(), |data: &[u8]| {
    let path = &*FRESH;
    let &[which, how, ref rest @ ..] = data else { return };
    let Some((dataset, whole)) = SOUND.parts.get(usize::from(which) % (SOUND.parts.len() + 1)) else {
        let about = path.join("fleet.json");
        std::fs::write(&about, rest).expect("room for a small file");
        read_all(path, false);
        std::fs::write(&about, &SOUND.about).expect("room for a small file");
        return;
    };
    let bytes = if how % 4 == 0 {
        rest.to_vec()
    } else {
        // Pairs of a place and a byte.
        let mut bytes = whole.clone();
        for change in rest.chunks_exact(3) {
            if let &[a, b, value] = change {
                let at = usize::from(u16::from_le_bytes([a, b])) % bytes.len();
                bytes[at] = value;
            }
        }
        bytes
    };
    let part = part(path, dataset);
    std::fs::write(&part, bytes).expect("room for a small file");
    read_all(path, how >= 240);
    std::fs::write(&part, whole).expect("room for a small file");
});
