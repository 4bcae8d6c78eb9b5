//! Files of each tool, read and written as recordings.

use super::*;
use crate::{Format, Options, import, parse};
use std::path::{Path, PathBuf};

const SECOND: i64 = 1_000_000_000;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/counters").join(name)
}

fn read(name: &str, options: &Options) -> (Format, Profile) {
    crate::tests::read_path(&fixture(name), options).unwrap()
}

fn parsed(text: &str, options: Options) -> Profile {
    let mut profile = Profile::new(options);
    parse(text.as_bytes(), &mut profile).unwrap();
    profile
}

/// The cells of some columns of a table, texts as texts.
fn cells(profile: &Profile, table: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let texts = ["group", "metric", "event", "events", "absent", "pmu"];
    let cell = |name: &str, cell: i64| match cell {
        NULL => "-".to_owned(),
        cell if texts.contains(&name) => profile.symbols.text(cell).unwrap_or("-").to_owned(),
        cell if matches!(name, "value" | "share") => model::real_of(cell).map_or("-".into(), |v| format!("{v:.4}")),
        cell => cell.to_string(),
    };
    let row = |row: Vec<(&'static str, i64)>| {
        columns
            .iter()
            .map(|c| row.iter().find(|(name, _)| name == c).map_or("?".into(), |(n, v)| cell(n, *v)))
            .collect()
    };
    profile.table(table).into_iter().map(row).collect()
}

/// Rows of a file of expectations: recording, metric, interval, value.
fn expected(name: &str, recording: &str) -> Vec<(String, usize, f64)> {
    let text = std::fs::read_to_string(fixture(name)).unwrap();
    let row = |line: &str| {
        let parts: Vec<&str> = line.split(',').collect();
        (parts[0] == recording).then(|| (parts[1].to_owned(), parts[2].parse().unwrap(), parts[3].parse().unwrap()))
    };
    text.lines().skip(1).filter_map(row).collect()
}

#[test]
fn aperf_has_the_values_of_its_own_report() {
    for (recording, cpus, intervals) in
        [("m6g-1", 16, 6), ("m6g-2", 16, 6), ("no-system", 16, 3), ("r7g", 16, 4), ("m7g", 4, 13)]
    {
        let (format, profile) = read(&format!("aperf/{recording}.tar.gz"), &Options::default());
        assert_eq!(format, Format::Aperf);
        let mut times: HashMap<String, Vec<f64>> = HashMap::new();
        for row in profile.table("pmu_metric") {
            let name = profile.symbols.text(row[1].1).unwrap().to_owned();
            times.entry(name).or_default().push(model::real_of(row[2].1).unwrap_or(f64::NAN));
        }
        let all = expected("aperf/expected.csv", recording);
        // On m7g one event was never counted, nor what it is compared with.
        assert!(all.len() >= 13 * intervals, "{recording}");
        for (metric, interval, value) in all {
            let own = times[&metric][interval];
            assert!(
                (own - value).abs() <= 1e-4 * value.abs().max(1e-9),
                "{recording} {metric} {interval}: {own} {value}"
            );
        }
        // The report cuts off after two decimals.
        for (metric, interval, value) in expected("aperf/report.csv", recording) {
            let own = times[&metric][interval];
            assert!((own - value).abs() < 0.0101, "{recording} {metric} {interval}: {own} {value}");
        }
        // What has columns, on each CPU: what it begins with, and each interval.
        let of_core = cells(&profile, "pmu", &["group", "cpu"]).into_iter().filter(|row| row[0] == "core").count();
        assert_eq!(of_core, cpus * (intervals + 1), "{recording}");
        assert_eq!(profile.notes(), Vec::<String>::new(), "{recording}");
    }
}

