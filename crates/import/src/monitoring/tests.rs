//! Files of monitoring systems, whole and damaged, as recordings.

use super::{Asked, Monitored, Written};
use proptest::prelude::*;
use query::{Run, Session};
use std::path::{Path, PathBuf};

pub(super) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/imports").join(name)
}

pub(super) fn read(paths: &[PathBuf], asked: &Asked) -> Result<Option<Monitored>, crate::Error> {
    let inputs = paths.iter().map(|path| crate::Input::of(path, asked.limit)).collect::<Result<Vec<_>, _>>()?;
    super::read(&inputs, asked)
}

/// Reads files of a folder that hold these texts.
pub(super) fn of_texts(folder: &Path, files: &[(&str, &str)], asked: &Asked) -> Result<Monitored, String> {
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|(name, text)| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path
        })
        .collect();
    read(&paths, asked).map_err(|why| why.to_string())?.ok_or_else(|| "of something else".to_owned())
}

pub(super) fn written(monitored: Monitored, folder: &Path) -> Vec<Written> {
    monitored.write_all(&folder.join("out"), true).unwrap()
}

/// What a recording answers, a line a row.
pub(super) fn ask(path: &Path, statement: &str) -> Vec<String> {
    let recording = store::Recording::open(path).unwrap();
    assert_eq!(recording.damage().len(), 0);
    let session = Session::of(vec![Run { name: "x".into(), recording, stretch: None }]).unwrap();
    let mut query = session.query(statement).unwrap_or_else(|why| panic!("{statement}: {why}"));
    let rows = query.rows().unwrap();
    rows.map(|row| {
        let cells: Vec<String> = row
            .unwrap()
            .iter()
            .map(|cell| match cell {
                rusqlite::types::Value::Null => "-".into(),
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Real(number) => format!("{}", (number * 1e9).round() / 1e9),
                rusqlite::types::Value::Text(text) => text.clone(),
                other => format!("{other:?}"),
            })
            .collect();
        cells.join(" ")
    })
    .collect()
}

fn answers() -> Vec<PathBuf> {
    ["cpu", "load", "uname", "gc", "switches", "metadata", "error", "instant"]
        .map(|name| fixture(&format!("prometheus/{name}.json")))
        .to_vec()
}

#[test]
fn answers_of_a_prometheus_become_a_recording_for_each_instance() {
    let folder = tempfile::tempdir().unwrap();
    let monitored = read(&answers(), &Asked::default()).unwrap().unwrap();
    assert_eq!(monitored.hosts().collect::<Vec<_>>(), ["127.0.0.1:19090", "127.0.0.1:19100", "127.0.0.1:19101"]);
    let notes = monitored.notes.join("\n");
    assert!(notes.contains("error.json: the query failed: bad_data: 1:5: parse error"), "{notes}");
    assert!(notes.contains("instant.json: the answer is a vector"), "{notes}");
    let written = written(monitored, folder.path());
    let node = &written[1].path;
    assert!(node.ends_with("out/127.0.0.1_19100.twin"));
    let recording = store::Recording::open(node).unwrap();
    let manifest = recording.manifest();
    assert_eq!((manifest.host.as_str(), manifest.interval), ("127.0.0.1:19100", 15_000_000_000));
    assert_eq!(manifest.duration, Some(240_000_000_000));
    assert_eq!(manifest.labels["region"], "eu");
    assert_eq!((manifest.kernel.as_str(), manifest.machine.as_str()), ("6.18.44-fc-v669", "x86_64"));
    // Counters by name, with the help that the file of types has; others are levels.
    let declared = |name: &str| recording.tables().find(|(_, table)| table.name == name).unwrap().1;
    let cpu = declared("node_cpu_seconds_total");
    assert_eq!(cpu.help, "Seconds the CPUs spent in each mode");
    assert!(cpu.column("value").unwrap().is_cumulative());
    // What all series of all hosts have alone is no column: job and region, and here the one CPU.
    assert_eq!(cpu.labels().map(|label| label.name).collect::<Vec<_>>(), ["cpu", "mode"]);
    assert!(!declared("node_load1").column("value").unwrap().is_cumulative());
    assert_eq!(ask(node, "select count(distinct t), count(*) > 40 from node_cpu_seconds_total"), ["17 1"]);
    // What the query computed is called as the file.
    assert_eq!(ask(node, "select count(*) > 10 from switches"), ["1"]);
}

#[test]
fn nothing_is_carried_over_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"a_total","instance":"h","cpu":"0"},"values":[[0,"0"],[10,"10"],[20,"20"],[30,"NaN"],[40,"40"],[80,"80"],[90,"5"],[100,"15"]]},
        {"metric":{"__name__":"a_total","instance":"h","cpu":"1"},"values":[[0,"0"],[10,"10"],[20,"+Inf"]]},
        {"metric":{"__name__":"b","instance":"h"},"values":[[0,"1"],[60,"2"],[120,"3"]]}]}}"#;
    let monitored = of_texts(folder.path(), &[("x.json", text)], &Asked::default()).unwrap();
    assert_eq!(monitored.notes, ["2 values that are no finite number (NaN, staleness, Inf), taken as not read"]);
    let written = written(monitored, folder.path());
    let rows = ask(&written[0].path, "select t/1000000000, cpu, value from a_total order by cpu, t");
    let wanted = ["0 0 0", "10 0 10", "20 0 20", "40 0 40", "80 0 80", "90 0 5", "100 0 15", "0 1 0", "10 1 10"];
    assert_eq!(rows, wanted);
    // What is not a number, and that nothing was read from 50 s on, is stored as such: no rate spans it.
    assert_eq!(written[0].rows, wanted.len() + 2 + 1 + 3);
    let recording = store::Recording::open(&written[0].path).unwrap();
    let frame = recording.load("a_total", &store::Select::default()).unwrap();
    assert_eq!(frame.ticks.iter().map(|t| t / 1_000_000_000).collect::<Vec<_>>(), [0, 10, 20, 30, 40, 50, 80, 90, 100]);
    // A table that is read less often has no gaps for that.
    assert_eq!(ask(&written[0].path, "select t/1000000000, value from b"), ["0 1", "60 2", "120 3"]);
}

