//! Tables of tools, of several layouts, and damaged ones.

use super::Asked;
use super::tests::{ask, fixture, of_texts, read, written};
use proptest::prelude::*;
use std::path::PathBuf;

/// The only recording of a fixture, and its notes.
fn one(name: &str, asked: &Asked) -> (tempfile::TempDir, PathBuf, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let monitored = read(&[fixture(&format!("tables/{name}"))], asked).unwrap().unwrap();
    assert_eq!(monitored.hosts().count(), 1);
    let notes = monitored.notes.clone();
    let path = written(monitored, folder.path())[0].path.clone();
    (folder, path, notes)
}

#[test]
fn vmstat_with_times_and_without() {
    let (_folder, path, notes) = one("vmstat-t.txt", &Asked::default());
    assert_eq!(
        notes,
        [format!("{}: times have no zone, and are taken for UTC", fixture("tables/vmstat-t.txt").display())]
    );
    assert_eq!(ask(&path, "select count(*), min(us) > 0, max(t)/1000000000 from vmstat_output"), ["3 1 2"]);
    let recording = store::Recording::open(&path).unwrap();
    let (_, table) = recording.tables().find(|(_, table)| table.name == "vmstat_output").unwrap();
    assert_eq!(table.column("free").unwrap().unit, model::Unit::Kibibytes);
    assert_eq!(table.column("us").unwrap().unit, model::Unit::Percent);
    // Wide, without times, of a newer layout; the first row is of the time since the start of the machine.
    let asked = Asked { every: 2_000_000_000, ..Asked::default() };
    let (_folder, path, notes) = one("vmstat.txt", &asked);
    assert!(notes[0].contains("rows are taken to be 2 s apart (--every)"), "{notes:?}");
    assert_eq!(ask(&path, "select t/1000000000 from vmstat_output"), ["0", "2"]);
}

#[test]
fn pidstat_with_dates_and_with_clocks() {
    let (_folder, path, notes) = one("pidstat.txt", &Asked::default());
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(
        ask(&path, "select count(distinct t), count(distinct pid) > 2, count(pct_usr) > 3 from pidstat"),
        ["3 1 1"]
    );
    // Names have blanks in them; averages at the end are of no time.
    let (_folder, path, notes) = one("pidstat-plain.txt", &Asked::default());
    assert!(notes.iter().any(|note| note.contains("times have no date")), "{notes:?}");
    let recording = store::Recording::open(&path).unwrap();
    assert_eq!(recording.manifest().start_unix / 86_400_000_000_000, 20_783);
    assert_eq!(ask(&path, "select count(distinct t) from pidstat"), ["2"]);
}

#[test]
fn parquet_of_pandas_and_with_descriptions() {
    let (_folder, path, notes) = one("described.parquet", &Asked::default());
    assert!(notes[0].contains("1 columns are lists or groups"), "{notes:?}");
    assert_eq!(
        ask(&path, "select id, count(*), max(value) from cpu_usage group by id"),
        ["0 10 4500000000", "1 9 900000000"]
    );
    let recording = store::Recording::open(&path).unwrap();
    let table = |name: &str| recording.tables().find(|(_, table)| table.name == name).unwrap().1;
    assert!(table("cpu_usage").column("value").unwrap().is_cumulative());
    assert!(!table("memory_free").column("value").unwrap().is_cumulative());
    assert_eq!(table("memory_free").column("value").unwrap().unit, model::Unit::Bytes);
    let folder = tempfile::tempdir().unwrap();
    let monitored = read(&[fixture("tables/pandas.parquet")], &Asked::default());
    let monitored = monitored.unwrap().unwrap();
    assert_eq!(monitored.hosts().collect::<Vec<_>>(), ["a", "b"]);
    let written = written(monitored, folder.path());
    assert_eq!(ask(&written[0].path, "select t/1000000000, load from pandas"), ["0 1.5", "2 3", "4 5"]);
}