#[test]
fn aperf_fills_the_columns_of_the_groups() {
    let (_, profile) = read("aperf/r7g.tar.gz", &Options::default());
    assert_eq!(profile.manifest.kernel, "5.10.247-246.989.amzn2int.aarch64");
    assert!(profile.facts.iter().any(|fact| fact.name == "instance" && fact.value == "r7g.4xlarge"));
    assert!(profile.facts.iter().any(|fact| fact.name == "microarchitecture" && fact.value == "neoverse-v1"));
    // The ratio of sums of the columns is the metric over all intervals, weighted as it must be.
    let sums = |group: &str, above: &str| {
        let names = COLUMNS.iter().position(|c| c.name == above).unwrap();
        let below = COLUMNS
            .iter()
            .position(|c| c.name == if above == "instructions" { "cycles" } else { "instructions" })
            .unwrap();
        let mut last: HashMap<i64, (i64, i64)> = HashMap::new();
        for row in profile.table("pmu") {
            if profile.symbols.text(row[1].1) == Some(group) {
                last.insert(row[0].1, (row[names].1, row[below].1));
            }
        }
        let (a, b) = last.values().fold((0.0, 0.0), |sum, row| (sum.0 + row.0 as f64, sum.1 + row.1 as f64));
        a / b
    };
    let of = |name: &str| {
        let rows = expected("aperf/expected.csv", "r7g");
        let values: Vec<f64> = rows.into_iter().filter(|row| row.0 == name).map(|row| row.2).collect();
        (values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(0.0, f64::max))
    };
    let groups: Vec<Vec<String>> = cells(&profile, "pmu_group", &["group", "events", "share"]);
    let find =
        |events: &str| groups.iter().find(|row| row[1] == events).unwrap_or_else(|| panic!("{events}: {groups:?}"));
    let core = find("Instructions Cycles");
    assert_eq!(
        (core[0].as_str(), core[2].as_str()),
        ("core", "-"),
        "that recording does not say for how long counters were on"
    );
    for (events, column, metric) in [
        ("Instructions Cycles", "instructions", "ipc"),
        ("Branches Instructions", "branch_misses", "branch-mpki"),
        ("L1-Instructions Instructions", "l1i_misses", "inst-l1-mpki"),
        ("Code-Sparsity Instructions", "code_sparsity", "code-sparsity"),
        ("Data-TLB-TW Instructions", "dtlb_walks", "data-tlb-tw-pki"),
        ("L3 Instructions", "llc_misses", "l3-mpki"),
    ] {
        let group = &find(events)[0];
        let value = sums(group, column) * if metric == "ipc" { 1.0 } else { 1000.0 };
        let (least, most) = of(metric);
        assert!(
            value >= 0.999 * least && value <= 1.001 * most,
            "{metric} of {group}: {value}, not from {least} to {most}"
        );
    }
}

