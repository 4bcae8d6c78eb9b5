//! `twinscope fleet`: recordings of hosts that fall into two bands, hosts with names that want to be something else, and folders that are none.

use crate::common::{Folder, repository, skipped};
use model::{Column, Fact, Manifest, Rows, Symbols, Table, Unit, Work};
use serde_json::Value;
use std::path::{Path, PathBuf};

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

/// The data of a page: what its script holds, unpacked.
fn page(folder: &Folder, name: &str) -> Value {
    let html = std::fs::read_to_string(folder.path(name)).unwrap();
    let (_, rest) = html.split_once("id=\"twinscope-fleet\">").expect("there are data");
    let (packed, _) = rest.split_once("</script>").expect("they end");
    let mut unpack = std::process::Command::new("sh")
        .args(["-c", "base64 -d | gzip -d"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut into = unpack.stdin.take().unwrap();
    let packed = packed.to_owned();
    let feeding = std::thread::spawn(move || std::io::Write::write_all(&mut into, packed.as_bytes()).unwrap());
    let unpacked = unpack.wait_with_output().unwrap();
    feeding.join().unwrap();
    assert!(unpacked.status.success());
    serde_json::from_slice(&unpacked.stdout).unwrap()
}

#[test]
fn a_page_says_what_the_text_says() {
    let folder = Folder::new();
    hosts(&folder);
    folder.expect(0, ["fleet", "add", "fleet", "all"]);
    // No cause can be looked for in these, which is said and fails nothing, unless it was said where they are.
    let made = folder.expect(0, ["fleet", "report", "fleet", "-o", "it.html"]);
    assert!(
        made.stdout.contains("The bands are the values of platform.zone.\n2 bands by work.done: 8 of 64"),
        "{made}"
    );
    assert!(
        made.stdout.contains("it.html (") && made.stderr.contains("no cause is named: service: no per-thread"),
        "{made}"
    );
    let data = page(&folder, "it.html");
    let json = folder.expect(0, ["fleet", "bands", "fleet", "--json"]);
    let bands: Value = serde_json::from_str(&json.stdout).unwrap();
    let group = &data["groups"][0];
    assert_eq!(group["answer"]["bandings"], bands["groups"][0]["bandings"]);
    assert_eq!(group["answer"]["asked"], bands["groups"][0]["asked"]);
    assert_eq!(data["command"], "twinscope fleet bands fleet");
    let title = group["answer"]["bandings"][0]["title"].as_str().unwrap();
    assert!(title.starts_with("The bands are the values of `platform.zone`: 8 of 64 hosts do 2."), "{title}");
    assert!(group["not_explained"].as_str().unwrap().contains("no per-thread data"), "{}", group["not_explained"]);
    let zone = group["facts"].as_array().unwrap().iter().find(|fact| fact["fact"] == "platform.zone").unwrap();
    assert_eq!(zone["values"].as_array().unwrap().len(), 3);
    assert_eq!((&group["block"], &group["drawn"][0]["course"]["columns"]), (&"fleet-0".into(), &39.into()));
    assert!(std::fs::read_to_string(folder.path("it.html")).unwrap().contains("id=\"block-fleet-0\""));

    std::fs::rename(folder.path("all"), folder.path("moved")).unwrap();
    let lost = folder.expect(0, ["fleet", "report", "fleet"]);
    assert!(lost.stderr.contains("--recordings DIR") && folder.path("fleet.html").exists(), "{lost}");
    folder.expect(3, ["fleet", "report", "fleet", "--recordings", "moved"]);
    let moved = page(&folder, "fleet.html");
    let file = moved["groups"][0]["answer"]["recordings"][0]["file"].as_str().unwrap();
    assert!(file.starts_with("moved/"), "{file}");

    let within = folder.expect(0, ["fleet", "report", "fleet", "--within", "platform.zone", "-o", "within.html"]);
    assert!(within.stdout.contains("No bands among 32 recordings."), "{within}");
    let data = page(&folder, "within.html");
    let values: Vec<&str> =
        data["groups"].as_array().unwrap().iter().filter_map(|group| group["answer"]["within"].as_str()).collect();
    assert_eq!((values, &data["within"]), (vec!["a", "b", "c"], &"platform.zone".into()));
    assert_eq!(data["command"], "twinscope fleet bands fleet --within platform.zone");
    folder.expect(4, ["fleet", "report", "fleet", "--fail-on", "bands"]);
    folder.expect(1, ["fleet", "report", "fleet", "-o", "no/such/folder.html"]);
}

#[test]
fn a_stray_is_named_with_what_it_strays_in() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("all")).unwrap();
    for host in 0..24_usize {
        let pace = if host == 5 { 60 } else { 1000 + (host * 37 % 41) as i64 };
        write(&folder.path(&format!("all/h{host}.twin")), &format!("host-{host:02}"), pace, "a");
    }
    folder.expect(0, ["fleet", "add", "fleet", "all"]);
    let bands = folder.expect(4, ["fleet", "bands", "fleet", "--fail-on", "stray"]);
    assert!(bands.stdout.starts_with("No bands among 24 recordings.\nAsked by work.done"), "{bands}");
    assert!(bands.stdout.contains("stray: host-05: work.done 60"), "{bands}");
    assert!(bands.stdout.contains(" robust deviations below 1.02 k/s"), "{bands}");
    folder.expect(0, ["fleet", "report", "fleet"]);
    let data = page(&folder, "fleet.html");
    assert_eq!(data["groups"][0]["answer"]["strays"][0]["recording"], 5);
    assert_eq!(data["groups"][0]["answer"]["strays"][0]["lines"][0]["metric"], "work.done");
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
    let made = folder.expect(0, ["fleet", "report", "fleet", "-o", "fleet.html"]);
    assert!(made.stdout.contains("fleet.html ("), "{made}");
    assert!(!std::fs::read_to_string(folder.path("fleet.html")).unwrap().contains("alert(1)"));
    let data = page(&folder, "fleet.html");
    let hosts: Vec<&str> = data["groups"][0]["answer"]["recordings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|of| of["host"].as_str())
        .collect();
    assert!(names.iter().all(|name| hosts.contains(name)), "{hosts:?}");
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

/// A control group with a CPU quota, which goes with this.
struct Quota(PathBuf);

/// A tenth of a CPU, in periods of 100 ms: so little that no neighbour takes away as much.
const TENTH: &str = "10000";

impl Quota {
    /// Makes it, of either version of the interface; `None` where this user cannot, or the controller is not there.
    fn make() -> Option<Quota> {
        let name = format!("twinscope-test-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        let ways = [
            (root.join("cpu"), "cpu.cfs_quota_us", TENTH.to_owned()),
            (root.to_owned(), "cpu.max", format!("{TENTH} 100000")),
        ];
        ways.into_iter().find_map(|(root, file, value)| {
            let group = root.join(&name);
            std::fs::create_dir(&group).ok()?;
            let group = Quota(group);
            std::fs::write(group.0.join(file), value).ok()?;
            Some(group)
        })
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
#[ignore = "make test-all: sixteen starts on a machine of its own; others band synthetic hosts"]
fn a_fact_that_costs_is_the_first_line_of_real_starts() {
    const WHAT: &str = "a fact that costs";
    let program = repository().join("workloads/bands/bin/bands");
    if !program.exists() {
        return skipped(WHAT, "workloads are not built: make workloads");
    }
    let Some(quota) = Quota::make() else {
        return skipped(WHAT, "no control group with a CPU quota can be made here");
    };
    let folder = Folder::alone();
    std::fs::create_dir(folder.path("all")).unwrap();
    let mut done = [Vec::new(), Vec::new()];
    for start in 0..16 {
        let join = format!("echo $$ > {}/cgroup.procs; ", quota.0.display());
        let join = if start % 4 == 0 { &*join } else { "" };
        let run = format!("{join}exec {} --seconds 2 --offset 56", program.display());
        let (file, name) = (format!("all/s{start:02}.twin"), format!("s{start:02}"));
        let options = ["record", "-q", "-i", "200ms", "--throughput", "^done ([0-9]+)", "-o", &file, "--name", &name];
        let said = folder.expect(0, options.into_iter().chain(["--", "sh", "-c", &run])).stdout;
        let operations = said.lines().find_map(|line| line.strip_prefix("operations: ")?.parse::<f64>().ok());
        done[usize::from(start % 4 == 0)].push(operations.expect("the program says what it did"));
    }
    folder.expect(0, ["fleet", "add", "fleet", "all"]);
    let values = "select value from fact where category = 'workload' and name = 'cpu_quota'";
    let known = folder.expect(0, ["fleet", "sql", "fleet", values, "--json"]).stdout;
    assert_eq!((known.matches("\"0.10\"").count(), known.matches("\"none\"").count()), (4, 12), "{known}");
    // Where neighbours take so much that starts without a quota differ by half among themselves, there are no two bands to find.
    let [free, limited] = done.map(|mut all| {
        all.sort_by(f64::total_cmp);
        (all[0], all[all.len() - 1])
    });
    if free.1 > 1.5 * free.0 || free.0 < 2.0 * limited.1 {
        return skipped(WHAT, &format!("this machine is busy: {free:?} million operations, with a quota {limited:?}"));
    }
    let bands = folder.expect(0, ["fleet", "bands", "fleet", "--by", "work.done"]);
    assert!(
        bands.stdout.starts_with("The bands are the values of workload.cpu_quota.\n2 bands by work.done: "),
        "{bands}"
    );
    assert!(bands.stdout.contains("band 2: s00, s04, s08, s12\n"), "{bands}");
    // What a start has is that of its fact, and no chance.
    assert!(bands.stdout.contains("each start has that of its fact") && !bands.stdout.contains("1/8"), "{bands}");
    let json = folder.expect(0, ["fleet", "explain", "fleet", "--by", "work.done", "--json"]).json();
    assert_eq!(json["groups"][0]["bandings"][0]["since"]["decides"], Value::Null);
    match json["explanations"][0]["findings"][0]["cause"].as_str() {
        Some(cause) => assert_eq!(cause, "cpu-throttled", "{}", json["explanations"][0]["findings"]),
        None => skipped("why they are slow", "no thread ledger here"),
    }
}