/// Counts of buckets, as Rezolus writes them, become quantiles of each interval.
#[test]
fn histograms_of_parquet_become_quantiles() {
    let (_folder, path, notes) = one("histograms.parquet", &Asked::default());
    assert!(
        notes.iter().any(|note| note.contains("1 columns are lists or groups of which nothing says what they are")),
        "{notes:?}"
    );
    let rows = ask(
        &path,
        "select t/1000000000, op, quantile, value from syscall_latency where value is not null order by t, quantile",
    );
    let of = |t: &str, quantile: &str| -> f64 {
        let start = format!("{t} read {quantile} ");
        rows.iter()
            .find_map(|row| row.strip_prefix(&start))
            .unwrap_or_else(|| panic!("{start}: {rows:?}"))
            .parse()
            .unwrap()
    };
    assert_eq!(rows.len(), 8, "the first row has none before it, and one is empty: {rows:?}");
    let recording = store::Recording::open(&path).unwrap();
    let unit =
        recording.tables().find(|(_, table)| table.name == "syscall_latency").unwrap().1.column("value").unwrap().unit;
    assert_eq!(unit, model::Unit::Nanoseconds);
    assert!(
        (960.0..1024.0).contains(&of("1", "0.5")) && (983_040.0..1_048_576.0).contains(&of("1", "0.999")),
        "{rows:?}"
    );
    assert!((8.0..9.1).contains(&of("2", "0.5")) && of("2", "0.999") < 9.1, "{rows:?}");
}

#[test]
fn long_tables_have_a_table_for_each_metric() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ts;server;name;dev;val\n2026-11-26 10:00:00+01:00;a;io_total;sda;1,5\n2026-11-26 09:00:10Z;a;io_total;sda;3,5\n2026-11-26T09:00:00Z;b;load;;2\n";
    let asked = Asked {
        host: Some("server".into()),
        metric: Some("name".into()),
        value: Some("val".into()),
        labels: vec!["dev".into()],
        ..Asked::default()
    };
    let monitored = of_texts(folder.path(), &[("x.csv", text)], &asked).unwrap();
    assert!(monitored.notes.is_empty(), "{:?}", monitored.notes);
    let written = written(monitored, folder.path());
    // Two zones of one moment, commas as points, as semicolons part columns.
    assert_eq!(ask(&written[0].path, "select t/1000000000, value from io_total"), ["0 1.5", "10 3.5"]);
    let asked = Asked { value: Some("nothing".into()), ..asked };
    let error = of_texts(folder.path(), &[("x.csv", text)], &asked).unwrap_err();
    assert!(error.ends_with("x.csv: there is no column nothing: they are ts, server, name, dev, val"), "{error}");
}