/// A record as bincode writes it.
fn record(second: u32, text: &str) -> Vec<u8> {
    let time = format!("2026-01-30T08:25:{second:02}.5Z");
    let mut bytes = [7u32.to_le_bytes(), 0u32.to_le_bytes()].concat();
    for text in [time.as_str(), text] {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// What APerf writes from 1.3 on: times grow, counts are of the interval, and are scaled up.
#[test]
fn aperf_with_times_is_scaled() {
    let dir = tempfile::tempdir().unwrap();
    let config = r#"{"events": {"Instructions": "armv8_pmuv3_0/event=0x8/", "Cycles": "armv8_pmuv3_0/event=0x11/", "L3": "armv8_pmuv3_0/event=0x37/"},
        "metrics": {"ipc": "Instructions / Cycles", "l3-mpki": "L3 / Instructions * 1000", "odd": "Nothing / Cycles"}}"#;
    std::fs::write(dir.path().join("pmu_config.json"), config).unwrap();
    // In the order of the names: cycles, instructions; instructions, L3.
    let mut bytes = record(1, "0;ipc;1;1;1;0.5\n1;ipc;1;1;1;0.5\n0;l3-mpki;1;1;1;0.5\n");
    bytes.extend(record(
        2,
        "0;ipc;1000;2000;2;1\n1;ipc;500;100;2;1.25\n0;l3-mpki;4000;8;2;0.75\n1;l3-mpki;4000;8;2;0\n",
    ));
    bytes.extend(record(3, "0;ipc;1000;2000;3;1.5\nnot a line\n0;l3-mpki;4000;8;3;0.75\n"));
    let file = dir.path().join("perf_stat_x.bin");
    std::fs::write(&file, bytes).unwrap();
    for path in [dir.path(), file.as_path()] {
        let (format, profile) = crate::tests::read_path(path, &Options::default()).unwrap();
        assert_eq!(format, Format::Aperf);
        let metrics = cells(&profile, "pmu_metric", &["metric", "value"]);
        // (2 × 2000 + 100 × 4/3) ÷ (2 × 1000 + 500 × 4/3); the third without CPU 1. In the last, no counters for L3.
        assert_eq!(metrics, [["ipc", "1.5500"], ["l3-mpki", "2.0000"], ["ipc", "2.0000"]]);
        let shares = cells(&profile, "pmu_group", &["group", "share"]);
        assert_eq!(shares[2..4], [["core", "0.6250"], ["data", "0.2500"]]);
        assert_eq!(shares[4..6], [["core", "0.5000"], ["data", "0.0000"]]);
        let core: Vec<Vec<String>> = cells(&profile, "pmu", &["cpu", "group", "cycles", "instructions"]);
        assert_eq!(core[1], ["0", "core", "2000", "4000"]);
        assert!(profile.notes().iter().any(|note| note.contains("odd")), "{:?}", profile.notes());
        assert!(profile.notes().iter().any(|note| note.starts_with("1 lines that are no counts")));
    }
}

#[test]
fn software_events_of_perf_stat() {
    // One that this machine lacks, on each CPU.
    let (format, profile) = read("perf-stat/software-a.json", &Options::default());
    assert_eq!(format, Format::PerfStat);
    assert!(profile.notes().iter().any(|note| note.contains("instructions: not supported")), "{:?}", profile.notes());
    let groups = cells(&profile, "pmu_group", &["group", "share", "absent"]);
    assert_eq!(groups[0], ["other", "1.0000", "instructions: not supported"]);
    let raw = cells(&profile, "pmu_raw", &["cpu", "event", "count"]);
    assert!(raw.iter().any(|row| row[0] == "1" && row[1] == "task-clock"), "{raw:?}");
    // Sockets are added up, both forms say the same.
    let of = |name: &str| {
        let (_, profile) = read(name, &Options::default());
        cells(&profile, "pmu_raw", &["cpu", "event"])
    };
    assert_eq!(of("perf-stat/socket.json"), of("perf-stat/socket.csv"));
}

/// The last of a column of a group, on a CPU.
fn last(profile: &Profile, group: &str, column: &str) -> i64 {
    let of_group = |row: &Vec<(&'static str, i64)>| profile.symbols.text(row[1].1) == Some(group);
    let rows: Vec<_> = profile.table("pmu").into_iter().filter(of_group).collect();
    rows.last().and_then(|row| row.iter().find(|(name, _)| *name == column)).unwrap().1
}

/// On the PMU that QEMU emulates, whose counts are known: a program of 600,000,004 instructions of a cycle each.
#[test]
fn hardware_counters_of_perf_stat() {
    let is_all = |count: i64| (597_000_000..607_000_000).contains(&count);
    let (_, profile) = read("perf-stat/arm-groups.json", &Options::default());
    // Of more events than counters.
    let groups = cells(&profile, "pmu_group", &["group", "events"]);
    let events = "armv8_pmuv3/event=0x11/ armv8_pmuv3/event=0x8/";
    assert_eq!(groups[0], ["core", "cycles instructions"]);
    assert_eq!(groups[1], ["core 2", events]);
    assert_eq!(groups[2], ["fetch", &format!("{events} armv8_pmuv3/event=0x23/")]);
    assert_eq!(groups[3], ["data", &format!("{events} armv8_pmuv3/event=0x24/")]);
    assert_eq!(groups[4], ["core 3", "r11 r8 r3c"]);
    for group in ["core", "core 2", "core 3", "fetch", "data"] {
        for column in ["cycles", "instructions"] {
            let count = last(&profile, group, column);
            assert!(is_all(count), "{column} of {group}: {count}");
        }
    }
    let raw = cells(&profile, "pmu_raw", &["cpu", "event", "count", "enabled", "running"]);
    let cycles = raw.iter().rev().find(|row| row[1] == "cycles").unwrap();
    let [count, enabled, running] = [2, 3, 4].map(|at: usize| cycles[at].parse::<f64>().unwrap());
    assert!((count * enabled / running / 6e8 - 1.0).abs() < 0.01 && running < 0.8 * enabled, "{cycles:?}");

    let (_, profile) = read("perf-stat/arm-many.json", &Options::default());
    assert_eq!(last(&profile, "core", "cycles"), last(&profile, "core", "instructions"));
    for group in ["core", "fetch"] {
        let count = last(&profile, group, "cycles");
        assert!(is_all(count), "cycles of {group}: {count}");
    }
    let events = |profile: &Profile| -> Vec<String> {
        cells(profile, "pmu_group", &["events"]).into_iter().map(|row| row[0].clone()).collect()
    };
    assert!(events(&profile).contains(&"cycles:k instructions:k".to_owned()), "{:?}", events(&profile));

    let (_, profile) = read("perf-stat/arm-total.json", &Options::default());
    assert_eq!(last(&profile, "core", "instructions"), 600_575_330);
    assert_eq!(profile.manifest.duration, Some(601_395_024));
    let (_, profile) = read("perf-stat/arm.csv", &Options::default());
    assert!(is_all(last(&profile, "core", "instructions")) && last(&profile, "fetch", "stalls_frontend") == 0);
}

const GROUPS: &str = r#"# started on Thu Nov 26 13:00:00 2026
{"interval" : 1.000000000, "counter-value" : "1000000.000000", "unit" : "", "event" : "cycles", "event-runtime" : 500000000, "pcnt-running" : 50.00, "metric-value" : 1.0, "metric-unit" : "GHz"}
{"interval" : 1.000000000, "counter-value" : "2000000.000000", "unit" : "", "event" : "instructions", "event-runtime" : 500000000, "pcnt-running" : 50.00, "metric-value" : 2.0, "metric-unit" : "insn per cycle"}
{"interval" : 1.000000000, "counter-value" : "4000.000000", "unit" : "", "event" : "branch-misses", "event-runtime" : 500000000, "pcnt-running" : 50.00, "metric-value" : 25.0, "metric-unit" : "%  tma_frontend_bound"}
{"interval" : 1.000000000, "counter-value" : "1100000.000000", "unit" : "", "event" : "cycles", "event-runtime" : 400000000, "pcnt-running" : 40.00}
{"interval" : 1.000000000, "counter-value" : "2200000.000000", "unit" : "", "event" : "instructions", "event-runtime" : 400000000, "pcnt-running" : 40.00}
{"interval" : 1.000000000, "counter-value" : "100.000000", "unit" : "", "event" : "itlb_walk", "event-runtime" : 400000000, "pcnt-running" : 40.00}
{"interval" : 1.000000000, "counter-value" : "12.500000", "unit" : "Joules", "event" : "power/energy-pkg/", "event-runtime" : 1000000000, "pcnt-running" : 100.00}
{"interval" : 1.000000000, "counter-value" : "1000.000000", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 1000000000, "pcnt-running" : 100.00, "metric-value" : 1.0, "metric-unit" : "CPUs utilized"}
{"interval" : 2.000000000, "counter-value" : "1000000.000000", "unit" : "", "event" : "cycles", "event-runtime" : 600000000, "pcnt-running" : 60.00}
{"interval" : 2.000000000, "counter-value" : "2000000.000000", "unit" : "", "event" : "instructions", "event-runtime" : 600000000, "pcnt-running" : 60.00}
{"interval" : 2.000000000, "counter-value" : "<not counted>", "unit" : "", "event" : "branch-misses", "event-runtime" : 0, "pcnt-running" : 0.00}
broken
"#;

#[test]
fn groups_of_perf_stat_are_found_by_their_times() {
    let profile = parsed(GROUPS, Options::default());
    let groups = cells(&profile, "pmu_group", &["group", "events", "share"]);
    assert_eq!(groups[0], ["core", "cycles instructions", "0.5000"]);
    // Not of the first group: in the second interval it had no counter where the others had.
    assert_eq!(groups[1][..2], ["branch", "branch-misses"]);
    let rows = cells(&profile, "pmu", &["group", "cycles", "instructions", "itlb_walks"]);
    assert!(rows.contains(&["fetch", "1100000", "2200000", "100"].map(str::to_owned).to_vec()), "{rows:?}");
    assert!(rows.contains(&["core", "2000000", "4000000", "-"].map(str::to_owned).to_vec()), "{rows:?}");
    let raw = cells(&profile, "pmu_raw", &["event", "count", "enabled", "running"]);
    assert!(raw.contains(&["cycles", "500000", "1000000000", "500000000"].map(str::to_owned).to_vec()), "{raw:?}");
    assert_eq!(cells(&profile, "pmu_metric", &["group", "metric", "value"]), [["perf", "frontend_bound", "0.2500"]]);
    assert_eq!(
        cells(&profile, "pmu_package", &["pmu", "event", "energy"]),
        [["power", "energy-pkg", "0"], ["power", "energy-pkg", "12500000"]]
    );
    assert_eq!(profile.manifest.duration, Some(2 * SECOND));
    assert!(profile.notes().iter().any(|note| note == "1 lines that are none of perf stat's"), "{:?}", profile.notes());
}

#[test]
fn nothing_counted_is_said() {
    let text = r#"{"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}"#;
    let mut profile = Profile::new(Options::default());
    let why = parse(text.as_bytes(), &mut profile).unwrap_err();
    assert_eq!(why, "perf stat counted nothing: cycles not supported or not counted");
}

#[test]
fn metrics_of_perfspect_have_their_own_names() {
    let text = "TS,SKT,CPU,CID,IPC,TMA_Frontend_Bound(%),ITLB (2nd level) MPI,package power (watts)\n\
                1700000000,,,,1.5,25,0.0001,200\n1700000005,,,,1.25,30,,210\nx,,,,1,1,1,1\n";
    let profile = parsed(text, Options::default());
    assert_eq!(
        cells(&profile, "pmu_metric", &["metric", "value"]),
        [
            ["ipc", "1.5000"],
            ["frontend_bound", "0.2500"],
            ["itlb_walks_pki", "0.1000"],
            ["package power (watts)", "200.0000"],
            ["ipc", "1.2500"],
            ["frontend_bound", "0.3000"],
            ["itlb_walks_pki", "-"],
            ["package power (watts)", "210.0000"],
        ]
    );
    assert_eq!((profile.manifest.duration, profile.manifest.interval), (Some(10 * SECOND), 5 * SECOND));
    let of_cpus = parsed("TS,SKT,CPU,CID,IPC\n100,0,0,,1\n100,0,1,,2\n", Options::default());
    assert_eq!(cells(&of_cpus, "pmu_metric", &["value"]), [["1.5000"]]);
    assert!(of_cpus.notes()[0].contains("their mean"), "{:?}", of_cpus.notes());
}

#[test]
fn recordings_can_be_asked_for_metrics() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("x.twin");
    import(&crate::tests::input_of(&fixture("aperf/m6g-1.tar.gz")), &output, false, &Options::default()).unwrap();
    let run = query::Run { name: "x".into(), recording: store::Recording::open(&output).unwrap(), stretch: None };
    assert_eq!(run.recording.damage(), []);
    let table = run.recording.tables().into_iter().find(|(_, table)| table.name == "pmu").unwrap().1;
    let metric = query::metric(table, "ipc").unwrap();
    let frame = run.recording.load("pmu", &store::Select::default()).unwrap();
    let grid = query::series::Grid::new(&frame, &metric, &["group"], None).unwrap();
    let core = grid.series.iter().find(|series| series.labels == ["core"]).unwrap();
    let (above, below) = core.sums(grid.all()).unwrap();
    assert!(above / below > 0.5 && above / below < 2.5, "{above} {below}");
}
