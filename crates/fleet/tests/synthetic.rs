//! That hosts which never were are the same hosts however they are written: as summaries, or as recordings that are reduced to such.

#[path = "../examples/synthetic/draw.rs"]
mod draw;
#[path = "../examples/synthetic/recordings.rs"]
mod recordings;
#[path = "../examples/synthetic/summaries.rs"]
mod summaries;

use compare::Choice;
use fleet::{Folder, Question, add, ask};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The bands of each banding by host, and how many lines separate them.
fn bands(folder: &Path) -> (BTreeMap<String, Option<usize>>, usize) {
    let folder = Folder::open(folder).unwrap();
    let fleet = fleet::Fleet::load(&folder, &[]).unwrap();
    let answer = ask(fleet, &Question::default()).unwrap();
    let group = &answer.groups[0];
    assert_eq!(group.bandings.len(), 1, "by the pace alone");
    let of = group.recordings.iter().zip(&group.bandings[0].of);
    (of.map(|(recording, band)| (recording.host.clone(), *band)).collect(), group.bandings[0].separated[0].lines.len())
}

#[test]
fn recordings_and_summaries_of_the_same_hosts_fall_into_the_same_bands() {
    let drawn = draw::Fleet { hosts: 128, metrics: 61, banded: true, seed: 3 };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { dir.path().join(name) };
    summaries::write(&drawn, &path("direct")).unwrap();
    recordings::write(&drawn, &path("all")).unwrap();
    let files: Vec<PathBuf> = (0..drawn.hosts).map(|host| path(&format!("all/host-{host:05}.twin"))).collect();
    let report = add(&Folder::open_or_make(&path("added")).unwrap(), &files, &Choice::Auto, &|_| {}).unwrap();
    assert_eq!(report.reduced(), drawn.hosts, "{:?}", report.files);
    let (direct, added) = (bands(&path("direct")), bands(&path("added")));
    let fast: Vec<(String, Option<usize>)> =
        drawn.hosts().map(|host| (host.name, Some(usize::from(host.pace < 2000.0)))).collect();
    // A slow host that strays is in no band, both ways.
    let known = fast.iter().filter(|(host, _)| direct.0[host].is_some());
    assert!(known.clone().count() >= 126 && known.clone().all(|(host, band)| direct.0[host] == *band), "{direct:?}");
    assert_eq!(direct.0, added.0);
    // Two of the true metrics are among so few; both ways tell them.
    assert!(direct.1 >= 2 && added.1 >= 2, "{} and {}", direct.1, added.1);
}
