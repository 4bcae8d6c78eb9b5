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