#[test]
fn what_is_wrong_in_a_table_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = "time,cpu,a,b_total,\"c d\"\n100,x,1,2,3\n101,x,1\n99,x,1,2,3,4,5\nsoon,x,1,2,3\n102,x,many,2,3\n103,\"x\ny\",1,2,3\n2026-11-26 10:00:00,x,1,2,-\n100,x,9,9,9\n";
    let monitored = of_texts(folder.path(), &[("x.csv", text)], &Asked::default()).unwrap();
    let notes = monitored.notes.join("\n");
    for wanted in [
        "x.csv: times go back 2 times: rows are put in the order of time",
        "x.csv: 1 times have no zone, others have: those without are taken for UTC",
        "x.csv: 1 row shorter than the header (line 3): what is missing is taken as not read",
        "x.csv: 1 row longer than the header (line 4): what is beyond it is left out",
        "x.csv: 1 row without a time that can be read (line 5): left out",
        "x.csv: 1 row with a text where numbers are (line 6): taken as not read",
    ] {
        assert!(notes.contains(wanted), "{wanted}\n{notes}");
    }
    let written = written(monitored, folder.path());
    assert_eq!(written[0].notes.iter().filter(|note| note.contains("say the same again")).count(), 1);
    assert_eq!(ask(&written[0].path, "select a, b_total, c_d from x where t = 0"), ["1 2 3"]);
    let recording = store::Recording::open(&written[0].path).unwrap();
    // A table of that name is ours.
    let cpu = of_texts(folder.path(), &[("cpu.csv", "time,a\n1,2\n")], &Asked::default()).unwrap();
    assert_eq!(ask(&super::tests::written(cpu, folder.path())[0].path, "select a from imported_cpu"), ["2"]);
    assert!(recording.tables().any(|(_, table)| table.name == "x" && table.column("b_total").unwrap().is_cumulative()));
    // Other separators, a mark of the order of bytes, no header.
    for (text, asked) in [
        ("\u{feff}time|a|b\n1|2|3\n2|2|4\n", Asked::default()),
        ("time\ta\tb\n1\t2\t3\n2\t2\t4\n", Asked::default()),
        ("time a  b\n1 2 3\n2   2 4\n", Asked::default()),
        ("1:2:3\n2:2:4\n", Asked { separator: Some(b':'), time: Some("column_1".into()), ..Asked::default() }),
    ] {
        let monitored = of_texts(folder.path(), &[("y.csv", text)], &asked).unwrap();
        let written = super::tests::written(monitored, folder.path());
        assert_eq!(written[0].rows, 2, "{text}");
    }
    let asked = Asked { time: Some("time".into()), ..Asked::default() };
    assert!(
        of_texts(folder.path(), &[("x.csv", "time,name\n1,a\n")], &asked)
            .unwrap_err()
            .ends_with("no column holds numbers")
    );
}

#[test]
fn a_damaged_parquet_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("tables/described.parquet")).unwrap();
    for cut in [5, 100, whole.len() / 2, whole.len() - 1] {
        let path = folder.path().join("x.parquet");
        std::fs::write(&path, &whole[..cut]).unwrap();
        let error = read(std::slice::from_ref(&path), &Asked::default()).unwrap_err().to_string();
        assert!(error.contains("x.parquet: ") && error.lines().count() == 1, "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_of_tables_come_back(rows in prop::collection::vec((prop::sample::select(vec!["a", "b"]), -1e9..1e9_f64, prop::option::of(-1e3..1e3_f64)), 1..40), separator in prop::sample::select(vec![',', ';', '\t', '|'])) {
        let folder = tempfile::tempdir().unwrap();
        let mut text = ["time", "host", "x", "y"].join(&separator.to_string());
        for (t, (host, x, y)) in rows.iter().enumerate() {
            let y = y.map_or(String::new(), |y| y.to_string());
            text += &format!("\n{t}{separator}{host}{separator}{x}{separator}{y}");
        }
        let monitored = of_texts(folder.path(), &[("m.csv", &text)], &Asked::default()).unwrap();
        prop_assert!(monitored.notes.is_empty());
        let hosts: Vec<String> = monitored.hosts().map(str::to_owned).collect();
        for (host, written) in hosts.iter().zip(written(monitored, folder.path())) {
            let own: Vec<&(&str, f64, Option<f64>)> = rows.iter().filter(|row| row.0 == host).collect();
            let sum: f64 = own.iter().map(|row| row.1).sum();
            let told: f64 = ask(&written.path, "select sum(x) from m")[0].parse().unwrap();
            prop_assert!((told - sum).abs() <= 1e-6 * sum.abs().max(1.0));
            prop_assert!(written.rows >= own.len());
        }
    }

    #[test]
    fn no_table_panics(text in "[a-c0-9:;, \t\n\"#.%-]{0,200}", preset in prop::option::of(prop::sample::select(vec!["vmstat", "pidstat", "perfspect", "rezolus"]))) {
        let folder = tempfile::tempdir().unwrap();
        let asked = Asked { preset: preset.map(str::to_owned), ..Asked::default() };
        let _ = of_texts(folder.path(), &[("x.csv", &text)], &asked);
        let _ = of_texts(folder.path(), &[("x.csv", &format!("time,a,b\n{text}"))], &asked);
    }
}