#[test]
fn what_a_prometheus_can_also_say() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str, host: &str| {
        let asked = Asked { host: Some(host.into()), ..Asked::default() };
        of_texts(folder.path(), &[("x.json", text)], &asked)
    };
    // Native histograms, as the documentation of the HTTP API has them.
    let native = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"h","instance":"a"},
        "histograms":[[1435781430.781,{"count":"60","sum":"33588","buckets":[[0,"0.1","0.2","4"]]}],[1435781445.781,{"count":"70","sum":"33590","buckets":[]}]]}]}}"#;
    let monitored = read(native, "instance").unwrap();
    assert_eq!(monitored.notes, ["native histograms: of each its count and its sum are kept, not its buckets"]);
    let path = &written(monitored, folder.path())[0].path;
    assert_eq!(ask(path, "select value from h_count"), ["60", "70"]);
    assert_eq!(ask(path, "select value from h_sum"), ["33588", "33590"]);
    // What VictoriaMetrics exports, and a type as Prometheus 3 can say it.
    let lines = "{\"metric\":{\"__name__\":\"x\",\"__type__\":\"counter\",\"__unit__\":\"bytes\",\"node\":\"a\"},\"values\":[1,2,null],\"timestamps\":[1000,2000,3000]}\n";
    let path = &written(read(lines, "node").unwrap(), folder.path())[0].path;
    let recording = store::Recording::open(path).unwrap();
    let (_, table) = recording.tables().find(|(_, table)| table.name == "x").unwrap();
    let column = table.column("value").unwrap();
    assert_eq!((column.kind, column.unit), (model::Kind::Counter, model::Unit::Bytes));
    assert_eq!(ask(path, "select value from x"), ["1", "2"]);
    // Without the label: one host, and what there is.
    let monitored = read(lines, "instance").unwrap();
    assert!(monitored.notes[0].contains("no series has the label instance") && monitored.notes[0].contains("node"));
    assert_eq!(monitored.hosts().collect::<Vec<_>>(), ["x"]);
    // Falls too often for a counter.
    let falls = r#"[{"metric":{"__name__":"a_total","instance":"h"},"values":[[0,"9"],[1,"1"],[2,"9"],[3,"1"],[4,"9"],[5,"1"],[6,"1"]]}]"#;
    assert!(read(falls, "instance").unwrap().notes[0].contains("taken as levels"));
}

#[test]
fn damage_is_said_with_its_line_and_what_came_before_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(fixture("prometheus/load.json")).unwrap();
    let cut = &whole[..whole.len() * 3 / 4];
    let monitored = of_texts(folder.path(), &[("x.json", cut)], &Asked::default()).unwrap();
    let note = &monitored.notes[0];
    assert!(note.contains("x.json: line 1, byte ") && note.contains("values before it are kept"), "{note}");
    assert_eq!(monitored.hosts().count(), 2);
    for (text, why) in [
        (r#"{"status":"error","errorType":"timeout","error":"query timed out"}"#, "timeout: query timed out"),
        (r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#, "without a value"),
        (r#"{"status":"success","data":{"resultType":"matrix","result":"#, "the file ends here"),
    ] {
        let error = of_texts(folder.path(), &[("x.json", text)], &Asked::default()).unwrap_err();
        assert!(error.contains("x.json") && error.contains(why), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn values_come_back(hosts in prop::collection::btree_map("[a-c]{1,2}", prop::collection::btree_map("[x-z]{0,2}", prop::collection::vec(-1e6..1e6_f64, 1..20), 1..4), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        let mut items = Vec::new();
        for (host, series) in &hosts {
            for (label, values) in series {
                let values: Vec<String> = values.iter().enumerate().map(|(t, v)| format!("[{t},\"{v}\"]")).collect();
                items.push(format!(r#"{{"metric":{{"__name__":"m_x","instance":"{host}","l":"{label}"}},"values":[{}]}}"#, values.join(",")));
            }
        }
        let text = format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#, items.join(","));
        let monitored = of_texts(folder.path(), &[("x.json", &text)], &Asked::default()).unwrap();
        prop_assert!(monitored.notes.is_empty());
        for ((_, series), written) in hosts.iter().zip(written(monitored, folder.path())) {
            let rows: usize = series.values().map(Vec::len).sum();
            prop_assert_eq!(written.rows, rows);
            let sum: f64 = series.values().flatten().sum();
            let own: f64 = ask(&written.path, "select sum(value) from m_x")[0].parse().unwrap();
            // A level that does not change is stored once: SQL fills it in.
            prop_assert!((own - sum).abs() <= 1e-6 * sum.abs().max(1.0), "{} {}", own, sum);
        }
    }

    #[test]
    fn no_answer_panics(text in r#"[\[\]{},:"a-e0-9. ]{0,200}"#, cut in 0..4000_usize) {
        let folder = tempfile::tempdir().unwrap();
        let _ = of_texts(folder.path(), &[("x.json", &format!("{{\"status\":\"success\",\"data\":{text}"))], &Asked::default());
        let whole = std::fs::read_to_string(fixture("prometheus/cpu.json")).unwrap();
        let part: String = whole.chars().take(cut).chain(text.chars()).chain(whole.chars().skip(cut)).collect();
        let _ = of_texts(folder.path(), &[("x.json", &part)], &Asked::default());
    }
}
