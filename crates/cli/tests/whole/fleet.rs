//! `twinscope fleet`: recordings of hosts that fall into two bands, hosts with names that want to be something else, and folders that are none.

use crate::common::Folder;
use model::{Column, Fact, Manifest, Rows, Symbols, Table, Unit, Work};
use serde_json::Value;
use std::path::Path;

static CPU: Table = Table::wide(
    "cpu",
    "CPU time",
    &[Column::number("cpu", "CPU"), Column::counter("user", Unit::Nanoseconds, "in user mode").floor(0.02)],
)
.grouped(&[&[]]);

static WORK: Table = Table::wide("work", "work done", &[Column::counter("done", Unit::None, "units of work done")]);

/// Hosts, and every how many of them is fast.
const HOSTS: usize = 64;
const EVERY: usize = 8;

/// A recording of a host that does `pace` units of work a second.
fn write(path: &Path, host: &str, pace: i64, zone: &str) {
    let mut symbols = Symbols::default();
    let mut writer = store::Writer::create(path, false, i64::MAX).unwrap();
    for table in [&CPU, &WORK] {
        writer.source(table.name, "", 1_000_000_000, &[]);
    }
    let (cpu, work) = (writer.define("cpu", &CPU), writer.define("work", &WORK));
    for t in 0..40_i64 {
        // No two seconds are quite alike.
        let noise = t * 7 % 5 - 2;
        writer.put(cpu, t * 1_000_000_000, &Rows { width: 2, cells: vec![0, t * 500_000_000 + noise * 1_000_000] });
        writer.put(work, t * 1_000_000_000, &Rows { width: 1, cells: vec![t * pace + noise] });
        writer.commit(&symbols).unwrap();
    }
    let fact = |name: &str, value: &str| Fact { category: "platform".into(), name: name.into(), value: value.into() };
    writer.facts(&[fact("zone", zone), fact("serial", host), fact("kernel", "6.1")]).unwrap();
    let manifest = Manifest {
        name: "service".into(),
        host: host.into(),
        start_unix: 1_790_000_000_000_000_000,
        duration: Some(39_000_000_000),
        work: Some(Work { unit: "requests".into(), total: 39.0 * pace as f64, progress: vec![], how: String::new() }),
        ..Manifest::default()
    };
    let _ = symbols.cell("");
    writer.finish(&manifest, &symbols).unwrap();
}

/// A folder of recordings, one host in eight being 2.5 times as fast.
fn hosts(folder: &Folder) {
    std::fs::create_dir(folder.path("all")).unwrap();
    for host in 0..HOSTS {
        let fast = host % EVERY == 3;
        // The fast ones are alike, the others spread by a fifth.
        let spread = (host * 37 % 41) as i64;
        let pace = if fast { 2500 + spread / 2 } else { 900 + spread * 6 };
        let zone = if fast { "a" } else { ["b", "c"][host % 2] };
        write(&folder.path(&format!("all/h{host}.twin")), &format!("host-{host:02}"), pace, zone);
    }
}

#[test]
fn hosts_fall_into_bands_and_a_fact_is_what_they_are() {
    let folder = Folder::new();
    hosts(&folder);
    let added = folder.expect(0, ["fleet", "add", "fleet", "all"]);
    assert!(added.stdout.contains("64 recordings added"), "{added}");
    let again = folder.expect(0, ["fleet", "add", "fleet", "all"]);
    assert!(again.stdout.contains("0 recordings added, 64 were there"), "{again}");
    let bands = folder.expect(0, ["fleet", "bands", "fleet"]);
    assert!(bands.stdout.starts_with("The bands are the values of platform.zone."), "{bands}");
    assert!(bands.stdout.contains("2 bands by work.done: 8 of 64"), "{bands}");
    assert!(!bands.stdout.contains("platform.serial"), "{bands}");

    let json = folder.expect(0, ["fleet", "bands", "fleet", "--json"]);
    let answer: Value = serde_json::from_str(&json.stdout).unwrap();
    let group = &answer["groups"][0];
    let of = group["bandings"][0]["of"].as_array().unwrap();
    for (recording, band) in group["recordings"].as_array().unwrap().iter().zip(of) {
        let host: usize = recording["host"].as_str().unwrap()["host-".len()..].parse().unwrap();
        assert_eq!(band.as_u64(), Some(u64::from(host % EVERY != 3)), "{recording}");
    }
    let facts = group["bandings"][0]["separated"][0]["facts"].as_array().unwrap();
    assert!(facts.iter().any(|fact| fact["fact"] == "platform.zone" && fact["value"] == "a"), "{facts:?}");

    // Within a zone there are no bands, and it is said which there would have been.
    let within = folder.expect(0, ["fleet", "bands", "fleet", "--within", "platform.zone"]);
    assert!(within.stdout.contains("platform.zone = b\nNo bands among 32 recordings"), "{within}");
    folder.expect(4, ["fleet", "bands", "fleet", "--fail-on", "bands"]);
    folder.expect(0, ["fleet", "bands", "fleet", "--fail-on", "stray"]);

    let asked = folder.expect(0, ["fleet", "sql", "fleet", "select count(*) as n from recording", "--json"]);
    assert!(asked.stdout.contains("\"n\":64"), "{asked}");
    let one = "select mean from metric where metric = 'work.done' and host = 'host-03'";
    assert!(folder.expect(0, ["fleet", "sql", "fleet", one]).stdout.contains("25"), "{one}");
    let info = folder.expect(0, ["fleet", "info", "fleet"]);
    assert!(info.stdout.contains("64 recordings of 64 hosts"), "{info}");

    // Why: these have no ledger of threads to look for a cause in, which is said beneath the bands.
    let explained = folder.expect(3, ["fleet", "explain", "fleet", "--markdown"]);
    assert!(explained.stdout.contains("**2 bands by work.done"), "{explained}");
    assert!(explained.stderr.contains("no cause can be looked for: service: no per-thread data"), "{explained}");
    std::fs::rename(folder.path("all"), folder.path("moved")).unwrap();
    let lost = folder.expect(3, ["fleet", "explain", "fleet"]);
    assert!(lost.stderr.contains("--recordings DIR"), "{lost}");
    let found = folder.expect(3, ["fleet", "explain", "fleet", "--recordings", "moved"]);
    assert!(found.stderr.contains("no per-thread data"), "{found}");
}

