//! That a summary says what `compare` says: on real recordings, each metric that a comparison lists has in the summaries of the two recordings the
//! very means that the comparison is of. And what a folder does with what is there, cut off, or damaged.

use compare::{Choice, Options, Per, compare};
use fleet::folder::{METRIC, PROCESS, RECORDING};
use fleet::{Fleet, Folder, add};
use std::path::PathBuf;

/// The two recordings of a pair of the corpus, in a folder that lives as long as what comes first.
fn pair(name: &str) -> (tempfile::TempDir, [PathBuf; 2]) {
    let pairs = corpus::pairs(&corpus::folder()).unwrap();
    let pair = pairs.iter().find(|pair| pair.name == name).unwrap();
    let dir = pair.unpack().unwrap();
    let files = ["fast", "slow"].map(|side| dir.path().join(format!("{side}.twin")));
    (dir, files)
}

fn folder(dir: &tempfile::TempDir) -> Folder {
    Folder::open_or_make(&dir.path().join("fleet")).unwrap()
}

#[test]
fn a_summary_has_the_means_that_a_comparison_is_of() {
    for name in ["chatty-log", "byte-reader", "batch-queue"] {
        let (dir, files) = pair(name);
        let folder = folder(&dir);
        let report = add(&folder, &files, &Choice::Auto, &|_| {}).unwrap();
        assert_eq!(report.reduced(), 2, "{:?}", report.files);
        let runs = query::open(&files).unwrap();
        // Whatever it is sure of.
        let options = Options { least_change: 0.0, false_discovery: 1.0, ..Options::default() };
        let comparison = compare(&runs, &options).unwrap();
        let mut fleet = Fleet::load(&folder, &[]).unwrap();
        let place = |run: usize| {
            let id = fleet::summary::id(runs[run].recording.manifest(), &runs[run].name);
            fleet.recordings.iter().position(|of| of.id == id).unwrap()
        };
        let places = [place(0), place(1)];
        let metrics = fleet.metrics(None).unwrap();
        let mut held = 0;
        for difference in comparison.differences.iter().filter(|d| !d.metric.starts_with("latency.")) {
            let labels = serde_json::to_string(&difference.labels).unwrap();
            let per_operation = difference.per == Per::Operation;
            let found = metrics.iter().find(|m| {
                *m.key.metric == *difference.metric && *m.key.labels == *labels && m.key.per_operation == per_operation
            });
            let Some(metric) = found else { panic!("{name}: no {} {labels}", difference.metric) };
            for (place, value) in places.into_iter().zip([difference.baseline, difference.other]) {
                let found = metric.mean[place];
                let near = (found - value).abs() <= 1e-9 * value.abs().max(1e-12);
                assert!(near, "{name}: {} {labels}: {found} in the summary, {value} compared", difference.metric);
            }
            held += 1;
        }
        assert!(held > 15, "{name}: {held} metrics were held against each other");
        // The pace leads, and is among them.
        assert!(metrics.iter().any(|m| &*m.key.metric == fleet::summary::DONE), "{name}: no pace");
    }
}

#[test]
fn what_is_there_is_passed_over_whatever_it_is_called() {
    let (dir, [fast, slow]) = pair("chatty-log");
    let folder = folder(&dir);
    let other = dir.path().join("copy.twin");
    std::fs::copy(&fast, &other).unwrap();
    let missing = dir.path().join("missing.twin");
    // The name of a recording is that of its manifest, so that a copy is the same.
    let all = [fast.clone(), slow, other, missing];
    let report = add(&folder, &all, &Choice::Auto, &|_| {}).unwrap();
    assert_eq!((report.reduced(), report.known(), report.files.len()), (2, 1, 4), "{:?}", report.files);
    let again = add(&folder, &[fast], &Choice::Auto, &|_| {}).unwrap();
    assert_eq!((again.reduced(), again.known()), (0, 1));
    assert_eq!(Fleet::load(&folder, &[]).unwrap().len(), 2);
    // Rows of all datasets are of the two.
    let session = fleet::sql::Session::new(&folder).unwrap();
    for dataset in ["metric", "fact", "slice"] {
        let mut counted = None;
        let sql = format!("select count(distinct id) from {dataset}");
        let answered = session.ask(&sql, |_, rows| -> Result<(), query::Error> {
            counted = rows.next().transpose()?.and_then(|row| row.first().cloned());
            Ok(())
        });
        answered.unwrap();
        assert_eq!(counted, Some(query::sql::Value::Integer(2)), "{dataset}");
    }
}

#[test]
fn what_a_cut_off_add_left_is_not_there_and_damage_is_named() {
    let (dir, [fast, slow]) = pair("chatty-log");
    let folder = folder(&dir);
    add(&folder, &[fast], &Choice::Auto, &|_| {}).unwrap();
    add(&folder, &[slow], &Choice::Auto, &|_| {}).unwrap();
    let parts = folder.parts(&METRIC).unwrap();
    assert_eq!(parts.len(), 2);
    // As if it had been ended before the last rename: the recordings are not named.
    let second = folder.parts(&RECORDING).unwrap().pop().unwrap();
    std::fs::rename(&second, second.with_extension("unfinished")).unwrap();
    assert_eq!(folder.parts(&METRIC).unwrap().len(), 1);
    let mut fleet = Fleet::load(&folder, &[]).unwrap();
    assert_eq!(fleet.len(), 1);
    assert!(fleet.metrics(None).unwrap().iter().all(|m| m.mean.len() == 1));
    // A part that is cut short is named, and the rest is read.
    std::fs::rename(second.with_extension("unfinished"), &second).unwrap();
    let bytes = std::fs::read(&parts[1]).unwrap();
    for kept in [0, 4, 100, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&parts[1], &bytes[..kept]).unwrap();
        let mut fleet = Fleet::load(&folder, &[]).unwrap();
        let metrics = fleet.metrics(None).unwrap();
        assert_eq!(fleet.len(), 2);
        assert!(!metrics.is_empty());
        assert!(fleet.damage.iter().any(|damage| damage.path == parts[1]), "{kept}: {:?}", fleet.damage);
    }
}

/// A folder of which a part is gone names that, and what to do.
#[test]
fn a_part_of_a_folder_that_is_gone_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open_or_make(&dir.path().join("fleet")).unwrap();
    let gone = folder.path().join("process");
    std::fs::remove_dir(&gone).unwrap();
    for make in [|_: &std::path::Path| (), |path: &std::path::Path| std::fs::write(path, "x").unwrap()] {
        make(&gone);
        let error = folder.parts(&PROCESS).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{}: ", gone.display())) && error.contains("twinscope fleet add NEW"),
            "{error}"
        );
    }
}

#[test]
fn folders_of_others_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "years of work").unwrap();
    let error = Folder::open_or_make(dir.path()).unwrap_err().to_string();
    assert!(error.contains("name an empty folder"), "{error}");
    let newer = dir.path().join("newer");
    std::fs::create_dir(&newer).unwrap();
    std::fs::write(newer.join("fleet.json"), "{\"format\": 7}").unwrap();
    assert!(Folder::open(&newer).unwrap_err().to_string().contains("use a newer twinscope"));
    for text in ["", "{", "[]", "{\"format\": \"x\"}"] {
        std::fs::write(newer.join("fleet.json"), text).unwrap();
        assert!(Folder::open(&newer).unwrap_err().to_string().contains("not a folder of summaries"), "{text}");
    }
    assert!(Folder::open(&dir.path().join("nowhere")).is_err());
}
