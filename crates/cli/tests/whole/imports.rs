//! `twinscope import` of what monitoring systems wrote: from an answer of Prometheus to the bands of a fleet, and what is wrong with such files.

use crate::common::Folder;
use std::fmt::Write;

/// Hosts, and every how many of them is slower.
const HOSTS: usize = 64;
const EVERY: usize = 8;

/// An answer of Prometheus: requests done by hosts of which one in eight does fewer, and what they run on.
fn answer() -> String {
    let mut items = Vec::new();
    for host in 0..HOSTS {
        let slow = host % EVERY == 3;
        let pace = if slow { 400.0 + (host % 5) as f64 } else { 900.0 + (host * 37 % 41) as f64 * 6.0 };
        let mut values = String::new();
        for t in 0..60 {
            let noise = (t * 7 % 5) as f64 - 2.0;
            let _ = write!(
                values,
                "{}[{},\"{}\"]",
                if t == 0 { "" } else { "," },
                1_790_000_000 + t * 15,
                t as f64 * 15.0 * pace + noise
            );
        }
        let kernel = if slow { "5.10" } else { ["6.1", "6.6"][host % 2] };
        items.push(format!(
            r#"{{"metric":{{"__name__":"http_requests_total","instance":"h{host:02}:9100","job":"web"}},"values":[{values}]}}"#
        ));
        items.push(format!(
            r#"{{"metric":{{"__name__":"node_uname_info","instance":"h{host:02}:9100","job":"web","release":"{kernel}"}},"values":[[1790000000,"1"]]}}"#
        ));
    }
    format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#, items.join(","))
}

#[test]
fn a_fleet_that_a_prometheus_knows_is_banded() {
    let folder = Folder::new();
    std::fs::write(folder.path("requests.json"), answer()).unwrap();
    let done = folder.expect(0, ["import", "requests.json"]);
    assert!(done.stdout.starts_with("requests: 64 recordings, 1 table"), "{done}");
    let added = folder.expect(0, ["fleet", "add", "fleet", "requests"]);
    assert!(added.stdout.contains("64 recordings added"), "{added}");
    let bands = folder.expect(0, ["fleet", "bands", "fleet", "--by", "http_requests_total.value"]);
    assert!(bands.stdout.contains("2 bands by http_requests_total.value: 8 of 64"), "{bands}");
    assert!(bands.stdout.contains("node_uname.release"), "{bands}");

    // Each is a recording like any other.
    let info = folder.expect(0, ["info", "requests/h03_9100.twin"]);
    assert!(info.stdout.contains("job=web") && info.stdout.contains("Prometheus has no stacks"), "{info}");
    let rows = folder.rows("requests/h03_9100.twin", "select count(*) as n from http_requests_total");
    assert_eq!(rows[0]["n"], 60);
    let compared = folder.expect(0, ["compare", "requests/h04_9100.twin", "requests/h03_9100.twin"]);
    assert!(compared.stdout.contains("http_requests_total"), "{compared}");
    folder.expect(0, ["report", "requests/h04_9100.twin", "requests/h03_9100.twin", "-o", "x.html"]);
    folder.expect(2, ["import", "requests.json", "-o", "x.twin"]).says("there are 64 hosts");
    folder.expect(1, ["import", "requests.json", "-o", "requests"]).says("exists");
}

#[test]
fn the_standard_input_is_read() {
    let folder = Folder::new();
    std::fs::write(folder.path("requests.json"), answer()).unwrap();
    let mut command = folder.command(["import", "-", "-o", "hosts/"]);
    command.stdin(std::fs::File::open(folder.path("requests.json")).unwrap());
    let done = folder.start(command).wait();
    assert!(done.stdout.starts_with("hosts: 64 recordings"), "{done}");
    let mut command = folder.command(["import", "-"]);
    command.stdin(std::fs::File::open("/dev/null").unwrap());
    let done = folder.start(command).wait();
    assert_eq!(done.status.code(), Some(1), "{done}");
    assert!(done.stderr.contains("standard input: neither perf.data"), "{done}");
}