#[test]
fn names_of_hosts_are_data() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("all")).unwrap();
    let names = [
        "<script>alert(1)</script>",
        "'; drop table recording; --",
        "../../etc",
        "two\nlines",
        "\x1b[31m",
        "same",
        "same",
    ];
    for (at, name) in names.iter().enumerate() {
        write(&folder.path(&format!("all/{at}.twin")), name, 1000 + at as i64, "a");
    }
    // Two of one name, start and boot are one recording.
    let added = folder.expect(0, ["fleet", "add", "fleet", "all"]);
    assert!(added.stdout.contains("6 recordings added, 1 were there"), "{added}");
    for command in [
        &["fleet", "bands", "fleet"][..],
        &["fleet", "bands", "fleet", "--by", "any"],
        &["fleet", "info", "fleet"],
        &["fleet", "sql", "fleet", "select host, run, labels from recording"],
    ] {
        let done = folder.expect(0, command);
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(!done.stdout.contains(bad) && !done.stderr.contains(bad), "{done}");
    }
    let still = folder.expect(0, ["fleet", "sql", "fleet", "select count(*) as n from recording", "--json"]);
    assert!(still.stdout.contains("\"n\":6"), "{still}");
    let written = folder.expect(1, ["fleet", "sql", "fleet", "delete from recording"]);
    assert!(written.stderr.contains("it only reads"), "{written}");
}

#[test]
fn what_is_wrong_is_said_and_the_rest_is_done() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("all")).unwrap();
    write(&folder.path("all/a.twin"), "a", 1000, "a");
    std::fs::write(folder.path("all/broken.twin"), "no recording").unwrap();
    let added = folder.expect(3, ["fleet", "add", "fleet", "all"]);
    assert!(added.stdout.contains("1 recording added") && added.stderr.contains("broken.twin"), "{added}");
    // One host, then three: nothing that could be called a band.
    let one = folder.expect(0, ["fleet", "bands", "fleet"]);
    assert!(one.stdout.contains("No bands: 1 recording asked, fewer than three recordings."), "{one}");
    for host in ["b", "c"] {
        write(&folder.path(&format!("all/{host}.twin")), host, 3000, "a");
    }
    folder.expect(3, ["fleet", "add", "fleet", "all"]);
    assert!(folder.expect(0, ["fleet", "bands", "fleet"]).stdout.starts_with("No bands"));
    let unknown = folder.expect(1, ["fleet", "bands", "fleet", "--by", "cpu.userr"]);
    assert!(unknown.stderr.contains("no recording has the metric cpu.userr"), "{unknown}");
    let unknown = folder.expect(1, ["fleet", "bands", "fleet", "--within", "platform.zon"]);
    assert!(unknown.stderr.contains("platform.zone"), "{unknown}");
    let unknown = folder.expect(1, ["fleet", "bands", "fleet", "--where", "rack=7"]);
    assert!(unknown.stderr.contains("no recording has the label rack=7"), "{unknown}");
    let none = folder.expect(1, ["fleet", "bands", "all"]);
    assert!(none.stderr.contains("not a folder of summaries"), "{none}");
    let mixed = folder.expect(1, ["fleet", "add", "all", "all/a.twin"]);
    assert!(mixed.stderr.contains("name an empty folder"), "{mixed}");
    folder.expect(2, ["fleet", "add", "other", "fleet"]);
    folder.expect(2, ["fleet", "sql", "fleet", ".tables"]);
    let table = folder.expect(1, ["fleet", "sql", "fleet", "select * from hosts"]);
    assert!(table.stderr.contains("there are recording, metric"), "{table}");
}
