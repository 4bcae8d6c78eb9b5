//! Runs of APerf of both ends of its versions, replayed, and damaged ones.

use super::*;
use crate::{Format, Options};
use proptest::prelude::*;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/imports/aperf").join(name)
}

fn imported(name: &str) -> (Format, Profile) {
    crate::tests::read_path(&fixture(name), &Options { symbols: false, ..Options::default() }).unwrap()
}

/// Sums over the rows of a table by time, of a column.
fn sums(profile: &Profile, table: &str, column: &str) -> i64 {
    profile
        .table(table)
        .iter()
        .flat_map(|row| {
            row.iter().filter(|(name, cell)| *name == column && *cell != model::NULL).map(|(_, cell)| *cell)
        })
        .sum()
}

#[test]
fn runs_of_old_and_new_versions_have_the_tables_of_recordings() {
    for (name, ticks) in [("aperf-0.1.15.tar.gz", 6), ("aperf-1.3.0.tar.gz", 6)] {
        let (format, profile) = imported(name);
        assert_eq!(format, Format::Aperf);
        let rows = |table: &str| profile.events().iter().find(|(own, _)| *own == table).map_or(0, |(_, rows)| *rows);
        assert_eq!(rows("cpu"), 2 * ticks, "{name}: {:?}", profile.events());
        assert_eq!(rows("kernel"), ticks, "{name}");
        for table in ["vmstat", "meminfo", "disks", "interrupts"] {
            assert!(rows(table) >= ticks, "{name} {table}: {:?}", profile.events());
        }
        assert!(sums(&profile, "cpu", "user") > 0, "{name}");
        assert!((4..7).contains(&(profile.manifest.duration.unwrap() / 1_000_000_000)), "{name}");
        assert_eq!(profile.manifest.interval, 1_000_000_000, "{name}");
        assert!(profile.manifest.kernel.starts_with("6.18"), "{name}");
        // What APerf does not record is said.
        assert!(
            profile
                .missing
                .iter()
                .any(|coverage| coverage.source == "threads" && coverage.status == model::Status::Absent)
        );
    }
}

#[test]
fn what_is_cut_short_is_kept_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("aperf-1.3.0.tar.gz")).unwrap();
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(whole.as_slice()), &mut plain).unwrap();
    for (name, content) in archive::files(&plain) {
        let last = name.rsplit('/').next().unwrap();
        let cut = if last == "cpu_utilization.bin" { content.len() - 10 } else { content.len() };
        std::fs::write(folder.path().join(last), &content[..cut]).unwrap();
    }
    let (_, profile) = crate::tests::read_path(folder.path(), &Options::default()).unwrap();
    let notes = profile.notes().join("\n");
    assert!(notes.contains("cpu_utilization.bin: ") && notes.contains("the 5 records before are kept"), "{notes}");
    // One of its files stands for all.
    let (_, again) = crate::tests::read_path(&folder.path().join("vmstat.bin"), &Options::default()).unwrap();
    assert_eq!(again.events(), profile.events());
    let empty = tempfile::tempdir().unwrap();
    let error = crate::tests::read_path(empty.path(), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("no file of a run of APerf"), "{error}");
}

#[test]
fn it_is_a_recording_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("x.twin");
    crate::import(&crate::tests::input_of(&fixture("aperf-1.3.0.tar.gz")), &output, false, &Options::default())
        .unwrap();
    let recording = store::Recording::open(&output).unwrap();
    assert!(recording.damage().is_empty());
    assert!(recording.sources().iter().any(|source| source.0 == "cpu"));
    let frame = recording.load("cpu", &store::Select::default()).unwrap();
    assert_eq!((frame.ticks.len(), frame.entities.len()), (6, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_run_panics(name in prop::sample::select(vec!["cpu_utilization", "vmstat", "diskstats", "interrupts", "meminfo", "netstat", "memalloc", "numastat", "perf_stat"]), texts in prop::collection::vec("[a-z0-9: \n-]{0,80}", 1..6), cut in 0..40_usize) {
        let mut bytes = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            bytes.extend(0_u64.to_le_bytes());
            bytes.extend(20_u64.to_le_bytes());
            bytes.extend(format!("2026-01-30T08:25:{at:02}Z").bytes());
            for _ in 0..(if name == "memalloc" { 3 } else { 1 }) {
                bytes.extend((text.len() as u64).to_le_bytes());
                bytes.extend(text.bytes());
            }
        }
        bytes.truncate(bytes.len() - cut.min(bytes.len()));
        let mut profile = Profile::new(Options::default());
        let files = Files { files: vec![(format!("{name}.bin"), bytes.into())] };
        let _ = read(&files, &mut profile);
    }
}