/// Profiles that come through a pipe are those of files; a FIFO by name may never end and is refused.
#[test]
fn profiles_come_through_pipes() {
    let folder = Folder::new();
    let file = format!("{}/../../fixtures/profiles/busy.perf.data", env!("CARGO_MANIFEST_DIR"));
    folder.expect(0, ["import", "--no-symbols", &file, "-o", "file.twin"]);
    let script = |line: &str| {
        let program = crate::common::program();
        let done = std::process::Command::new("bash")
            .current_dir(folder.path(""))
            .args(["-c", line, "x"])
            .arg(program)
            .arg(&file)
            .output();
        let done = done.unwrap();
        (
            done.status.code(),
            String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr),
        )
    };
    for (line, name) in [
        ("cat $2 | $1 import --no-symbols -", "import.twin"),
        ("cat $2 | $1 import --no-symbols /dev/stdin -o stdin.twin", "stdin.twin"),
        ("$1 import --no-symbols - -o direct.twin < $2", "direct.twin"),
        ("$1 import --no-symbols <(gzip < $2) -o process.twin", "process.twin"),
    ] {
        let (code, said) = script(line);
        assert_eq!(code, Some(0), "{line}: {said}");
        let sum = |name: &str| folder.rows(name, "select count(*) as n, sum(weight) as w from sample");
        assert_eq!(sum(name), sum("file.twin"), "{line}");
    }
    let (code, said) = script("mkfifo f; timeout 10 $1 import f -o x.twin");
    assert!(code == Some(1) && said.contains("it is a FIFO"), "{code:?}: {said}");
    let (code, said) = script("cat $2 | $1 import - -o x.twin --size-limit 1KiB");
    assert!(code == Some(1) && said.contains("--size-limit raises the limit"), "{code:?}: {said}");
}

/// A file of `fixtures/imports`.
fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/imports/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn tables_sar_and_aperf_are_recordings_like_any_other() {
    let folder = Folder::new();
    for (file, name, table) in [
        ("tables/vmstat-t.txt", "vmstat.twin", "vmstat_output"),
        ("tables/pidstat.txt", "pidstat.twin", "pidstat"),
        ("tables/described.parquet", "described.twin", "cpu_usage"),
        ("sar/12.7.9.json.gz", "sar.twin", "sar_cpu_load"),
        ("aperf/aperf-0.1.15.tar.gz", "old.twin", "cpu"),
        ("aperf/aperf-1.3.0.tar.gz", "new.twin", "cpu"),
    ] {
        folder.expect(0, ["import", &fixture(file), "-o", name]);
        let rows = folder.rows(name, &format!("select count(*) as n from {table}"));
        assert!(rows[0]["n"].as_i64() > Some(2), "{name}");
        folder.expect(0, ["info", name]);
        folder.expect(0, ["report", name, "-o", &format!("{name}.html")]);
    }
    // Runs of both ends of APerf's versions have the same metrics, those of recordings.
    let compared = folder.expect(0, ["compare", "old.twin", "new.twin", "--json"]).json();
    assert!(compared["compared"].as_u64() > Some(100), "{compared}");
    folder.expect(0, ["report", "old.twin", "new.twin", "sar.twin", "-o", "all.html"]);
    let presets = folder.expect(0, ["import", "--presets"]);
    assert!(presets.stdout.lines().count() == 4 && presets.stdout.contains("\nvmstat "), "{presets}");
    folder
        .expect(1, ["import", &fixture("tables/vmstat-t.txt"), "--preset", "none", "-o", "x.twin"])
        .says("they are perfspect");
    folder
        .expect(1, ["import", &fixture("tables/pandas.parquet"), "--host", "nothing", "-o", "x.twin"])
        .says("there is no column nothing");
}

