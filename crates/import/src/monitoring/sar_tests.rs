//! What sadf of several versions printed, binary files, and slips of old writers.

use super::Asked;
use super::tests::{ask, fixture, of_texts, read, written};
use proptest::prelude::*;

#[test]
fn json_of_ten_years_of_versions() {
    for (version, reads) in [("10.1.5", 3), ("11.0.4", 3), ("11.6.5", 3), ("12.6.1", 4), ("12.7.9", 3)] {
        let folder = tempfile::tempdir().unwrap();
        let monitored = read(&[fixture(&format!("sar/{version}.json.gz"))], &Asked::default()).unwrap().unwrap();
        assert_eq!(monitored.format, crate::Format::Sar);
        assert_eq!(monitored.hosts().collect::<Vec<_>>(), ["vm"], "{version}");
        assert!(monitored.notes.is_empty(), "{version}: {:?}", monitored.notes);
        let written = written(monitored, folder.path());
        let path = &written[0].path;
        let seen = ask(path, "select count(distinct t), count(distinct cpu), max(idle) <= 100 from sar_cpu_load");
        assert_eq!(seen, [format!("{reads} 3 1")], "{version}");
        assert_eq!(ask(path, "select count(*) > 0 from sar_net_dev where iface = 'lo'"), ["1"], "{version}");
        assert_eq!(ask(path, "select count(bread) > 0 from sar_io"), ["1"], "{version}");
        let recording = store::Recording::open(path).unwrap();
        assert_eq!(recording.manifest().cpus, 2, "{version}");
        assert!(recording.manifest().kernel.starts_with("6.18"), "{version}");
    }
}

#[test]
fn a_binary_file_is_for_sadf() {
    let path = fixture("sar/sa-12.6.1");
    let read = |path: &std::path::Path| read(&[path.to_owned()], &Asked::default());
    if std::process::Command::new("sadf").arg("-V").output().is_err() {
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("needs sadf of sysstat") && error.contains("sadf -j "), "{error}");
        eprintln!("SKIPPED: a binary file of sar is not read: there is no sadf (package sysstat)");
        return;
    }
    match read(&path) {
        Ok(monitored) => {
            let folder = tempfile::tempdir().unwrap();
            let written = written(monitored.unwrap(), folder.path());
            assert!(written[0].tables > 10);
        }
        // One of another version or machine.
        Err(why) => assert!(why.to_string().contains("cannot read") && why.to_string().contains("sadf -j "), "{why}"),
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let cut = folder.path().join("sa01");
    std::fs::write(&cut, &whole[..100]).unwrap();
    let error = read(&cut).unwrap_err().to_string();
    assert!(
        error.contains("sa01: a binary file of sar that the sadf here cannot read") && error.lines().count() == 1,
        "{error}"
    );
}

#[test]
fn slips_of_old_versions_are_read_over_and_said() {
    let folder = tempfile::tempdir().unwrap();
    // sysstat#12 and #130: commas that are missing, too many, and in numbers.
    let text = r#"{"sysstat": {"hosts": [{"nodename": "h", "number-of-cpus": 1, "statistics": [
{"timestamp": {"date": "2013-01-01", "time": "00:00:01", "utc": 1, "interval": 600},
 "queue": {"runq-sz": 1, "ldavg-1": 0,25, "ldavg-5": 1,50},
 "disk": [{"disk-device": "sda", "tps": 1.5}
  {"disk-device": "sdb", "tps": 2.5},]},
,{"timestamp": {"date": "2013-01-01", "time": "00:10:01", "utc": 1, "interval": 600}, "queue": {"runq-sz": 2, "ldavg-1": 0,5, "ldavg-5": 2}}
], "restarts": [{"boot": {"date": "2013-01-01", "time": "00:05:00", "utc": 1}}]}]}}"#;
    let monitored = of_texts(folder.path(), &[("x.json", text)], &Asked::default()).unwrap();
    let notes = monitored.notes.join("\n");
    for wanted in [
        "x.json: line 3: a comma in a number; it was read over",
        "x.json: 6 or more slips of that kind in all",
        "h: the machine was started anew 1 times, first at 2013-01-01 00:05:00",
    ] {
        assert!(notes.contains(wanted), "{wanted}\n{notes}");
    }
    let path = &written(monitored, folder.path())[0].path;
    assert_eq!(
        ask(path, "select t/1000000000, runq_sz, ldavg_1, ldavg_5 from sar_queue"),
        ["0 1 0.25 1.5", "600 2 0.5 2"]
    );
    assert_eq!(ask(path, "select disk_device, tps from sar_disk"), ["sda 1.5", "sdb 2.5"]);
    let cut = &text[..text.find("00:10:01").unwrap()];
    let monitored = of_texts(folder.path(), &[("x.json", cut)], &Asked::default()).unwrap();
    assert!(
        monitored
            .notes
            .iter()
            .any(|note| note.contains("line 6, byte ") && note.contains("the 3 rows before it are kept")),
        "{:?}",
        monitored.notes
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_file_of_sar_panics(text in r#"[\[\]{},:"a-c0-9. \n]{0,200}"#, at in 0..30_000_usize) {
        let folder = tempfile::tempdir().unwrap();
        let _ = of_texts(folder.path(), &[("x.json", &format!("{{\"sysstat\": {{\"hosts\": [{{\"statistics\": [{text}"))], &Asked::default());
        let mut whole = String::new();
        let file = std::fs::File::open(fixture("sar/12.7.9.json.gz")).unwrap();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut whole).unwrap();
        let part: String = whole.chars().take(at).chain(text.chars()).chain(whole.chars().skip(at)).collect();
        let _ = of_texts(folder.path(), &[("x.json", &part)], &Asked::default());
    }
}