/// A file of `fixtures`.
fn of_fixtures(name: &str) -> String {
    format!("{}/../../fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The number before a word of what `import` says: of `sample` in `117 samples`; 0 where there is none.
fn said(done: &str, word: &str) -> i64 {
    let of = |piece: &str| {
        let mut words = piece.split_whitespace();
        let (number, name) = (words.next()?.parse().ok()?, words.next()?);
        (words.next().is_none() && name.strip_suffix('s').unwrap_or(name) == word).then_some(number)
    };
    done.split([',', ':']).find_map(of).unwrap_or(0)
}

/// The sum of a column of a block of columns of a page, in base units (docs/report-bundle.md).
fn sum_of_page(html: &str, block: &str, table: &str, column: &str) -> f64 {
    let (_, rest) = html.split_once(&format!("id=\"block-{block}\">")).expect("the block is there");
    let (packed, _) = rest.split_once("</script>").expect("it ends");
    let folder = Folder::new();
    std::fs::write(folder.path("block"), packed).unwrap();
    let unpacked = std::process::Command::new("sh")
        .current_dir(folder.path(""))
        .args(["-c", "base64 -d block | gzip -d"])
        .output();
    let bytes = unpacked.unwrap().stdout;
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let index: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let (data, table) = (&bytes[8 + length..], &index["tables"][table]);
    let rows = table["rows"].as_u64().expect("rows") as usize;
    let spec = &table["columns"][column];
    let at = spec["offset"].as_u64().expect("an offset") as usize;
    let cell = |row: usize| u32::from_le_bytes(std::array::from_fn(|part| data[at + part * rows + row]));
    (0..rows).map(|row| f64::from(cell(row)) * spec["scale"].as_f64().unwrap()).sum()
}

/// For every importer of samples: what it says that it took is what SQL, flame graphs and the page show.
#[test]
fn all_samples_that_were_imported_are_shown() {
    let folder = Folder::new();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path(name), text).unwrap();
    write("x.folded", b"app;main;work 3\napp;main;wait 2\nbash 1\n");
    write("old.txt", b"java 19983 cycles:\nffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])\n\njava 19983 cycles:\n\t7f0001 main (/usr/bin/java)\n\n");
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain("a;b 3\r\na;c 4\r\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    write("powershell.txt", &utf16);
    let script = of_fixtures("profiles/busy.script.txt");
    folder.expect(0, ["import", &script, "-o", "first.twin"]);
    folder.expect(0, ["flame", "first.twin", "-o", "first.pb.gz"]);
    let fixtures: [(&str, String, f64); 10] = [
        ("perf.data", of_fixtures("profiles/busy.perf.data"), 0.587_939_625),
        ("perf script", script, 0.587_939_625),
        ("perf script", "old.txt".into(), 0.002),
        ("collapsed stacks", "x.folded".into(), 0.006),
        ("collapsed stacks", "powershell.txt".into(), 0.007),
        ("pprof", "first.pb.gz".into(), 0.587_939_625),
        ("JFR", of_fixtures("jvm/jdk11-g1.jfr.gz"), 0.0),
        ("JFR", of_fixtures("jvm/jdk17-g1.jfr.gz"), 0.0),
        ("JFR", of_fixtures("jvm/jdk25-z.jfr.gz"), 0.0),
        ("JFR", of_fixtures("jvm/async-profiler-4.2.jfr.gz"), 0.0),
    ];
    for (format, file, expected) in fixtures {
        let done = folder.expect(0, ["import", "--no-symbols", "--force", &file, "-o", "x.twin"]);
        assert!(
            done.stdout.trim_end().ends_with(&format!("from {format}"))
                || done.stdout.contains(&format!("from {format}\n")),
            "{done}"
        );
        let rows = folder.rows("x.twin", "select count(*) as n, sum(weight) / 1e9 as w from sample");
        let weight = rows[0]["w"].as_f64().unwrap_or(0.0);
        assert!(weight > 0.0 && (expected == 0.0 || (weight - expected).abs() < 1e-6), "{file}: {weight}");
        let near = |shown: f64, of: f64| (shown - of).abs() <= of * 1e-3;
        if format != "pprof" {
            assert_eq!(rows[0]["n"], said(&done.stdout, "sample"), "{file}: {done}");
        }
        folder.expect(0, ["flame", "x.twin", "-o", "shown.folded"]);
        let folded = std::fs::read_to_string(folder.path("shown.folded")).unwrap();
        let flame: f64 = folded.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum();
        assert!(near(flame / 1e9, weight), "{file}: flame shows {flame} ns of {weight} s");
        folder.expect(0, ["report", "x.twin", "-o", "x.html"]);
        let html = std::fs::read_to_string(folder.path("x.html")).unwrap();
        let page = sum_of_page(&html, "profile", "sample", "weight");
        assert!(near(page, weight), "{file}: the page shows {page} s of {weight} s");
        // There is no ledger of threads, and `explain` makes up none.
        folder.expect(1, ["explain", "x.twin"]).says("what was imported can be compared");
    }
}

/// The same of importers of events and counts: the rows that they say are the rows that SQL has.
#[test]
fn all_rows_that_were_imported_are_there() {
    let folder = Folder::new();
    let old = "OpenJDK 64-Bit Server VM (25.342-b07) for linux-amd64 JRE (1.8.0_342-b07), built on Jul 16 2022\n\
               0.169: #0: [GC pause (G1 Evacuation Pause) (young)\nDesired survivor size 1 bytes\n, 0.0106548 secs]\n\
               1.169: #1: [Full GC (System.gc()) 24M->4M(256M), 0.0206548 secs]\n";
    std::fs::write(folder.path("jdk8.log"), old).unwrap();
    let pauses: [(&str, String); 5] = [
        ("jvm_pause", "jdk8.log".into()),
        ("jvm_pause", of_fixtures("jvm/jdk11-g1.log.gz")),
        ("jvm_pause", of_fixtures("jvm/jdk17-parallel.log.gz")),
        ("jvm_pause", of_fixtures("jvm/jdk21-z.log.gz")),
        ("jvm_pause", of_fixtures("jvm/jdk17-g1.jfr.gz")),
    ];
    let counts: [(&str, String); 3] = [
        ("pmu_raw", of_fixtures("counters/perf-stat/arm.csv")),
        ("pmu_raw", of_fixtures("counters/perf-stat/arm-many.json")),
        ("pmu_raw", of_fixtures("counters/perf-stat/software-a.json")),
    ];
    for (table, file) in pauses.into_iter().chain(counts) {
        let done = folder.expect(0, ["import", "--force", &file, "-o", "x.twin"]);
        let taken = said(&done.stdout, if table == "pmu_raw" { "count" } else { "pause" });
        assert!(taken > 0, "{file}: {done}");
        assert_eq!(folder.count("x.twin", &format!("select count(*) from {table}")), taken, "{file}: {done}");
        folder.expect(0, ["report", "x.twin", "-o", "x.html"]);
    }
    // Of monitoring systems: all tables together.
    for file in [
        "imports/tables/vmstat-t.txt",
        "imports/tables/pidstat.txt",
        "imports/tables/described.parquet",
        "imports/sar/12.7.9.json.gz",
    ] {
        let done = folder.expect(0, ["import", "--force", &of_fixtures(file), "-o", "x.twin"]);
        let tables = folder.rows("x.twin", "select distinct table_name as name from metric");
        let sum: i64 = tables
            .iter()
            .map(|table| {
                folder.count("x.twin", &format!("select count(*) from \"{}\"", table["name"].as_str().unwrap()))
            })
            .sum();
        assert_eq!(sum, said(&done.stdout, "row"), "{file}: {done}");
    }
}
